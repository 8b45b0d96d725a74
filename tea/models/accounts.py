"""Accounts: limits shared by configurations of one provider and key (concurrent calls, calls per minute, pauses)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping

CONCURRENCY = 64


class Account:
    """A key at an address, held to the strictest limits stated for it by any configuration.

    Args:
        sleep: Waits; a test's own need not.
        clock: Gives seconds.

    `rests` is the moment until which the key is better left alone.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[None]], clock: Callable[[], float]) -> None:
        self._sleep, self._clock = sleep, clock
        self._stated: dict[str, Mapping[str, float]] = {}
        self._most, self._gap = CONCURRENCY, 0.0
        self._busy, self._next = 0, 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.rests = 0.0

    def state(self, config: str, limits: Mapping[str, float]) -> None:
        """Record the limits stated by a configuration, `concurrency` and `requests_per_minute`."""
        self._stated[config] = limits
        given = self._stated.values()
        self._most = min(max(1, int(one.get("concurrency", CONCURRENCY))) for one in given)
        self._gap = max(60 / one["requests_per_minute"] if one.get("requests_per_minute") else 0.0 for one in given)

    @property
    def resting(self) -> bool:
        """Whether the key was refused recently."""
        return self.rests > self._clock()

    @property
    def free(self) -> bool:
        """Whether a call can start without waiting for others to end."""
        return self._busy < self._most

    def rest(self, seconds: float) -> None:
        """Pause the use of the key for the given seconds."""
        self.rests = self._clock() + seconds

    async def enter(self) -> None:
        """Wait for a call's turn; `leave` ends it."""
        if self.free and not self._waiting:
            self._busy += 1
        else:
            await self._queue()
        if self._gap:
            try:
                await self._pace()
            except BaseException:
                self.leave()
                raise

    def leave(self) -> None:
        """End a call's turn."""
        self._busy -= 1
        while self._waiting and self.free:
            turn = self._waiting.popleft()
            if not turn.done():
                self._busy += 1
                turn.set_result(None)

    async def _queue(self) -> None:
        """Wait until an earlier call passes its place on."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.leave()
            raise

    async def _pace(self) -> None:
        """Keep to the limit of calls per minute: each call takes the next free moment."""
        now = self._clock()
        moment = max(now, self._next)
        self._next = moment + self._gap
        if moment > now:
            await self._sleep(moment - now)


class Accounts:
    """The accounts of one platform.

    Args:
        sleep: Waits.
        clock: Gives seconds.
    """

    def __init__(
        self,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sleep, self._clock = sleep, clock
        self._found: dict[tuple[str, str], Account] = {}

    def of(self, base_url: str, key: str) -> Account:
        """Return the account shared by all users of an address and a key; the key is empty if none is needed."""
        place = base_url.rstrip("/"), key
        if place not in self._found:
            self._found[place] = Account(self._sleep, self._clock)
        return self._found[place]

    def state(self, base_url: str, keys: Iterable[str], config: str, limits: Mapping[str, float]) -> None:
        """Record the limits stated by a configuration for each of its keys, or for an address without any."""
        for key in tuple(keys) or ("",):
            self.of(base_url, key).state(config, limits)
