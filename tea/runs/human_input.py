"""HumanInput: questions to the person behind a run, and the arrival of their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tea.errors import ApprovalNeeded, BadArguments
from tea.journal.mask import hidden_values
from tea.journal.recorder import Recorder
from tea.types import is_text

ASKED = "| "  # before the lines of a question of others
_WORD_FOR_WORD = " (CHOICE is one of the choices, word for word)"


class Person(Protocol):
    """A person able to answer now, for example at a terminal."""

    async def __call__(self, question: str, choices: Sequence[str]) -> str | None:
        """Return the person's answer as text, None if they went away."""
        ...


class HumanInput:
    """A source of answers from the person present; without one the run waits for an answer bound to the question's key.

    Args:
        person: Who can answer now, if anybody.
        recorder: Where answers are written.
        answers: What was answered since the run stopped, by key.
    """

    def __init__(self, person: Person | None, recorder: Recorder, answers: Mapping[str, str]) -> None:
        self._person, self._recorder, self._answers = person, recorder, answers

    async def ask(self, question: str, choices: Sequence[str], key: str, agent: str) -> str:
        """Return the answer to a question of an agent, or of a component it calls.

        Raises:
            ApprovalNeeded: Nobody is there to answer, or the answer is not one of the choices.
            BadArguments: It is not text that a person could read, or its choices cannot be told apart.
        """
        if not all(map(is_text, (question, *choices))):
            raise BadArguments("A question to a person, or one of its choices, is not text.", fix="ask in words.")
        answer = self._answers.get(key) if self._recorder.same(key, question, choices) else None
        if not _counts(answer, choices):
            if fault := _choices_fault(choices):
                raise BadArguments(fault, fix="give each choice other words.")
            self._recorder.ask(key, question, choices)
        if answer is None and self._person is not None:
            unseen = hidden_values("\n".join((question, *choices)))
            answer = await self._person("\n".join(filter(None, (_marked(question, agent), unseen))), choices)
        if answer is None or not _counts(answer, choices):
            told = f"{_asks(agent)} {question}" + (f" ({' / '.join(choices)})" if choices else "")
            wrong = "is not one of the choices" if is_text(answer) else "is not text"
            problem = told if answer is None else f"{str(answer)[:80]!r} {wrong}: {told}"
            wanted = ("CHOICE", _WORD_FOR_WORD) if choices else ("TEXT",)
            raise ApprovalNeeded(problem, fix=self._recorder.remedy(key, *wanted))
        self._recorder.answered(key, {"question": question}, answer)
        return answer


def _choices_fault(choices: Sequence[str]) -> str | None:
    """Return why choices shown on one line, parted by slashes, cannot be told apart, None if they can."""
    for one in choices:
        if not one or one != " ".join(one.split()) or " / " in f" {one} ":
            return f"{one[:60]!r} is not seen as one choice: it is empty, or has odd blanks or a slash of its own."
    return None if len({*choices}) == len(choices) else "One of the choices stands twice."


def _marked(question: str, agent: str) -> str:
    """Return a question after the name of its agent, each of several lines marked: none looks like a line of tea's."""
    lines = question.split("\n")
    return (
        "\n".join((_asks(agent), *(f"{ASKED}{line}" for line in lines))) if lines[1:] else f"{_asks(agent)} {question}"
    )


def _asks(agent: str) -> str:
    """Return the words before a question: they name the agent, lest the question be taken for tea's own."""
    return f"{f'agent:{agent}' if agent else 'A component'} asks:"


def _counts(answer: str | None, choices: Sequence[str]) -> bool:
    return is_text(answer) and (not choices or answer in choices)
