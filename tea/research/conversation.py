"""Conversation: the research of a session, read from the journals of its runs; all of it blocks."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, pairwise
from typing import Any, Literal, cast

from tea.errors import ErrorRecord, ResourceExhausted, TeaError
from tea.journal.form import understood
from tea.journal.history import FOREIGN, Made, answers_of, is_own
from tea.journal.inbox import Inbox, Question
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.status import RunStatus, beginnings
from tea.journal.tracer import Tracer
from tea.refs import Ref
from tea.research.form import Paper, Plan, World, check
from tea.types import merge_patch

SCIENTIST, CLARIFIER, AUTHOR = "scientist", "research_clarify", "research_paper"
STALE = "stale_recovered"
State = Literal["queued", "processing", "waiting", "interrupted", "completed", "failed"]
ACTIVE = frozenset(("queued", "processing", "waiting", "interrupted"))

_NAME = re.compile(r"[\w./-]+")  # a dataset's, that is not quoted
_ENVIRONMENT = "environment:research@"
_ANSWERS: Mapping[str, type[Any]] = {CLARIFIER: Plan, AUTHOR: Paper}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a run of a conversation.

    Args:
        run: Its id.
        session: Id of the conversation.
        time: When it began, ISO 8601 in UTC.
        agent: Name of its agent.
        text: What the person said.
        inputs: Names of the files it was given.
        model: The model named for it, empty if it is what was configured.
        own: Whether this account began it.
    """

    run: str
    session: str
    time: str
    agent: str
    text: str
    inputs: tuple[str, ...] = ()
    model: str = ""
    own: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A run of a conversation, read to its present end.

    Args:
        head: How it began.
        status: Where it stands.
        world: What its research knows; empty before it has begun.
        phase: What it does at present, or did last.
        task: Id of the task that this concerns, empty for none.
        last: When its last record was written, ISO 8601 in UTC.
        reason: Why it failed, empty if it did not.
        fault: The error that ended it, None for none.
        answer: What it ended with.
        waited: Seconds that it waited for the person, until it was taken up again.
        questions: What it asks the person.
        phases: What was done in its present iteration so far.
    """

    head: Head
    status: State
    world: Mapping[str, Any]
    phase: str = ""
    task: str = ""
    last: str = ""
    reason: str = ""
    fault: ErrorRecord | None = None
    answer: Any = ""
    waited: float = 0.0
    questions: tuple[Question, ...] = ()
    phases: tuple[str, ...] = ()

    def is_agreed(self, words: str, tracer: Tracer, made: Made) -> bool:
        """Return whether this account gave certain words as the answer to the plan at the end of a run.

        A journal from elsewhere may say so, and end with another plan than the one that was shown, or other answers.
        """
        with understood(self.head.run):
            given = answers_of(tracer.records(self.head.run), self.head.run, made)
            said = {(str(asked.get("question")), _answer(one).strip()) for one, asked, own in given if own}
            told = {(str(one["question"]), str(one["answer"])) for one in self.answer.get("answers", ())}
        return told <= said and any(answer == words and _is_shown(text, self.answer) for text, answer in said)

    def known(self, words: str, tracer: Tracer, made: Made) -> Mapping[str, Any]:
        """Return its world for a further run, with a plan not used yet only if this account agreed to it with words."""
        plan = as_mapping(self.world.get("clarification"))
        if plan.get("used") or not plan.get("tasks"):
            return self.world
        runs = (one for one in heads(tracer) if (one.run, one.agent) == (plan.get("session"), CLARIFIER))
        shown = next((reading(tracer, one, made) for one in runs), None)
        if shown is None or shown.status != "completed" or not shown.is_agreed(words, tracer, made):
            return {**self.world, "clarification": {}}
        same = all(shown.answer.get(name) == plan.get(name) for name in ("objective", "tasks", "answers"))
        return self.world if same else {**self.world, "clarification": {}}

    @property
    def active(self) -> bool:
        """Whether it has not ended."""
        return self.status in ACTIVE


def _is_shown(text: str, plan: Mapping[str, Any]) -> bool:
    """Return whether a text is the whole of a plan after a word for it: its objective, and its tasks in order."""
    tasks = [f"{number}. {_line_of(one)}" for number, one in enumerate(plan["tasks"], 1)]
    return text.partition(": ")[2] == "\n".join([objective_line(plan["objective"]), *tasks])


def _answer(record: TraceRecord) -> str:
    return str(as_mapping(record.data)["answer"])


def _line_of(task: Mapping[str, Any]) -> str:
    names = (one if _NAME.fullmatch(one) else json.dumps(one, ensure_ascii=False) for one in task.get("datasets") or ())
    named = f" ({', '.join(names)})" if task.get("datasets") else ""
    return f"{task['type']}: {objective_line(task['objective'])}{named}"


def objective_line(text: str) -> str:
    """Return an objective on one line as its agent shows it: quoted as JSON if it could be taken for more."""
    odd = "\n" in text or text.startswith('"') or (text.endswith(")") and " (" in text)
    return text if not odd else json.dumps(text, ensure_ascii=False)


def heads(tracer: Tracer, problems: list[str] | None = None, session: str | None = None) -> Iterator[Head]:
    """Yield the beginnings of runs of research, the newest first, those from elsewhere last.

    A journal from elsewhere may name any conversation, and would receive the answers meant for another run of it.

    Args:
        tracer: Reads the journals.
        problems: Takes what is wrong with journals that cannot be read.
        session: The only conversation that is meant.
    """

    def read(run: str, first: TraceRecord) -> Head | None:
        head = head_of(run, first)
        if head is None or head.agent not in (SCIENTIST, CLARIFIER, AUTHOR) or session not in (None, head.session):
            return None
        return replace(head, own=tracer.began(run, first))

    foreign = list[Head]()
    for head in beginnings(tracer, tracer.runs(), read, problems):
        if head.own:
            yield head
        else:
            foreign.append(head)
    yield from foreign


def head_of(run: str, record: TraceRecord) -> Head | None:
    """Return the beginning of a run by its first record, None if there is none."""
    data = as_mapping(record.data)
    task = as_mapping(data.get("task"))
    if record.kind != "run" or "agent" not in task:
        return None
    return Head(
        run=run,
        session=record.session,
        time=record.time,
        agent=Ref.parse(str(task["agent"]), kind="agent").name,
        text=str(task["task"]),
        inputs=tuple(str(one["name"]) for one in data.get("files", ())),
        model=str(task.get("model") or ""),
    )


def reading(tracer: Tracer, head: Head, made: Made | None = None) -> Reading:
    """Return a run of a conversation to its present end.

    Args:
        tracer: Reads its journal.
        head: How it began.
        made: Tells whether this account made a mark of JSON data; without it nothing is told of whose its words are.

    Raises:
        StorageError: Its journal cannot be read.
    """
    with understood(head.run):
        records = list(tracer.records(head.run))
        standing = RunStatus.of(records)
        held = standing.status != "ended" and tracer.store.held(head.run)
        ended = as_mapping(next((one.data for one in records if one.kind == "end"), None))
        told = [as_mapping(as_mapping(one.data).get("data")) for one in records if _tells(one)]
        world = _last(states(records))
        if world:
            check(World, world)
        if ended.get("status") == "done" and head.agent in _ANSWERS:
            check(_ANSWERS[head.agent], ended.get("answer"))
    status = _status(standing, ended, at_work=held, begun=len(records) > 1)
    questions = Inbox.of(tracer, head.run, made).questions if status == "waiting" else ()
    reason = "" if status != "failed" else str(ended.get("reason") or _problem(ended))
    own = made is None or is_own(head.run, records[0], made)
    here = [one for one in told if told and one.get("message") == told[-1].get("message")]
    return Reading(
        head=head,
        status=status,
        world=world or {},
        phase=str(told[-1].get("phase", "")) if told else "",
        task=str(told[-1].get("task", "")) if told else "",
        last=records[-1].time,
        reason=reason if own or not reason else f"{FOREIGN} says: {reason}",
        fault=cast("ErrorRecord | None", ended.get("error")),
        answer=ended.get("answer", ""),
        waited=_waited(records),
        questions=questions,
        phases=tuple(dict.fromkeys(str(one.get("phase")) for one in here)),
    )


def readings(tracer: Tracer, heads: Iterable[Head], problems: list[str], made: Made | None = None) -> Iterator[Reading]:
    """Yield the runs of several beginnings; add an error of each unreadable one to `problems`."""
    for one in heads:
        try:
            yield reading(tracer, one, made)
        except ResourceExhausted:
            raise
        except TeaError as error:
            problems.append(error.problem)


def states(records: Iterable[TraceRecord]) -> Iterator[dict[str, Any]]:
    """Yield the world of a run after each change by its actions; from a beginning on it is one, changed in its place.

    A journal may hold a large world and many small changes, so none is copied.
    """
    acting: dict[str, str] = {}
    world: dict[str, Any] | None = None
    for one in records:
        data = as_mapping(one.data)
        if one.kind == "start" and str(data.get("target", "")).startswith(_ENVIRONMENT):
            acting[one.key] = str(data["target"]).rpartition("#")[2]
        elif one.kind == "done" and one.key in acting:
            value = as_mapping(as_mapping(data.get("data")).get("value"))
            if acting.pop(one.key) == "begin" and "plan" in value:
                yield (world := deepcopy(dict(value)))
            elif value.get("patch") and world is not None:
                _change(world, as_mapping(value["patch"]))
                yield world


def at_message(tracer: Tracer, run: str, number: int) -> Mapping[str, Any] | None:
    """Return the last world of a run with no message after the given number, None without one.

    Raises:
        StorageError: Its journal cannot be read.
    """
    with understood(run):
        fitting = [place for place, one in enumerate(_worlds(tracer, run)) if len(one["messages"]) == number]
        return _last(islice(_worlds(tracer, run), fitting[-1] + 1)) if fitting else None


def _worlds(tracer: Tracer, run: str) -> Iterator[dict[str, Any]]:
    return states(tracer.records(run))


def _last(worlds: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    return next(iter(deque(worlds, maxlen=1)), None)


def _change(world: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """Change a world in its place, as `merge_patch` would."""
    for name, value in patch.items():
        inner = world.get(name)
        if value is None:
            world.pop(name, None)
        elif isinstance(inner, dict) and isinstance(value, Mapping):
            _change(cast("dict[str, Any]", inner), cast("Mapping[str, Any]", value))
        else:
            world[name] = merge_patch(None, value)


def _status(standing: RunStatus, ended: Mapping[str, Any], *, at_work: bool, begun: bool) -> State:
    if standing.status == "ended":
        return "completed" if ended.get("status") == "done" else "failed"
    if at_work:
        return "processing"
    if standing.asked:
        return "waiting"
    return "interrupted" if begun else "queued"


def _waited(records: Sequence[TraceRecord]) -> float:
    """Return the seconds between each wait for a person and the next record."""
    pairs = pairwise(records)
    spans = (
        datetime.fromisoformat(later.time) - datetime.fromisoformat(one.time)
        for one, later in pairs
        if one.kind == "waiting"
    )
    return sum(one.total_seconds() for one in spans)


def _tells(record: TraceRecord) -> bool:
    """Return whether a record is a note on a phase of an iteration, as the researcher notes its rounds likewise."""
    data = as_mapping(record.data)
    return record.kind == "note" and data.get("kind") == "research" and "message" in as_mapping(data.get("data"))


def _problem(ended: Mapping[str, Any]) -> str:
    return str(as_mapping(ended.get("error")).get("problem", "")) or "it did not succeed"
