"""Transcript: the turns of a conversation, read from the journals of its session; all of it blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from tea.chat.words import folded, solution, text_of
from tea.journal.form import understood
from tea.journal.header import ANOTHER, PERSON, Talk
from tea.journal.history import Made, is_own
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.status import RunStatus, beginnings
from tea.journal.tracer import Tracer
from tea.refs import Ref, speaker
from tea.runs.outcome import Outcome
from tea.types import JsonValue, Said, changed

Status = Literal["done", "failed", "exhausted", "waiting", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One run of a turn: the work of one agent.

    Args:
        run: Id of the run.
        session: Id of the conversation.
        time: When it began, ISO 8601 in UTC.
        agent: Name of its agent.
        task: Its task, in words.
        talk: Its place in the conversation.
        own: Whether this account began it.
        inputs: Names of the files it was given.
        status: How it ended; `waiting` for a person's answer, `interrupted` before an end.
        answer: Its answer.
        reason: Why it did not succeed, in one line.
        handoff: Name of the agent it hands over to, None for none.
        handed: The task of that agent, empty for the same.
        uncertain: Calls in flight when it was interrupted, each perhaps carried out.
        outcome: Its end with files, evidence and gaps, where it ended just now; None of one read from its journal.
    """

    run: str
    session: str
    time: str
    agent: str
    task: str
    talk: Talk
    own: bool = False
    inputs: tuple[str, ...] = ()
    status: Status = "interrupted"
    answer: JsonValue = ""
    reason: str = ""
    handoff: str | None = None
    handed: str = ""
    uncertain: tuple[str, ...] = ()
    outcome: Outcome | None = None

    @property
    def open(self) -> bool:
        """Whether it can be resumed."""
        return self.status in ("waiting", "interrupted")

    def said(self) -> list[Said]:
        """Return its contribution to the history."""
        if self.handoff is not None:
            text = f"hands over to {self.handoff}: {self.handed or self.task}"
        elif self.open:
            text = f"was {self.status if self.status == 'interrupted' else 'left waiting'} before an answer"
        elif self.status == "done":
            text = text_of(solution(self.answer))
        else:
            best = f" The best so far: {text_of(self.answer)}" if self.answer not in (None, "") else ""
            text = f"did not succeed: {self.reason.removesuffix('.')}.{best}"
        calls = ", ".join(self.uncertain)
        doubt = [Said(text=f"{calls} was in flight, and it is uncertain whether it was carried out")] if calls else []
        return [Said(who=speaker(self.agent), text=text), *doubt]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation: the words of the person, and the runs and the answer they led to.

    Args:
        number: Its number, from 1.
        line: The words of the person.
        parts: The runs that worked on it, each started by the handoff of the one before.
        status: How it ended.
        answer: Its answer, the text of `<solution>` where one is marked; empty without an answer.
        reason: Why it did not succeed, in one line.
    """

    number: int
    line: str
    parts: tuple[Part, ...]
    status: Status
    answer: JsonValue = ""
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended with an answer."""
        return self.status == "done"

    @property
    def agent(self) -> str:
        """Name of the last agent to work on it."""
        return self.parts[-1].agent

    @property
    def run(self) -> str:
        """Id of its last run."""
        return self.parts[-1].run

    @property
    def uncertain(self) -> tuple[str, ...]:
        """Calls in flight when it was stopped, each perhaps carried out."""
        return self.parts[-1].uncertain

    def said(self) -> list[Said]:
        """Return its contributions to the history."""
        first = self.parts[0]
        about = [Said(text=first.talk.note)] if first.talk.note else []
        line = Said(who=_author_of(first.own and not first.talk.elsewhere), text=self.line)
        return [*about, line, *(said for part in self.parts for said in part.said())]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "turn": self.number,
            "line": self.line,
            "agent": self.agent,
            "status": self.status,
            "ok": self.ok,
            "answer": self.answer,
            "reason": self.reason,
            "handoffs": [
                {"by": one.agent, "to": one.handoff, "task": one.handed or one.task}
                for one in self.parts
                if one.handoff is not None
            ],
            "uncertain": list(self.uncertain),
            "runs": [one.run for one in self.parts],
        }


def part_of(tracer: Tracer, run: str, made: Made) -> Part | None:
    """Return a run as a part of its conversation, None if it belongs to no conversation.

    Args:
        tracer: Reads the journals.
        run: Id of the run.
        made: Tells whether this account made a mark of JSON data.

    Raises:
        StorageError: Its journal cannot be read.
    """
    with understood(run):
        records = tracer.records(run)
        first = next(records, None)
        head = None if first is None else _head(run, first)
        if first is None or head is None:
            return None
        return _ended(replace(head, own=is_own(run, first, made)), records)


def parts_of(tracer: Tracer, session: str, made: Made) -> list[Part]:
    """Return all parts of a conversation, oldest first.

    Args:
        tracer: Reads the journals.
        session: Id of the conversation.
        made: Tells whether this account made a mark of JSON data.

    Raises:
        StorageError: A journal of it cannot be read.
    """
    runs = [one.run for one in _heads(tracer, []) if one.session == session]
    return [part for run in runs if (part := part_of(tracer, run, made)) is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A conversation in a list.

    Args:
        session: Its id.
        time: When its last run began, ISO 8601 in UTC.
        turns: Number of its last turn.
        agent: Name of the agent at work last.
        line: The words it began with.
        forked: `session@turn` that it goes on from, empty for none.
    """

    session: str
    time: str
    turns: int
    agent: str
    line: str
    forked: str


def listed(tracer: Tracer, problems: list[str]) -> list[Listed]:
    """Return all conversations, the one with the newest run first; add unreadable ones to `problems`."""
    found: dict[str, list[Part]] = {}
    for one in _heads(tracer, problems):
        found.setdefault(one.session, []).append(one)
    chats = [
        Listed(
            session=session,
            time=parts[-1].time,
            turns=parts[-1].talk.turn,
            agent=parts[-1].agent,
            line=parts[0].talk.line or parts[0].task,
            forked=parts[0].talk.forked,
        )
        for session, parts in found.items()
    ]
    return sorted(chats, key=lambda one: one.time, reverse=True)


def sessions_of(tracer: Tracer) -> dict[str, str]:
    """Return the conversation of each run that belongs to one, the newest run first; skip unreadable ones."""
    return {one.run: one.session for one in beginnings(tracer, tracer.runs(), _head)}


def turns_of(parts: Iterable[Part]) -> list[Turn]:
    """Return parts in order as turns."""
    return [_turn(number, list(group)) for number, group in groupby(parts, lambda one: one.talk.turn)]


def history_of(parts: Sequence[Part]) -> tuple[Said, ...]:
    """Return the history of a conversation after all of its parts, folded."""
    if not parts:
        return ()
    before = [one if one.who != PERSON else changed(one, who=_author_of(parts[0].own)) for one in parts[0].talk.history]
    return folded([*before, *(said for turn in turns_of(parts) for said in turn.said())])


def _author_of(own: bool) -> str:
    """Return the author of typed words: the person of this account, or another one."""
    return PERSON if own else ANOTHER


def _turn(number: int, parts: Sequence[Part]) -> Turn:
    last = parts[-1]
    unfinished = last.handoff is not None and last.status == "done"
    reason = f"The turn ended before {last.handoff} began." if unfinished else last.reason
    return Turn(
        number=number,
        line=parts[0].talk.line or parts[0].task,
        parts=tuple(parts),
        status="interrupted" if unfinished else last.status,
        answer="" if unfinished else solution(last.answer),
        reason=reason,
    )


def _heads(tracer: Tracer, problems: list[str]) -> Iterator[Part]:
    """Return the beginnings of all parts of conversations, oldest first."""
    return beginnings(tracer, reversed(tracer.runs()), _head, problems)


def _head(run: str, record: TraceRecord) -> Part | None:
    data: Mapping[str, Any] = as_mapping(record.data)
    task: Mapping[str, Any] = as_mapping(data.get("task"))
    if record.kind != "run" or not task.get("talk"):
        return None
    return Part(
        run=run,
        session=record.session,
        time=record.time,
        agent=Ref.parse(task["agent"], kind="agent").name,
        task=task["task"],
        talk=Talk.model_validate(task["talk"]),
        inputs=tuple(one["name"] for one in data.get("files", ())),
    )


def _ended(head: Part, records: Iterable[TraceRecord]) -> Part:
    standing, end, intents = RunStatus(), as_mapping(None), dict[str, str]()
    for one in records:
        standing.take(one)
        if one.kind == "end":
            end = as_mapping(one.data)
        elif one.kind == "intent":
            intents[one.key] = str(as_mapping(one.data).get("target", ""))
    if standing.status != "ended":
        calls = tuple(intents.get(key, key) for key in sorted(standing.uncertain))
        return replace(head, status="waiting" if standing.asked else "interrupted", uncertain=calls)
    return replace(
        head,
        status=end["status"],
        answer=end["answer"],
        reason=end["reason"],
        handoff=end.get("handoff"),
        handed=end.get("task") or "",
    )
