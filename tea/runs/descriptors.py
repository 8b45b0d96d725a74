"""Descriptors: a process's limit on open files, and the waiting of runs until there are enough."""

from __future__ import annotations

import asyncio
import os
import resource
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar

MOST = 65_536  # what the limit is raised to; more would make programs slow that close every number they may have
EACH = 6  # that a run opens beside its journal and lease, for a moment or for a call
_HELD = 2  # journal and lease
_RESERVE = 8  # the part of all that is left to what is not a run
_BETWEEN = 32  # admissions without a look
_LISTS = ("/proc/self/fd", "/dev/fd")

_inside: ContextVar[bool] = ContextVar("_inside", default=False)


def raise_limit() -> None:
    """Raise this process's limit on open files to its maximum within `MOST`; a limit above stays."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # some systems have a limit beside that
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def used_of() -> tuple[int, int]:
    """Return how many descriptors this process has open, and how many it may have."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = MOST if limit == resource.RLIM_INFINITY else limit
    for folder in _LISTS:
        try:
            return len(os.listdir(folder)), most
        except FileNotFoundError:
            continue
        except OSError:  # not even the list can be opened
            return most, most
    return 0, most


class Descriptors:
    """Admits runs as far as there are descriptors for them; the others wait, first come first served.

    A run that is begun inside of another, by a tool for example, does not wait: the other one waits for it. Neither
    does a first one, so that something always goes on. Nobody looks again and again: a run that ends admits others.

    Args:
        look: Returns how many descriptors are open, and how many may be.
    """

    def __init__(self, look: Callable[[], tuple[int, int]] = used_of) -> None:
        self._look = look
        self._held = self._sure = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None]:
        """Wait until there are descriptors for one more run, and reserve them during the body."""
        if _inside.get() or (not self._waiting and self._room()):
            self._held += 1
        else:
            await self._wait()
        before = _inside.set(True)
        try:
            yield
        finally:
            _inside.reset(before)
            self._leave()

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting.remove(turn)
            else:
                self._leave()
            raise

    def _leave(self) -> None:
        self._held -= 1
        while self._waiting and self._room():
            turn = self._waiting.popleft()
            if not turn.done():
                self._held += 1
                turn.set_result(None)

    def _room(self) -> bool:
        """Return whether there is room for one more; the number of open descriptors is looked up now and then."""
        if self._held == 0:
            return True
        if self._sure == 0:
            used, most = self._look()
            free = most - used - most // _RESERVE - EACH * self._held
            self._sure = min(_BETWEEN, free // (2 * (EACH + _HELD)))
            if self._sure <= 0:
                self._sure = 0
                return free >= EACH + _HELD
        self._sure -= 1
        return True
