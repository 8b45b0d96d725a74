"""TraceRecord: one record of a journal, and how its data and its span are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from tea.types import JsonValue

GATE_KINDS = frozenset({"start", "note", "done", "failed", "fired", "message", "cancelled", "forked"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRecord:
    """One record of a journal.

    Args:
        seq: Its place, from 0.
        time: When, ISO 8601 in UTC.
        span: Span id, 16 hex digits (OpenTelemetry).
        parent: Span id of what it belongs to, empty at the top.
        session: Id of the session.
        task: Id of the task.
        agent: Name of the agent at work.
        kind: What sort of record; unknown kinds are kept.
        key: Key of the effect or scope it belongs to.
        data: What it says.
    """

    seq: int
    time: str
    span: str
    parent: str
    session: str
    task: str
    agent: str
    kind: str
    key: str
    data: JsonValue


def as_mapping(value: JsonValue) -> Mapping[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def first_record(kind: str, time: str, data: JsonValue) -> TraceRecord:
    """Return a record of a run as a whole, with its place, session and task assigned by its journal."""
    return TraceRecord(
        seq=0, time=time, span="", parent="", session="", task="", agent="", kind=kind, key="", data=data
    )


@lru_cache(maxsize=4096)  # the start and the end of an effect have the same
def span_id(run: str, key: str) -> str:
    """Return the span id of a key of a run: 16 hex digits, always the same."""
    return hashlib.sha256(f"{run}/{key}".encode()).hexdigest()[:16]
