"""Places: the branches of a run's agents, by the keys of their effects."""

from __future__ import annotations

from tea.components.manifest import Manifest
from tea.kernel.key import branch_of, innermost


class Places:
    """The branches of a run's agents, by key.

    An agent works in the branch in which it was called, with all that it does itself, also side by side. An agent that
    it calls there works in that branch too; one that it spawns works in a branch of its own.
    """

    def __init__(self) -> None:
        self._agents: set[str] = set()

    def enter(self, key: str, config: Manifest) -> None:
        """Record the scope of an agent; other components with a scope work in their caller's branch."""
        if config.kind == "agent":
            self._agents.add(key)

    def branch(self, key: str) -> str:
        """Return the branch of the innermost agent around `key`; empty outside any."""
        return branch_of(innermost(key, self._agents))
