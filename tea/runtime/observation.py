"""What a step showed an agent, kept small enough for a model to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tea.errors import ErrorRecord, TeaError
from tea.types import JsonObject, JsonValue

MOST_CHARACTERS = 20_000
MOST_IN_STEP = 60_000
MOST_IN_ARGUMENTS = 4_000
LEAST_CHARACTERS = 1_000
NOTE = "shortened: {shown} of {all} characters; narrow the call, or read on page by page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one call.

    Args:
        name: What was called.
        arguments: What it was called with.
        ok: Whether it did what was wanted.
        value: What it gave; an unsuccessful agent gives a value too.
        error: Why it is not ok.
    """

    name: str
    arguments: JsonObject
    ok: bool
    value: JsonValue = None
    error: ErrorRecord | None = None

    @classmethod
    def refused(cls, name: str, arguments: JsonObject, error: TeaError) -> Outcome:
        """Return the outcome of a call that was not made."""
        return cls(name=name, arguments=arguments, ok=False, error=error.record())

    def shown(self, limit: int) -> dict[str, Any]:
        """Return the call as a model reads it, its value at most about `limit` characters of JSON."""
        value = shortened(self.value, limit)
        found: dict[str, Any] = {
            "name": self.name,
            "arguments": shortened(self.arguments, MOST_IN_ARGUMENTS),
            "ok": self.ok,
            "value": value,
            "error": self.error,
        }
        if (size := _size(self.value)) > (left := _size(value)):
            found["note"] = NOTE.format(shown=left, all=size)
        return found


def observed(step: int, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the calls of one step gave, as one bounded JSON object."""
    limit = max(LEAST_CHARACTERS, min(MOST_CHARACTERS, MOST_IN_STEP // max(1, len(outcomes))))
    return {"step": step, "calls": [outcome.shown(limit) for outcome in outcomes]}


def shortened(value: JsonValue, limit: int) -> JsonValue:
    """Return `value` cut to about `limit` characters of JSON, keeping its shape.

    Texts and lists lose their end; the largest values of an object are cut first.
    """
    if _size(value) <= limit:
        return value
    if isinstance(value, str):
        return value[: max(0, limit - 3)] + "..."
    if isinstance(value, list):
        return _shortened_list(cast("list[Any]", value), limit)
    if isinstance(value, Mapping):
        return _shortened_object(cast("Mapping[str, Any]", value), limit)
    return value


def _shortened_list(items: list[Any], limit: int) -> list[Any]:
    kept: list[Any] = []
    left = limit
    for item in items:
        part = shortened(item, max(limit // 4, left)) if not kept else item
        left -= _size(part) + 2
        if left < 0 and kept:
            break
        kept.append(part)
    return kept


def _shortened_object(value: Mapping[str, Any], limit: int) -> dict[str, Any]:
    left, cut = limit, dict[str, Any]()
    by_size = sorted(value, key=lambda key: (_size(value[key]), key))
    for position, key in enumerate(by_size):
        share = max(0, left) // (len(by_size) - position)
        cut[key] = shortened(value[key], max(16, share - len(key) - 4))
        left -= _size(cut[key]) + len(key) + 4
    return {key: cut[key] for key in value}


def _size(value: JsonValue) -> int:
    return len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))
