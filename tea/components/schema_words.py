"""JSON Schemas as text: their types, and their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tea.types import as_text

_DEEPEST, _MOST_FIELDS, _LONGEST = 6, 12, 600
_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} fields",
    "maxProperties": "at most {} fields",
    "pattern": "like {}",
    "format": "as {}",
}


class TypeWords:
    """The types of the schemas of one document, as text.

    A definition is spelled out once at each depth, so the work grows with the document alone, however often and in
    whatever circles its definitions refer to each other.

    Args:
        whole: The document, which holds the definitions.
    """

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._definitions = whole.get("$defs")
        self._known: dict[tuple[str, int], str] = {}

    def of(self, schema: object, depth: int = 0) -> str:
        """Return a schema's type as text, for example `array of {name: string, size: integer}`.

        Args:
            schema: The schema.
            depth: How many objects it is inside of; the deepest are not spelled out.
        """
        if not isinstance(schema, Mapping):
            return "any" if schema is not False else "nothing"
        found = cast("Mapping[str, Any]", schema)
        if "$ref" not in found:
            return _cut(self._words(found, depth))
        key = str(found["$ref"]).rpartition("/")[2], depth + 1
        if key not in self._known:
            self._known[key] = _cut(self._words(self._definition(key[0]), depth + 1))
        return self._known[key]

    def _words(self, schema: Mapping[str, Any], depth: int) -> str:
        if "const" in schema:
            return as_text(schema["const"])
        if allowed := as_words(schema.get("enum")):
            return "one of " + ", ".join(one or '""' for one in allowed)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                shown = schema[key][: _MOST_FIELDS + 1]
                words = [self.of(one, depth + 1) if depth < _DEEPEST else "any" for one in shown]
                return _either([*words[:_MOST_FIELDS], *(["..."] if len(words) > _MOST_FIELDS else [])])
        kind = schema.get("type")
        if isinstance(kind, list):
            return _either(as_words(schema["type"]))
        if kind == "array":
            return self._array(schema, depth)
        if kind == "object" and depth < _DEEPEST:
            return self._object(schema, depth)
        return str(kind) if kind else "any"

    def _array(self, schema: Mapping[str, Any], depth: int) -> str:
        items = schema.get("items")
        inner = self.of(items, depth + 1) if items is not None and depth < _DEEPEST else "any"
        return "array" if inner == "any" else f"array of {inner}"

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        fields = as_object(schema.get("properties"))
        if not fields:
            values = as_object(schema.get("additionalProperties"))
            inner = self.of(values, depth + 1) if values else "any"
            return "object" if inner == "any" else f"object of {inner}"
        required, shown = as_words(schema.get("required")), list(fields.items())[: _MOST_FIELDS + 1]
        words = [f"{key}{'' if key in required else '?'}: {self.of(one, depth + 1)}" for key, one in shown]
        return "{" + ", ".join(words[:_MOST_FIELDS]) + (", ..." if len(words) > _MOST_FIELDS else "") + "}"

    def _definition(self, name: str) -> Mapping[str, Any]:
        held = self._definitions
        found = as_object(cast("Mapping[str, Any]", held).get(name)) if isinstance(held, Mapping) else {}
        return found if found and "$ref" not in found else {"type": name}


def type_words(schema: object) -> str:
    """Return the type of a schema that holds its own definitions, as text."""
    return TypeWords(as_object(schema)).of(schema)


def limit_words(schema: object) -> list[str]:
    """Return the limits in a schema, as text."""
    found = as_object(schema)
    return [form.format(as_text(found[key])) for key, form in _LIMITS.items() if key in found]


def as_object(value: object) -> dict[str, Any]:
    """Return an object of JSON; an empty one in place of anything else."""
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}


def as_words(value: object) -> list[str]:
    """Return a list of JSON as texts; an empty one in place of anything else."""
    return [as_text(one) for one in cast("list[object]", value)] if isinstance(value, list) else []


def _either(words: list[str]) -> str:
    return " or ".join(dict.fromkeys(words)) or "any"


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else words[: _LONGEST - 3] + "..."
