"""CallRequest: one call in a run, from its ref to its execution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tea.components.manifest import Manifest
from tea.components.naming import understood
from tea.components.operation import Traits
from tea.errors import CallFailed
from tea.kernel.entry import own
from tea.policy.provenance import Known
from tea.protocols.server import operation_ref
from tea.recipes.recipe import passes_on
from tea.types import JsonObject, JsonValue, Principal

MOST_DEPTH = 24
_NO_WAYS: Mapping[str, tuple[str, ...]] = {}


class CallRequest(NamedTuple):
    """One call, for the policy, the journal and the execution alike; a tuple, as each call makes several of it.

    Args:
        ref: The exact operation that acts; where the call has other names, each of them in turn.
        arguments: The arguments of what acts: in the types that are wanted, where that loses nothing.
        traits: What that declares, its effects class above all.
        principal: Who it is made for.
        run: Id of the run; may be empty outside of any.
        session: Id of the session; may be empty outside of any.
        config: The exact version that acts.
        operation: Name of the operation in that version.
        agent: Name of the agent that asks, empty for a person.
        key: Key of the effect; empty before it has one.
        through: The other names: what was called in the place of what acts, the first call first, where transformations
            made it: a tool that is an agent, an action that is a tool. The policy is asked by each name, and the
            strictest answer counts, so one that looks at `ref` alone denies what it denies; a person is asked once.
        given: The arguments as they were handed over, where those are others.
        depth: How many calls it is inside of.
        passes_on: Whether all it does is to call another operation, which acts in its place.
        known: What the branch had read and persons had typed when it made the call.
        state: The state of the environment acted in, where a destination is a field of it.
        reaches: The operator's places within reach of it whatever its arguments are.
    """

    ref: str
    arguments: JsonObject
    traits: Traits
    principal: Principal
    run: str
    session: str
    config: Manifest
    operation: str
    agent: str = ""
    key: str = ""
    through: tuple[str, ...] = ()
    given: JsonObject | None = None
    depth: int = 0
    passes_on: bool = False
    known: Known = Known()
    state: JsonValue = None
    reaches: tuple[str, ...] = ()

    @classmethod
    def to(
        cls,
        config: Manifest,
        operation: str,
        principal: Principal,
        run: str,
        session: str,
        ways: Mapping[str, tuple[str, ...]] = _NO_WAYS,
    ) -> CallRequest:
        """Return a call of an operation, still without arguments and caller.

        Args:
            config: The version.
            operation: Its operation.
            principal: Who it is made for.
            run: Id of the run.
            session: Id of the session.
            ways: The places of the operator's ways out of the sandbox, by the name of the way.

        Raises:
            UnknownComponent: There is no such operation.
        """
        traits = config.operation(operation).traits
        return cls(
            ref=operation_ref(config, operation),
            arguments={},
            traits=traits.opened(ways),
            reaches=ways.get(traits.sandbox_network, ()) if traits.sandbox_network == "hosts" else (),
            principal=principal,
            run=run,
            session=session,
            config=config,
            operation=operation,
            passes_on=passes_on(config.source, operation),
        )

    def by(
        self,
        agent: str,
        arguments: JsonObject,
        depth: int,
        through: tuple[str, ...] = (),
        principal: Principal | None = None,
    ) -> CallRequest:
        """Return the call by an agent, with its own copy of the arguments, equal for permission and execution.

        A principal counts in place of the run's own.

        Raises:
            BadArguments: They are not JSON.
            CallFailed: Calls have called calls too often.
        """
        if depth >= MOST_DEPTH:
            problem = f"{self.config.kind}:{self.config.name} would be {depth + 1} calls deep."
            raise CallFailed(problem, fix="look whether components call each other in a circle.")
        given = own(arguments)
        used = understood(self.config.operation(self.operation).parameters, given)
        handed = None if used is given else given
        who = principal or self.principal
        return self._replace(arguments=used, given=handed, agent=agent, depth=depth, through=through, principal=who)

    def under(self, name: str) -> CallRequest:
        """Return the same call under another of its names."""
        return self._replace(ref=name, through=tuple(one for one in self.names if one != name))

    @property
    def digest(self) -> str:
        """The digest of the acting version."""
        return self.config.digest

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the call's operation; the acting one is the first unless the call is under another name."""
        return (self.ref, *self.through)

    @property
    def handed_on(self) -> tuple[str, ...]:
        """The operations called in place of the ones it calls: empty unless it only passes calls on."""
        return (*self.through, self.ref) if self.passes_on else ()

    @property
    def begun(self) -> JsonObject:
        """The record of the call at its start."""
        given = {} if self.given is None else {"given": self.given}
        return {"digest": self.config.digest, "arguments": self.arguments, **given}
