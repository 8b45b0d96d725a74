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
_MARKS = re.compile(r'[*_`"\u201c\u201d\u201e\u00ab\u00bb]')
_SENTENCES = re.compile(r"(?<=[.!?:])\s+|\n+")
_CLAUSES = re.compile(r"[.,;:!\u2013\u2014]+\s*|\s(?:and|so)\s")
_HOLDS = re.compile(
    r"(?:(?:yes|ok|okay),? )?(?:(?:(?:the|my|this|held) ){1,2}answer |it )?holds[.!]?",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"(?:(?:yes|ok|okay),? )?(?:(?:(?:the|my|this|held) ){1,2}answer|it) holds\b(?=[ .,;:!(\u2013\u2014-])",
    re.IGNORECASE,
)
_EACH = r"(?:each|every|all(?: the)?) (?:step|fact|number|figure|result|value)s?"
_AGREES = re.compile(
    r"(?:yes|so|thus|hence|therefore)? ?(?:"
    r"(?:(?:(?:the|my|this|held|given|final) ){1,3}answer|it|everything|all(?: of it)?|{each})"
    r" (?:holds|stands|(?:is|are|looks?|seems?|stays|remains) (?:still |all )?{right})"
    r"|(?:all|everything )? ?{right}|confirmed"
    r"|no (?:further )?(?:changes?|corrections?) (?:is |are )?(?:needed|necessary|required)|nothing to change"
    r")".replace(
        "{right}", r"(?:right|correct|fine|good|ok|okay|in order|accurate|unchanged|valid)(?: as it is)?"
    ).replace("{each}", _EACH),
    re.IGNORECASE,
)
_CHECKED = re.compile(
    r"(?:yes|ok|okay|sure|done|as (?:you )?(?:asked|wanted)|i (?:now )?say"
    r"|(?:i(?:'ve| have)? )?(?:(?:now|just|again|carefully|double-?) ?)?"
    r"(?:re-?)?(?:checked|verified|reviewed|looked at)"
    r"(?: [a-z'-]{1,20}){0,8}"
    rf"|{_EACH}(?: [a-z'-]{{1,20}}){{0,8}}"
    r"|the form is the one asked for|nothing (?:was|is|has been) (?:left out|missing))",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:but|except|however|if|in ?correct|instead|mistakes?|not|only|should|unless|wrong(?:ly)?)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
_PLANS = re.compile(
    r"\b(?:i(?:'|\u2019)ll|(?:i|we) will|going to|let (?:me|us)|i (?:need|have|want) to)\b", re.IGNORECASE
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
    """Return whether words confirm an answer given before: by a sentence, by their beginning, or by all they say."""
    return _beside(text) is not None


def remark_of(text: str) -> str:
    """Return the words beside a confirmation as a remark on the answer, empty if they say nothing else."""
    return (_beside(text) or "")[:_MOST_REMARK]


def _beside(text: str) -> str | None:
    """Return the remark in words confirming an answer, None if they do not."""
    sentences = [" ".join(one.split()) for one in _SENTENCES.split(_MARKS.sub("", text).strip())]
    places = [place for place, one in enumerate(sentences) if _HOLDS.fullmatch(one)]
    if places:
        behind = sentences[places[-1] + 1 :]
        return None if any(map(_DENIES.search, behind)) else " ".join(one for one in behind if not _says_checked(one))
    words = " ".join(sentences)
    begins = _BEGINS.match(words)
    if begins is not None and not _DENIES.search(words, begins.end()):
        return "" if _says_checked(words[begins.end() :]) else words
    first, *rest = _clauses(words) or [""]
    if rest and " " in first and _AGREES.fullmatch(first) and not (_DENIES.search(words) or _PLANS.search(words)):
        return "" if all(map(_says_checked, rest)) else words
    agrees = any(map(_AGREES.fullmatch, _clauses(words))) and _says_checked(words) and not _DENIES.search(words)
    return "" if agrees else None


def _says_checked(text: str) -> bool:
    """Return whether words only tell of checks and their good outcome."""
    return all(_AGREES.fullmatch(one) or _CHECKED.fullmatch(one) for one in _clauses(text))


def _clauses(text: str) -> list[str]:
    """Return the non-empty parts of sentences."""
    parts = _CLAUSES.split(text.replace("\u2019", "'"))
    return [one for part in parts if (one := re.sub(r"^(?:and|so) ", "", part.strip()))]


def _remarked(held: Result, remark: str) -> Result:
    return changed(held, reason=" ".join(filter(None, (held.reason, remark)))) if remark else held
