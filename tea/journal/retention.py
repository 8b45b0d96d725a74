"""Retention: the choice of runs old enough for removal, and their removal; all of it blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from tea.clock import utc_now
from tea.errors import BadInput, Conflict, StorageError
from tea.journal.form import understood
from tea.journal.status import RunStatus, StatusReader
from tea.journal.tracer import Tracer
from tea.memory.manager import MemoryManager

_SPARED = {
    "running": "a living process holds them.",
    "waiting": "they wait for an answer; --unfinished removes them.",
    "unfinished": "`tea resume` can go on with them; --unfinished removes them.",
    "damaged": "they are damaged; look at them with `tea doctor`.",
}
Status = Literal["ended", "running", "waiting", "unfinished", "damaged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """The rules for keeping runs.

    Args:
        newest: So many of the newest runs, those from elsewhere being the oldest; None for as many as there are.
        days: Runs that began within so many days, None for all.
        unfinished: Runs that wait for an answer or could be resumed.
    """

    newest: int | None = None
    days: float | None = None
    unfinished: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """A run removed, or to be removed: its start, its status, and its size in bytes."""

    run: str
    time: str
    status: Status
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GcReport:
    """The result of a collection: the removed runs, the number kept, and the number of old ones kept, by reason."""

    removed: tuple[Old, ...]
    kept: int
    spared: Mapping[str, int]

    @property
    def bytes(self) -> int:
        """Size of the removed runs."""
        return sum(one.bytes for one in self.removed)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {**asdict(self), "bytes": self.bytes}


def collect(tracer: Tracer, memory: MemoryManager, keeping: RetentionPolicy, *, remove: bool) -> GcReport:
    """Remove the runs not kept by a rule, or only list them.

    What a run remembered in a session of its own goes with it, unless another run was begun in that session.

    Raises:
        StorageError: A run cannot be removed; those before it are.
    """
    runs = tracer.runs()
    if keeping.newest:  # a run from elsewhere may claim to be newer than any that this account began
        runs.sort(key=lambda run: not tracer.is_own(run, unreadable=False))
    border = None if keeping.days is None else utc_now() - timedelta(days=keeping.days)
    removed: list[Old] = []
    spared: Counter[str] = Counter()
    vanished = 0
    for place, run in enumerate(runs):
        if keeping.newest is not None and place < keeping.newest:
            continue
        try:
            time, status = _look(tracer, run)
        except BadInput:  # another process removed it meanwhile
            vanished += 1
            continue
        if border is not None and (not time or datetime.fromisoformat(time) >= border):
            continue
        if status in ("running", "damaged") or (keeping.unfinished and status != "ended"):
            spared[_SPARED[status]] += 1
            continue
        try:
            size = tracer.remove(run) if remove else tracer.store.size(run)
        except Conflict:
            spared[_SPARED["running"]] += 1
            continue
        except BadInput:
            vanished += 1
            continue
        removed.append(Old(run=run, time=time, status=status, bytes=size))
    gone = {one.run for one in removed}
    if gone and remove:
        memory.forget(gone - {_session(tracer, run) for run in runs if run not in gone})
    return GcReport(removed=tuple(removed), kept=len(runs) - len(removed) - vanished, spared=dict(spared))


def _session(tracer: Tracer, run: str) -> str:
    """Return the session a run started in; the run's own if its journal does not name one."""
    try:
        return next((one.session for one in tracer.records(run)), run)
    except (BadInput, StorageError):
        return run


def _look(tracer: Tracer, run: str) -> tuple[str, Status]:
    """Return the start time and the status of a run."""
    time, standing = "", RunStatus()
    try:
        held = tracer.store.held(run)
        with understood(run):
            for record in tracer.records(run, wanted=StatusReader()):
                time = time or record.time
                standing.take(record)
    except StorageError:
        return time, "damaged"
    return time, "running" if held and standing.status != "ended" else standing.status
