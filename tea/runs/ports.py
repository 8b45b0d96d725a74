"""Ports: the connections of agents' and tools' contexts to their run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from tea.components.port import AskPerson, Invocation, Question, ServiceRequest, TakeMessages
from tea.errors import ApprovalNeeded, InternalError
from tea.kernel.defects import as_defects
from tea.kernel.entry import copied
from tea.kernel.key import question_key
from tea.runs.services import RunServices
from tea.types import ModelResponse, Principal, Response

_ROOT = 1  # how deep the calls of the root task's agent are
_PATIENCE = 10.0  # seconds that a question waits for what a tool does beside it
T = TypeVar("T")


class RunInterface(Protocol):
    """A run, as its ports see it."""

    @property
    def services(self) -> RunServices:
        """The services answering requests to the run."""
        ...

    def recorded(self) -> AbstractContextManager[None]:
        """Guard the work on a journal's records of a call, service or question."""
        ...

    async def call(
        self, invocation: Invocation, agent: str, depth: int, through: tuple[str, ...], principal: Principal | None
    ) -> Response:
        """Call an operation for an agent, so many calls deep; `through` was called in its place."""
        ...

    async def call_within(
        self,
        invocation: Invocation,
        key: str,
        agent: str,
        depth: int,
        through: tuple[str, ...],
        principal: Principal | None,
    ) -> Response:
        """Call an operation from inside an effect, so many calls deep; `through` was called in its place."""
        ...

    async def ask(self, question: Question, agent: str, principal: Principal | None) -> ModelResponse:
        """Ask a model through a prompt for an agent."""
        ...


class AgentPort:
    """The port of an agent: everything it wants is an effect or a scope of the run.

    Args:
        run: The run.
        agent: Who asks.
        depth: How deep its calls are.
        through: What was called in the place of what it calls, of a transformation that does nothing else.
        principal: Who its calls are made for, where it is not who the run works for.
    """

    def __init__(
        self,
        run: RunInterface,
        agent: str,
        depth: int,
        through: tuple[str, ...] = (),
        principal: Principal | None = None,
    ) -> None:
        self._run = run
        self._agent = agent
        self._depth = depth
        self._through, self._principal = through, principal

    async def call(self, invocation: Invocation) -> Response:
        """Call another component."""
        with as_defects(f"The call of {invocation.kind} {invocation.ref[:80]}"), self._run.recorded():
            return await self._run.call(invocation, self._agent, self._depth, self._through, self._principal)

    async def serve(self, request: ServiceRequest) -> Any:
        """Send a request to a service of the run; a person's messages go to the agent of the root task only."""
        if isinstance(request, TakeMessages) and self._depth > _ROOT:
            return []
        with as_defects(f"The request {type(request).__name__}"), self._run.recorded():
            return await self._run.services.serve(request, self._agent)

    async def model(self, question: Question) -> ModelResponse:
        """Ask a model."""
        with as_defects(f"The question through prompt {question.prompt[:80]}"), self._run.recorded():
            return await self._run.ask(question, self._agent, self._principal)


class LeafPort:
    """The port of a tool or action: its effect is recorded as one, with all work inside it as evidence only.

    Args:
        run: The run.
        key: Key of the effect.
        agent: Who asked for it.
        depth: How deep its calls are.
        through: What was called in the place of what it calls, of a transformation that does nothing else.
        principal: Tells who its calls are made for.
    """

    def __init__(
        self,
        run: RunInterface,
        key: str,
        agent: str,
        depth: int,
        through: tuple[str, ...] = (),
        *,
        principal: Callable[[], Principal],
    ) -> None:
        self._run = run
        self._key = key
        self._agent = agent
        self._depth = depth
        self._through, self._principal = through, principal
        self._asked = 0
        self._under_way: set[asyncio.Future[None]] = set()

    async def call(self, invocation: Invocation) -> Response:
        """Call another component, inside this effect."""
        with as_defects(f"The call of {invocation.kind} {invocation.ref[:80]}"):
            asked = (invocation, self._key, self._agent, self._depth, self._through, self._principal())
            work = self._run.call_within(*asked)
            return await self._beside(work)

    async def serve(self, request: ServiceRequest) -> Any:
        """Send a request to a service of the run, inside this effect; each request has a key of its own.

        That of a question to a person is never the effect's, under which they consent to it or answer in its place.
        """
        self._asked += 1
        own_key = self._asked == 1 and not isinstance(request, AskPerson)
        key = self._key if own_key else question_key(self._key, self._asked)
        return copied(await self._beside(self._run.services.answer(request, self._agent, key)))

    async def model(self, question: Question) -> ModelResponse:
        """Raise InternalError: a model request from a tool would bypass budget and journal."""
        fix = "let an agent ask, or declare the tool with scope=True."
        raise InternalError("A tool cannot ask a model.", fix=fix)

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
