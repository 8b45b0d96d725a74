"""Workers: the untrusted components of one platform at work, each in a sandbox of its own."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tea.components.context import Context
from tea.components.manifest import Manifest
from tea.errors import CallFailed
from tea.untrusted.worker import Worker, nested
from tea.waiting import completed

if TYPE_CHECKING:
    from tea.sandbox.levels import Sandboxes

MOST, MOST_NESTED, MOST_ENVIRONMENTS, MOST_PROGRAMS = 8, 32, 64, 32
_Key = tuple[str, str, str]


class Workers:
    """The warm workers of tools and programs, pooled by session, digest and workspace, and those of environments.

    An environment has one for itself, since what it holds is there. A program has one until it ends.

    Args:
        sandboxes: Gives the sandboxes for programs, which see no workspace.
    """

    def __init__(self, sandboxes: Callable[[], Sandboxes]) -> None:
        self._sandboxes = sandboxes
        self._programs = 0
        self._ending: dict[asyncio.Task[None], str] = {}
        self._idle: OrderedDict[_Key, list[Worker]] = OrderedDict()
        self._live = 0
        self._environments = 0
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def use(self, config: Manifest, context: Context) -> AsyncGenerator[Worker]:
        """Yield a worker of a tool for one call, a warm one if there is one; an error ends it.

        Raises:
            CallFailed: Too many of them call each other.
            ToolError: There is no sandbox.
        """
        key = (context.session, config.digest, context.workspace)
        worker = await self._taken(key, config, context)
        worker.run = context.run
        try:
            yield worker
        except BaseException:
            await self._end(worker)
            raise
        self._idle.setdefault(key, []).append(worker)
        self._idle.move_to_end(key)
        self._freed.set()

    async def _taken(self, key: _Key, config: Manifest, context: Context) -> Worker:
        """Return a warm worker, or a new one once there is room for it."""
        while (worker := self._warm(key)) is None:
            if self._live < (MOST_NESTED if nested() else MOST):
                return await self._begun(config, context)
            if (oldest := self._oldest()) is not None:
                await self._end(oldest)
            elif nested():  # waiting could deadlock: the others may wait for this caller
                problem = "Too many untrusted components call each other at once."
                raise CallFailed(problem, fix="let them call fewer side by side.")
            else:
                self._freed.clear()
                await self._freed.wait()
        return worker

    async def _begun(self, config: Manifest, context: Context) -> Worker:
        self._live += 1
        try:
            return await Worker.begin(await context.sandbox_terms(), config)
        except BaseException:
            self._live -= 1
            self._freed.set()
            raise

    async def environment(self, config: Manifest, context: Context) -> Worker:
        """Return a worker for an instance of an environment; its owner ends it with `leave`.

        Raises:
            CallFailed: There are too many already.
            ToolError: There is no sandbox.
        """
        if self._environments >= MOST_ENVIRONMENTS:
            raise CallFailed("Too many untrusted environments are open.", fix="end other sessions first.")
        self._environments += 1
        try:
            return await Worker.begin(await context.sandbox_terms(), config)
        except BaseException:
            self._environments -= 1
            raise

    async def leave(self, worker: Worker) -> None:
        """End the worker of an environment."""
        self._environments -= 1
        await worker.close()

    async def program(self, config: Manifest, session: str) -> Worker:
        """Return a worker for a program, a warm one if there is one; `release` gives it back.

        Raises:
            CallFailed: There are too many already.
            ToolError: There is no sandbox.
        """
        if (worker := self._warm((session, config.digest, ""))) is not None:
            self._live -= 1
            self._freed.set()
        if self._programs >= MOST_PROGRAMS:
            raise CallFailed("Too many untrusted agents are at work.", fix="let fewer work side by side.")
        self._programs += 1
        try:
            return worker or await Worker.begin(await self._sandboxes().terms(""), config)
        except BaseException:
            self._programs -= 1
            raise

    def release(self, worker: Worker, session: str, *, clean: bool) -> None:
        """Take back the worker of an ended program; it stays warm if it ended well and there is room."""
        self._programs -= 1
        if clean and worker.loaded and self._live < MOST:
            self._live += 1
            self._idle.setdefault((session, worker.digest, ""), []).append(worker)
            self._idle.move_to_end((session, worker.digest, ""))
            self._freed.set()
            return
        # nobody waits here for the end of a worker: the program's result is there already, and `close` awaits it
        ending = asyncio.get_running_loop().create_task(worker.close())
        self._ending[ending] = session
        ending.add_done_callback(self._ending.pop)

    async def close(self, session: str | None = None, run: str | None = None) -> None:
        """End the waiting workers.

        Args:
            session: Those of a session; all by default.
            run: Of these those alone that worked last on the files of a run.
        """
        leaving: list[Worker] = []
        for key in [key for key in self._idle if session in (None, key[0])]:
            leaving += [one for one in self._idle[key] if run is None or (one.workspace and one.run == run)]
            self._idle[key] = [one for one in self._idle[key] if one not in leaving]
            if not self._idle[key]:
                del self._idle[key]
        ending = [one for one, of in self._ending.items() if session in (None, of)]
        if leaving or ending:
            await asyncio.gather(*map(self._end, leaving), *ending)

    def _warm(self, key: _Key) -> Worker | None:
        waiting = self._idle.get(key)
        if not waiting:
            return None
        worker = waiting.pop()
        if not waiting:
            del self._idle[key]
        return worker

    def _oldest(self) -> Worker | None:
        return self._warm(next(iter(self._idle))) if self._idle else None

    async def _end(self, worker: Worker) -> None:
        self._live -= 1
        self._freed.set()
        await completed(worker.close())
