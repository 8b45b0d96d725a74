"""Defaults of a schema, in the places of members left out by data."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

from tea.types import JsonSchema, JsonValue


def with_defaults(schema: JsonSchema, value: JsonValue) -> JsonValue:
    """Return data with the `default` of each missing member, also in objects within it and items of its lists.

    Args:
        schema: JSON Schema of the data; what it refers to elsewhere is not looked at.
        value: JSON data.
    """
    given: Any = value
    if isinstance(given, list):
        items: Any = schema.get("items")
        if not isinstance(items, dict):
            return value
        return [with_defaults(cast("dict[str, Any]", items), one) for one in cast("list[Any]", given)]
    named: Any = schema.get("properties")
    if not isinstance(given, dict) or not isinstance(named, dict):
        return value
    found = dict(cast("dict[str, Any]", given))
    for name, words in cast("dict[str, Any]", named).items():
        form = cast("dict[str, Any]", words) if isinstance(words, dict) else {}
        if name in found:
            found[name] = with_defaults(form, found[name])
        elif "default" in form:
            found[name] = deepcopy(form["default"])
    return found
