"""Ports: the connections of agents' and tools' contexts to their run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from tea.components.context import Group
from tea.errors import ApprovalNeeded, BadArguments, InternalError
from tea.kernel.defects import as_defects
from tea.kernel.entry import canonical, copied, own
from tea.refs import Kind
from tea.runs.delivery import MESSAGES
from tea.runs.interface import RunInterface
from tea.types import JsonObject, JsonSchema, Message, ModelResponse, Response, Result, ToolChoice

_OWN = ("enter", "exit")  # by these a fork, a resumed run and what was served know where agents work
_ROOT = 1  # how deep the calls of the root task's agent are
_PATIENCE = 10.0  # seconds that a question waits for what a tool does beside it
T = TypeVar("T")


class AgentPort:
    """The port of an agent: everything it does is an effect, a scope or a note of the run.

    Args:
        run: The run.
        agent: Who asks.
        depth: How deep its calls are.
        through: What was called in the place of what it calls, of a transformation that does nothing else.
    """

    def __init__(self, run: RunInterface, agent: str, depth: int, through: tuple[str, ...] = ()) -> None:
        self._run = run
        self._agent = agent
        self._depth = depth
        self._through = through

    async def invoke(self, kind: Kind, ref: str, arguments: JsonObject) -> Response:
        """Call another component."""
        with as_defects(f"The call of {kind} {ref[:80]}"):
            return await self._run.invoke(kind, ref, arguments, self._agent, self._depth, self._through)

    async def serve(self, service: str, verb: str, data: JsonObject) -> Any:
        """Send a request to a service of the run; a person's messages go to the agent of the root task only."""
        if service == MESSAGES and self._depth > _ROOT:
            return []
        with as_defects(f"The service {service} {verb}"):
            return await self._run.services.serve(service, verb, data, self._agent)

    async def model(
        self,
        prompt: str,
        variables: JsonObject,
        history: tuple[Message, ...],
        model: str | None,
        output: JsonSchema | None,
        tool_choice: ToolChoice = "auto",
    ) -> ModelResponse:
        """Ask a model."""
        with as_defects(f"The question through prompt {prompt[:80]}"):
            return await self._run.model_calls.ask(prompt, variables, history, model, self._agent, output, tool_choice)

    def note(self, kind: str, data: JsonObject) -> None:
        """Write the agent's own record."""
        if kind in _OWN:
            raise BadArguments(f"{kind!r} is the platform's own word.", fix="call the note something else.")
        self._run.gate.note(kind, data)

    def so_far(self, result: Result) -> None:
        """Keep the best answer so far, for the case of a timeout."""
        self._run.accounts.of(self._run.gate.path()).so_far(result)

    def group(self) -> AbstractAsyncContextManager[Group]:
        """Return a group of the run's branches."""
        return self._run.gate.group()

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Limit the body's time; the deadline is recorded."""
        return self._run.gate.timeout(seconds)

    async def sleep(self, seconds: float) -> None:
        """Sleep; a replay does not wait."""
        await self._run.gate.sleep(seconds)

    async def race(self, *work: Coroutine[Any, Any, Any]) -> tuple[int, Any]:
        """Return the result of the first to end."""
        return await self._run.gate.race(*work)

    async def receive(self) -> Any:
        """Wait for the next message."""
        return await self._run.gate.receive()


class LeafPort:
    """The port of a tool or action: its effect is recorded as one, with all work inside it as evidence only.

    Args:
        run: The run.
        key: Key of the effect.
        agent: Who asked for it.
        depth: How deep its calls are.
        through: What was called in the place of what it calls, of a transformation that does nothing else.
    """

    def __init__(self, run: RunInterface, key: str, agent: str, depth: int, through: tuple[str, ...] = ()) -> None:
        self._run = run
        self._key = key
        self._agent = agent
        self._depth = depth
        self._through = through
        self._asked = 0
        self._under_way: set[asyncio.Future[None]] = set()

    async def invoke(self, kind: Kind, ref: str, arguments: JsonObject) -> Response:
        """Call another component, inside this effect."""
        with as_defects(f"The call of {kind} {ref[:80]}"):
            run, agent, depth = self._run, self._agent, self._depth
            return await self._beside(run.within(kind, ref, arguments, self._key, agent, depth, self._through))

    async def serve(self, service: str, verb: str, data: JsonObject) -> Any:
        """Send a request to a service of the run, inside this effect; each request has a key of its own.

        That of a question to a person is never the effect's, under which they consent to it or answer in its place.
        """
        self._asked += 1
        key = self._key if self._asked == 1 and service != "person" else f"{self._key}~{self._asked}"
        return copied(await self._beside(self._run.services.answer(service, verb, own(data), self._agent, key)))

    async def model(
        self,
        prompt: str,
        variables: JsonObject,
        history: tuple[Message, ...],
        model: str | None,
        output: JsonSchema | None,
        tool_choice: ToolChoice = "auto",
    ) -> ModelResponse:
        """Raise InternalError: a model request from a tool would bypass budget and journal."""
        fix = "let an agent ask, or declare the tool with scope=True."
        raise InternalError("A tool cannot ask a model.", fix=fix)

    def note(self, kind: str, data: JsonObject) -> None:
        """Write the tool's own record, as evidence.

        Raises:
            BadArguments: It is not JSON.
        """
        canonical(data)
        self._run.recorder.write("evidence", self._key, {"kind": kind, "data": data})

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

    async def _beside(self, work: Coroutine[Any, Any, T]) -> T:
        """Do one of a tool's parallel pieces of work; an unanswered question in one does not interrupt the others.

        A group would call them off at once, and whether they had happened would be for a person to say.
        """
        over = asyncio.get_running_loop().create_future()
        self._under_way.add(over)
        try:
            return await work
        except ApprovalNeeded:
            self._under_way.discard(over)
            if self._under_way:
                await asyncio.wait(self._under_way, timeout=_PATIENCE)
            raise
        finally:
            self._under_way.discard(over)
            over.set_result(None)


class _Tasks:
    """A task group with the interface of `tea.components.context.Group`."""

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks

    def spawn(self, work: Coroutine[Any, Any, T], /) -> asyncio.Task[T]:
        return self._tasks.create_task(work)


@asynccontextmanager
async def _timeout(seconds: float) -> AsyncGenerator[None]:
    async with asyncio.timeout(seconds):
        yield
