"""Server: the one door to the components of a kind; it delegates to the context manager and calls."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from pydantic import BaseModel

from tea.component import Definition
from tea.context import Context
from tea.errors import (
    ApprovalNeeded,
    CallError,
    CallFailed,
    CallTimeout,
    Diverged,
    InternalError,
    StorageError,
    TeaError,
    UnknownComponent,
)
from tea.managers.difference import Diff
from tea.managers.head import Head
from tea.manifest import Lineage, Manifest
from tea.protocols.instances import Instances, instance_of
from tea.protocols.listing import Listing
from tea.protocols.manager import ContextManager
from tea.refs import Kind, Ref
from tea.types import JsonObject, Response, State, failure

ConfigT = TypeVar("ConfigT", bound=Manifest)
ResponseT = TypeVar("ResponseT", bound=Response)
_RAISED = (ApprovalNeeded, Diverged, InternalError, StorageError)


class Host(Protocol):
    """Carries a call that comes from outside of any run: authorises it, and limits it."""

    async def invoke(self, kind: Kind, ref: str, arguments: JsonObject, session: str | None) -> Response:
        """Carry out one call in a session, a fresh one by default."""
        ...


class Server(Generic[ConfigT, ResponseT]):
    """Exposes one context manager to people, programs and runs.

    Source: paper, Definitions 4, 7 and 10.
    """

    response: ClassVar[type[Response]] = Response

    def __init__(self, manager: ContextManager[ConfigT], instances: Instances, host: Host) -> None:
        self.manager = manager
        self._instances = instances
        self._host = host

    async def init(self) -> list[str]:
        """Read what is shipped and stored, executing nothing; return what is wrong with which file."""
        return await self.manager.init()

    async def register(
        self, what: object, *, version: str | None = None, reason: str = "", lineage: Lineage | None = None
    ) -> ConfigT:
        """Store source text, a file, a function or a class as a component; see `ContextManager.register`."""
        return await self.manager.register(what, version=version, reason=reason, lineage=lineage)

    async def update(
        self, name: str, what: object, *, version: str | None = None, reason: str = "", lineage: Lineage | None = None
    ) -> ConfigT:
        """Give a component a new implementation; see `ContextManager.update`."""
        return await self.manager.update(name, what, version=version, reason=reason, lineage=lineage)

    async def get(self, ref: str) -> object:
        """Return a tool's function, or a fresh instance of an environment or agent."""
        return await self.manager.get(ref)

    async def info(self, ref: str) -> ConfigT:
        """Return a component's configuration, by name and optional selector."""
        return await self.manager.info(ref)

    async def argument_model(self, ref: str) -> type[BaseModel]:
        """Return the type-safe model of an operation's arguments; see `ContextManager.argument_model`."""
        return await self.manager.argument_model(ref, self.operation(self.manager.ref(ref)))

    async def list(self, *, state: State | None = "active", category: str | None = None) -> list[Listing]:
        """Return what is registered, by name."""
        return await self.manager.list(state=state, category=category)

    async def history(self, name: str) -> list[ConfigT]:
        """Return every version in sight, oldest first."""
        return await self.manager.history(name)

    async def diff(self, old: str, new: str) -> Diff:
        """Return how two versions differ."""
        return await self.manager.diff(old, new)

    async def restore(self, ref: str, *, reason: str = "") -> ConfigT:
        """Make a historical version, `name@version`, current."""
        return await self.manager.restore(ref, reason=reason)

    async def rollback(self, name: str, *, reason: str = "") -> ConfigT:
        """Go back to the pointer before the current one."""
        return await self.manager.rollback(name, reason=reason)

    async def unregister(self, name: str, *, reason: str = "") -> Head:
        """Take a component out of the active set and its history out of sight."""
        return await self.manager.unregister(name, reason=reason)

    async def invoke(self, ref: str, arguments: JsonObject | None = None, *, session: str | None = None) -> ResponseT:
        """Call an operation from outside of any run: authorised, validated and limited; a run journals its calls.

        Args:
            ref: `name`, optionally `@selector` and `#operation`; a tool's is `call`, an agent's `run`.
            arguments: JSON arguments by name.
            session: Whose environments it acts in; a fresh one by default.

        Returns:
            The value, or a structured error; never an exception for what a caller can act on.
        """
        try:
            return cast(ResponseT, await self._host.invoke(self.manager.kind, ref, arguments or {}, session))
        except CallError as error:
            return cast(ResponseT, failure(self.response, f"{self.manager.kind}:{ref}"[:200], error))

    def operation(self, ref: Ref) -> str:
        """Return the operation that a ref means.

        Raises:
            UnknownComponent: It names none, and the kind has no usual one.
        """
        chosen = ref.operation or self.manager.operation
        if chosen is None:
            problem = f"{ref} names no operation."
            raise UnknownComponent(problem, fix=f"write {ref}#ACTION; `tea show {ref}` lists its actions.")
        return chosen

    async def carry_out(
        self,
        config: Manifest,
        definition: Definition,
        operation: str,
        arguments: JsonObject,
        context: Context,
        seconds: float | None,
    ) -> Response:
        """Carry out a call that was authorised and pinned, and whose source is loaded.

        Args:
            config: The exact version.
            definition: What its source defines.
            operation: Which of its operations.
            arguments: JSON arguments, not yet validated.
            context: What the component may reach.
            seconds: Its deadline; None where the caller keeps one itself.
        """
        ref = _operation_ref(config, operation)
        executor = definition.operations[operation].executor
        limit = None if seconds is None else asyncio.timeout(seconds)
        try:
            async with limit or nullcontext(), self._receiver(config, definition, operation, context) as receiver:
                value = await executor(receiver, arguments, context)
            return self.response(ref=ref, ok=True, value=value)
        except _RAISED:
            raise
        except TeaError as error:
            return failure(self.response, ref, error)
        except TimeoutError:
            problem = f"{ref} did not end " + (f"within {seconds:g} s." if limit and limit.expired() else "in time.")
            return failure(self.response, ref, CallTimeout(problem, fix="ask for less at once, or raise its limit."))
        except asyncio.CancelledError:
            if limit is None or _called_off():
                raise
            error = CallFailed(f"{ref} cancelled itself.", fix="mend its source.")
            return failure(self.response, ref, error)

    def _receiver(
        self, config: Manifest, definition: Definition, operation: str, context: Context
    ) -> AbstractAsyncContextManager[object]:
        if config.kind == "environment":
            return self._instances.use(config, definition, operation, context)
        return nullcontext(instance_of(definition) if config.kind == "agent" else None)


def _called_off() -> bool:
    """Tell whether this task was cancelled from outside, not by what it waits for."""
    task: asyncio.Task[Any] | None = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _operation_ref(config: Manifest, operation: str) -> str:
    return str(Ref(kind=config.kind, name=config.name, selector=config.version, operation=operation))
