"""Schemas of answers: the part enforced by a provider; tea checks all of it in any case.

Sources: https://platform.openai.com/docs/guides/structured-outputs (supported schemas) and
https://docs.claude.com/en/docs/build-with-claude/structured-outputs (JSON Schema limitations).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from tea.models.config import ModelConfig
from tea.types import JsonObject, ModelRequest

_CARRIED = frozenset({"additionalProperties", "const", "description", "enum", "pattern", "required", "title", "type"})
_LENGTHS = frozenset({"minItems", "maxItems", "minLength", "maxLength"})
_RANGES = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})
_SAID = {
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "default": "by default {}",
    "examples": "such as {}",
    "format": "in the form {}",
    "uniqueItems": "without equal items: {}",
}
_SILENT = frozenset({"$comment", "$schema", "deprecated", "discriminator", "readOnly", "writeOnly"})
_FORMATS = frozenset({"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The limits of one provider's schema enforcement.

    Args:
        limits: Words for limits that it knows.
        formats: Forms of text that it knows.
        recursive: Whether a type may hold itself.
        hints: Whether it takes what it cannot enforce as a hint.
    """

    limits: frozenset[str]
    formats: frozenset[str]
    recursive: bool
    hints: bool


OPENAI = Reach(limits=_LENGTHS | _RANGES, formats=_FORMATS, recursive=True, hints=True)
ANTHROPIC = Reach(limits=frozenset(), formats=_FORMATS | {"uri"}, recursive=False, hints=False)


class _Beyond(Exception):
    """A schema not enforced by any provider."""


def wanted(request: ModelRequest, config: ModelConfig, reach: Reach) -> tuple[JsonObject, bool] | None:
    """Return the schema to send with a request, and whether it is enforced; None if it must be described in text."""
    if request.output is None or "schema" not in config.capabilities:
        return None
    found = enforced(request.output, reach)
    if found is None:
        return (request.output, False) if reach.hints and request.output.get("type") == "object" else None
    return found, True


def enforced(schema: JsonObject, reach: Reach) -> dict[str, Any] | None:
    """Return a schema as enforced by a provider; unsupported limits become text of the description.

    It has to be an object, in which all objects are closed, all members required and all values of a known type; None
    where it is not.
    """
    try:
        held = _held(schema)
        name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
        found = _enforced({**held[name], "$defs": held} if name in held else schema, reach)
    except (_Beyond, AttributeError, TypeError):  # the latter where it is not a schema at all
        return None
    return found if found.get("type") == "object" and (reach.recursive or not _recursive(found)) else None


def _enforced(schema: Any, reach: Reach) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise _Beyond
    given = cast("dict[str, Any]", schema)
    if "$ref" in given:
        return _pointing(given, reach)
    found, said = dict[str, Any](), dict[str, Any]()
    for name, value in given.items():
        if name in ("properties", "$defs"):
            found[name] = {one: _enforced(inner, reach) for one, inner in value.items()}
        elif name in ("anyOf", "oneOf"):
            found["anyOf"] = [_enforced(one, reach) for one in value]
        elif name == "items":
            found[name] = _enforced(value, reach)
        elif name in _CARRIED | reach.limits or (name == "format" and value in reach.formats):
            found[name] = value
        elif name in _SAID:
            said[name] = value
        elif name not in _SILENT:
            raise _Beyond
    _check(found)
    if said:
        words = "; ".join(_SAID[name].format(json.dumps(value, ensure_ascii=False)) for name, value in said.items())
        found["description"] = "\n\n".join(filter(None, (found.get("description"), f"{words[0].upper()}{words[1:]}.")))
    return found


def _pointing(schema: dict[str, Any], reach: Reach) -> dict[str, Any]:
    """Return a reference, wrapped in `anyOf` with its sibling members if there are any."""
    reference, beside = schema["$ref"], {name: value for name, value in schema.items() if name != "$ref"}
    if reference != "#" and not str(reference).startswith("#/$defs/"):
        raise _Beyond
    return _enforced({**beside, "anyOf": [{"$ref": reference}]}, reach) if beside else {"$ref": reference}


def _check(found: dict[str, Any]) -> None:
    """Raise _Beyond for an open object, a list of anything, or a value of any type."""
    kinds = found.get("type") or ()
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    shut = found.get("additionalProperties") is False
    complete = set(found.get("required", ())) == set(found.get("properties", {}))
    untyped = not kinds and "anyOf" not in found
    if untyped or ("object" in kinds and not (shut and complete)) or ("array" in kinds and "items" not in found):
        raise _Beyond


def _held(schema: JsonObject) -> dict[str, Any]:
    return cast("dict[str, Any]", schema.get("$defs") or {})


def _recursive(schema: JsonObject) -> bool:
    """Return whether a type contains itself: types are removed once all their references are, and some remain."""
    left = {f"#/$defs/{name}": {*_references(one)} for name, one in _held(schema).items()}
    while done := [name for name, held in left.items() if not held & left.keys()]:
        for name in done:
            del left[name]
    return bool(left) or "#" in _references(schema)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        if isinstance(one := inner.get("$ref"), str):
            yield one
        for each in inner.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _references(each)
