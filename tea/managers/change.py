"""The kind of change between two versions, which decides how far the version is bumped."""

from __future__ import annotations

from typing import Any, cast

from tea.manifest import Manifest
from tea.operation import Signature
from tea.refs import Change
from tea.types import JsonSchema

_WORDS = frozenset({"title", "description", "examples", "default"})


def change_between(old: Manifest, new: Manifest) -> Change:
    """Return `major` where a caller or the operator's policy may break, `minor` where something is added.

    Source: Semantic Versioning 2.0.0, items 6 to 8.
    """
    if old.recovery != new.recovery or set(old.operations) - set(new.operations):
        return "major"
    shared = [(old.operations[name], new.operations[name]) for name in old.operations]
    if any(_breaks(before, after) for before, after in shared):
        return "major"
    if set(new.operations) - set(old.operations) or any(_adds(before, after) for before, after in shared):
        return "minor"
    return "minor" if _prompt_adds(old, new) else "patch"


def _breaks(old: Signature, new: Signature) -> bool:
    before, after = _properties(old), _properties(new)
    if set(before) - set(after) or _required(new) - _required(old):
        return True
    if any(_meaning(before[name]) != _meaning(after[name]) for name in before):
        return True
    return _meaning(old.returns) != _meaning(new.returns) or _traits(old) != _traits(new)


def _adds(old: Signature, new: Signature) -> bool:
    return bool(set(_properties(new)) - set(_properties(old))) or _required(old) != _required(new)


def _prompt_adds(old: Manifest, new: Manifest) -> bool:
    before, after = (one.metadata.get("prompt", {}).get("variables") for one in (old, new))
    return old.kind == "prompt" and before != after


def _traits(one: Signature) -> tuple[Any, ...]:
    t = one.traits
    return (t.effects, t.idempotent, t.scope, t.network, t.secrets, t.before)


def _properties(one: Signature) -> dict[str, JsonSchema]:
    return cast("dict[str, JsonSchema]", one.parameters.get("properties", {}))


def _required(one: Signature) -> set[str]:
    return set(cast("list[str]", one.parameters.get("required", [])))


def _meaning(schema: Any) -> Any:
    if isinstance(schema, dict):
        items = cast("dict[str, Any]", schema).items()
        return {key: _meaning(value) for key, value in items if key not in _WORDS or isinstance(value, dict)}
    return [_meaning(one) for one in cast("list[Any]", schema)] if isinstance(schema, list) else schema
