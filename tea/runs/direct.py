"""Direct: a call from outside any run, of a tool without need for a run.

It is authorised, validated and held to its deadline like every other, but there is nothing to journal, pin or replay,
so no run is built for it. What depends on the ref alone is prepared once, and holds for as long as the registry and the
list of trusted digests show that nothing has changed. What this platform changes counts at once; for the changes of
others the disk is looked at with every call, but not again within two milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from time import monotonic
from typing import Any

from tea.components.naming import understood
from tea.components.operation import Executor, InProcess
from tea.errors import BadInput, CallError, RegistryError
from tea.kernel.defects import as_defects
from tea.kernel.entry import own
from tea.protocols.server import may_go_on
from tea.refs import Kind
from tea.runs.authorization import Authorizer
from tea.runs.call import CallRequest
from tea.runs.deps import AnyServer
from tea.source.trust import Trust
from tea.store.registry_store import RegistryStore
from tea.types import JsonObject, JsonSchema, Principal, Response

GLANCE = 0.002
Invoke = Callable[[Kind, str, JsonObject, str | None], Coroutine[Any, Any, Response]]
_MOST_KNOWN = 1024
_KEY = "0.1"  # the key the call has in a run, where looking up the version comes first


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """A loaded operation of a tool, called with its arguments alone.

    Args:
        request: A call of it, before it has arguments.
        parameters: JSON Schema of its arguments.
        call: The method that carries it out, which costs less to call than the executor that has it.
        allowed: Whether its calls need no decision.
        goes_on: Whether a call that nobody waits for any longer may still change what it is not to change twice.
    """

    request: CallRequest
    parameters: JsonSchema
    call: Executor
    allowed: bool
    goes_on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """The result of the last lookup of a ref.

    Args:
        plain: What it means; None where a call needs a run.
        ready: The same, None also where it is not trusted.
        mark: What the registry showed, None where it cannot be told from a later change.
        moves: How many changes this platform had made.
        until: When the disk is to be looked at again.
    """

    plain: _Plain | None
    ready: _Plain | None
    mark: object
    moves: int
    until: float


class Direct:
    """An executor of calls without a run, in the task of the caller.

    Args:
        server: The protocol of tools.
        store: Tells whether what a ref means may have changed.
        trust: What may run.
        permission: Decides about each call, or once about all of an operation.
        seconds: Deadline of one call.
        in_a_run: Carries out the others.
    """

    def __init__(
        self,
        server: AnyServer,
        store: RegistryStore,
        trust: Trust,
        permission: Authorizer,
        seconds: float,
        in_a_run: Invoke,
    ) -> None:
        self._server, self._store, self._trust, self._seconds = server, store, trust, seconds
        self._in_a_run, self._permission = in_a_run, permission
        self._principal = Principal()
        self._known: dict[str, _Prepared] = {}

    def invoke(self, kind: Kind, ref: str, arguments: JsonObject, session: str | None) -> Coroutine[Any, Any, Response]:
        """Execute a call, in a run if it needs one, or if the run has to report the error in it.

        Raises:
            ApprovalNeeded: A person must decide.
        """
        if kind != "tool":
            return self._in_a_run(kind, ref, arguments, session)
        now, known = monotonic(), self._known.get(ref)
        if known is None or known.moves != self._store.moves or known.until < now:
            return self._look_first(ref, known, arguments, session)
        plain = known.ready
        if plain is None or not plain.allowed:
            return self._consider(plain, ref, arguments, session)
        work = plain.call(None, understood(plain.parameters, arguments), None)
        return self._server.answer(plain.request.ref, work, self._seconds, now, goes_on=plain.goes_on)

    async def _look_first(
        self, ref: str, prepared: _Prepared | None, arguments: JsonObject, session: str | None
    ) -> Response:
        """Execute a call after looking up its ref again."""
        found = await self._look(ref, prepared)
        return await self._consider(found.ready, ref, arguments, session)

    async def _consider(self, plain: _Plain | None, ref: str, arguments: JsonObject, session: str | None) -> Response:
        """Execute a call, in a run or after a decision if it needs one."""
        if plain is None:
            return await self._in_a_run("tool", ref, arguments, session)
        arguments = understood(plain.parameters, arguments)
        if not plain.allowed:
            arguments = own(arguments)  # nobody changes them while a person is asked
            stands_in = await self._ask(plain, arguments, session)
            if stands_in is not None:
                return stands_in
        work = plain.call(None, arguments, None)
        return await self._server.answer(plain.request.ref, work, self._seconds, monotonic(), goes_on=plain.goes_on)

    async def _ask(self, plain: _Plain, arguments: JsonObject, session: str | None) -> Response | None:
        request = plain.request._replace(arguments=arguments, session=session or "", key=_KEY)
        with as_defects(f"Asking whether {request.ref} may be called"):
            return await self._permission.ask(request, self._server.response)

    async def _look(self, ref: str, prepared: _Prepared | None) -> _Prepared:
        """Return the current meaning of `ref`, from memory if unchanged."""
        moves, now = self._store.moves, monotonic()
        mark = self._store.mark("tool", ref.partition("@")[0].partition("#")[0].removeprefix("tool:"))
        same = None if prepared is None or mark is None or prepared.mark != mark else prepared
        plain = await self._found(ref) if same is None else same.plain
        ready = plain if plain is not None and self._trust(plain.request.digest) else None
        found = _Prepared(plain=plain, ready=ready, mark=mark, moves=moves, until=now + GLANCE)
        if mark is not None:
            self._known[ref] = found
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return found

    async def _found(self, ref: str) -> _Plain | None:
        server = self._server
        try:
            parsed = server.manager.ref(ref)
            operation = server.operation(parsed)
            trusted = self._trust.digests()  # before any words are taken
            config = await server.manager.pin(parsed.at(parsed.selector))
            if config.digest not in trusted:
                return None
            request = CallRequest.to(config, operation, self._principal, "", "")
            definition = await server.manager.definition(config)
        except (RegistryError, BadInput, CallError):
            return None
        executor = definition.operations[operation].executor
        if request.traits.scope or not isinstance(executor, InProcess) or executor.contexts:
            return None
        return _Plain(
            request=request,
            parameters=config.operation(operation).parameters,
            call=executor.__call__,
            allowed=self._permission.preauthorized(request),
            goes_on=may_go_on(executor, request.traits),
        )
