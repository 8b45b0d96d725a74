"""Engine: the queries to every search engine, its results, and its failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

Since = Literal["", "day", "week", "month", "year"]
SINCE: tuple[Since, ...] = get_args(Since)
FailureKind = Literal[
    "key",
    "captcha",
    "rate_limit",
    "refused",
    "timeout",
    "unresolved",
    "unreachable",
    "broken",
    "resting",
    "budget",
    "missing",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question for an engine.

    Args:
        text: The words, at most 400 characters.
        most: Most hits.
        since: The age of pages: only those of the last day, week, month or year; empty for any.
    """

    text: str
    most: int = 10
    since: Since = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result of an engine; everything in it was written by others.

    Args:
        url: The address of the page, or `file://` and the path of a local file.
        title: Its title.
        snippet: Words of it.
        date: The day it was published or changed, `YYYY-MM-DD`; empty if the engine does not say.
        place: Where the snippet stands in it: a line, page or heading; empty if the engine does not say.
    """

    url: str
    title: str
    snippet: str = ""
    date: str = ""
    place: str = ""


class Engine(Protocol):
    """A search engine.

    Attributes:
        name: Its name.
        tier: Its trust from 1, the most trusted: it weighs its results.
    """

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def tier(self) -> int:
        """Its tier, from 1."""
        ...

    async def search(self, query: Query) -> Sequence[Hit]:
        """Return the hits of a query, the best first.

        Raises:
            EngineFailed: There is no answer.
        """
        ...


class EngineFailed(Exception):
    """A search without an answer.

    Args:
        kind: What went wrong.
        problem: What went wrong, in words.
        wait: Seconds for which the engine asks to be left alone; 0 if it does not say.
    """

    def __init__(self, kind: FailureKind, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.kind: FailureKind = kind
        self.problem = problem
        self.wait = wait
