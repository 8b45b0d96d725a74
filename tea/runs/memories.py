"""Memories: the memory components in effect in the parts of a run."""

from __future__ import annotations

from tea.components.manifest import Manifest
from tea.kernel.key import innermost
from tea.memory.manager import MemoryConfig
from tea.protocols.document import MemoryLibrary
from tea.refs import Ref
from tea.runs.pins import Pins


class Memories:
    """The memory component named by the innermost agent, by key; without a name the default memory applies.

    Args:
        pins: Pins memory components like all others.
    """

    def __init__(self, pins: Pins) -> None:
        self._pins = pins
        self._named: dict[str, Ref | None] = {}
        self._read: dict[str, MemoryConfig] = {}

    @property
    def used(self) -> bool:
        """Whether an agent of the run has named one; most runs need no further check."""
        return bool(self._named)

    def enter(self, key: str, config: Manifest) -> None:
        """Set the memory component below `key` to the one named by an agent; other kinds keep their caller's."""
        if config.kind == "agent" and (self._named or config.memory is not None):
            self._named[key] = config.memory

    def named(self, key: str) -> Ref | None:
        """Return the memory component in effect below a key, or a branch's path."""
        return self._named.get(innermost(key, self._named))

    async def found(self, named: Ref) -> MemoryConfig:
        """Return the configuration of a memory component in its pinned version; the first touch is recorded.

        Raises:
            UnknownComponent: There is none.
            Archived: It is kept for the record only.
            Quarantined: Nobody trusts it yet.
        """
        return self._said(await self._pins.resolve(named))

    async def held(self, named: Ref) -> MemoryConfig:
        """Return the same inside an effect of an agent, without recording it again."""
        return self._said(await self._pins.pin(named))

    def _said(self, found: Manifest) -> MemoryConfig:
        if found.digest not in self._read:
            self._read[found.digest] = MemoryLibrary.documents.parse(found.source)
        return self._read[found.digest]
