"""Agent Context Protocol: an agent has one operation, `run` (paper, Definition 10)."""

from __future__ import annotations

from collections.abc import Mapping

from tea.components.component import Agent
from tea.components.manifest import AgentConfig, Lineage, Manifest
from tea.errors import BadComponent
from tea.protocols.declared import Parts, agent_name
from tea.protocols.manager import ContextManager
from tea.protocols.reading import Services
from tea.protocols.server import Server
from tea.refs import Kind
from tea.registry.version import NewVersion
from tea.types import AgentResponse


class AgentContextManager(ContextManager):
    """The manager of agents in the registry.

    An agent that was declared by a call is registered with the prompt, the tools and the agents that it brings along;
    what is stored already with the same bytes is not stored again.
    """

    kind = "agent"
    operation = "run"

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._libraries: Mapping[Kind, ContextManager] = {"agent": self}

    def join(self, libraries: Mapping[Kind, ContextManager]) -> None:
        """Set the libraries for registering the parts of declared agents."""
        self._libraries = libraries

    async def declare(self, agent: Agent | type[Agent]) -> dict[str, Manifest]:
        """Register an agent given as a value or a class, and return the version of each of its parts by `kind:name`.

        Raises:
            BadComponent: One of its parts is not usable; nothing is written.
            UnknownComponent: It names what is not registered; nothing is written.
        """
        return await (await Parts.of(agent, self._libraries)).register(NewVersion())

    async def register(
        self,
        what: object,
        *,
        version: str | None = None,
        reason: str = "",
        lineage: Lineage | None = None,
        author: str | None = None,
        after: int | None = None,
    ) -> AgentConfig:
        """Store an agent; see `ContextManager.register`, and `declare` for the parts registered with a declared one."""
        if isinstance(what, Agent) and what.declaration is not None:
            parts, as_it_is = (
                await Parts.of(what, self._libraries, lineage),
                (version, lineage, after) == (None, None, None),
            )
            found = await parts.register(NewVersion(reason=reason, author=author), whole=as_it_is)
            if as_it_is:
                return found[f"agent:{agent_name(what)}"]
        return await super().register(what, version=version, reason=reason, lineage=lineage, author=author, after=after)

    async def update(
        self,
        name: str,
        what: object,
        *,
        version: str | None = None,
        reason: str = "",
        lineage: Lineage | None = None,
        author: str | None = None,
        after: int | None = None,
    ) -> AgentConfig:
        """Give a registered agent a new implementation; see `ContextManager.update`, and `declare`."""
        if isinstance(what, Agent) and what.declaration is not None:
            await self.info(name)
            if agent_name(what) != name:
                raise BadComponent(f"The declaration is of {agent_name(what)!r}, not {name!r}.", fix="keep the name.")
            parts, as_it_is = (
                await Parts.of(what, self._libraries, lineage),
                (version, lineage, after) == (None, None, None),
            )
            found = await parts.register(NewVersion(reason=reason, author=author), whole=as_it_is, moves=True)
            if as_it_is:
                return found[f"agent:{name}"]
        return await super().update(
            name, what, version=version, reason=reason, lineage=lineage, author=author, after=after
        )


class ACPServer(Server[AgentResponse]):
    """The server of agents."""

    response = AgentResponse
