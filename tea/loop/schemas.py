"""Compaction of function schemas: the shortest form with the same meaning for a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tea.components.operation import FOR_PROGRAMS
from tea.types import JsonObject, JsonSchema

_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_NESTED = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_SILENT: tuple[object, ...] = (None, "", False)  # defaults that say nothing
_REFERENCE = "#/$defs/"


def compact(schema: JsonObject) -> JsonSchema:
    """Return a shorter schema of the same arguments, for a model to read.

    Titles, empty defaults, the null of optional members, closed objects and parameters whose words begin with
    `For programs:` are left out, and definitions that are used once stand where they are used. What is validated is the
    schema itself, never this one.
    """
    definitions = cast("Mapping[str, Any]", schema.get("$defs", {}))
    used = _references(schema)
    once = {name: one for name, one in definitions.items() if used.count(name) == 1 and name not in _references(one)}
    found = _compact(schema, once)
    left = {name: one for name, one in found.pop("$defs", {}).items() if name not in once}
    return {"$defs": left, **found} if left else found


def _compact(schema: JsonObject, once: Mapping[str, Any]) -> JsonSchema:
    reference = schema.get("$ref")
    if isinstance(reference, str) and (name := reference.removeprefix(_REFERENCE)) in once:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _compact({**_undescribed(once[name]), **rest}, once)
    found: JsonSchema = {}
    for key, value in schema.items():
        if key == "title" or (key == "default" and value in _SILENT) or (key == "additionalProperties" and not value):
            continue
        if key in _NAMED and isinstance(value, Mapping):
            named = cast("Mapping[str, Any]", value)
            found[key] = {name: _part(one, once) for name, one in named.items() if not _is_for_programs(one)}
        elif key in _LISTED and isinstance(value, list):
            found[key] = [_part(one, once) for one in cast("list[Any]", value)]
        elif key in _NESTED and isinstance(value, Mapping):
            found[key] = _compact(cast("Mapping[str, Any]", value), once)
        else:
            found[key] = value
    return _without_null(found, optional=schema.get("default", ...) is None)


def _is_for_programs(schema: object) -> bool:
    words = cast("Mapping[str, Any]", schema).get("description") if isinstance(schema, Mapping) else ""
    return isinstance(words, str) and words.startswith(FOR_PROGRAMS)


def _part(schema: object, once: Mapping[str, Any]) -> Any:
    return _compact(cast("Mapping[str, Any]", schema), once) if isinstance(schema, Mapping) else schema


def _without_null(schema: JsonSchema, *, optional: bool) -> JsonSchema:
    """Return the schema of an optional member without its null."""
    choices = schema.get("anyOf")
    if not optional or not isinstance(choices, list):
        return schema
    left = [one for one in cast("list[JsonSchema]", choices) if one != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**left[0], **rest} if len(left) == 1 else {**schema, "anyOf": left}


def _undescribed(schema: JsonObject) -> JsonSchema:
    return {key: value for key, value in schema.items() if key != "description"}


def _references(schema: object) -> list[str]:
    """Return the names of definitions referenced by a schema, once per reference."""
    if isinstance(schema, Mapping):
        found: list[str] = []
        for key, value in cast("Mapping[str, Any]", schema).items():
            if key == "$ref" and isinstance(value, str):
                found.append(value.removeprefix(_REFERENCE))
            else:
                found += _references(value)
        return found
    if isinstance(schema, list):
        return [name for one in cast("list[object]", schema) for name in _references(one)]
    return []
