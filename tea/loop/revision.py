"""Revision: another look at an answer before it counts, and its changes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tea.components.context import Context
from tea.loop.checks import insisted
from tea.types import JsonObject, Result, changed

REVISE = (
    "Before your answer is delivered, look at your own work above: is each step right, is each fact shown by a result, "
    "is the form the one asked for, was something left out? Call what is still needed. Only another `done` changes the "
    'answer; if it is right as it is, end with "The answer holds."\n{task}'
)
HELD = "held, not delivered yet"
UNCHANGED = (
    "These words neither confirm nor change the held answer. If it is wrong, call `done` with the right one, whole; if "
    'it is right, say only "The answer holds."'
)
UNCONFIRMED = "the last look at it did not confirm it"
_CONFIRMS = re.compile(
    r"(?:^|[.!?:]\s+|\n[^\S\n]*)(?:(?:yes|ok|okay),? )?(?:(?:(?:the|my|this|held) ){1,2}answer |it )?holds[.!]?$",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"(?:(?:yes|ok|okay),? )?(?:(?:(?:the|my|this|held) ){1,2}answer|it) holds\b(?=[ .,;:!(\u2013\u2014-])",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:but|except|however|if|in ?correct|instead|mistakes?|not|only|should|unless|wrong(?:ly)?)\b", re.IGNORECASE
)
_MOST_REMARK = 600
NOTE = "revision"
LEAST_LEFT = 1  # requests to the model that a revision needs


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
        """Require at least one look, so the work ends with a step repeating the task."""
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
        """Return the held answer if words confirm it, else the request to say so or to call `done`.

        They confirm it by their last sentence, or by their first words, and are then a remark on it. Others are asked
        about once; then it is delivered, marked unconfirmed.

        Args:
            text: The words.
        """
        if self.held is None or confirms(text):
            return self.held and _remarked(self.held, remark_of(text)), ""
        if not self._told:
            self._told = True
            return None, UNCHANGED
        return changed(self.held, evidence=insisted(self.held.evidence, UNCONFIRMED)), ""

    def note(self, ctx: Context, result: Result) -> None:
        """Write the revisions into the journal, with the answer before and after them, if there were any."""
        if self.last is None:
            return
        before = self.answers[0].answer
        looks: JsonObject = {"looks": self.looks, "changed": before != result.answer}
        ctx.note(NOTE, {**looks, "before": before, "after": result.answer, "reason": result.reason})


def confirms(text: str) -> bool:
    """Return whether words confirm an answer given before, by their last sentence or their first words."""
    return _ends_with_it(text) or remark_of(text) != ""


def remark_of(text: str) -> str:
    """Return words confirming an answer by their beginning as a remark on it, empty if they say nothing else."""
    words = " ".join(text.strip().strip('*_`"').split())
    found = _BEGINS.match(words)
    if found is None or _ends_with_it(text) or _DENIES.search(words, found.end()):
        return ""
    return words[:_MOST_REMARK]


def _ends_with_it(text: str) -> bool:
    return _CONFIRMS.search(text.strip().strip('*_`"')) is not None


def _remarked(held: Result, remark: str) -> Result:
    return changed(held, reason=" ".join(filter(None, (held.reason, remark)))) if remark else held
