"""Values valid for a JSON Schema, and nearly valid ones, like arguments written by models."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import cast

from tea.types import JsonSchema, JsonValue

_WORDS = ("total", "Oslo", "the first part", "2024-05-01", "7")
_DEEPEST = 6
_WRONG: Mapping[str, tuple[JsonValue, ...]] = {
    "string": (7, None, ["a", "b"], {"text": "a"}),
    "integer": ("5", "five", 5.5, 3.0, "1,000", None, [5]),
    "number": ("2.5", "much", None, {}),
    "boolean": ("true", "perhaps", 1, None),
    "array": ("one", {}, None, 3),
    "object": ("{}", [], None, 1),
}


def value_of(schema: JsonSchema, random: Random, *, root: JsonSchema | None = None, depth: int = 0) -> JsonValue:
    """Return a value valid for a schema of the usual keywords: types, enums, choices, members, items, references.

    Args:
        schema: The JSON Schema.
        random: Chooses among what fits.
        root: The schema that holds the definitions, by default the schema itself.
        depth: How deep it stands; nothing optional is given far down.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        return value_of(_referred(root, schema["$ref"]), random, root=root, depth=depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            options = schema[choice]
            one = options[-1] if depth > _DEEPEST else random.choice(options)
            return value_of(one, random, root=root, depth=depth + 1)
    return _typed(schema, random, root, depth)


def wrong_value(schema: JsonSchema, random: Random) -> JsonValue:
    """Return a value of another type than the schema's; some can be converted without a loss."""
    kind = kind_of(schema)
    return random.choice(_WRONG.get(kind, _WRONG["object"]))


def kind_of(schema: JsonSchema) -> str:
    """Return the first type allowed by a schema, empty if it names none."""
    found = schema.get("type")
    if found:
        return str(found if isinstance(found, str) else found[0])
    options = schema.get("anyOf") or schema.get("oneOf") or ()
    return next((kind for one in options if (kind := kind_of(one))), "")


def members_of(schema: JsonSchema) -> dict[str, JsonSchema]:
    """Return the schemas of an object's members, by their names."""
    return cast("dict[str, JsonSchema]", schema.get("properties", {}))


def _typed(schema: JsonSchema, random: Random, root: JsonSchema, depth: int) -> JsonValue:
    match kind_of(schema):
        case "object":
            needed = schema.get("required", ())
            wanted = [name for name in members_of(schema) if name in needed or _optional(random, depth)]
            return {name: value_of(members_of(schema)[name], random, root=root, depth=depth + 1) for name in wanted}
        case "array":
            least = int(schema.get("minItems", 0))
            many = max(least, min(int(schema.get("maxItems", 3)), random.randint(0, 3)))
            return [value_of(schema.get("items", {}), random, root=root, depth=depth + 1) for _ in range(many)]
        case "integer":
            return random.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 100)))
        case "number":
            return float(random.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 100))))
        case "boolean":
            return random.random() < 0.5
        case "null":
            return None
        case _:
            return random.choice(_WORDS)


def _optional(random: Random, depth: int) -> bool:
    return depth <= _DEEPEST and random.random() < 0.3


def _referred(root: JsonSchema, reference: str) -> JsonSchema:
    found = root
    for name in reference.removeprefix("#/").split("/"):
        found = cast("JsonSchema", found.get(name, {}))
    return found
