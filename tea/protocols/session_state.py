"""Session states: the contents of environments with snapshots, kept in a session from process to process.

One record stands for each session and environment: the state after the last change, with the version that left it, its
revision and the effect that made it, and the state before that effect. An effect that is carried out once more after a
crash begins with the state before it, so what it changes counts once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tea.components.context import Context
from tea.components.manifest import Manifest
from tea.errors import BadInput, CallFailed, Conflict, Damaged
from tea.kernel.key import effect_key, run_and_key
from tea.store.environments import FileEnvironments
from tea.types import JsonValue
from tea.waiting import completed


class Revision(NamedTuple):
    """The identity of a state: its number, from 1, and the effect behind it, `RUN/KEY`."""

    number: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """A state as it is kept.

    Args:
        digest: Digest of the version that left it.
        revision: Which one it is.
        state: What the environment's `snapshot` gave.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    digest: str
    revision: Revision
    state: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """The record of an environment in a session.

    Args:
        last: The state after the last change.
        before: The state before the effect of that change; None where there was none.
        refused: Digests of versions that do not accept the last state, and were told, each with the effect that was.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    last: SavedState
    before: SavedState | None
    refused: dict[str, str]


class SessionStates:
    """The states kept for the sessions of a home.

    Args:
        store: Where they are kept.
        mask: Returns data without the operator's secrets.
    """

    def __init__(self, store: FileEnvironments, mask: Callable[[JsonValue], JsonValue]) -> None:
        self._store, self._mask = store, mask

    def of(self, config: Manifest, context: Context) -> SessionState | None:
        """Return the kept state for a call; None without one.

        That is so in a branch of a run, in a session of the run alone, where a run's journal holds the state, and for
        what is not an effect: a replay looks at nothing, and what is only done again changes nothing.
        """
        if context.branch or not context.change or context.session == context.run:
            return None
        return SessionState(self._store, self._mask, config, context)


class SessionState:
    """The kept state of one environment, as one call of it sees it.

    Args:
        store: Where it is kept.
        mask: Returns data without the operator's secrets.
        config: The version that is called.
        context: The context of the call.
    """

    def __init__(
        self, store: FileEnvironments, mask: Callable[[JsonValue], JsonValue], config: Manifest, context: Context
    ) -> None:
        self._store, self._mask, self._config, self._by = store, mask, config, context.change
        self._place = context.session, config.name
        self._record: _Record | None = None
        self._turn = False

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Hold the turn of the environment, exclusive among all processes.

        Raises:
            Conflict: Another process has it.
            StorageError: It cannot be written.
        """
        if self._turn:
            yield
            return
        give_back = self._store.claim(*self._place)
        if give_back is None:
            problem = f"Another process acts in {self._config.ref.at(None)} of the session {self._place[0]}."
            raise Conflict(problem, fix="wait for it, then call again.")
        self._turn = True
        try:
            yield
        finally:
            self._turn = False
            give_back()

    async def read(self, revision: Revision | None) -> SavedState | None:
        """Return the state to begin with, None for the known one or none.

        Args:
            revision: The revision of the live instance; None without one.

        Raises:
            StorageError: It cannot be read, or is not what was written.
        """
        found = self._record = await asyncio.to_thread(self._read)
        if found is None or found.last.revision == revision:
            return None
        base = found.before if _one_effect(found.last.revision.by, self._by) else found.last
        return None if base is None or base.revision == revision else base

    def refused(self) -> bool:
        """Return whether this version was told, by an earlier effect, to refuse the last state."""
        return self._record is not None and self._record.refused.get(self._config.digest, self._by) != self._by

    async def refuse(self) -> None:
        """Record the loss of the last state for this version; other versions keep it.

        Raises:
            Conflict: Another process acts in the environment.
        """
        async with self.turn():
            found = await asyncio.to_thread(self._read)
            if found is not None:
                await self._write(replace(found, refused={**found.refused, self._config.digest: self._by}))

    def next(self) -> Revision:
        """Return the revision of the state after this call."""
        return Revision(1 if self._record is None else self._record.last.revision.number + 1, self._by)

    async def keep(self, state: JsonValue) -> None:
        """Store the state after this call, within the turn; it is durable before this returns.

        Raises:
            CallFailed: It is too large.
            StorageError: It cannot be written; the one before stands.
        """
        found = self._record
        before = (
            None if found is None else found.before if _one_effect(found.last.revision.by, self._by) else found.last
        )
        last = SavedState(digest=self._config.digest, revision=self.next(), state=self._mask(state))
        await self._write(_Record(last=last, before=before, refused={}))

    async def _write(self, record: _Record) -> None:
        try:
            await completed(asyncio.to_thread(self._store.write, *self._place, asdict(record)))
        except BadInput as error:
            problem = f"The state of {self._config.ref} cannot be kept for the session. {error.problem}"
            raise CallFailed(problem, fix="let `snapshot` return less; large data belongs in files.") from error
        self._record = record

    def _read(self) -> _Record | None:
        found = self._store.read(*self._place)
        try:
            return None if found is None else TypeAdapter(_Record).validate_python(found)
        except ValidationError as error:
            session, name = self._place
            problem = f"The state of environment:{name} kept for the session {session} is damaged: it is not a record."
            raise Damaged(problem, fix="begin another session.") from error


def _one_effect(one: str, other: str) -> bool:
    """Return whether two changes are parts of the same effect of the same run."""
    (run, key), (same, again) = run_and_key(one), run_and_key(other)
    return run == same and effect_key(key) == effect_key(again)
