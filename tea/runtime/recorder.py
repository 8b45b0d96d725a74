"""Recorder: puts a run's events into its journal, with their place in the tree of agents, and tells watchers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tea.managers.model import Listen
from tea.managers.tracer import Trace, TraceRecord, span_id
from tea.runtime.entry import Entry, encode
from tea.runtime.mask import Mask
from tea.types import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a run, as watchers see it.

    Args:
        kind: The record's kind; for gate records `start`, `note`, `done`, `failed` and so on. `delta` is no record: a
            piece of a model's answer on its way.
        key: Which effect or scope it belongs to.
        agent: Who was at work.
        data: What it says.
    """

    kind: str
    key: str
    agent: str
    data: JsonValue


Watcher = Callable[[Event], None]
NO_SECRETS = Mask({})


class Recorder:
    """Writes records; without a trace, only tells watchers (a call outside of any run, or a replay)."""

    def __init__(self, trace: Trace | None, run: str, watch: Watcher | None = None, mask: Mask = NO_SECRETS) -> None:
        self.mask = mask
        self.trace = trace
        self._run = run
        self._watch = watch
        self._scopes: dict[str, tuple[str, str]] = {}

    def enter(self, key: str, agent: str) -> None:
        """Let everything below `key` belong to `agent`."""
        self._scopes[key] = span_id(self._run, key), agent

    def entry(self, entry: Entry) -> None:
        """Write what the gate says."""
        span, agent = self._scope(entry.key)
        if self.trace is not None:
            fields = ""
            if entry.kind:
                named = f'"kind":{encode(entry.kind)},"target":{encode(entry.target)}'
                fields = f'{named},"digest":"{entry.digest}",'
            self.trace.append_text(entry.event, entry.key, fields, entry.text, agent=agent, parent=span)
        if self._watch is not None:
            said = {"kind": entry.kind, "target": entry.target, "digest": entry.digest} if entry.kind else {}
            self._watch(Event(kind=entry.event, key=entry.key, agent=agent, data={**said, "data": entry.data}))

    def write(self, kind: str, key: str, data: JsonValue) -> None:
        """Write one record of another's."""
        span, agent = self._scope(key)
        data = self.mask.data(data)
        if self.trace is not None:
            self.trace.append(kind, key, data, agent=agent, parent=span)
        if self._watch is not None:
            self._watch(Event(kind=kind, key=key, agent=agent, data=data))

    def adopt(self, records: Sequence[TraceRecord]) -> None:
        """Write what a run begins with that goes on from another; watchers are told of its head."""
        if self.trace is not None:
            self.trace.adopt(records)
        if self._watch is not None:
            self._watch(Event(kind=records[0].kind, key="", agent="", data=records[0].data))

    @contextmanager
    def silence(self) -> Generator[None]:
        """Write and tell nothing meanwhile: what is done again was recorded when it was done."""
        trace, watch = self.trace, self._watch
        self.trace = self._watch = None
        try:
            yield
        finally:
            self.trace, self._watch = trace, watch

    def listener(self, key: str) -> Listen | None:
        """Return what tells the watcher of an answer while it comes; none of that is written."""
        watch, mask = self._watch, self.mask.data
        if watch is None:
            return None
        agent = self._scope(key)[1]
        return lambda delta: watch(
            Event(kind="delta", key=key, agent=agent, data={"type": delta.type, "text": mask(delta.text)})
        )

    async def sync(self) -> None:
        """Make everything written so far durable."""
        if self.trace is not None:
            await self.trace.sync()

    def _scope(self, key: str) -> tuple[str, str]:
        """Return the span of the innermost scope that `key` lies in, and its agent."""
        scope = key
        while (cut := max(scope.rfind("."), scope.rfind("/"), scope.rfind("!"))) > 0:
            scope = scope[:cut]
            if scope in self._scopes:
                return self._scopes[scope]
        return "", ""
