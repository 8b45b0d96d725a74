"""MemoryManager: the memory of agents in a session, configured by a memory component if one is named (paper, C.1)."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import ConfigDict, Field

from tea.characters import in_sentence
from tea.errors import BadArguments, Damaged
from tea.memory.insights import FORGOTTEN, INSIGHT, Insight, learned
from tea.memory.state import Choose, States, owner_of, session_of
from tea.refs import NAME
from tea.store.environments import FileEnvironments
from tea.store.events import EventStore
from tea.store.strict import dumps
from tea.types import JsonObject, JsonValue

RECALL_LIMIT = 1_000
SUMMARY_LIMIT = 2_000
_LATEST = ", the latest of them"
INSIGHTS_LIMIT = 50

_LINE_LIMIT = 200
_TASK_LIMIT = 80  # of it, for the task of a result
_TOLD = ("next_goal", "result", "answer", "evaluation", "memory", "text")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """The configuration in a memory component: the memory of agents naming it. It is never code.

    Args:
        scope: Whose events of the session are seen: those of all agents, of the agent itself, or only those that it
            recorded for the same task.
        limit: Most events that one recall gives, 1 to 1,000; a recall that asks for fewer gets fewer.
        kinds: Kinds of events that are kept and seen, those that others recorded too; empty for all.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    name: str
    scope: Literal["session", "agent", "task"] = "session"
    limit: Annotated[int, Field(ge=1, le=RECALL_LIMIT)] = 20
    kinds: tuple[Annotated[str, Field(pattern=f"^(?:{NAME.pattern})$")], ...] = ()

    def keeps(self, kind: str) -> bool:
        """Return whether events of a kind are kept, and seen."""
        return not self.kinds or kind in self.kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The scope of a memory: its agent, session and task.

    Args:
        session: Id of the session; nothing is ever seen from another one.
        agent: Name of the agent, empty outside of one.
        task: Id of the task within the session.
        memory: What the memory component says that the agent names; None for all that the session holds.
    """

    session: str
    agent: str = ""
    task: str = ""
    memory: MemoryConfig | None = None


class MemoryManager:
    """A store of recorded events, with extracts of them made without a model.

    An event is `{"agent", "task", "kind", "data"}`; equal work gives equal events, so they hold no time. What the
    scope's memory component does not keep is passed over, and what it does not show is as if it were not there.

    Args:
        events: Where they are kept, one stream for each session.
        environments: The states of environments, which are forgotten with their session.
    """

    def __init__(self, events: EventStore, environments: FileEnvironments | None = None) -> None:
        self._events, self._environments = events, environments
        self.states = States(events)

    async def record(self, scope: Scope, kind: str, data: JsonObject, key: str, *, synced: bool = True) -> None:
        """Add an event; a second one with the same key in the same session changes nothing.

        It survives the death of this process at once, and is seen by every other at once.

        Args:
            scope: Who remembers.
            kind: Sort of event, for example `step`, `result` or `insight`; follows the grammar of names.
            data: JSON data.
            key: What makes the event one and the same: the key of the effect that records it.
            synced: Whether it survives a loss of power, too, before this returns. A run whose journal holds the event
                as well leaves that to `sync` at its end, and records it again when it is resumed.

        Raises:
            BadArguments: The kind is not a name, the key or session is empty, or the data are not JSON or too large.
            StorageError: It cannot be written.
        """
        event = _event(scope, kind, data, key)
        if not _keeps(scope, kind):
            return
        if synced or not self._events.at_once(scope.session, key, event):
            await asyncio.to_thread(self._events.append, scope.session, key, event, synced=synced)

    async def sync(self, session: str) -> None:
        """Make all events recorded here of a session survive a loss of power.

        Raises:
            StorageError: The disk does not confirm.
        """
        await asyncio.to_thread(self._events.sync, session)

    def inherit(self, session: str, child: str, owners: Iterable[str], choose: Choose) -> None:
        """Copy a session's memory, and the states of owners, into another session; it blocks.

        Args:
            session: The session.
            child: The other, whose one run and task have the same id.
            owners: Whose states.
            choose: Which changes count.

        Raises:
            StorageError: It cannot be read or written.
        """
        known = self._events.keyed(session)
        for (key, event), new in zip(known, choose([key for key, _ in known]), strict=True):
            if new is not None:
                own = {} if new == key else {"task": child}
                self._events.append(child, new, {**event, **own}, synced=False)
        if known:
            self._events.sync(child)
        for owner in owners:
            self.states.inherit(owner, session, child, choose)

    def carry_over(self, session: str, other: str) -> None:
        """Add a session's memory and states to another one, each change at most once; it blocks.

        Raises:
            StorageError: It cannot be read or written.
        """
        for key, event in self._events.keyed(session):
            self._events.append(other, key, event, synced=False)
        if self._events.begun(other):
            self._events.sync(other)
        for stream in self._events.streams():
            if stream != session and session_of(stream) == session:
                self.states.carry_over(owner_of(stream), session, other)

    def forget(self, sessions: Container[str]) -> None:
        """Remove all memory of sessions, and their states, permanently; it blocks.

        Raises:
            StorageError: It cannot be removed.
        """
        for stream in self._events.streams():
            if session_of(stream) in sessions:
                self._events.remove(stream)
        if self._environments is not None:
            self._environments.forget(sessions)

    async def recall(self, scope: Scope, query: str = "", limit: int = 20) -> list[JsonObject]:
        """Return at most `limit` events of the session, oldest first.

        Events with more words of `query` go before events with fewer, then those of the own agent and task before
        others, then newer before older. With a query, an event without any of its words is left out.

        Args:
            scope: Who remembers.
            query: Words to look for, in any case; empty for all events.
            limit: How many, 1 to 1,000; at most as many as the memory component gives.

        Raises:
            BadArguments: The limit is out of range.
            StorageError: The events cannot be read.
        """
        if not 1 <= limit <= RECALL_LIMIT:
            raise BadArguments(f"A limit of {limit} is out of range.", fix=f"use 1 to {RECALL_LIMIT:,}.")
        return await asyncio.to_thread(self._recall, scope, query, limit)

    async def summarise(self, scope: Scope, *, earlier: bool = False) -> str:
        """Return the event counts and the latest contents, in at most 2,000 characters.

        An extract, not an understanding: the number of events of each kind, then the newest goals, results and
        evaluations, clipped, oldest first. Empty when there are no events.

        Args:
            scope: Who remembers.
            earlier: Whether events of the present task are left out: they are parts of the same work.

        Raises:
            StorageError: The events cannot be read.
        """
        return _summary(await self._read(scope, earlier=earlier))

    async def insights(self, scope: Scope, *, earlier: bool = False) -> list[str]:
        """Return the texts of the newest 50 different events of kind `insight`, oldest first, without forgotten ones.

        Args:
            scope: Who remembers.
            earlier: Whether events of the present task are left out.

        Raises:
            StorageError: The events cannot be read.
        """
        events = await self._read(scope, earlier=earlier)
        if any(event["kind"] == INSIGHT for event in events):
            every = await asyncio.to_thread(self._events.read, scope.session)
            gone = {one.text for one in _learned(scope.session, every) if one.forgotten}
            events = [one for one in events if one["kind"] != INSIGHT or _told(one) not in gone]
        newest_first = dict.fromkeys(_told(event) for event in reversed(events) if event["kind"] == INSIGHT)
        return list(newest_first)[:INSIGHTS_LIMIT][::-1]

    def sessions(self) -> list[str]:
        """Return the sessions with a memory; it blocks.

        Raises:
            StorageError: They cannot be read.
        """
        return [one for one in self._events.streams() if not one.startswith("state/")]

    def events(self, session: str) -> list[JsonObject]:
        """Return all events of a session, oldest first; it blocks.

        Raises:
            StorageError: They cannot be read.
        """
        return [deepcopy(one) for one in self._events.read(session)]

    def learned(self, session: str) -> list[Insight]:
        """Return the insights of a session with their sources and uses, forgotten ones too; it blocks.

        Raises:
            StorageError: They cannot be read.
        """
        return _learned(session, self._events.read(session))

    def drop(self, session: str, insight: str) -> None:
        """Forget an insight of a session until it is recorded again; it blocks.

        Raises:
            StorageError: It cannot be written.
        """
        event = _event(Scope(session=session), FORGOTTEN, {"insight": insight}, insight)
        self._events.append(session, f"{FORGOTTEN}/{insight}/{len(self._events.read(session))}", event)

    async def _read(self, scope: Scope, *, earlier: bool) -> Sequence[JsonObject]:
        """Return the visible events; a new session without any needs no thread."""
        events = await asyncio.to_thread(self._seen, scope) if self._events.begun(scope.session) else ()
        return [one for one in events if one["task"] != scope.task] if earlier else events

    def _seen(self, scope: Scope) -> Sequence[JsonObject]:
        """Return the events of a session, only the visible ones with a memory component."""
        memory = scope.memory
        events = [one for one in self._events.read(scope.session) if one["kind"] != FORGOTTEN]
        return events if memory is None else [one for one in events if _shows(memory, scope, one)]

    def _recall(self, scope: Scope, query: str, limit: int) -> list[JsonObject]:
        events = self._seen(scope)
        limit = limit if scope.memory is None else min(limit, scope.memory.limit)
        wanted = _words(query)
        hits = [len(wanted & _words(" ".join(_texts(list(event.values()))))) if wanted else 1 for event in events]
        found = [index for index, count in enumerate(hits) if count]
        found.sort(key=lambda index: (hits[index], _closeness(events[index], scope), index), reverse=True)
        return [deepcopy(events[index]) for index in sorted(found[:limit])]


def _learned(session: str, events: Sequence[JsonObject]) -> list[Insight]:
    try:
        return learned(session, events, [_told(one) if one["kind"] == INSIGHT else "" for one in events])
    except (AttributeError, LookupError, TypeError) as error:
        problem = f"The memory of the session {in_sentence(session[:60])} holds what no run writes."
        raise Damaged(problem, fix="`tea memory forget --session SESSION` removes it.") from error


def _event(scope: Scope, kind: str, data: JsonObject, key: str) -> JsonObject:
    """Return an event as it is kept; raises BadArguments."""
    if not NAME.fullmatch(kind):
        fix = "use lower-case letters, digits and _, for example step."
        raise BadArguments(f"{kind[:60]!r} is not a kind of event.", fix=fix)
    if not scope.session or not key:
        raise BadArguments("An event needs a session and a key.", fix="give both.")
    if not isinstance(data, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadArguments(f"An event's data is not an object, but {type(data).__name__}.", fix="give values by name.")
    return {"agent": scope.agent, "task": scope.task, "kind": kind, "data": dict(data)}


def _keeps(scope: Scope, kind: str) -> bool:
    return scope.memory is None or scope.memory.keeps(kind)


def _shows(memory: MemoryConfig, scope: Scope, event: JsonObject) -> bool:
    """Return whether a memory component shows an event to an agent: each scope is a part of the one before."""
    own = memory.scope == "session" or event["agent"] == scope.agent
    same = memory.scope != "task" or event["task"] == scope.task
    return own and same and memory.keeps(str(event["kind"]))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in cast("dict[str, JsonValue]", value).items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in cast("list[JsonValue]", value):
            yield from _texts(item)
    else:
        yield str(value)


def _closeness(event: JsonObject, scope: Scope) -> int:
    own = event["agent"] == scope.agent
    return own + (own and event["task"] == scope.task)


def _summary(events: Sequence[JsonObject]) -> str:
    if not events:
        return ""
    counts = Counter(event["kind"] for event in events)
    kinds = [f"{number} {kind}{'s' if number > 1 else ''}" for kind, number in sorted(counts.items())]
    head = _clipped(f"{', '.join(kinds)} recorded")
    lines, left = list[str](), SUMMARY_LIMIT - len(head) - len(_LATEST)
    for event in reversed(events):
        line = _clipped(f"- {event['agent'] or 'session'}, {event['kind']}: {_told(event, _TASK_LIMIT)}")
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join([f"{head}{_LATEST if len(lines) < len(events) else ''}:", *reversed(lines)])


def _told(event: JsonObject, most: int | None = None) -> str:
    """Return the words of an event, of a task at most so many characters, as its result says more."""
    data: dict[str, Any] = event["data"]
    if event["kind"] == "result" and isinstance(data.get("task"), str):
        came = data["answer"] if data.get("answer") not in (None, "") else data.get("reason", "")
        task = data["task"] if most is None else _clipped(data["task"], most)
        return f"{task} -> {came if isinstance(came, str) else dumps(came).decode()}"
    told = next((value for name in _TOLD if isinstance(value := data.get(name), str) and value), None)
    return told if told is not None else dumps(data, sort_keys=True).decode()


def _clipped(text: str, most: int = _LINE_LIMIT) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
