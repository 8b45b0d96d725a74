"""Inbox: the open questions of waiting runs, and the commands for answering them; all of it blocks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tea.errors import BadInput, StorageError
from tea.journal.form import understood
from tea.journal.history import Made
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.recorder import answering, question_of
from tea.journal.status import RunStatus, StatusReader
from tea.journal.tracer import Tracer
from tea.source.seal import MARK
from tea.types import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of a run to a person; its text comes from the journal, so it contains no secret.

    Args:
        run: Id of the run.
        task: What the run works on, in words.
        key: What the answer is given under.
        agent: Name of the agent that asks, empty for the run itself.
        asked: When it was asked first, ISO 8601 in UTC.
        question: What to answer.
        choices: The only answers that count, any text without one. Of a call `allow` and `deny`, beside which any
            text stands for its result.
        call: The exact operation that waits for consent, empty for a question.
        digest: The digest of its component, empty for a question.
        arguments: What it would be called with.
        command: The line that answers it.
        own: Whether this account recorded it; else its words are those of a journal from elsewhere.
    """

    run: str
    task: str
    key: str
    agent: str
    asked: str
    question: str
    choices: tuple[str, ...]
    call: str
    digest: str
    arguments: JsonValue
    command: str
    own: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """The open questions, of the newest run first, and the problems of unreadable journals."""

    questions: tuple[Question, ...]
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, tracer: Tracer, run: str | None = None, made: Made | None = None) -> Inbox:
        """Return the open questions of all runs without a living process, or of one of them.

        A run that ended is known by its last line, so its journal is not read.

        Args:
            tracer: Reads their journals.
            run: The id of the only run to look at.
            made: Tells whether this account made a mark of JSON data; without it nothing is told of whose they are.

        Raises:
            StorageError: The journal of the one run cannot be read.
        """
        if run is not None:
            return cls(questions=tuple(_questions(tracer, run, made)))
        questions: list[Question] = []
        problems: list[str] = []
        for one in tracer.runs():
            try:
                questions += _questions(tracer, one, made)
            except BadInput:  # another process removed the run meanwhile
                continue
            except StorageError as error:
                problems.append(error.problem)
        return cls(questions=tuple(questions), problems=tuple(problems))

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def _questions(tracer: Tracer, run: str, made: Made | None) -> list[Question]:
    if tracer.ended(run):
        return []
    task, standing = "", RunStatus()
    with understood(run):
        for one in tracer.records(run, wanted=StatusReader()):
            if one.kind == "run" and not task:  # what follows the first is not a head
                task = str(as_mapping(as_mapping(one.data).get("task")).get("task", ""))
            standing.take(one)
        if not standing.asked or tracer.store.held(run):
            return []
        return [_question(run, task, key, one, made) for key, one in standing.asked.items()]


def _question(run: str, task: str, key: str, record: TraceRecord, made: Made | None) -> Question:
    data = as_mapping(record.data)
    call = str(data.get("target", ""))
    return Question(
        run=run,
        task=task,
        key=key,
        agent=record.agent,
        asked=record.time,
        question=str(data["question"]),
        choices=tuple(map(str, data["choices"])),
        call=call,
        digest=str(data.get("digest", "")),
        arguments=data.get("data"),
        command=answering(run, key, "allow" if call else "CHOICE" if data["choices"] else "TEXT"),
        own=made is None or made(data.get(MARK), question_of(key, data, run)),
    )
