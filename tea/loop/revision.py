"""Revision: another look at an answer before it counts, and its changes."""

from __future__ import annotations

from dataclasses import dataclass, field

from tea.components.context import Context
from tea.loop.checks import numbers_stand_in
from tea.loop.claims import announces
from tea.types import JsonObject, Result

REVISE = (
    "Before your answer is delivered, look at your own work above: is each step right, is each fact shown by a result, "
    "is the form the one asked for, was something left out? Call what is still needed. Only another `done` changes the "
    "answer; if it holds, say so. {task}"
)
HELD = "held, not delivered yet"
UNCHANGED = (
    "Words do not change the held answer. If it is wrong, call `done` with the right one, whole; if it holds, say so."
)
NOTE = "revision"
LEAST_LEFT = 1  # questions that a look needs


@dataclass(slots=True)
class Revision:
    """The revisions of an answer before it is accepted.

    Args:
        most: How many looks there may be.
        held: The answer held until the look ends, None without one.
    """

    most: int
    looks: int = 0
    answers: list[Result] = field(default_factory=list[Result])
    held: Result | None = None
    _told: bool = False

    @property
    def last(self) -> Result | None:
        """The last answer to revise, None without one."""
        return self.answers[-1] if self.answers else None

    def require(self) -> None:
        """Require at least one look, so that the work ends by a step of its own that repeats the task."""
        self.most = max(self.most, 1)

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
        self.held, self._told = result, False
        return True

    def withdraw(self) -> None:
        """Withdraw the held answer, as the person said more."""
        self.held = None

    def confirmed(self, text: str) -> tuple[Result | None, str]:
        """Return the held answer as confirmed by words, or the words to ask for another `done`.

        Words leave the held answer as it is. If they announce a step or hold other numbers, this is said once.

        Args:
            text: The words.
        """
        others = self.held is not None and not numbers_stand_in(text, str(self.held.answer))
        if self._told or not (others or announces(text)):
            return self.held, ""
        self._told = True
        return None, UNCHANGED

    def note(self, ctx: Context, result: Result) -> None:
        """Write the revisions into the journal, with the answer before and after them, if there were any."""
        if self.last is None:
            return
        before = self.answers[0].answer
        changed: JsonObject = {"looks": self.looks, "changed": before != result.answer}
        ctx.note(NOTE, {**changed, "before": before, "after": result.answer, "reason": result.reason})
