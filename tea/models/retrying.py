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
PATIENT = 10  # attempts where a provider has answered before and nobody else can; they wait for two minutes at most


class Retrying:
    """A retry policy for one configuration: attempts, time, and a circuit breaker.

    A provider with an answer before this question is waited for longer, unless the configuration states its attempts
    or has fallbacks: what a run has done so far is worth more than two minutes. While the breaker is open, calls with
    attempts left wait for it as well.

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
        self._stated, self._answered = "attempts" in limits, False
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
        end, failed = self._clock() + self._seconds, list[Attempt]()
        tries = PATIENT if self._answered and not (self._stated or config.fallbacks) else self._tries
        waits = (self._stated or self._answered) and not config.fallbacks
        while (left := self._left_alone()) is not None:
            problem = f"The model {config.name!r} failed {FAILURES} times in a row and is left alone."
            wait = max(left, self._pause(len(failed)))
            if not waits or len(failed) + 1 >= tries or self._clock() + wait >= end:
                raise ProviderError(problem, fix=f"try again in {max(1, left):.0f} s, or give it fallbacks.")
            failed.append(Attempt(model=config.name, problem=problem, waited=round(wait, 3)))
            await self._rest(wait, again)
        trial = self._trial = self._alone
        try:
            return await self._tried(attempt, config, again, failed, tries, end)
        finally:
            if trial:
                self._trial = False

    async def _tried(
        self,
        attempt: Attempting,
        config: ModelConfig,
        again: Again | None,
        failed: list[Attempt],
        tries: int,
        end: float,
    ) -> tuple[ModelResponse, tuple[Attempt, ...]]:
        left = end - self._clock()
        while True:
            try:
                response = await attempt(left)
            except CallFailure as fault:
                wait = self._wait(fault, len(failed))
                left = end - self._clock() - wait
                last = not fault.again or len(failed) + 1 >= tries or left <= 0
                self._count(fault)
                if last:
                    raise _failure(config, fault, len(failed) + 1) from fault
                tried = Attempt(model=config.name, problem=fault.problem, status=fault.status, waited=round(wait, 3))
                failed.append(tried)
                await self._rest(wait, again)
            else:
                self._failures, self._alone, self._answered = 0, False, True
                return response, tuple(failed)

    def _wait(self, fault: CallFailure, tries: int) -> float:
        """Return the delay in seconds: the one requested by the provider, else an exponential one with jitter."""
        if fault.wait is not None:
            return fault.wait
        return self._pause(tries)

    def _pause(self, tries: int) -> float:
        """Return the exponential delay after so many tries, in seconds, with jitter."""
        return min(LONGEST_WAIT, FIRST_WAIT * 2**tries) * (0.5 + self._chance() / 2)

    async def _rest(self, seconds: float, again: Again | None) -> None:
        """Wait for the next try, and announce it."""
        await self._sleep(seconds)
        if again is not None:
            again()

    def _left_alone(self) -> float | None:
        """Return for how many seconds the breaker stays open, 0 during a trial call; None if a call may begin."""
        left = max(0.0, self._alone_until - self._clock())
        return left if self._alone and (left > 0 or self._trial) else None

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
