"""Inheritance: a fork's own copy of its parent's session, in its state at the fork's position.

A session is shared: other runs write into it before, during and after the one that is forked. Each change is known by
the run and the effect that made it, so the journals tell when that was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tea.errors import BadInput, StorageError
from tea.journal.record import TraceRecord
from tea.journal.tracer import Tracer
from tea.kernel.key import change_id, effect_key, run_and_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Inheritance:
    """The changes of a session inherited by a fork.

    Args:
        tracer: Reads the journals.
        parent: The run that is forked.
        child: The fork.
        moment: When the last event happened that the fork keeps, ISO 8601 in UTC.
        ended: Keys of the parent's effects that had ended by then.
    """

    tracer: Tracer
    parent: str
    child: str
    moment: str
    ended: frozenset[str]
    _times: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    @classmethod
    def of(cls, tracer: Tracer, parent: str, child: str, moment: str, kept: Sequence[TraceRecord]) -> Inheritance:
        """Return the inheritance of a fork keeping these records of its parent."""
        ended = frozenset(one.key for one in kept if one.kind in ("done", "failed"))
        return cls(tracer=tracer, parent=parent, child=child, moment=moment, ended=ended)

    def choose(self, changes: Sequence[str]) -> list[str | None]:
        """Return the key of the copy of each change, `run/effect`; the parent's changes become the fork's own.

        Of the parent counts what its kept effects did; of others what happened before that, or by that moment.
        """
        found = [self._own(one) for one in changes]
        last = max((place for place, one in enumerate(found) if one is not None), default=-1)
        return [
            one if one is not None else change if self._foreign(change, place < last) else None
            for place, (change, one) in enumerate(zip(changes, found, strict=True))
        ]

    def _own(self, change: str) -> str | None:
        run, effect = run_and_key(change)
        return change_id(self.child, effect) if run == self.parent and effect_key(effect) in self.ended else None

    def _foreign(self, change: str, before: bool) -> bool:
        run, effect = run_and_key(change)
        return run != self.parent and (before or self._time(run, effect_key(effect)) <= self.moment)

    def _time(self, run: str, effect: str) -> str:
        """Return the time an effect ended; without a journal of it, the time its run began, as contained in its id."""
        if run not in self._times:
            try:
                records = [one for one in self.tracer.records(run) if one.kind in ("start", "done", "failed")]
            except (BadInput, StorageError):
                records = []
            self._times[run] = {one.key: one.time for one in records}
        return self._times[run].get(effect) or _begun(run)


def _begun(run: str) -> str:
    try:
        moment = datetime.fromtimestamp(int(run[:12], 16) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
