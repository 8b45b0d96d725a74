"""Threads: a bounded pool for sync functions, also for abandoned ones, and looks shared by callers."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")
MOST_THREADS = 32


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """A caller waiting for a place, and its event loop."""

    loop: asyncio.AbstractEventLoop
    given: asyncio.Future[None]

    def take(self) -> None:
        """Resume the caller; one cancelled while it waited has passed the place on."""
        if not self.given.done():
            self.given.set_result(None)


class Threads:
    """A pool of threads for functions, first come first served; any number of event loops may share one.

    The threads are daemons, so a function that never ends does not keep the process from ending.

    Args:
        most: How many functions run at once; the others wait.
    """

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._free = most
        self._waiting: deque[_Turn] = deque()
        self._guard = threading.Lock()

    async def run(self, function: Callable[[], T]) -> T:
        """Return the result of a function, run with the context variables of its caller.

        A cancellation returns at once: the thread goes on, and its place is free when it ends.
        """
        await self._place()
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[tuple[list[T], BaseException | None]] = loop.create_future()

        def work() -> None:
            given, raised = list[T](), None
            try:
                given.append(function())
            except BaseException as error:
                raised = error
            self._leave()
            with suppress(RuntimeError):  # the loop was closed, so nobody waits any longer
                loop.call_soon_threadsafe(_tell, ended, (given, raised))

        try:
            threading.Thread(target=copy_context().run, args=(work,), name="tea-tool", daemon=True).start()
        except BaseException:
            self._leave()
            raise
        given, raised = await ended
        if raised is None:
            return given[0]
        try:
            raise raised
        finally:
            del raised  # its traceback holds this frame

    async def _place(self) -> None:
        """Take a place, or wait for one."""
        with self._guard:
            if self._free:
                self._free -= 1
                return
            loop = asyncio.get_running_loop()
            turn = _Turn(loop, loop.create_future())
            self._waiting.append(turn)
        try:
            await turn.given
        except BaseException:
            with self._guard:
                waits = turn in self._waiting
                if waits:
                    self._waiting.remove(turn)
            if not waits:
                self._leave()
            raise

    def _leave(self) -> None:
        """Give a place to the caller waiting longest."""
        with self._guard:
            while self._waiting:
                turn = self._waiting.popleft()
                with suppress(RuntimeError):  # its loop was closed
                    turn.loop.call_soon_threadsafe(turn.take)
                    return
            self._free += 1


class Look(Generic[T]):
    """A blocking look at changeable data, made in a thread once for all callers waiting for it.

    Each caller gets the result of a look begun after it asked, so nobody gets an old one. A thread for each of many
    callers would cost them most of their time, since they take turns with the event loop for the interpreter.

    Args:
        function: Looks, and returns what it saw.
    """

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._turn = asyncio.Lock()
        self._seen: tuple[float, T] | None = None

    async def __call__(self) -> T:
        """Return the result of a look made from now on, or raise its error."""
        asked = monotonic()
        async with self._turn:
            if self._seen is None or self._seen[0] <= asked:
                begun = monotonic()
                self._seen = begun, await asyncio.to_thread(self._function)
            return self._seen[1]


def _tell(ended: asyncio.Future[T], outcome: T) -> None:
    if not ended.done():
        ended.set_result(outcome)
