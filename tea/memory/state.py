"""States: a small JSON document for each owner, per session or lasting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from time import monotonic
from typing import Any, cast

from tea.errors import BadArguments
from tea.kernel.key import asked_in
from tea.store.events import EventStore
from tea.store.strict import Refused, dumps
from tea.types import JsonObject, JsonValue, merge_patch

MOST_BYTES = 64 * 1024
_FIRST_WAIT, _LONGEST_WAIT = 0.001, 0.02
Choose = Callable[[Sequence[str]], Sequence[str | None]]
"""Takes the keys of changes, oldest first, and gives for each the key that a copy has, None where none is made."""


class States:
    """A store of documents, changing each at most once for one key, also with concurrent writers.

    Each change is one event with the whole document; events are numbered, so two writers never hold the same number.

    Args:
        events: Where they are kept, one stream for each document.
    """

    def __init__(self, events: EventStore) -> None:
        self._events = events

    async def load(self, owner: str, session: str | None, again: str = "") -> JsonValue:
        """Return a document, None if there is none.

        Args:
            owner: Whose it is, for example `agent:market`.
            session: The session it belongs to; None for the one that all sessions share.
            again: Key of this question where its effect is carried out once more, `EFFECT` or `EFFECT~NUMBER`: it
                is told what it was told then, before all that later questions of its effect changed.
        """
        return await asyncio.to_thread(self._load, _stream(owner, session), again)

    async def save(self, owner: str, session: str | None, document: JsonValue, key: str) -> None:
        """Replace a document.

        Args:
            owner: As for `load`.
            session: As for `load`.
            document: JSON data of at most 64 KiB.
            key: What makes the change one and the same: the key of the effect that makes it.

        Raises:
            BadArguments: The document is not JSON, or too large.
            StorageError: It cannot be written.
        """
        await self._changed(owner, session, key, lambda _: (document,))

    async def merge(self, owner: str, session: str | None, patch: JsonObject, key: str) -> None:
        """Change members of a document; a member set to None is removed, as in JSON Merge Patch (RFC 7396)."""
        await self._changed(owner, session, key, lambda found: (merge_patch(found, patch),))

    async def put(
        self,
        owner: str,
        session: str | None,
        changes: Sequence[tuple[Sequence[str], JsonValue]],
        key: str,
        expected: Sequence[tuple[Sequence[str], Sequence[JsonValue]]] = (),
    ) -> bool:
        """Replace single values of a document if others are still as expected, and return whether they were.

        Args:
            owner: As for `load`.
            session: As for `load`.
            changes: Each a path of names, and the value at its end.
            key: As for `save`.
            expected: Each a path of names, and the one value at its end; none where there is none.
        """

        def change(found: JsonValue) -> tuple[JsonValue] | None:
            return (_put(found, changes),) if all(_at(found, path) == list(old) for path, old in expected) else None

        return await self._changed(owner, session, key, change)

    async def claim(self, owner: str, session: str | None, seconds: float) -> Callable[[], None] | None:
        """Wait for the turn of an owner, exclusive among all processes, and claim it.

        Changes need no turn; whoever does something else between reading and changing takes one.

        Args:
            owner: As for `load`.
            session: As for `load`.
            seconds: How long to wait at most.

        Returns:
            What gives it back, as the end of the process does, too; None where others had it for so long.

        Raises:
            StorageError: It cannot be written.
        """
        end, wait = monotonic() + seconds, _FIRST_WAIT
        while (give_back := self._events.claim(_stream(owner, session))) is None and monotonic() < end:
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
        return give_back

    async def swap(self, owner: str, session: str | None, old: JsonValue, new: JsonValue, key: str) -> bool:
        """Replace a document if it is still `old`, and return whether it was."""
        return await self._changed(owner, session, key, lambda found: (new,) if found == old else None)

    def inherit(self, owner: str, session: str, child: str, choose: Choose) -> None:
        """Copy a session's document, with the changes to keep, into another session; it blocks."""
        events = self._events.read(_stream(owner, session))
        chosen = zip(events, choose([str(event["by"]) for event in events]), strict=True)
        kept = [{**event, "by": new} for event, new in chosen if new is not None]
        for number, event in enumerate(kept, 1):
            self._events.append(_stream(owner, child), str(number), event, synced=number == len(kept))

    def carry_over(self, owner: str, session: str, other: str) -> None:
        """Repeat the changes of a session's document in another session, each at most once; it blocks."""
        for event in self._events.read(_stream(owner, session)):
            self._change(_stream(owner, other), str(event["by"]), lambda _, made=event: (made["document"],))

    async def _changed(
        self, owner: str, session: str | None, key: str, change: Callable[[JsonValue], tuple[JsonValue] | None]
    ) -> bool:
        return await asyncio.to_thread(self._change, _stream(owner, session), key, change)

    def _load(self, stream: str, again: str) -> JsonValue:
        events = self._events.read(stream)
        if again:
            events = tuple(takewhile(lambda event: not _later(event["by"], again), events))
        return events[-1]["document"] if events else None

    def _change(self, stream: str, key: str, change: Callable[[JsonValue], tuple[JsonValue] | None]) -> bool:
        while True:
            events = self._events.read(stream)
            if any(event["by"] == key for event in reversed(events)):
                return True
            made = change(events[-1]["document"] if events else None)
            if made is None:
                return False
            _check(made[0])
            if self._events.append(stream, str(len(events) + 1), {"by": key, "document": made[0]}):
                return True


def _later(one: str, other: str) -> bool:
    """Return whether a key belongs to a later request of the same effect than another."""
    (call, number), (asking, when) = asked_in(one), asked_in(other)
    return call == asking and (number or 1) > (when or 1)  # the first question may have the key of the effect


def _check(document: JsonValue) -> None:
    try:
        size = len(dumps({"document": document}))
    except Refused as reason:
        raise BadArguments(f"The state cannot be kept: {reason}.", fix="give plain data.") from reason
    if size > MOST_BYTES:
        problem = f"The state has {size:,} bytes, and {MOST_BYTES:,} are allowed."
        raise BadArguments(problem, fix="keep less, or write a file and keep its name.")


def _put(document: JsonValue, changes: Sequence[tuple[Sequence[str], JsonValue]]) -> JsonValue:
    found = _object(document)
    for (name, *rest), value in changes:
        found[name] = _put(found.get(name), [(rest, value)]) if rest else value
    return found


def _at(document: JsonValue, path: Sequence[str]) -> list[JsonValue]:
    """Return the value at the end of a path in a list of one, or an empty list if there is none."""
    for name in path:
        if not isinstance(document, Mapping) or name not in document:
            return []
        document = cast("Mapping[str, Any]", document)[name]
    return [document]


def _object(document: JsonValue) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", document)) if isinstance(document, Mapping) else {}


def owner_of(stream: str) -> str:
    """Return the owner of the document in a stream of a session."""
    return stream.removeprefix("state/").rpartition("/")[0]


def session_of(stream: str) -> str:
    """Return the session of a stream; for a shared document a name no session has."""
    return stream.rpartition("/")[2]


def _stream(owner: str, session: str | None) -> str:
    return f"state/{owner}" if session is None else f"state/{owner}/{session}"
