"""Revision: another look at an answer before it counts, and its changes."""

from __future__ import annotations

from dataclasses import dataclass, field

from tea.components.context import Context
from tea.types import JsonObject, Result

REVISE = (
    "Before this answer counts, look at your own work above: is each step right, is each fact shown by a result, is "
    "the form the one asked for, was something left out? The answer was: {answer}. Call what is still needed, then "
    "`done` once more, with the same answer if it holds, else with the right one."
)
NOTE = "revision"
_MOST = 2_000
LEAST_LEFT = 1  # questions that a look needs


@dataclass(slots=True)
class Revision:
    """The looks at an answer.

    Args:
        most: How many looks there may be.
    """

    most: int
    looks: int = 0
    answers: list[Result] = field(default_factory=list[Result])

    @property
    def last(self) -> Result | None:
        """The last answer to look at, None without one."""
        return self.answers[-1] if self.answers else None

    def wanted(self, result: Result, left: int) -> bool:
        """Return whether an answer needs another revision; a revision without a change is the last.

        Args:
            result: The answer.
            left: How many questions to the model are left.
        """
        same = self.last is not None and self.last.answer == result.answer
        if not result.ok or same or self.looks >= self.most or left < LEAST_LEFT:
            return False
        self.looks += 1
        self.answers.append(result)
        return True

    def words(self) -> str:
        """Return the words to ask for a look."""
        return REVISE.format(answer=str(self.answers[-1].answer)[:_MOST])

    def note(self, ctx: Context, result: Result) -> None:
        """Write the changes of the looks into the journal, if there were any."""
        if self.last is None:
            return
        before = self.answers[0].answer
        changed: JsonObject = {"looks": self.looks, "changed": before != result.answer}
        ctx.note(NOTE, {**changed, "before": before, "after": result.answer, "reason": result.reason})
