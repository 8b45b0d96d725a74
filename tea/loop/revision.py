"""Revision: another look at an answer before it counts, and its changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tea.components.context import Context
from tea.loop.checks import insisted
from tea.loop.confirmation import confirms, remark_of
from tea.types import JsonObject, Result, as_text, changed

REVISE = (
    "Before your answer is delivered, look at your own work above: is each step right, is each fact shown by a result, "
    "is the form the one asked for, was something left out? Call what is still needed. Only another `done` changes the "
    'answer; if it is right as it is, end with "The answer holds."\n{task}'
)
REVISE_POINTS = (
    "Before your answer is delivered, look at what the agents left open: {points} Call what is still needed, or say in "
    '`doubts` what stays open. Only another `done` changes the answer; if it is right as it is, end with "The answer '
    'holds."\n{task}'
)
MOST_POINTS, MOST_POINT = 6, 300
HELD = "held, not delivered yet"
UNCHANGED = (
    "These words neither confirm nor change the held answer. If it is wrong, call `done` with the right one, whole; if "
    'it is right, say only "The answer holds."'
)
UNCONFIRMED = "the last look at it did not confirm it"
NOTE = "revision"
LEAST_LEFT = 1  # requests to the model that a revision needs


def look_again(points: Sequence[str], task: str) -> str:
    """Return the question for another look at an answer.

    Args:
        points: What other agents left open.
        task: The task and the form of its answer, once more.
    """
    if not points:
        return REVISE.format(task=task)
    cut = [one if len(one) <= MOST_POINT else f"{one[:MOST_POINT]} ..." for one in points[:MOST_POINTS]]
    more = [f"and {len(points) - MOST_POINTS} more"] if len(points) > MOST_POINTS else []
    return REVISE_POINTS.format(points=f"{'; '.join([*cut, *more]).rstrip('.')}.", task=task)


@dataclass(slots=True)
class Revision:
    """The revisions of an answer before it is accepted.

    Args:
        most: How many looks there may be.
        held: The answer held until the look ends, None without one.
        told: Whether words about it were asked about.
    """

    most: int
    looks: int = 0
    answers: list[Result] = field(default_factory=list[Result])
    held: Result | None = None
    told: bool = False

    @property
    def last(self) -> Result | None:
        """The last answer to revise, None without one."""
        return self.answers[-1] if self.answers else None

    def wanted(self, result: Result, left: int, points: Sequence[str] = ()) -> bool:
        """Return whether an answer needs another revision; a revision without a change is the last.

        Args:
            result: The answer.
            left: How many questions to the model are left.
            points: What other agents left open; it is worth one look.
        """
        same = self.last is not None and self.last.answer == result.answer
        if not result.ok or same or self.looks >= max(self.most, 1 if points else 0) or left < LEAST_LEFT:
            return False
        self.looks += 1
        self.answers.append(result)
        self.held, self.told = result, False
        return True

    def withdraw(self) -> None:
        """Withdraw the held answer, as the person said more."""
        self.held = None

    def confirmed(self, text: str) -> tuple[Result | None, str]:
        """Return the held answer if words confirm it, else the request to say so or to call `done`.

        They confirm it by their last sentence, or by their first words, and are then a remark on it. Others are asked
        about once; then it is delivered, marked unconfirmed.

        Args:
            text: The words.
        """
        if self.held is None:
            return None, ""
        answer = as_text(self.held.answer)
        if confirms(text, answer):
            return _remarked(self.held, remark_of(text, answer)), ""
        if not self.told:
            self.told = True
            return None, UNCHANGED
        return changed(self.held, evidence=insisted(self.held.evidence, UNCONFIRMED)), ""

    def note(self, ctx: Context, result: Result) -> None:
        """Write the revisions into the journal, with the answer before and after them, if there were any."""
        if self.last is None:
            return
        before = self.answers[0].answer
        looks: JsonObject = {"looks": self.looks, "changed": before != result.answer}
        ctx.note(NOTE, {**looks, "before": before, "after": result.answer, "reason": result.reason})


def _remarked(held: Result, remark: str) -> Result:
    return changed(held, reason=" ".join(filter(None, (held.reason, remark)))) if remark else held
