"""Tracer: every run as one journal of records, written as it happens and queried afterwards."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tea.clock import epoch_nanoseconds, timestamp
from tea.errors import BadInput, StorageError
from tea.journal.form import Form, strange, understood
from tea.journal.record import TraceRecord, span_id
from tea.journal.steps import steps_among
from tea.store.blobs import Blobs
from tea.store.journal import JournalStore, JournalWriter
from tea.store.lines import Wanted
from tea.store.messages import Messages
from tea.types import JsonObject, JsonValue

FORMAT = 1
_SPILL = 256 * 1024
LAST = "last"
Begin = Callable[[str, Path], "Sequence[TraceRecord]"]
Own = Callable[[str, "TraceRecord"], bool]
"""Tells by the first record of a run whether this account began it."""
quoted = json.encoder.encode_basestring
_MARK, _PAYLOAD = "$blob", frozenset({"data", "result", "answer", "evidence"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One perceive-interpret-act cycle of one agent (paper, C.1, Tracer).

    Args:
        id: Record id, 16 hex digits.
        run: Id of the run.
        index: Its place among the steps of the run, from 0.
        data: Observation, thinking, evaluation, memory, next goal, calls and results.
    """

    id: str
    run: str
    session: str
    task: str
    index: int
    agent: str
    time: str
    data: JsonObject


class Trace:
    """The open journal of one run; only its holder appends.

    Args:
        writer: Appends lines.
        blobs: Keeps what is large, or no JSON.
        messages: What others tell the run.
        session: Id of the session.
        task: Id of the task.
    """

    def __init__(self, writer: JournalWriter, blobs: Blobs, messages: Messages, session: str, task: str) -> None:
        self.run = writer.run
        self._writer = writer
        self.blobs, self.messages = blobs, messages
        self._session = session
        self._task = task
        self._waiting: list[JsonObject | str] = []
        self._home = f'"session":{quoted(session)},"task":{quoted(task)}'

    @property
    def position(self) -> int:
        """Number of the next record."""
        return self._writer.position + len(self._waiting)

    def append(self, kind: str, key: str, data: JsonValue, *, agent: str = "", parent: str = "") -> None:
        """Write one record, after the waiting ones; it survives the death of this process.

        Args:
            kind: What sort of record.
            key: Key of the effect or scope it belongs to.
            data: What it says.
            agent: Name of the agent at work.
            parent: Span id of what it belongs to.
        """
        self._waiting.append(
            {
                "v": FORMAT,
                "time": timestamp(),
                "span": span_id(self.run, key) if key else "",
                "parent": parent,
                "session": self._session,
                "task": self._task,
                "agent": agent,
                "kind": kind,
                "key": key,
                "data": _bounded(data, self.blobs),
            }
        )
        self.flush()

    def append_text(self, kind: str, key: str, fields: str, payload: str, *, agent: str = "", parent: str = "") -> None:
        """Queue one record for the next `flush`, with its data given as compact JSON text.

        Args:
            kind: What sort of record.
            key: Key of the effect or scope it belongs to.
            fields: The members of its data before the payload, each with a comma behind it.
            payload: The member `data` of its data.
            agent: Name of the agent at work.
            parent: Span id of what it belongs to.
        """
        if len(payload) > _SPILL or payload.startswith(f'{{"{_MARK}":'):
            payload = f'{{"{_MARK}":"{_spill(payload.encode(), self.blobs)}"}}'
        span = span_id(self.run, key) if key else ""
        self._waiting.append(
            f'{{"v":{FORMAT},"time":"{timestamp()}","span":"{span}","parent":"{parent}",{self._home},'
            f'"agent":{quoted(agent)},"kind":"{kind}","key":{quoted(key)},"data":{{{fields}"data":{payload}}}}}'
        )

    def flush(self) -> None:
        """Write all waiting records in one write; they survive the death of this process."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._writer.append(waiting)

    async def sync(self) -> None:
        """Make everything written so far durable."""
        await self._writer.sync()

    def close(self) -> None:
        """Release the journal."""
        self._writer.close()


class Tracer:
    """The journals of one platform: opening, reading and queries.

    Args:
        store: Keeps them.
        own: Tells which runs this account began; all, if it is None.
    """

    def __init__(self, store: JournalStore, own: Own | None = None) -> None:
        self.store, self._own = store, own

    def create(self, session: str = "", task: str = "", begin: Begin | None = None) -> Trace:
        """Begin the journal of a new run.

        Args:
            session: Id of its session, by default its own.
            task: Id of its task, by default its own.
            begin: Gives its first records from its id, and the folder where what lies beside them is put.
        """
        run = new_run_id()

        def first(folder: Path, blobs: Blobs) -> Sequence[JsonObject]:
            return _documents(begin(run, folder) if begin else (), run, session or run, task or run, blobs)

        return self._trace(self.store.create(run, first), session or run, task or run)

    def reopen(self, run: str) -> Trace:
        """Reopen a run's journal; a torn tail is cut off.

        Raises:
            Conflict: Another process holds it.
        """
        first = next(self.records(run), None)
        writer = self.store.resume(run)
        return self._trace(writer, first.session if first else run, first.task if first else run)

    def records(self, run: str, start: int = 0, wanted: Wanted | None = None) -> Iterator[TraceRecord]:
        """Yield a run's records in order.

        Args:
            run: The run.
            start: Number of the first record.
            wanted: Tells of a line whether its record is given out; all are verified, which costs a fifth.

        Raises:
            BadInput: There is no such run.
            Damaged: The journal is not what was written; the error names the line.
        """
        blobs, form = self.store.blobs(run), Form()
        for record in self.store.read(run, start, wanted):
            with understood(run):
                record = _unspilled_record(record, blobs.get)
            if fault := form.fault(record):
                raise strange(run, f"record {record['seq']}: {fault}")
            yield _record(record)

    def ended(self, run: str) -> bool:
        """Return whether a run ended, by the last line of its journal; an uncertain run has not ended.

        Raises:
            BadInput: There is no such run.
        """
        return (self.store.last(run) or {}).get("kind") == "end"

    def unended(self, run: str) -> BadInput:
        """Return the error for a run still to be ended: its process is at work, or it is to be resumed."""
        if self.store.held(run):
            return BadInput(f"The run {run} is at work.", fix=f"wait for it; `tea trace {run}` shows where it is.")
        return BadInput(f"The run {run} has not ended.", fix=f"`tea resume {run}` goes on with it.")

    def remove(self, run: str) -> int:
        """Remove a run permanently, with its blobs and workspace, and return the number of bytes freed.

        Raises:
            Conflict: A living process holds it.
        """
        return self.store.remove(run)

    def runs(self, known: Container[str] = ()) -> list[str]:
        """Return the ids of all runs but the known ones, the newest first."""
        return self.store.runs(known)

    def find(self, name: str) -> str:
        """Return the run with the given id, unique beginning of an id, or `last`.

        Raises:
            BadInput: None or several fit.
        """
        runs = self.runs()
        if name == LAST and runs:
            return self.last(runs)
        found = [run for run in runs if run.startswith(name)]
        if name in runs:
            return name
        if len(found) == 1:
            return found[0]
        problem = f"{len(found) or 'No'} runs begin with {name[:80]!r}." if name != LAST else "There is no run yet."
        raise BadInput(problem, fix="`tea runs` lists the runs.")

    def last(self, runs: Sequence[str]) -> str:
        """Return the first own one of some runs, else the first of all.

        A journal from elsewhere may hold any number or time, and would receive the answers meant for another run.

        Args:
            runs: Their ids, the newest first; at least one.
        """
        return next(filter(self.is_own, runs), runs[0])

    def is_own(self, run: str, *, unreadable: bool = True) -> bool:
        """Return whether this account began a run; an unreadable one may be its own, as nothing goes on with it.

        Args:
            run: The run.
            unreadable: What is returned for one whose first record cannot be read.
        """
        if self._own is None:
            return True
        try:
            first = next(self.records(run), None)
        except BadInput:  # another process removed it meanwhile
            return False
        except StorageError:
            return unreadable
        return first is not None and self.began(run, first)

    def began(self, run: str, first: TraceRecord) -> bool:
        """Return whether this account began a run, by its first record."""
        return self._own is None or self._own(run, first)

    def steps(
        self,
        *,
        session: str | None = None,
        task: str | None = None,
        index: int | None = None,
        id: str | None = None,
        problems: list[str] | None = None,
    ) -> list[Step]:
        """Return steps, oldest first, by session, task, place in their run, or record id.

        Args:
            session: Id of the session.
            task: Id of the task.
            index: Place among the steps of the run.
            id: Id of the record.
            problems: Takes what is wrong with runs that cannot be read; without it the first of them is raised.

        Raises:
            StorageError: A run cannot be read.
        """
        found: list[Step] = []
        for run in reversed(self.runs()):
            try:
                found += self.run_steps(run)
            except BadInput:  # another process removed it meanwhile
                continue
            except StorageError as error:
                if problems is None:
                    raise
                problems.append(error.problem)
        wanted = {"session": session, "task": task, "index": index, "id": id}
        return [s for s in found if all(v is None or getattr(s, name) == v for name, v in wanted.items())]

    def run_steps(self, run: str) -> list[Step]:
        """Return the steps of one run, in order; see `tea.journal.steps`."""
        with understood(run):
            return [
                Step(
                    id=record.span,
                    run=run,
                    session=record.session,
                    task=record.task,
                    index=index,
                    agent=str(data.get("agent") or record.agent),
                    time=record.time,
                    data=data,
                )
                for index, (record, data) in enumerate(steps_among(self.records(run)))
            ]

    def _trace(self, writer: JournalWriter, session: str, task: str) -> Trace:
        return Trace(writer, self.store.blobs(writer.run), self.store.messages(writer.run), session, task)


def new_run_id() -> str:
    """Return a new run id: 32 hex digits, a trace id of OpenTelemetry, sortable by time."""
    return f"{epoch_nanoseconds() // 1_000_000:012x}{secrets.token_hex(10)}"


def _documents(records: Sequence[TraceRecord], run: str, session: str, task: str, blobs: Blobs) -> list[JsonObject]:
    """Return records in the form of a run's journal, with their own times and parents."""
    return [
        {
            "v": FORMAT,
            "time": one.time,
            "span": span_id(run, one.key) if one.key else "",
            "parent": one.parent,
            "session": session,
            "task": task,
            "agent": one.agent,
            "kind": one.kind,
            "key": one.key,
            "data": _bounded(one.data, blobs),
        }
        for one in records
    ]


def _spill(data: bytes, blobs: Blobs) -> str:
    return blobs.put(data, "application/json")


def _bounded(data: JsonValue, blobs: Blobs) -> JsonValue:
    """Return `data` with large payload values, and values resembling a blob's mark, as blobs."""
    if not isinstance(data, Mapping):
        return data
    fields = cast("Mapping[str, JsonValue]", data)
    return {name: _spilled(value, blobs) if name in _PAYLOAD else value for name, value in fields.items()}


def _spilled(value: JsonValue, blobs: Blobs) -> JsonValue:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return {_MARK: _spill(text.encode(), blobs)} if len(text) > _SPILL or _marked(value) else value


def _unspilled_record(record: JsonObject, blob: Callable[[str], bytes]) -> JsonObject:
    data = record.get("data")
    if not isinstance(data, Mapping):
        return record
    fields = cast("Mapping[str, JsonValue]", data)
    whole = {name: _unspilled(value, blob) if name in _PAYLOAD else value for name, value in fields.items()}
    return {**record, "data": whole}


def _record(record: JsonObject) -> TraceRecord:
    return TraceRecord(
        seq=record["seq"],
        time=record.get("time", ""),
        span=record.get("span", ""),
        parent=record.get("parent", ""),
        session=record.get("session", ""),
        task=record.get("task", ""),
        agent=record.get("agent", ""),
        kind=record.get("kind", ""),
        key=record.get("key", ""),
        data=record.get("data"),
    )


def _unspilled(value: JsonValue, blob: Callable[[str], bytes]) -> JsonValue:
    return json.loads(blob(value[_MARK])) if _marked(value) else value


def _marked(value: JsonValue) -> bool:
    return isinstance(value, Mapping) and set(cast("Mapping[str, Any]", value)) == {_MARK}
