"""Recorder: puts a run's events into its journal, with their place in the tree of agents, and tells watchers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tea.managers.tracer import Trace, span_id
from tea.runtime.entry import Entry
from tea.types import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a run, as watchers see it.

    Args:
        kind: The record's kind; for gate records `start`, `note`, `done`, `failed` and so on.
        key: Which effect or scope it belongs to.
        agent: Who was at work.
        data: What it says.
    """

    kind: str
    key: str
    agent: str
    data: JsonValue


Watcher = Callable[[Event], None]


class Recorder:
    """Writes records; without a trace, only tells watchers (a call outside of any run, or a replay)."""

    def __init__(self, trace: Trace | None, run: str, watch: Watcher | None = None) -> None:
        self.trace = trace
        self._run = run
        self._watch = watch
        self._agents: dict[str, str] = {}

    def enter(self, key: str, agent: str) -> None:
        """Let everything below `key` belong to `agent`."""
        self._agents[key] = agent

    def entry(self, entry: Entry) -> None:
        """Write what the gate says."""
        data: JsonObject = {"kind": entry.kind, "target": entry.target, "digest": entry.digest, "data": entry.data}
        self._write(entry.event, entry.key, data if entry.kind else {"data": data["data"]}, {"size": len(entry.text)})

    def write(self, kind: str, key: str, data: JsonValue) -> None:
        """Write one record of another's."""
        self._write(kind, key, data, {})

    def _write(self, kind: str, key: str, data: JsonValue, known: Mapping[str, int]) -> None:
        scope, agent = self._scope(key)
        if self.trace is not None:
            self.trace.append(kind, key, data, agent=agent, parent=span_id(self._run, scope) if scope else "", **known)
        if self._watch is not None:
            self._watch(Event(kind=kind, key=key, agent=agent, data=data))

    async def sync(self) -> None:
        """Make everything written so far durable."""
        if self.trace is not None:
            await self.trace.sync()

    def _scope(self, key: str) -> tuple[str, str]:
        """Return the innermost scope that `key` lies in, and its agent."""
        scope = key
        while (cut := max(scope.rfind("."), scope.rfind("/"), scope.rfind("!"))) > 0:
            scope = scope[:cut]
            if scope in self._agents:
                return scope, self._agents[scope]
        return "", ""
