"""Call: one call of a run on its way, and what its ref means there."""

from __future__ import annotations

from dataclasses import dataclass

from tea.errors import CallFailed
from tea.manifest import Manifest
from tea.operation import Signature
from tea.protocols.recipe import relayed
from tea.refs import Ref
from tea.runtime.desk import AnyServer
from tea.runtime.permission import operation_ref
from tea.types import JsonObject

MOST_DEPTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a ref means in a run: the exact version, the operation, both as text, and what acts where it is called."""

    server: AnyServer
    config: Manifest
    operation: str
    signature: Signature
    target: str
    acts: str

    @classmethod
    def of(cls, server: AnyServer, config: Manifest, ref: Ref) -> Aim:
        """Return what `ref` means, whose version was found.

        Raises:
            UnknownComponent: There is no such operation.
        """
        name = server.operation(ref)
        target = operation_ref(config, name)
        signature = config.operation(name)
        acts = relayed(config.source) or target
        return cls(server=server, config=config, operation=name, signature=signature, target=target, acts=acts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call on its way: what it aims at, the arguments, who asks, and how deep."""

    aim: Aim
    arguments: JsonObject
    agent: str
    depth: int

    @classmethod
    def of(cls, aim: Aim, arguments: JsonObject, agent: str, depth: int) -> Call:
        """Return a call.

        Raises:
            CallFailed: Calls have called calls too often.
        """
        if depth >= MOST_DEPTH:
            problem = f"{aim.config.kind}:{aim.config.name} would be {depth + 1} calls deep."
            raise CallFailed(problem, fix="look whether components call each other in a circle.")
        return cls(aim=aim, arguments=arguments, agent=agent, depth=depth)

    @property
    def server(self) -> AnyServer:
        """The protocol that carries it out."""
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
    def through(self) -> str:
        """The same where another operation acts, else nothing."""
        return self.aim.target if self.aim.acts != self.aim.target else ""
