"""Flows: the branches and timers of agents, stepped and recorded by their run, and those of tools, left to asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from tea.components.port import Group
from tea.errors import BadArguments, InternalError
from tea.journal.recorder import Recorder
from tea.kernel.entry import canonical
from tea.kernel.gate import Gate
from tea.runs.budget import BudgetAccounts
from tea.types import JsonObject, Result

_OWN = ("enter", "exit")  # by these a fork, a resumed run and what was served know where agents work
T = TypeVar("T")


class AgentFlow:
    """The flow of all agents of a run.

    Args:
        gate: The run's boundary.
        accounts: Who pays, and keeps the best answer so far.
    """

    def __init__(self, gate: Gate, accounts: BudgetAccounts) -> None:
        self._gate, self._accounts = gate, accounts
        self.group, self.timeout, self.sleep = gate.group, gate.timeout, gate.sleep
        self.race, self.receive = gate.race, gate.receive

    def note(self, kind: str, data: JsonObject) -> None:
        """Write the agent's own record.

        Raises:
            BadArguments: It is not JSON, or of a kind that is the platform's own.
        """
        if kind in _OWN:
            raise BadArguments(f"{kind!r} is the platform's own word.", fix="call the note something else.")
        self._gate.note(kind, data)

    def so_far(self, result: Result) -> None:
        """Keep the best answer so far, for the case of a timeout."""
        self._accounts.of(self._gate.path()).so_far(result)


class LeafFlow:
    """The flow of a tool or action.

    Args:
        recorder: Writes its notes, as evidence.
        key: Key of its effect.
    """

    def __init__(self, recorder: Recorder, key: str) -> None:
        self._recorder, self._key = recorder, key

    def note(self, kind: str, data: JsonObject) -> None:
        """Write the tool's own record, as evidence.

        Raises:
            BadArguments: It is not JSON.
        """
        canonical(data)
        self._recorder.write("evidence", self._key, {"kind": kind, "data": data})

    def so_far(self, result: Result) -> None:
        """Ignore an intermediate result: a tool returns its value at its end, or none."""

    @asynccontextmanager
    async def group(self) -> AsyncGenerator[Group]:
        """Run work side by side."""
        async with asyncio.TaskGroup() as tasks:
            yield _Tasks(tasks)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Limit the body's time."""
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
