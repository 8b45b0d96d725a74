"""Retrying: how the tries of one model call follow each other, and when a provider is left alone."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping

from tea.errors import ProviderError
from tea.models.fault import Fault
from tea.types import Attempt, ModelResponse

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
FAILURES, COOLING = 5, 30.0
DEFAULTS: Mapping[str, float] = {"concurrency": 64, "attempts": 5, "seconds": 900}


class Retrying:
    """Holds one configuration to its limits: tries, time, calls at once, calls a minute, and a circuit breaker.

    Args:
        limits: As the configuration states them; see `DEFAULTS`.
        sleep: Waits; a test's own need not.
        clock: Gives seconds.
        chance: Gives a number in [0, 1), the jitter of a wait.
    """

    def __init__(
        self,
        limits: Mapping[str, float],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        given = {**DEFAULTS, **limits}
        self._tries, self._seconds = max(1, int(given["attempts"])), given["seconds"]
        self._slots = asyncio.Semaphore(max(1, int(given["concurrency"])))
        self._gap = 60 / given["requests_per_minute"] if given.get("requests_per_minute") else 0.0
        self._sleep, self._clock, self._chance = sleep, clock, chance
        self._next, self._failures, self._closed_until = 0.0, 0, 0.0

    async def run(
        self, attempt: Callable[[], Awaitable[ModelResponse]], model: str, again: Callable[[], None]
    ) -> tuple[ModelResponse, tuple[Attempt, ...]]:
        """Try until there is an answer, and return it with the tries that failed before.

        Args:
            attempt: One try; raises `Fault`.
            model: Name of the configuration, for words.
            again: Told before each further try.

        Raises:
            ProviderError: No try gave an answer, or time is up, or the provider failed too often of late.
        """
        self._admit(model)
        end, failed = self._clock() + self._seconds, list[Attempt]()
        while True:
            try:
                async with self._slots:
                    await self._pace()
                    response = await attempt()
            except Fault as fault:
                wait = self._wait(fault, len(failed))
                last = not fault.again or len(failed) + 1 >= self._tries or self._clock() + wait > end
                self._count(fault)
                if last:
                    raise _failure(model, fault, len(failed) + 1) from fault
                failed.append(Attempt(model=model, problem=fault.problem, status=fault.status, waited=round(wait, 3)))
                await self._sleep(wait)
                again()
            else:
                self._failures = 0
                return response, tuple(failed)

    def _wait(self, fault: Fault, tries: int) -> float:
        """Return the seconds to wait: what the provider asks for, else twice as long each time, with jitter."""
        if fault.wait is not None:
            return fault.wait
        return min(LONGEST_WAIT, FIRST_WAIT * 2**tries) * (0.5 + self._chance() / 2)

    async def _pace(self) -> None:
        """Keep to the calls a minute: each takes the next free moment."""
        if self._gap:
            now = self._clock()
            moment = max(now, self._next)
            self._next = moment + self._gap
            if moment > now:
                await self._sleep(moment - now)

    def _admit(self, model: str) -> None:
        """Refuse while the breaker is open; after it has cooled, one failure opens it again."""
        left = self._closed_until - self._clock()
        if left > 0:
            problem = f"The model {model!r} failed {FAILURES} times in a row and is left alone."
            raise ProviderError(problem, fix=f"try again in {left:.0f} s, or give it fallbacks.")

    def _count(self, fault: Fault) -> None:
        """Count what speaks against the provider; a request that it refuses does not."""
        if fault.again:
            self._failures += 1
            if self._failures >= FAILURES:
                self._closed_until = self._clock() + COOLING
                self._failures = FAILURES - 1


def _failure(model: str, fault: Fault, tries: int) -> ProviderError:
    times = f" (after {tries} tries)" if tries > 1 else ""
    return ProviderError(f"The model {model!r} did not answer{times}: {fault.problem}.", fix=_remedy(fault.status))


def _remedy(status: int | None) -> str:
    match status:
        case 401 | 403:
            return "check its key; `tea models test` tells whether it is accepted."
        case 404:
            return "check its base_url and the model's id."
        case 400 | 413 | 422:
            return "see what the provider says; perhaps the model lacks a capability that its configuration states."
        case 402 | 429:
            return "wait, or give the model more keys or fallbacks."
        case None:
            return "check its base_url and the network."
        case _:
            return "try again later, or give the model fallbacks."
