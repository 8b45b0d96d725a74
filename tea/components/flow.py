"""AsyncioFlow: the flow of a component left to asyncio, neither stepped nor recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from tea.components.port import Group
from tea.errors import BadArguments, InternalError

T = TypeVar("T")

_OWN = ("enter", "exit")  # kinds of notes that mark an agent's scope, for forks, resumed runs and usage


class AsyncioFlow:
    """The branches and timers of a tool or action."""

    @asynccontextmanager
    async def group(self) -> AsyncGenerator[Group]:
        """Run work side by side."""
        async with asyncio.TaskGroup() as tasks:
            yield _Tasks(tasks)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Limit the time of a `with` block."""
        return _timeout(seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def race(self, *work: Coroutine[Any, Any, Any]) -> tuple[int, Any]:
        """Return the result of the first to end; the others are cancelled and awaited."""
        tasks = [asyncio.ensure_future(one) for one in work]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            first = next(index for index, task in enumerate(tasks) if task.done())
            return first, tasks[first].result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def receive(self) -> Any:
        """Raise InternalError: messages are for agents."""
        raise InternalError("A tool cannot receive messages.", fix="receive them in an agent.")


def check_note(kind: str) -> None:
    """Check the kind of a component's own record.

    Raises:
        BadArguments: It is empty, or one of the platform's own kinds.
    """
    if not kind:
        raise BadArguments("The note has no kind.", fix="say in a word what it is.")
    if kind in _OWN:
        raise BadArguments(f"{kind!r} is the platform's own word.", fix="call the note something else.")


class _Tasks:
    """A task group with the interface of `tea.components.port.Group`."""

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks

    def spawn(self, work: Coroutine[Any, Any, T], /) -> asyncio.Task[T]:
        return self._tasks.create_task(work)


@asynccontextmanager
async def _timeout(seconds: float) -> AsyncGenerator[None]:
    async with asyncio.timeout(seconds):
        yield
