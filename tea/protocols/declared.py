"""Declared agents in the registry: each with the prompt, the tools and the agents of its declaration."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from tea.components.component import Agent, Declaration, component_name
from tea.components.manifest import Lineage, Manifest
from tea.errors import BadComponent, UnknownComponent
from tea.refs import FIRST, Kind, Ref
from tea.registry.version import NewVersion
from tea.source.declared import prompt_source, tool_name
from tea.source.text import SourceText, text_digest


class Library(Protocol):
    """The library of one kind, as needed for registering together."""

    async def info(self, ref: str | Ref) -> Manifest:
        """Return a component's configuration."""
        ...

    async def history(self, name: str) -> list[Any]:
        """Return every version in sight, oldest first."""
        ...

    async def register(
        self, what: object, *, reason: str = "", lineage: Lineage | None = None, author: str | None = None
    ) -> Manifest:
        """Store a component as a new version and make it current."""
        ...

    async def restore(self, ref: str | Ref, *, reason: str = "", author: str | None = None) -> Manifest:
        """Make a historical version current."""
        ...

    def read(self, what: object) -> SourceText:
        """Return checked source."""
        ...

    def build(self, text: SourceText, version: str, lineage: Lineage, created: str, reason: str) -> Manifest:
        """Return the manifest of checked source."""
        ...


@dataclass(slots=True)
class Parts:
    """The parts of an agent, checked, in the order of their registration: the agent itself is last.

    Args:
        libraries: Where each kind is registered.
        lineage: Where it comes from, as its parts do, which decides where they are described and whether trusted.
    """

    libraries: Mapping[Kind, Library]
    lineage: Lineage = field(default_factory=Lineage)
    texts: dict[str, SourceText] = field(default_factory=dict[str, SourceText])

    @classmethod
    async def of(
        cls, agent: Agent | type[Agent], libraries: Mapping[Kind, Library], lineage: Lineage | None = None
    ) -> Parts:
        """Return the parts of an agent, after checking all of them.

        Raises:
            BadComponent: One of them is not usable, or two of one name differ.
            UnknownComponent: It names what is not registered; the error names the nearest.
        """
        parts = cls(libraries, lineage or Lineage())
        await parts._take(agent)
        return parts

    async def register(self, wanted: NewVersion, *, whole: bool = True, moves: bool = False) -> dict[str, Manifest]:
        """Store the parts not stored yet, and return the version of each part by `kind:name`.

        Args:
            wanted: What is said of new versions.
            whole: Whether the agent itself is registered, too, which is the last of its parts.
            moves: Whether a version that is stored and not current becomes current.
        """
        chosen = list(self.texts.items())[: None if whole else -1]
        return {name: await self._ensure_stored(text, wanted, moves=moves) for name, text in chosen}

    async def _take(self, agent: Agent | type[Agent]) -> None:
        declaration = agent.declaration
        if declaration is not None:
            await self._take_parts(declaration)
        await self._add("agent", agent)

    async def _take_parts(self, declaration: Declaration) -> None:
        """Add the parts in a declaration, and look up those it only names."""
        for one in declaration.tools:
            if not isinstance(one, str):
                await self._add("tool", cast(object, one))
        for one in declaration.agents:
            if isinstance(one, Agent):
                await self._take(one)
        source = prompt_source(declaration)
        if source is not None:
            await self._add("prompt", source)
        named: list[tuple[Kind, str]] = [
            *(("tool", tool_name(one)) for one in declaration.tools),
            *(("agent", one) for one in declaration.agents if isinstance(one, str) and one != declaration.name),
            *(("environment", one) for one in declaration.environments),
            *((("memory", declaration.memory),) if declaration.memory else ()),
        ]
        for kind, name in named:
            if f"{kind}:{name}" not in self.texts:
                await self.libraries[kind].info(name)

    async def _add(self, kind: Kind, what: object) -> None:
        """Add one part; it has to be valid if it is not stored yet."""
        library = self.libraries[kind]
        text = await asyncio.to_thread(library.read, what)
        name, digest = f"{kind}:{text.name}", text_digest(text)
        if text_digest(self.texts.setdefault(name, text)) != digest:
            problem = f"Two parts of the agent are called {name}, and they differ."
            raise BadComponent(problem, fix="give one of them another name.")
        if await _stored(library, text) is None:
            await asyncio.to_thread(library.build, text, str(FIRST), self.lineage, "", "")

    async def _ensure_stored(self, text: SourceText, wanted: NewVersion, *, moves: bool) -> Manifest:
        """Store a text as a new version unless one has it already, and return the version."""
        library = self.libraries[text.kind]
        found = await _stored(library, text)
        if found is None:
            made = replace(self.lineage, parent=None, before=None, after=None)  # which are of the agent alone
            return await library.register(text, reason=wanted.reason, lineage=made, author=wanted.author)
        if moves and found.version != (await library.info(text.name)).version:
            return await library.restore(str(found.ref), reason=wanted.reason, author=wanted.author)
        return found


async def _stored(library: Library, text: SourceText) -> Manifest | None:
    """Return the listed version with a given text: preferably the current one, else the newest."""
    digest = text_digest(text)
    try:
        current = await library.info(text.name)
    except UnknownComponent:
        return None
    if current.digest == digest:
        return current
    return next((one for one in reversed(await library.history(text.name)) if one.digest == digest), None)


def agent_name(agent: Agent | type[Agent]) -> str:
    """Return the name of a declared agent, or of an agent's class."""
    if isinstance(agent, type):
        return component_name(agent)
    return cast(Declaration, agent.declaration).name
