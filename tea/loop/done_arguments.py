"""Arguments of `done`: correcting parts of a typed answer given beside it, and sources given as bare names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tea.components.json_schema import value_faults
from tea.components.lossless import lossless
from tea.types import JsonObject, JsonValue

_ANSWER, _EVIDENCE, _SOURCE = "answer", "evidence", "source"


def corrected(parameters: JsonObject, arguments: JsonObject) -> JsonObject:
    """Return the arguments of `done` in its form, the same object if they are so already or cannot be understood.

    Members of a typed answer beside `success`, `reason` and `evidence` become the answer if they fit its schema; a
    source in `evidence` given as a text becomes an object.

    Args:
        parameters: JSON Schema of the arguments, with the form of the answer if the task has one.
        arguments: What a model gave.
    """
    properties = cast("Mapping[str, Any]", parameters.get("properties", {}))
    form: Any = properties.get(_ANSWER)
    found = dict(arguments)
    flat = {name: one for name, one in arguments.items() if name not in properties}
    if flat and _ANSWER not in arguments and isinstance(form, dict):
        schema = cast("dict[str, Any]", form)
        answer = lossless(schema, flat)
        if schema.get("type") == "object" and not value_faults(schema, answer):
            found = {**{name: one for name, one in arguments.items() if name not in flat}, _ANSWER: answer}
    if _EVIDENCE in found:
        found[_EVIDENCE] = _sources(found[_EVIDENCE])
    return arguments if found == arguments else found


def _sources(given: JsonValue) -> JsonValue:
    """Return sources as objects."""
    if isinstance(given, str) and not given.lstrip().startswith(("[", "{")):
        return [{_SOURCE: given}] if given.strip() else []
    if isinstance(given, list):
        listed = cast("list[Any]", given)
        return [{_SOURCE: one} if isinstance(one, str) else one for one in listed]
    return given
