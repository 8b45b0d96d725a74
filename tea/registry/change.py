"""The kind of change between two versions, for the choice of the next version number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tea.components.manifest import Manifest
from tea.components.operation import Signature
from tea.refs import Change
from tea.types import JsonObject, JsonSchema

_WORDS = frozenset({"title", "description", "examples", "default"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def change_between(old: Manifest, new: Manifest) -> Change:
    """Return `major` if a caller or the operator's policy may break, `minor` if something is added.

    Source: Semantic Versioning 2.0.0, items 6 to 8.
    """
    if (old.recovery, old.sharing) != (new.recovery, new.sharing) or set(old.operations) - set(new.operations):
        return "major"
    shared = [(old.operations[name], new.operations[name]) for name in old.operations]
    parameters = [(before.parameters, after.parameters) for before, after in shared]
    if old.kind == "prompt":
        parameters.append((_variables(old), _variables(new)))
    if any(_breaks(*pair) for pair in parameters) or any(
        _promise(before) != _promise(after) for before, after in shared
    ):
        return "major"
    if _meaning(_output(old)) != _meaning(_output(new)):
        return "major"
    added = set(new.operations) - set(old.operations) or any(_adds(*pair) for pair in parameters)
    return "minor" if added else "patch"


def _breaks(old: JsonSchema, new: JsonSchema) -> bool:
    """Return whether arguments valid before may be invalid now; any other type counts, even a wider one."""
    return bool(_required(new) - _required(old)) or any(
        name not in _part(new, part) or _meaning(schema) != _meaning(_part(new, part)[name])
        for part in ("properties", "$defs")
        for name, schema in _part(old, part).items()
    )


def _adds(old: JsonSchema, new: JsonSchema) -> bool:
    return bool(set(_part(new, "properties")) - set(_part(old, "properties"))) or _required(old) != _required(new)


def _promise(one: Signature) -> tuple[Any, ...]:
    t = one.traits
    return (_meaning(one.returns), t.effects, t.idempotent, t.scope, t.network, t.secrets, t.before)


def _variables(prompt: Manifest) -> JsonSchema:
    facts = _facts(prompt)
    return {"properties": facts.get("variables", {}), "required": facts.get("required", [])}


def _output(prompt: Manifest) -> Any:
    return _facts(prompt).get("output")


def _facts(prompt: Manifest) -> JsonObject:
    return cast("JsonObject", prompt.metadata.get("prompt", {})) if prompt.kind == "prompt" else {}


def _part(schema: JsonSchema, name: str) -> Mapping[str, JsonSchema]:
    return cast("Mapping[str, JsonSchema]", schema.get(name, {}))


def _required(schema: JsonSchema) -> set[str]:
    return set(cast("list[str]", schema.get("required", [])))


def _meaning(schema: Any) -> Any:
    """Return a schema without its descriptive texts."""
    if isinstance(schema, list):
        return [_meaning(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    items = cast("dict[str, Any]", schema).items()
    return {
        key: {name: _meaning(one) for name, one in value.items()} if key in _NAMED else _meaning(value)
        for key, value in items
        if key not in _WORDS
    }
