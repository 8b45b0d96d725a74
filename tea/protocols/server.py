"""Server: the single entry to the components of a kind; it delegates to the context manager and carries out calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import wraps
from time import monotonic
from types import FunctionType
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

from pydantic import BaseModel

from tea.components.clients import joined_arguments
from tea.components.context import Context
from tea.components.definition import Definition
from tea.components.manifest import Manifest, is_recipe
from tea.components.operation import Executor, InProcess, Traits
from tea.errors import (
    ApprovalNeeded,
    CallError,
    CallFailed,
    CallTimeout,
    Conflict,
    Diverged,
    InternalError,
    NotLocked,
    StorageError,
    TeaError,
    Uncertain,
    UnknownComponent,
    exhausted,
)
from tea.protocols.instances import Instances, instance_of
from tea.protocols.manager import ContextManager
from tea.refs import Kind, Ref, with_kind
from tea.types import JsonObject, JsonValue, Response, failure, success
from tea.waiting import Expired, finish

ResponseT = TypeVar("ResponseT", bound=Response)
P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=ContextManager)
_RAISED = (ApprovalNeeded, Diverged, InternalError, NotLocked, StorageError)


class Host(Protocol):
    """An executor of calls from outside any run, with authorization and limits."""

    def invoke(self, kind: Kind, ref: str, arguments: JsonObject, session: str | None) -> Coroutine[Any, Any, Response]:
        """Execute one call in a session, a fresh one by default."""
        ...


def _managed(
    method: Callable[Concatenate[M, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return a server method delegating to the context manager, with the same signature and docstring."""
    name = cast(FunctionType, method).__name__

    @wraps(method)
    async def carried_out(server: Server[Any], /, *arguments: P.args, **options: P.kwargs) -> T:
        return await getattr(server.manager, name)(*arguments, **options)

    return carried_out


class Server(Generic[ResponseT]):
    """A server of one context manager for people, programs and runs.

    Source: paper, Definitions 4, 7 and 10.
    """

    response: ClassVar[type[Response]] = Response

    def __init__(self, manager: ContextManager, instances: Instances, host: Host) -> None:
        self.manager = manager
        self._instances = instances
        self._host = host

    init = _managed(ContextManager.init)
    register = _managed(ContextManager.register)
    update = _managed(ContextManager.update)
    get = _managed(ContextManager.get)
    info = _managed(ContextManager.info)
    list = _managed(ContextManager.list)
    retrieve = _managed(ContextManager.retrieve)
    contract = _managed(ContextManager.contract)
    history = _managed(ContextManager.history)
    diff = _managed(ContextManager.diff)
    restore = _managed(ContextManager.restore)
    rollback = _managed(ContextManager.rollback)
    unregister = _managed(ContextManager.unregister)
    transform = _managed(ContextManager.transform)
    copy = _managed(ContextManager.copy)
    vars = _managed(ContextManager.vars)
    setvars = _managed(ContextManager.setvars)
    deprecate = _managed(ContextManager.deprecate)
    archive = _managed(ContextManager.archive)
    activate = _managed(ContextManager.activate)
    alias = _managed(ContextManager.alias)
    unalias = _managed(ContextManager.unalias)
    trust = _managed(ContextManager.trust)
    purge = _managed(ContextManager.purge)
    save = _managed(ContextManager.save)
    load = _managed(ContextManager.load)

    async def argument_model(self, ref: str) -> type[BaseModel]:
        """Return the type-safe model of an operation's arguments; see `ContextManager.argument_model`."""
        return await self.manager.argument_model(ref, self.operation(self.manager.ref(ref)))

    async def invoke(
        self, ref: str, arguments: JsonObject | None = None, *, session: str | None = None, **named: JsonValue
    ) -> ResponseT:
        """Call an operation from outside any run: authorized, validated and limited; a run journals its calls.

        Args:
            ref: `name`, optionally `@selector` and `#operation`; a tool's is `call`, an agent's `run`.
            arguments: JSON arguments by name.
            session: Whose environments it acts in; a fresh one by default.
            **named: Further arguments, as keywords: `tcp.invoke("calculator", expression="2 + 2")`. Arguments with the
                name of a parameter here go into `arguments`.

        Returns:
            The value, or a structured error; never an exception for what a caller can act on.
        """
        try:
            given = joined_arguments(ref, arguments, named)
            response: Any = await self._host.invoke(self.manager.kind, ref, given, session)
        except CallError as error:
            response = failure(self.response, with_kind(ref, self.manager.kind), error)
        return response

    def operation(self, ref: Ref) -> str:
        """Return the operation of a ref.

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
        ref: str,
        config: Manifest,
        definition: Definition,
        operation: str,
        arguments: JsonObject,
        context: Context,
        seconds: float | None,
    ) -> Response:
        """Execute a call already authorized and pinned, with its source loaded.

        Args:
            ref: The exact operation, for its response.
            config: The exact version.
            definition: What its source defines.
            operation: Which of its operations.
            arguments: JSON arguments, not yet validated.
            context: What the component may reach.
            seconds: Its deadline; None where the caller keeps one itself.
        """
        executor = definition.operations[operation].executor
        if config.kind == "tool":
            work = executor(None, arguments, context)
        else:
            work = self._received(config, definition, operation, arguments, context)
        goes_on = may_go_on(executor, config.operation(operation).traits)
        return await self.answer(ref, work, seconds, monotonic(), goes_on=goes_on)

    async def answer(
        self,
        ref: str,
        work: Coroutine[Any, Any, JsonValue],
        seconds: float | None,
        begun: float,
        *,
        goes_on: bool = False,
    ) -> Response:
        """Return the result of a call's work or a structured error; never raise an exception for errors of the caller.

        Args:
            ref: The exact operation.
            work: Has not begun.
            seconds: Its deadline; None where the caller keeps one itself.
            begun: From when that counts, by `monotonic`.
            goes_on: Whether what it changes may still be changed when nobody waits for it any longer.
        """
        try:
            if seconds is None:
                return success(self.response, ref, await work)
            try:
                awaited = work.send(None)
            except StopIteration as end:
                return success(self.response, ref, end.value)
            return success(self.response, ref, await finish(work, awaited, seconds - (monotonic() - begun)))
        except Conflict as error:  # its caller can try again; where a run's journal was taken away, nothing is recorded
            return failure(self.response, ref, error)
        except _RAISED:
            raise
        except TeaError as error:
            if (lack := exhausted(error, f"{ref} ended")) is not None:
                raise lack from error
            return failure(self.response, ref, error)
        except TimeoutError as error:
            if goes_on and isinstance(error, Expired):
                problem = f"{ref} did not end within {seconds:g} s and goes on, so whether it is done is uncertain."
                fix = "look whether it was done before you do it again."
                return failure(self.response, ref, Uncertain(problem, fix=fix))
            problem = f"{ref} did not end " + (f"within {seconds:g} s." if isinstance(error, Expired) else "in time.")
            return failure(self.response, ref, CallTimeout(problem, fix="ask for less at once, or raise its limit."))
        except asyncio.CancelledError:
            if seconds is None or _called_off():
                raise
            error = CallFailed(f"{ref} cancelled itself.", fix="mend its source.")
            return failure(self.response, ref, error)

    async def _received(
        self, config: Manifest, definition: Definition, operation: str, arguments: JsonObject, context: Context
    ) -> JsonValue:
        async with self._receiver(config, definition, operation, context) as receiver:
            return await definition.operations[operation].executor(receiver, arguments, context)

    def _receiver(
        self, config: Manifest, definition: Definition, operation: str, context: Context
    ) -> AbstractAsyncContextManager[object]:
        if is_recipe(config.source) and config.operation(operation).traits.scope:
            return nullcontext(None)  # a recipe keeps nothing, and in a branch nothing may wait for an instance
        if config.kind == "environment":
            return self._instances.use(config, definition, operation, context)
        return nullcontext(instance_of(definition))


def _called_off() -> bool:
    """Return whether this task was cancelled from outside, not by the work it awaits."""
    task: asyncio.Task[Any] | None = asyncio.current_task()
    return task is None or task.cancelling() > 0


def may_go_on(executor: Executor, traits: Traits) -> bool:
    """Return whether an abandoned call may still make changes unsafe to repeat."""
    threaded = isinstance(executor, InProcess) and executor.threads is not None
    return threaded and traits.effects != "reads" and not traits.idempotent


def operation_ref(config: Manifest, operation: str) -> str:
    """Return the exact ref of an operation."""
    return str(Ref(kind=config.kind, name=config.name, selector=config.version, operation=operation))
