"""UsageEvidence: the tasks served by components, read from the journals of successful runs."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from tea.errors import BadRef, StorageError, TeaError
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.tracer import Tracer
from tea.kernel.key import innermost, outer, path_of
from tea.refs import Kind, Ref
from tea.store.usage import UsageStore, Use

EARNING: tuple[Kind, ...] = ("tool", "environment", "agent")
MOST_USES = 50
MOST_TEXT = 500
MOST_READ = 20_000
HALF_LIFE = 90  # days
OTHER_VERSION = 0.5
_EVERY_TASK = frozenset({"done", "todo"})  # used in every task for bookkeeping, so no evidence for any
_LEAST = 0.01
_TOGETHER = 16  # runs
_HEADER = re.compile(rb',"kind":"(\w+)","key":"([^"\\]*)","data":\{(?:"kind":"(\w+)")?')
_EARNING = frozenset(kind.encode() for kind in EARNING)

_Task = tuple[str, str]  # the scope of the agent whose task it is, and its words


class UsageEvidence:
    """A reader of uses from journals, with their weights; every method blocks, so call it in a thread.

    Args:
        tracer: Reads the journals.
        store: Keeps the uses.
        seconds: How long one question reads journals that are new; the next one goes on.
    """

    def __init__(self, tracer: Tracer, store: UsageStore, seconds: float = 0.5) -> None:
        self._tracer, self._store, self._seconds = tracer, store, seconds
        self._mark: bytes | None = None  # of the store, when `_known` was read
        self._known: set[str] = set()
        self._unreadable: set[str] = set()
        self._unwritten: dict[str, list[Use]] = {}
        self._writes = False
        self._read_at: dict[Kind | None, tuple[bytes, list[Use]]] = {}
        self._found: dict[Kind | None, tuple[list[Use], frozenset[str], list[Use]]] = {}
        self._lock = threading.Lock()

    def uses(self, kind: Kind | None = None, name: str | None = None) -> list[Use]:
        """Return the newest 20,000 uses, the newest last, after reading new journals.

        Where these are very many, the newest are read first, and the next questions go on with the others. Where
        nothing can be written, nothing is learned. The list is the same object until something changes.
        """
        with self._lock, suppress(StorageError):
            self._learn(time.monotonic() + self._seconds)
            if name is not None:
                self._write()
        if name is not None:
            return self._store.read(kind=kind, name=name, most=MOST_READ)
        with self._lock:
            return self._all(kind)

    def erase(self, kind: Kind | None = None, name: str | None = None) -> list[Use]:
        """Erase uses permanently, and return them; their runs are not learned again."""
        with self._lock:
            self._learn()
            self._write()
            return self._store.erase(kind=kind, name=name)

    def _all(self, kind: Kind | None) -> list[Use]:
        """Return the newest uses of a kind, the newest last."""
        mark, runs = self._store.mark(), frozenset(self._unwritten)
        if self._read_at.get(kind, (None,))[0] != mark:
            self._read_at[kind] = mark, self._store.read(kind=kind, most=MOST_READ)
        stored, before = self._read_at[kind][1], self._found.get(kind)
        if before is None or before[0] is not stored or before[1] != runs:
            fresh = (use for uses in self._unwritten.values() for use in uses if kind in (None, use.kind))
            added = sorted(fresh, key=_order)
            found = [*stored, *added]
            if stored and added and _order(stored[-1]) > _order(added[0]):
                found.sort(key=_order)
            before = self._found[kind] = stored, runs, found[-MOST_READ:]
        return before[2]

    def _learn(self, until: float = math.inf) -> None:
        """Read the new runs while there is time, and at least one ended run.

        What they taught is written at once by a process that learns for the first time, and then for several runs
        together, as each write waits for the disk; the next process reads again what was not written.
        """
        if (mark := self._store.mark()) != self._mark:
            stored = self._store.known()  # others learned some of these runs too, or a person erased what they taught
            self._unwritten = {run: uses for run, uses in self._unwritten.items() if run not in stored}
            self._mark, self._known = mark, {*stored, *self._unwritten}
        for run in self._tracer.runs(self._known):
            if (uses := self._read(run)) is not None:
                self._unwritten[run] = uses
                self._known.add(run)
                if time.monotonic() > until:
                    break
        if len(self._unwritten) >= (_TOGETHER if self._writes else 1):
            self._write()

    def _write(self) -> None:
        """Store the learned uses; on failure they are dropped."""
        unwritten, self._unwritten, self._writes = self._unwritten, {}, True
        if unwritten:
            self._mark = None
            self._store.learn(list(unwritten), (use for uses in unwritten.values() for use in uses))

    def _read(self, run: str) -> list[Use] | None:
        """Return the uses in a run, None if it has not ended."""
        if run in self._unreadable:
            return None
        try:
            ended = self._tracer.ended(run)
            return uses_of(run, self._tracer.records(run, wanted=RunReader())) if ended else None
        except TeaError:  # it is not evidence, and to this process never will be
            self._unreadable.add(run)
            return None


class RunReader:
    """A selector of the lines of one journal possibly relevant to `uses_of`, called in order; in doubt a line counts.

    Most of a journal are questions to models, and the steps and memory of agents: to read what they say would cost
    the most by far.
    """

    def __init__(self) -> None:
        self._calls: set[bytes] = set()

    def __call__(self, line: bytes) -> bool:
        """Return whether a record has to be read."""
        found = _HEADER.search(line)
        if found is None:
            return True
        kind, key, what = found.groups()
        if kind == b"start" and what in _EARNING:
            self._calls.add(key)
        return kind == b"end" or key in self._calls or (kind == b"note" and what in (b"enter", b"exit"))


def uses_of(run: str, records: Iterable[TraceRecord]) -> list[Use]:
    """Return the uses in a run, empty if the run did not succeed.

    A use counts where the call itself succeeded, and the agent that made it with its own task; not where a solver or a
    tool made it on its own.

    Args:
        run: Its id.
        records: Its journal.
    """
    tasks: dict[str, _Task] = {}
    started: dict[str, tuple[str, str]] = {}
    found: list[tuple[str, Use]] = []
    good: set[str] = set()
    status: object = None
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "end":
            status = data.get("status")
        elif record.kind == "note" and data.get("kind") == "enter":
            scope, inner = path_of(record.key), as_mapping(data.get("data"))
            text = as_mapping(as_mapping(inner.get("arguments")).get("task")).get("text")
            tasks[scope] = (scope, text.strip()[:MOST_TEXT]) if isinstance(text, str) else _around(tasks, scope)
            started[scope] = (str(inner.get("ref")), str(inner.get("digest")))
        elif record.kind == "start" and data.get("kind") in EARNING:
            started[record.key] = (str(data.get("target")), str(as_mapping(data.get("data")).get("digest")))
        elif (key := _succeeded(record, data)) in started:
            agent, text = tasks.get(key) or _around(tasks, key)
            good.add(key)
            found += ((agent, use) for use in _uses(run, record.time, text, *started[key]))
    first: dict[tuple[str, str], Use] = {}
    for agent, use in found:
        if agent in good and status == "done":
            first.setdefault((use.name, use.text), use)
    return list(first.values())


def weighed(uses: Iterable[Use], digests: Mapping[str, str], now: datetime) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return the tasks served by each component, with weights halved every 90 days; the newest 50 count.

    Args:
        uses: The uses of one kind, the newest last.
        digests: The digest of each component's current version; others earn nothing, and a use of another version half.
        now: The present; weights change once a day.
    """
    found: dict[str, dict[str, float]] = {}
    for use in reversed(list(uses)):
        digest, served = digests.get(use.name), found.setdefault(use.name, {})
        if digest is None or use.text in served or len(served) >= MOST_USES:
            continue
        weight = 0.5 ** (_days(use.time, now) / HALF_LIFE) * (1.0 if use.digest == digest else OTHER_VERSION)
        if weight >= _LEAST:
            served[use.text] = round(weight, 4)
    return {name: tuple(sorted(served.items())) for name, served in found.items() if served}


def _succeeded(record: TraceRecord, data: Mapping[str, Any]) -> str:
    """Return the key of the call or scope ended successfully by a record, else an empty string."""
    if record.kind == "done":
        key, response = record.key, as_mapping(data.get("data"))
    elif record.kind == "note" and data.get("kind") == "exit":
        key, response = path_of(record.key), as_mapping(as_mapping(data.get("data")).get("response"))
    else:
        return ""
    return key if response.get("ok") is True and as_mapping(response.get("value")).get("ok", True) is not False else ""


def _uses(run: str, moment: str, text: str, target: str, digest: str) -> Iterator[Use]:
    """Yield the use of a target for a task, if it earns anything."""
    ref = _ref(target)
    if ref is not None and text and ref.operation != "state" and ref.name not in _EVERY_TASK:
        yield Use(run=run, kind=ref.kind, name=ref.name, digest=digest, text=text, time=moment)


def _around(tasks: Mapping[str, _Task], key: str) -> _Task:
    """Return the task of the innermost agent enclosing a key."""
    return tasks.get(innermost(outer(key), tasks), ("", ""))


def _ref(target: str) -> Ref | None:
    try:
        return Ref.parse(target)
    except BadRef:
        return None


def _order(use: Use) -> tuple[str, ...]:
    return use.time, use.run, use.kind, use.name


def _days(moment: str, now: datetime) -> int:
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return 0
    return max(0, (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).days)
