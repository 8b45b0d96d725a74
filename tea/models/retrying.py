"""Retrying: the sequence of attempts at one model call, and the circuit breaker of a model."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping

from tea.errors import ContextLengthExceeded, ProviderError
from tea.models.config import ModelConfig
from tea.models.failure import CallFailure, remedy
from tea.types import Attempt, ModelResponse

Again = Callable[[], None]
Attempting = Callable[[float], Awaitable[ModelResponse]]
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
FAILURES, COOLING = 5, 30.0
TOO_MANY = 429
DEFAULTS: Mapping[str, float] = {"attempts": 5, "seconds": 900}


class Retrying:
    """A retry policy for one configuration: attempts, time, and a circuit breaker.

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
        self._sleep, self._clock, self._chance = sleep, clock, chance
        self._failures, self._alone_until = 0, 0.0
        self._alone = self._trial = False

    async def run(
        self, attempt: Attempting, config: ModelConfig, again: Again | None = None
    ) -> tuple[ModelResponse, tuple[Attempt, ...]]:
        """Attempt a call until there is an answer, and return it with the failed attempts before it.

        Args:
            attempt: One try, which has so many seconds; raises `Fault`.
            config: Who is asked, for words.
            again: Called before each further try, which it may refuse; None lets all begin.

        Raises:
            ContextLengthExceeded: The question is longer than the model reads.
            ProviderError: No try gave an answer, or time is up, or the provider failed too often of late.
        """
        trial = self._admit(config.name)
        try:
            return await self._tried(attempt, config, again)
        finally:
            if trial:
                self._trial = False

    async def _tried(
        self, attempt: Attempting, config: ModelConfig, again: Again | None
    ) -> tuple[ModelResponse, tuple[Attempt, ...]]:
        end, left, failed = self._clock() + self._seconds, self._seconds, list[Attempt]()
        while True:
            try:
                response = await attempt(left)
            except CallFailure as fault:
                wait = self._wait(fault, len(failed))
                left = end - self._clock() - wait
                last = not fault.again or len(failed) + 1 >= self._tries or left <= 0
                self._count(fault)
                if last:
                    raise _failure(config, fault, len(failed) + 1) from fault
                tried = Attempt(model=config.name, problem=fault.problem, status=fault.status, waited=round(wait, 3))
                failed.append(tried)
                await self._sleep(wait)
                if again is not None:
                    again()
            else:
                self._failures, self._alone = 0, False
                return response, tuple(failed)

    def _wait(self, fault: CallFailure, tries: int) -> float:
        """Return the delay in seconds: the one requested by the provider, else an exponential one with jitter."""
        if fault.wait is not None:
            return fault.wait
        return min(LONGEST_WAIT, FIRST_WAIT * 2**tries) * (0.5 + self._chance() / 2)

    def _admit(self, model: str) -> bool:
        """Raise ProviderError while the circuit breaker is open; afterwards, return True for one trial call."""
        if not self._alone:
            return False
        left = self._alone_until - self._clock()
        if left > 0 or self._trial:
            problem = f"The model {model!r} failed {FAILURES} times in a row and is left alone."
            raise ProviderError(problem, fix=f"try again in {max(1, left):.0f} s, or give it fallbacks.")
        self._trial = True
        return True

    def _count(self, fault: CallFailure) -> None:
        """Count a failure of the provider; a refused or deferred request shows the provider is available."""
        if not fault.again or fault.status == TOO_MANY:
            self._alone = False
            return
        self._failures += 1
        if self._failures >= FAILURES:
            self._alone, self._alone_until = True, self._clock() + COOLING
            self._failures = FAILURES - 1


def _failure(config: ModelConfig, fault: CallFailure, tries: int) -> ProviderError:
    times = f" (after {tries} tries)" if tries > 1 else ""
    problem = f"The model {config.name!r} did not answer{times}: {fault.problem.rstrip('. ')}."
    if fault.too_long:
        return ContextLengthExceeded(problem, fix="shorten the conversation, or choose a model that reads more.")
    return ProviderError(problem, fix=remedy(fault.status, config.keys))
