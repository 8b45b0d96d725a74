"""History: the content of a journal, sorted by purpose."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pydantic import TypeAdapter

from tea.errors import BadInput, ErrorRecord, TeaError, error_from
from tea.journal.form import understood
from tea.journal.header import RunConfig, TaskFile
from tea.journal.mask import Mask
from tea.journal.pin import Pin, pins
from tea.journal.record import GATE_KINDS, TraceRecord, as_mapping
from tea.journal.recorder import AGAIN, answer_of
from tea.journal.revision import REVISION, check_revision
from tea.journal.status import ASKED, RunStatus
from tea.kernel.entry import Entry
from tea.kernel.key import after, path_of
from tea.policy.rules import read_option
from tea.refs import check_session
from tea.source.seal import MARK, unmarked
from tea.types import JsonObject, JsonValue, Principal, is_text
from tea.untrusted import PROGRAM

REBUILT = "rebuilt"
FOREIGN = "the run, which this account did not begin,"
GIVEN_UP = "given_up"  # in the end of a run: others ended it
_MADE = re.compile(r"[0-9a-f]{32}")  # the ids that runs are given
_ANSWERED = ("tool", "environment", "agent", "policy", "model")
Pins = tuple[Pin, ...]
Made = Callable[[object, JsonValue], bool]
"""Tells whether this account made a mark of JSON data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The content of a journal.

    Args:
        task: The task file as run.
        run_config: What the run was given.
        inputs: Name, size and digest of each file it was given.
        records: All of it, in order.
        entries: What its gate recorded.
        pins: Every version that it touched, in order; after a fork what was asked for may have a second one.
        status: What persons were asked and said, and which calls may have happened without an outcome.
        end: How it ended, empty if it did not.
        seconds: How long it was worked on.
        elapsed: How much of that came after the start of each timeout, by its key.
        again: How often a resumed process asked a model what an earlier one had asked, by key.
        own: Whether this account began it; only then are its task and its messages words of its person.
        foreign: Numbers of the records of answers not given by this account.
    """

    task: TaskFile
    run_config: RunConfig
    inputs: tuple[JsonObject, ...]
    records: tuple[TraceRecord, ...]
    entries: tuple[Entry, ...]
    pins: Pins
    status: RunStatus
    end: JsonObject
    seconds: float
    elapsed: Mapping[str, float]
    again: Mapping[str, int]
    own: bool = False
    foreign: frozenset[int] = frozenset()

    @classmethod
    def of(cls, run: str, records: Iterable[TraceRecord], workspace: str) -> History:
        """Return the content of the journal of `run`.

        Raises:
            BadInput: It holds no run.
            Diverged: It is of another revision, whose records may mean something else.
            Damaged: It holds what no run writes.
        """
        found = tuple(records)
        if not found or found[0].kind != "run":
            raise BadInput(f"The run {run} has not begun.", fix="start it again.")
        check_revision(run, as_mapping(found[0].data))
        with understood(run):
            return cls._sorted(run, found, workspace)

    @classmethod
    def _sorted(cls, run: str, found: tuple[TraceRecord, ...], workspace: str) -> History:
        header = as_mapping(found[0].data)
        gate = [record for record in found if record.kind in GATE_KINDS]
        return cls(
            task=TaskFile.model_validate(header["task"]),
            run_config=_run_config(run, header["setting"], workspace),
            inputs=tuple(header.get("files", ())),
            records=found,
            entries=tuple(map(entry_of, gate)),
            pins=pins_of(found),
            status=RunStatus.of(found),
            end=as_mapping(next((record.data for record in found if record.kind == "end"), None)),
            seconds=_seconds(found),
            elapsed=_elapsed(found),
            again=Counter(one.key for one in found if one.kind == AGAIN),
        )

    def without_foreign(self, run: str, made: Made) -> History:
        """Return it with the permissions and answers of this account alone, and all restricting rules.

        A journal may come with a home that somebody else wrote, and claim any principal, and any session.

        Args:
            run: The id under which it is kept.
            made: Tells whether this account made a mark of JSON data.
        """
        foreign = frozenset(one.seq for one, _, own in answers_of(self.records, run, made) if not own)
        last = {one.key: one.seq for one in self.records if one.kind == "answer"}
        for key in [key for key, seq in last.items() if seq in foreign]:
            self.status.answers.pop(key, None)
        if is_own(run, self.records[0], made):
            return replace(self, own=True, foreign=foreign)
        rules = tuple(rule for rule in self.run_config.rules if read_option(rule).decision in ("ask", "deny"))
        session = _session_elsewhere(run)
        run_config = replace(self.run_config, session=session, allow=(), rules=rules, principal=Principal())
        return replace(self, run_config=run_config, foreign=foreign)

    def checked_origin(self, origin: History) -> History:
        """Return the origin of a fork, to copy files and memory from.

        Raises:
            BadInput: This account began the origin and not the fork, so others claim what is not theirs.
        """
        if origin.own and not self.own:
            run, parent = self.run_config.run, origin.run_config.run
            problem = f"The run {run}, which this account did not begin, claims to be a fork of {parent}, which it did."
            raise BadInput(problem, fix=f"`tea trace {run}` shows it.")
        return origin

    @property
    def given_up(self) -> bool:
        """Whether others ended it from outside before its program ended."""
        return bool(self.end.get(GIVEN_UP))

    @property
    def waiting(self) -> tuple[str, ...]:
        """Keys to answer under: those of open questions, else those of calls without an outcome."""
        ended = {one.key for one in self.entries if one.event in ("done", "failed")}
        begun = [one.key for one in self.entries if one.event == "start" and one.kind in _ANSWERED]
        return tuple(self.status.asked) or tuple(key for key in begun if key not in ended)

    def accepted(self, run: str, answers: Mapping[str, str], mask: Mask) -> dict[str, str]:
        """Return the new answers; refuse to go on if the run does not wait for them.

        What was answered already may be said again, in the same words: who said it may not know that a process which
        died had written it down. It counts for what was asked then, not for what may be asked since.

        Args:
            run: The run.
            answers: What a person says now, by key.
            mask: Takes out of an answer what its record does not hold.

        Raises:
            BadInput: The run has ended, or an answer is to nothing that it asks, is another one, or is not text.
        """
        if self.end:
            raise BadInput(f"The run {run} has ended.", fix=f"look at it with `tea trace {run}`, or replay it.")
        if odd := [key for key, answer in answers.items() if not is_text(answer)]:
            raise BadInput(f"The answer to {odd[0]} is not text.", fix="give text, in UTF-8 on a command line.")
        said = self.status.answers
        again = [key for key in answers if key in said and key not in self.status.asked]
        if other := [key for key in again if mask.data(answers[key]) != said[key]]:
            problem = f"The call {other[0]} of the run {run} was answered already, with {said[other[0]][:60]!r}."
            raise BadInput(problem, fix=f"`tea resume {run}` goes on with that answer.")
        if strange := [key for key in answers if key not in self.waiting and key not in again]:
            fix = f"answer {', '.join(self.waiting[:5])}." if self.waiting else "resume it without an answer."
            raise BadInput(f"No call of the run {run} waits under the key {strange[0][:60]!r}.", fix=fix)
        return {key: answer for key, answer in answers.items() if key not in again}

    def attributed(self, error: ErrorRecord, remedies: Container[str] = ()) -> ErrorRecord:
        """Return the error that ended the run, as its words and not as tea's if this account did not begin it.

        Args:
            error: The error.
            remedies: Those that are tea's own, whatever the run says.
        """
        if self.own:
            return error
        problem = f"The run, which this account did not begin, says: {error['problem']}"
        fix = error["fix"] if error["fix"] in remedies else f"it says: {error['fix']}"
        return {**error, "problem": problem, "fix": fix}

    def quoted(self, reason: str, untrusted: str) -> str:
        """Return the reason of the run's end, as words of the run or its agent and not as tea's if they are not ours.

        Args:
            reason: The reason, empty for none.
            untrusted: The agent of the run, if nobody trusts it, else empty.
        """
        whose = untrusted if self.own else FOREIGN
        return f"{whose} says: {reason}" if reason and whose else reason

    @contextmanager
    def telling(self, remedies: Container[str] = ()) -> Generator[None]:
        """Raise the error that ends the run as `attributed` tells it."""
        try:
            yield
        except TeaError as error:
            if self.own:
                raise
            raise error_from(self.attributed(error.record(), remedies)) from error

    @property
    def sandboxed(self) -> Mapping[str, bool]:
        """Whether each component with a scope worked in a sandbox, by its exact ref.

        An action that was one effect stands by itself, with its operation: with a scope, it worked in a sandbox.
        """
        found: dict[str, bool] = {}
        for one in self.records:
            data = as_mapping(one.data)
            if one.kind == "note" and data["kind"] == "enter":
                found.setdefault(str(as_mapping(data["data"]).get("ref", "")).partition("#")[0], False)
            elif one.kind == "start" and data["kind"] in (PROGRAM, "environment"):
                found[str(data["target"])] = True
        return found

    @property
    def permitting(self) -> frozenset[str]:
        """Keys of the effects permitting unfinished work; a forger of the journal could have written them."""
        ended = {path_of(one.key) for one in self.entries if one.event == "note" and one.kind == "exit"}
        asked = {one.key for one in self.entries if one.event == "start" and one.kind == "policy"}
        permitted = {one.key for one in self.entries if one.event == "done" and one.text == "null"}
        return frozenset(key for key in asked & permitted if after(key) not in ended)

    @property
    def forks(self) -> bool:
        """Whether it is a fork."""
        return "fork" in as_mapping(self.records[0].data)

    @property
    def unprepared(self) -> bool:
        """Whether it is a fork interrupted before its state at the position was restored."""
        unbuilt = self.forks and all(one.kind != REBUILT for one in self.records)
        return unbuilt and (len(self.records) == 1 or self.records[-2].kind == "forked")


def begun(run: str, head: JsonObject) -> JsonObject:
    """Return the content of the mark of a run: its id, and its head."""
    return {"run": run, "head": unmarked(head)}


def is_own(run: str, first: TraceRecord, made: Made) -> bool:
    """Return whether this account began a run, in the session named by its record.

    Args:
        run: The id under which it is kept.
        first: Its first record.
        made: Tells whether this account made a mark of JSON data.
    """
    head = as_mapping(first.data)
    session = as_mapping(head.get("setting")).get("session")
    there = first.session in ("", session)  # the mark covers the head alone; a record not yet written names none
    return there and made(head.get(MARK), begun(run, head))


def head_of(task: TaskFile, run_config: RunConfig, inputs: list[dict[str, Any]]) -> JsonObject:
    """Return the head of a journal: the task, and the whole configuration of the run except its workspace."""
    kept = {one.name: getattr(run_config, one.name) for one in fields(run_config) if one.name != "workspace"}
    given = {**kept, "principal": run_config.principal.model_dump(mode="json"), "use": dict(run_config.use)}
    given["versions"] = dict(run_config.versions)
    about = {"tea": tea_version(), "revision": REVISION}
    return {"task": task.model_dump(mode="json"), "setting": given, "files": inputs, **about}


def entry_of(record: TraceRecord) -> Entry:
    """Return a record of the gate as an entry."""
    return Entry.of({"event": record.kind, "key": record.key, **as_mapping(record.data)})


def pins_of(records: Iterable[TraceRecord]) -> Pins:
    """Return every touched version with its original ref, each once, in order."""
    return tuple(dict.fromkeys(pins(records)))


@cache
def tea_version() -> str:
    """Return the version of tea, `unknown` if it is not installed."""
    try:
        return version("tea-protocol")
    except PackageNotFoundError:
        return "unknown"


@cache
def _configs() -> TypeAdapter[RunConfig]:
    return TypeAdapter(RunConfig)


def _run_config(run: str, data: JsonObject, workspace: str) -> RunConfig:
    """Return the configuration of a run, of the name under which it is kept: one from elsewhere may claim another."""
    if unknown := data.keys() - {one.name for one in fields(RunConfig)}:
        raise ValueError(f"the configuration has {min(unknown)[:60]!r}")
    found = _configs().validate_python({**data, "workspace": workspace})
    for name in (found.run, found.session, found.task):
        check_session(name)
    return replace(found, run=run)


def _session_elsewhere(run: str) -> str:
    """Return the session of a run begun by others: its own, under a unique name."""
    return run if _MADE.fullmatch(run) else f"elsewhere-{run}"[:128]  # others may name it like a session


def answers_of(records: Iterable[TraceRecord], run: str, made: Made) -> Iterator[tuple[TraceRecord, JsonObject, bool]]:
    """Yield the answers of persons, each with its question, and whether this account gave it to that question.

    Of several answers to one question the last is looked at, and counts with those equal to it: the mark of each covers
    the whole question, and a journal from elsewhere may hold a large one with many answers.

    Args:
        records: Those of the run, in order.
        run: The id under which it is kept.
        made: Tells whether this account made a mark of JSON data.
    """
    asked, given = dict[str, JsonObject](), dict[str, list[TraceRecord]]()

    def looked_at(key: str) -> Iterator[tuple[TraceRecord, JsonObject, bool]]:
        answers, question = given.pop(key, []), asked.get(key)
        last = as_mapping(answers[-1].data if answers else None)
        own = bool(answers) and made(last.get(MARK), answer_of(key, question, last, run))
        for one in answers:
            yield one, question or last, own and one.data == last

    for one in records:
        if one.kind == ASKED:
            yield from looked_at(one.key)
            asked[one.key] = unmarked(as_mapping(one.data))
        elif one.kind == "answer":
            given.setdefault(one.key, []).append(one)
    for key in [*given]:
        yield from looked_at(key)


def _seconds(records: Sequence[TraceRecord]) -> float:
    """Return the working time of a run, without the time between its processes."""
    total, begun, last = 0.0, records[0].time, records[0].time
    for record in records:
        if record.kind == "resumed":
            total, begun = total + _between(begun, last), record.time
        last = record.time
    return total + _between(begun, last)


def _elapsed(records: Sequence[TraceRecord]) -> dict[str, float]:
    """Return the working time of a run after the start of each timeout."""
    total, begun, last = 0.0, records[0].time, records[0].time
    before: dict[str, float] = {}
    for record in records:
        if record.kind == "resumed":
            total, begun = total + _between(begun, last), record.time
        last = record.time
        if record.kind == "start" and as_mapping(record.data)["kind"] == "timeout":
            before[record.key] = total + _between(begun, last)
    whole = total + _between(begun, last)
    return {key: whole - seconds for key, seconds in before.items()}


def _between(first: str, last: str) -> float:
    return max(0.0, (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds())
