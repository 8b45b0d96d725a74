"""Scoring: the scorers by name, the question asked of them, and the grade given by them."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from tea.errors import BadInput, ProviderError
from tea.evaluate.forms import decoded
from tea.types import JsonObject, JsonValue

_FOLDER = "tea.evaluate.scorers"
_SCORERS = {
    "exact": "plain:exact",
    "normalized": "plain:normalized",
    "numeric": "plain:numeric",
    "list": "plain:listed",
    "set": "plain:as_set",
    "json": "plain:as_json",
    "regex": "plain:regex",
    "code": "code:code",
    "judge": "judged:judge",
    "gaia": "gaia:gaia",
    "simpleqa": "judged:simpleqa",
    "hle": "judged:hle",
    "gpqa": "choice:gpqa",
    "aime": "aime:aime",
    "browsecomp": "judged:browsecomp",
}
SCORERS = tuple(_SCORERS)
_CHECKS = {"numeric": "plain:check_numbers", "regex": "plain:check_pattern", "code": "code:check_tests"}
JUDGED = ("judge", "simpleqa", "hle", "browsecomp")
_IN_LISTS = ("exact", "normalized", "numeric", "list", "set", "json", "code")  # expected may be written as JSON
_AS_DATA = ("list", "set", "json")  # so may the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An answer to be scored.

    Args:
        task: The task in words, for judges.
        answer: The answer: text, or JSON data.
        expected: The expected one.
        options: Options of the scorer.
    """

    task: str = ""
    answer: JsonValue
    expected: JsonValue
    options: JsonObject = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """The grade of one answer.

    Args:
        score: From 0 to 1.
        why: The reason, in one line.
        details: What a judge said beside it, for example `confidence`.
        tokens: Tokens that judging took.
        usd: US dollars that judging cost, None where the price is unknown.
    """

    score: float
    why: str = ""
    details: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    tokens: int = 0
    usd: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The words of a judge.

    Args:
        text: What it said.
        tokens: What that took.
        usd: What that cost.
    """

    text: str
    tokens: int = 0
    usd: float | None = 0.0


class Judge(Protocol):
    """A model asked about answers."""

    model: str
    template: str | None

    async def ask(self, words: str) -> Verdict:
        """Return its response to these words; raises ProviderError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Helpers:
    """The outside helpers of scorers.

    Args:
        judge: Asks a model; None where none is configured.
        sandbox: Gives the terms of a sandbox, for code.
    """

    judge: Judge | None = None
    sandbox: Callable[[], Awaitable[JsonObject]] | None = None

    def require_judge(self, scorer: str) -> Judge:
        """Return the judge.

        Raises:
            ProviderError: There is none.
        """
        if self.judge is None:
            problem = f"The scorer {scorer!r} asks a model to judge, and none is configured."
            raise ProviderError(problem, fix="name one with --judge-model; see `tea models`.")
        return self.judge


Scorer = Callable[[Question, Helpers], Awaitable[Grade]]


def require_scorer(name: str) -> str:
    """Return the name of a scorer.

    Raises:
        BadInput: There is none of that name.
    """
    if name in _SCORERS:
        return name
    near = difflib.get_close_matches(name, SCORERS, n=1)
    fix = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(SCORERS)}."
    raise BadInput(f"There is no scorer {name[:60]!r}.", fix=fix)


def require_expected(scorer: str, expected: JsonValue, options: JsonObject) -> None:
    """Check whether a scorer can compare answers with the expected one.

    Raises:
        BadInput: It cannot, as with words where a number is needed.
    """
    if expected is None:
        raise BadInput("The expected answer is missing.", fix="write it as `expected`.")
    if (check := _CHECKS.get(require_scorer(scorer))) is not None:
        file, _, function = check.partition(":")
        getattr(import_module(f"{_FOLDER}.{file}"), function)(expected, options)


async def grade(scorer: str, question: Question, helpers: Helpers | None = None) -> Grade:
    """Return the grade of an answer.

    Args:
        scorer: Name of the scorer, one of `SCORERS`.
        question: The answer and what is expected.
        helpers: A judge and a sandbox, for scorers in need of them.

    Raises:
        BadInput: There is no such scorer, or what is expected has no form that it knows.
        ProviderError: It needs a judge, and there is none, or it cannot be reached.
        ToolError: It runs code, and there is no sandbox.
    """
    return await _scorer(require_scorer(scorer))(question, helpers or Helpers())


def from_words(scorer: str, answer: str, expected: str) -> tuple[JsonValue, JsonValue]:
    """Return an answer and the expected one, both given as text, in the forms wanted by a scorer.

    Lists and objects are written as JSON, for the scorers to which they mean something.
    """
    return (
        decoded(answer) if scorer in _AS_DATA else answer,
        decoded(expected) if scorer in _IN_LISTS else expected,
    )


@cache
def _scorer(name: str) -> Scorer:
    file, _, function = _SCORERS[name].partition(":")
    return getattr(import_module(f"{_FOLDER}.{file}"), function)
