"""Searcher: all engines in parallel under one deadline, and one list of results from all of theirs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from tea.clock import epoch_seconds, to_second
from tea.errors import BadInput, TeaError
from tea.web.search.engine import Engine, EngineFailed, FailureKind, Hit, Query, Since
from tea.web.search.health import Health
from tea.web.search.hits import Given, Ranked, Rerank, cleaned, ranked, relaxed

MOST_QUERIES, MOST_LETTERS = 5, 400
State = Literal["answered", "cached", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often an engine may be asked, and where its record is kept.

    Args:
        service: What the record is of: an address, as engines of one name may lead to several; the name if empty.
        delay: Least seconds between two requests.
        per_day: Most requests a day; 0 for any number.
        fresh: Seconds for which an answer is taken again unasked; 0 for never.
    """

    service: str = ""
    delay: float = 0.0
    per_day: int = 0
    fresh: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The record of one engine's work for one query.

    Args:
        engine: Its name.
        tier: Its tier.
        query: The query.
        state: Whether it answered, an answer from before was taken, or it failed.
        hits: How many hits it gave.
        asked: When it was asked, ISO 8601 in UTC.
        seconds: How long it took.
        kind: What went wrong; empty for nothing.
        problem: What went wrong, in words.
    """

    engine: str
    tier: int
    query: str
    state: State
    hits: int = 0
    asked: str = ""
    seconds: float = 0.0
    kind: FailureKind | Literal[""] = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The results of a search.

    Args:
        results: The results, the best first.
        reports: What each engine did for each query.
        relaxed: Queries that were asked again without quotes, by what they were.
    """

    results: tuple[Ranked, ...]
    reports: tuple[Report, ...]
    relaxed: Mapping[str, str]


class Searcher:
    """A searcher over engines.

    Args:
        engines: The engines; one that fails never fails the search.
        health: What they did lately.
        seconds: Most time for one search, all engines together.
        grace: Seconds for which the others are waited for when one has given hits.
        paces: How often engines may be asked, by name; one without is asked whenever it is wanted.
        rerank: Gives how well texts fit a query; see `ranked`.
        absent: Reports of engines that are wanted and cannot be asked.
        now: The time, in seconds since 1970.
    """

    def __init__(
        self,
        engines: Iterable[Engine],
        health: Health,
        *,
        seconds: float = 30.0,
        grace: float = 5.0,
        paces: Mapping[str, Pace] | None = None,
        rerank: Rerank | None = None,
        absent: Sequence[Report] = (),
        now: Callable[[], float] = epoch_seconds,
    ) -> None:
        self._engines, self._health = tuple(engines), health
        self._seconds, self._grace, self._paces = seconds, grace, paces or {}
        self._rerank, self._absent, self._now = rerank, tuple(absent), now

    async def search(self, queries: Sequence[str], *, most: int = 10, since: Since = "") -> Findings:
        """Return the results of some queries, without repeats, the best first.

        A query with quotes that finds nothing is asked again without them.

        Args:
            queries: What to search for, at most five, each of at most 400 characters.
            most: Most results.
            since: The age of pages: only those of the last day, week, month or year; empty for any.

        Raises:
            BadInput: There is no query, or one that is too long.
        """
        asked = [Query(text=text, most=max(most, 10), since=since) for text in checked(queries)]
        end = asyncio.get_running_loop().time() + self._seconds
        given, reports = await self._round(asked, end)
        again = dict[str, str]()
        for query in asked:
            plain = relaxed(query.text)
            if plain and plain != query.text and not any(one.hits for one in given if one.query == query.text):
                again[query.text] = plain
        if again and asyncio.get_running_loop().time() < end:
            more = [replace(asked[0], text=text) for text in dict.fromkeys(again.values())]
            further, told = await self._round(more, end)
            given, reports = [*given, *further], [*reports, *told]
        results = await asyncio.to_thread(ranked, given, most, self._rerank)
        return Findings(results=tuple(results), reports=(*self._absent, *reports), relaxed=again)

    async def _round(self, queries: Sequence[Query], end: float) -> tuple[list[Given], list[Report]]:
        """Ask every engine every query, and return the results until the deadline, or a little after the first."""
        jobs = [(engine, query) for query in queries for engine in self._engines]
        given: dict[int, Given] = {}
        reports: dict[int, Report] = {}
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout_at(end) as limit, asyncio.TaskGroup() as tasks:

                async def one(place: int, engine: Engine, query: Query) -> None:
                    hits, reports[place] = await self._ask(engine, query)
                    if hits:
                        given[place] = Given(engine=engine.name, tier=engine.tier, query=query.text, hits=hits)
                        when = limit.when()
                        if when is not None and not limit.expired():
                            limit.reschedule(min(when, loop.time() + self._grace))

                for place, (engine, query) in enumerate(jobs):
                    tasks.create_task(one(place, engine, query))
        except TimeoutError:
            seconds = round(loop.time() - begun, 3)
            for place, (engine, query) in enumerate(jobs):
                if place not in reports:
                    told = EngineFailed("timeout", f"It gave no answer within {seconds:g} seconds.")
                    error = await self._noted(engine, told)
                    reports[place] = self._failure(engine, query, error, seconds)
        places = range(len(jobs))
        return [given[place] for place in places if place in given], [reports[place] for place in places]

    async def _ask(self, engine: Engine, query: Query) -> tuple[list[Hit], Report]:
        """Ask one engine one query, and return its hits and a report of its work."""
        pace = self._paces.get(engine.name)
        fresh = 0.0 if pace is None else pace.fresh
        service = self._service(engine)
        if fresh and (kept := await asyncio.to_thread(self._health.kept, service, query, fresh)) is not None:
            report = Report(engine=engine.name, tier=engine.tier, query=query.text, state="cached", hits=len(kept[1]))
            return kept[1], replace(report, asked=to_second(kept[0]))
        begun, when = time.monotonic(), self._now()
        try:
            if pace is not None:
                admit = partial(self._health.admit, service, delay=pace.delay, per_day=pace.per_day)
                if (wait := await asyncio.to_thread(admit)) > 0:
                    await asyncio.sleep(wait)
            found = await engine.search(query)
            hits = [hit for one in found if (hit := cleaned(one)) is not None][: query.most]
        except Exception as error:  # an engine may be foreign code, which may raise anything
            failed = await self._noted(engine, error)
            return [], self._failure(engine, query, failed, time.monotonic() - begun, when)
        if pace is not None:
            await asyncio.to_thread(self._health.answered, service)
        if hits and fresh:
            await asyncio.to_thread(self._health.keep, service, query, hits)
        report = Report(engine=engine.name, tier=engine.tier, query=query.text, state="answered", hits=len(hits))
        return hits, replace(report, asked=to_second(when), seconds=round(time.monotonic() - begun, 3))

    async def _noted(self, engine: Engine, error: Exception) -> EngineFailed:
        """Note a failure of an engine, and return it in the form of one."""
        if isinstance(error, EngineFailed):
            failed = error
        elif isinstance(error, TeaError):
            failed = EngineFailed("broken", error.problem)
        else:
            failed = EngineFailed("broken", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
        if engine.name in self._paces:
            await asyncio.to_thread(self._health.failed, self._service(engine), failed)
        return failed

    def _service(self, engine: Engine) -> str:
        """Return the identity of an engine's record."""
        pace = self._paces.get(engine.name)
        return engine.name if pace is None else pace.service or engine.name

    def _failure(
        self, engine: Engine, query: Query, error: EngineFailed, seconds: float, when: float | None = None
    ) -> Report:
        report = Report(engine=engine.name, tier=engine.tier, query=query.text, state="failed", kind=error.kind)
        asked = to_second(self._now() if when is None else when)
        return replace(report, problem=error.problem[:400], seconds=round(seconds, 3), asked=asked)


def checked(queries: Sequence[str]) -> list[str]:
    """Return queries on one line each, without repeats.

    Raises:
        BadInput: There is none, or one that is too long, or too many.
    """
    found = list(dict.fromkeys(line for one in queries if (line := " ".join(one.split()))))
    if not found:
        raise BadInput("There is no query.", fix="say in words what to search for.")
    if len(found) > MOST_QUERIES:
        raise BadInput(f"There are {len(found)} queries.", fix=f"give at most {MOST_QUERIES} at once.")
    long = next((one for one in found if len(one) > MOST_LETTERS), None)
    if long is not None:
        raise BadInput(f"A query has {len(long):,} characters.", fix=f"use at most {MOST_LETTERS}: a few words.")
    return found
