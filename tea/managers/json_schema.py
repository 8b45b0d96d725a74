"""JSON Schemas that people and models write: are they usable, and does a value fit one.

Source: JSON Schema, Draft 2020-12. Only references inside the same schema are followed, so that
checking a value never reaches for a file or an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

from tea.types import JsonSchema, JsonValue

_REFERENCES = ("$ref", "$dynamicRef")
_LIMIT = 160
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength")
_RULES = {"type", "properties", "required", "additionalProperties", "items", "minimum", *_COUNTS}
_KNOWN = _RULES | {"default", "description", "title", "examples"}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_DEEPEST = 32  # of schemas that are looked through here
_NESTED = re.compile(r"[+*}]\??[^()]*\)+[+*{]|\([^()]*\|[^()]*\)[+*{]")


def schema_fault(schema: JsonSchema) -> str | None:
    """Return why `schema` cannot be used, in one line, or None when it can."""
    if _sound(schema):
        return None
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        Draft202012Validator.check_schema(schema)
        if slow := next((one for one in _patterns(schema) if len(one) > _LIMIT or _NESTED.search(one)), None):
            return f"the pattern {_clipped(slow)} is too long, or repeats what repeats or varies"
        if foreign := [text for key, text in _words(schema) if key == "$id" or not text.startswith("#")]:
            return f"{_clipped(foreign[0])} leads out of the schema"
        registry: Any = Registry[Any]().with_resource("", DRAFT202012.create_resource(schema))
        for _, reference in _words(schema):
            registry.resolver().lookup(reference)
    except SchemaError as error:
        return f"{_place(error.absolute_path)}: {_clipped(error.message)}"
    except Unresolvable as error:
        return f"{_clipped(str(error.ref))} points at nothing"
    except RecursionError:
        return "it nests too deeply"
    return None


def _sound(schema: JsonValue, depth: int = 0) -> bool:
    """Tell whether a schema is usable for certain, by the few words that most consist of; false where in doubt.

    Loading the full check takes longer than most runs have work for it.
    """
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    words = cast("dict[str, Any]", schema)
    if depth > _DEEPEST or not words.keys() <= _KNOWN:
        return False
    named, required, shown = words.get("type", "null"), words.get("required", []), words.get("properties", {})
    types = cast("list[Any]", named) if isinstance(named, list) else [named]
    return (
        all(isinstance(one, str) and one in _TYPES for one in types)
        and 0 < len(types) == len(set(types))
        and _distinct_words(required)
        and all(isinstance(words.get(key, ""), str) for key in ("description", "title"))
        and isinstance(words.get("examples", []), list)
        and all(type(words.get(key, 0)) is int and words.get(key, 0) >= 0 for key in _COUNTS)
        and type(words.get("minimum", 0)) in (int, float)
        and isinstance(shown, dict)
        and all(_sound(one, depth + 1) for one in cast("dict[str, Any]", shown).values())
        and all(_sound(words.get(key, True), depth + 1) for key in ("items", "additionalProperties"))
    )


def _distinct_words(value: object) -> bool:
    if not isinstance(value, list):
        return False
    found = cast("list[object]", value)
    return all(isinstance(one, str) for one in found) and len(found) == len(set(found))


def _patterns(schema: JsonValue) -> Iterator[str]:
    """Yield the regular expressions of a schema: a repeated repetition takes time without bound to match."""
    if isinstance(schema, dict):
        for key, value in cast("dict[str, JsonValue]", schema).items():
            if key == "pattern" and isinstance(value, str):
                yield value
            elif key == "patternProperties" and isinstance(value, dict):
                yield from cast("dict[str, JsonValue]", value)
            yield from _patterns(value)
    elif isinstance(schema, list):
        for value in cast("list[JsonValue]", schema):
            yield from _patterns(value)


def value_faults(schema: JsonSchema, value: JsonValue, limit: int = 3) -> list[str]:
    """Return the first reasons why `value` does not fit `schema`, one line each; none when it fits.

    Args:
        schema: A schema in which `schema_fault` found nothing.
        value: JSON data.
        limit: How many reasons to return at most.
    """
    if _fits(schema, value):
        return []
    from jsonschema import Draft202012Validator
    from referencing import Registry

    validator: Any = Draft202012Validator(schema, registry=Registry[Any]())
    try:
        found: list[Any] = list(islice(cast("Iterator[Any]", validator.iter_errors(value)), limit))
    except RecursionError:
        return ["it nests too deeply, or its schema refers to itself without end"]
    return [f"{_place(error.absolute_path)}: {_clipped(error.message)}" for error in found]


def _fits(schema: JsonValue, value: JsonValue) -> bool:
    """Tell whether a value fits for certain, by the few words that most schemas consist of; false where in doubt.

    It is asked before each answer of a model counts, and a full validator takes twenty times as long.
    """
    if not isinstance(schema, dict):
        return schema is True
    words = cast("dict[str, Any]", schema)
    named = words.get("type")
    types = cast("list[Any]", named) if isinstance(named, list) else (named,)
    if not words.keys() <= _KNOWN or not any(type(value) in _TYPES.get(str(one), ()) for one in types):
        return False
    if isinstance(value, int | float):
        return value >= words.get("minimum", value)
    if isinstance(value, dict):
        members, shown = cast("dict[str, Any]", value), words.get("properties", {})
        closed = words.get("additionalProperties", True)
        if not all(name in members for name in words.get("required", ())) or not isinstance(closed, bool):
            return False
        return (closed or members.keys() <= shown.keys()) and all(
            _fits(one, members[name]) for name, one in shown.items() if name in members
        )
    if isinstance(value, list):
        items = cast("list[Any]", value)
        fits = words.get("minItems", 0) <= len(items) <= words.get("maxItems", len(items))
        return fits and all(_fits(words.get("items", True), one) for one in items)
    if isinstance(value, str):
        return words.get("minLength", 0) <= len(value) <= words.get("maxLength", len(value))
    return True


def _words(schema: JsonValue) -> Iterator[tuple[str, str]]:
    """Give every reference and identifier in a schema, wherever it stands."""
    if isinstance(schema, dict):
        for key, value in cast("dict[str, Any]", schema).items():
            if isinstance(value, str) and (key in _REFERENCES or key == "$id"):
                yield key, value
            yield from _words(value)
    elif isinstance(schema, list):
        for value in cast("list[Any]", schema):
            yield from _words(value)


def _place(path: Any) -> str:
    return _clipped(".".join(str(part) for part in path)) or "value"


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LIMIT else line[: _LIMIT - 3] + "..."
