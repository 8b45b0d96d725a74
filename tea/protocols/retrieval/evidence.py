"""Evidence: what components served, as the journals of runs that succeeded tell it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from tea.errors import BadRef, TeaError
from tea.managers.tracer import Tracer, TraceRecord, as_mapping
from tea.refs import Kind, Ref
from tea.store.usage import UsageStore, Use

EARNING: tuple[Kind, ...] = ("tool", "environment", "agent")
MOST_USES = 50
MOST_TEXT = 500
MOST_READ = 20_000
HALF_LIFE = 90  # days
OTHER_VERSION = 0.5
_AT_ONCE = 200
_EVERY_TASK = frozenset({"done", "todo"})  # an agent's own bookkeeping, whatever the task
_LEAST = 0.01


class Evidence:
    """Learns uses from journals, and weighs them; every method blocks, so call it in a thread.

    Args:
        tracer: Reads the journals.
        store: Keeps the uses.
    """

    def __init__(self, tracer: Tracer, store: UsageStore) -> None:
        self._tracer, self._store = tracer, store
        self._nothing: set[str] = set()
        self._lock = threading.Lock()

    def uses(self, kind: Kind | None = None, name: str | None = None) -> list[Use]:
        """Return the newest 20,000 uses known by now, the newest last, after a look at the journals that are new."""
        with self._lock:
            self._learn()
        return self._store.read(kind=kind, name=name, most=MOST_READ)

    def erase(self, kind: Kind | None = None, name: str | None = None) -> list[Use]:
        """Erase uses for good, and return them; their runs are not learned again."""
        with self._lock:
            self._learn(None)
            return self._store.erase(kind=kind, name=name)

    def _learn(self, most: int | None = _AT_ONCE) -> None:
        known = self._store.known() | self._nothing
        fresh = islice((run for run in self._tracer.runs() if run not in known), most)
        learned = {run: uses for run in fresh if (uses := self._read(run)) is not None}
        if learned:
            self._store.learn(list(learned), (use for uses in learned.values() for use in uses))

    def _read(self, run: str) -> list[Use] | None:
        """Return what a run teaches, None where it has not ended."""
        try:
            if self._tracer.store.held(run):
                return None
            records = list(self._tracer.records(run))
        except TeaError:  # what cannot be read is no evidence
            records = []
        if records and records[-1].kind == "end":
            return uses_of(run, records)
        self._nothing.add(run)
        return None


def uses_of(run: str, records: Iterable[TraceRecord]) -> list[Use]:
    """Return what served in a run, nothing where the run did not succeed.

    A use counts where the call itself succeeded too, and not where a solver or a tool made it on its own.

    Args:
        run: Its id.
        records: Its journal.
    """
    tasks: dict[str, str] = {}
    started: dict[str, tuple[str, str]] = {}
    found: dict[tuple[str, str], Use] = {}
    status: object = None
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "end":
            status = data.get("status")
        elif record.kind == "note" and data.get("kind") == "enter":
            scope, inner = record.key.rpartition(".")[0], as_mapping(data.get("data"))
            task = as_mapping(as_mapping(inner.get("arguments")).get("task")).get("text")
            tasks[scope] = task.strip()[:MOST_TEXT] if isinstance(task, str) else _around(tasks, scope)
            started[scope] = (str(inner.get("ref")), str(inner.get("digest")))
        elif record.kind == "start" and data.get("kind") in EARNING:
            started[record.key] = (str(data.get("target")), str(as_mapping(data.get("data")).get("digest")))
        else:
            for use in _ended(run, record, data, tasks, started):
                found.setdefault((use.name, use.text), use)
    return list(found.values()) if status == "done" else []


def weighed(uses: Iterable[Use], digests: Mapping[str, str], now: datetime) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return the tasks that each component served, with weights that halve every 90 days; the newest 50 count.

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


def _ended(
    run: str,
    record: TraceRecord,
    data: Mapping[str, Any],
    tasks: Mapping[str, str],
    started: Mapping[str, tuple[str, str]],
) -> Iterator[Use]:
    """Yield the use that a record completes, if it completes one that succeeded."""
    if record.kind == "done" and record.key in started:
        key, response = record.key, as_mapping(data.get("data"))
    elif record.kind == "note" and data.get("kind") == "exit":
        key, response = record.key.rpartition(".")[0], as_mapping(as_mapping(data.get("data")).get("response"))
    else:
        return
    target, digest = started.get(key, ("", ""))
    ref, text = _ref(target), tasks.get(key) or _around(tasks, key)
    value = response.get("value")
    good = response.get("ok") is True and as_mapping(value).get("ok", True) is not False
    if ref is not None and good and text and ref.operation != "state" and ref.name not in _EVERY_TASK:
        yield Use(run=run, kind=ref.kind, name=ref.name, digest=digest, text=text, time=record.time)


def _around(tasks: Mapping[str, str], key: str) -> str:
    """Return the task of the innermost agent that a key lies in."""
    while key:
        key = key.rpartition(".")[0]
        if key in tasks:
            return tasks[key]
    return ""


def _ref(target: str) -> Ref | None:
    try:
        return Ref.parse(target)
    except BadRef:
        return None


def _days(moment: str, now: datetime) -> int:
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return 0
    return max(0, (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).days)
