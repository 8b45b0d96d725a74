"""Direct: a call from outside of any run, of a tool that needs nothing of one.

It is authorised, validated and held to its deadline like every other, but there is nothing to journal, pin or replay,
so no run is built for it. What a ref means is remembered for as long as the registry shows that nothing has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from tea.component import Definition
from tea.context import Context
from tea.errors import BadInput, CallError, RegistryError
from tea.managers.trust import Trust
from tea.manifest import Manifest
from tea.operation import InProcess, Traits
from tea.refs import Kind
from tea.runtime.desk import AnyServer
from tea.runtime.permission import Permission, operation_ref
from tea.runtime.policy import CallRequest, Policy
from tea.runtime.recorder import Recorder
from tea.store.registry_store import RegistryStore
from tea.types import JsonObject, Principal, Response

_MOST_KNOWN = 1024
_KEY = "0.1"  # what a run would give the call: its first effect is to find the version


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """A tool's operation that is called with its arguments alone, loaded."""

    server: AnyServer
    config: Manifest
    definition: Definition
    operation: str
    traits: Traits
    target: str


class Direct:
    """Carries out the calls that need no run, in the task of the caller.

    Args:
        servers: The protocols.
        store: Tells whether what a ref means may have changed.
        trust: What may run, asked for each call.
        policy: Decides about each call.
        seconds: Deadline of one call.
    """

    def __init__(
        self, servers: Mapping[Kind, AnyServer], store: RegistryStore, trust: Trust, policy: Policy, seconds: float
    ) -> None:
        self._servers, self._store, self._trust, self._seconds = servers, store, trust, seconds
        self._permission = Permission(policy, Recorder(None, ""), {}, frozenset())
        self._principal = Principal()
        self._known: dict[str, tuple[object, _Plain | None]] = {}

    async def invoke(self, kind: Kind, ref: str, arguments: JsonObject, session: str | None) -> Response | None:
        """Carry out a call; return None where it needs a run, or a run has to say what is wrong with it.

        Raises:
            ApprovalNeeded: A person must decide.
        """
        plain = await self._plain(ref) if kind == "tool" else None
        if plain is None or not self._trust(plain.config.digest):
            return None
        request = CallRequest(
            ref=plain.target,
            arguments=arguments,
            traits=plain.traits,
            principal=self._principal,
            run="",
            session=session or "",
            agent="",
            key=_KEY,
        )
        server = plain.server
        nothing = cast(Context, None)  # it takes no context
        return await self._permission.ask(request, server.response) or await server.carry_out(
            plain.config, plain.definition, plain.operation, arguments, nothing, self._seconds
        )

    async def _plain(self, ref: str) -> _Plain | None:
        """Return what `ref` means, from memory where nothing has changed."""
        name = ref.partition("@")[0].partition("#")[0].removeprefix("tool:")
        mark = self._store.mark("tool", name)
        known = self._known.get(ref)
        if mark is not None and known is not None and known[0] == mark:
            return known[1]
        found = await self._found(ref)
        if mark is not None:
            self._known[ref] = mark, found
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return found

    async def _found(self, ref: str) -> _Plain | None:
        server = self._servers["tool"]
        try:
            parsed = server.manager.ref(ref)
            operation = server.operation(parsed)
            config = await server.manager.pin(parsed.at(parsed.selector))
            traits = config.operation(operation).traits
            definition = await server.manager.definition(config)
        except (RegistryError, BadInput, CallError):
            return None
        executor = definition.operations[operation].executor
        if traits.scope or not isinstance(executor, InProcess) or executor.contexts:
            return None
        target = operation_ref(config, operation)
        return _Plain(
            server=server, config=config, definition=definition, operation=operation, traits=traits, target=target
        )
