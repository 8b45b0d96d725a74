"""Call: one call in progress in a run, and the meaning of its ref there."""

from __future__ import annotations

from dataclasses import dataclass

from tea.components.lossless import lossless
from tea.components.manifest import Manifest
from tea.components.operation import Signature, Traits
from tea.errors import CallFailed
from tea.kernel.entry import own
from tea.protocols.server import operation_ref
from tea.recipes.recipe import passes_on
from tea.refs import Ref
from tea.runs.interface import AnyServer
from tea.runs.policy import CallRequest
from tea.types import JsonObject, Principal

MOST_DEPTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """The meaning of a ref in a run: the exact version, the operation, both as text, and whether another one acts."""

    server: AnyServer
    config: Manifest
    operation: str
    signature: Signature
    target: str
    passes_on: bool

    @classmethod
    def of(cls, server: AnyServer, config: Manifest, ref: Ref) -> Aim:
        """Return the meaning of `ref`, given its version.

        Raises:
            UnknownComponent: There is no such operation.
        """
        name = server.operation(ref)
        target = operation_ref(config, name)
        signature = config.operation(name)
        passed = passes_on(config.source, name)
        return cls(server=server, config=config, operation=name, signature=signature, target=target, passes_on=passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call in progress: its aim, the arguments, the caller, the depth, and the operations called in its place.

    Args:
        arguments: What is permitted, recorded and done: in the types that are wanted, where that loses nothing.
        given: As they were handed over, where those are others; None where they are the same.
    """

    aim: Aim
    arguments: JsonObject
    agent: str
    depth: int
    through: tuple[str, ...]
    given: JsonObject | None = None

    @classmethod
    def of(cls, aim: Aim, arguments: JsonObject, agent: str, depth: int, through: tuple[str, ...] = ()) -> Call:
        """Return a call with its own copy of the arguments, equal for permission and execution.

        Raises:
            BadArguments: They are not JSON.
            CallFailed: Calls have called calls too often.
        """
        if depth >= MOST_DEPTH:
            problem = f"{aim.config.kind}:{aim.config.name} would be {depth + 1} calls deep."
            raise CallFailed(problem, fix="look whether components call each other in a circle.")
        given = own(arguments)
        used = lossless(aim.signature.parameters, given)
        told = None if used is given else given
        return cls(aim=aim, arguments=used, agent=agent, depth=depth, through=through, given=told)

    def request(self, key: str, traits: Traits, principal: Principal, run: str, session: str) -> CallRequest:
        """Return the request to the policy, as the effect of a key, with the traits declared by its source."""
        return CallRequest(
            ref=self.target,
            arguments=self.arguments,
            traits=traits,
            principal=principal,
            run=run,
            session=session,
            agent=self.agent,
            key=key,
            through=self.through,
            digest=self.config.digest,
        )

    @property
    def server(self) -> AnyServer:
        """The protocol for its execution."""
        return self.aim.server

    @property
    def config(self) -> Manifest:
        """The exact version."""
        return self.aim.config

    @property
    def target(self) -> str:
        """The exact operation, as text."""
        return self.aim.target

    @property
    def handed_on(self) -> tuple[str, ...]:
        """The operations called in place of the ones it calls: empty unless it only passes calls on."""
        return (*self.through, self.target) if self.aim.passes_on else ()
