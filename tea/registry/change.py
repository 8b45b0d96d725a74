"""The kind of change between two versions, for the choice of the next version number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast, get_args

from tea.components.manifest import Manifest
from tea.components.operation import Signature
from tea.components.schema_words import as_object, as_words
from tea.refs import Change
from tea.types import Effects, JsonObject, JsonSchema

_EFFECTS = get_args(Effects)  # the weakest first
_WORDS = frozenset({"title", "description", "examples", "default"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def change_between(old: Manifest, new: Manifest) -> Change:
    """Return `major` if a caller or the operator's policy may break, `minor` if something is added.

    What a version from elsewhere says of itself may have any form.

    Source: Semantic Versioning 2.0.0, items 6 to 8.
    """
    if (old.recovery, old.sharing) != (new.recovery, new.sharing) or set(old.operations) - set(new.operations):
        return "major"
    shared = [(old.operations[name], new.operations[name]) for name in old.operations]
    parameters = [(before.parameters, after.parameters) for before, after in shared]
    if old.kind == "prompt":
        parameters.append((_variables(old), _variables(new)))
    if any(_breaks(*pair) for pair in parameters) or any(_promises_less(*pair) for pair in shared):
        return "major"
    if _meaning(_output(old)) != _meaning(_output(new)):
        return "major"
    added = set(new.operations) - set(old.operations) or any(_adds(*pair) for pair in parameters)
    safer = any(_promise(before) != _promise(after) for before, after in shared)
    return "minor" if added or safer else "patch"


def _breaks(old: JsonSchema, new: JsonSchema) -> bool:
    """Return whether arguments valid before may be invalid now."""
    return bool(_required(new) - _required(old)) or any(
        name not in _part(new, part) or not _takes(_part(new, part)[name], schema)
        for part in ("properties", "$defs")
        for name, schema in _part(old, part).items()
    )


def _adds(old: JsonSchema, new: JsonSchema) -> bool:
    return _required(old) != _required(new) or any(
        _meaning(_part(old, part)) != _meaning(_part(new, part)) for part in ("properties", "$defs")
    )


def _takes(new: JsonSchema, old: JsonSchema) -> bool:
    """Return whether a schema certainly takes each value of an older one: the same, or the older as an alternative."""
    wide, narrow = _meaning(new), _meaning(old)
    if wide == narrow:
        return True
    return _alternatives(narrow) <= _alternatives(wide)


def _alternatives(schema: Any) -> set[str]:
    """Return the alternative schemas for a value, as JSON: it has to fit one of them."""
    found = as_object(schema)
    listed = found.get("anyOf")
    every = cast("list[Any]", listed) if isinstance(listed, list) and len(found) == 1 else [schema]
    return {json.dumps(one, sort_keys=True) for one in every}


def _promises_less(old: Signature, new: Signature) -> bool:
    """Return whether a caller or the operator could rely on something before, and cannot now."""
    before, after = old.traits, new.traits
    return (
        _meaning(old.returns) != _meaning(new.returns)
        or _EFFECTS.index(after.effects) > _EFFECTS.index(before.effects)
        or (before.idempotent and not after.idempotent)
        or before.scope != after.scope
        or (after.network and not before.network)
        or after.sandbox_network not in ("", before.sandbox_network)
        or not set(after.secrets) <= set(before.secrets)
        or before.before != after.before
    )


def _promise(one: Signature) -> tuple[Any, ...]:
    t = one.traits
    return (t.effects, t.idempotent, t.network, t.secrets, t.returns_untrusted, t.destinations, t.sandbox_network)


def _variables(prompt: Manifest) -> JsonSchema:
    facts = _facts(prompt)
    return {"properties": facts.get("variables", {}), "required": facts.get("required", [])}


def _output(prompt: Manifest) -> Any:
    return _facts(prompt).get("output")


def _facts(prompt: Manifest) -> JsonObject:
    return as_object(prompt.metadata.get("prompt")) if prompt.kind == "prompt" else {}


def _part(schema: JsonSchema, name: str) -> Mapping[str, JsonSchema]:
    return as_object(schema.get(name))


def _required(schema: JsonSchema) -> set[str]:
    return set(as_words(schema.get("required")))


def _meaning(schema: Any) -> Any:
    """Return a schema without its descriptive texts."""
    if isinstance(schema, list):
        return [_meaning(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    items = cast("dict[str, Any]", schema).items()
    return {
        key: {name: _meaning(one) for name, one in as_object(value).items()} if key in _NAMED else _meaning(value)
        for key, value in items
        if key not in _WORDS
    }
