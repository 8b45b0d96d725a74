"""Places: in which branch of a run the agents work, by the keys of what they do."""

from __future__ import annotations

from tea.components.manifest import Manifest


class Places:
    """Knows where the agents of a run work.

    An agent works in the branch in which it was called, with all that it does itself, also side by side. An agent that
    it calls there works in that branch too; one that it spawns works in a branch of its own.
    """

    def __init__(self) -> None:
        self._agents: set[str] = set()

    def enter(self, key: str, config: Manifest) -> None:
        """Note the scope of an agent; whatever else has a scope works where its caller does."""
        if config.kind == "agent":
            self._agents.add(key)

    def branch(self, key: str) -> str:
        """Return the branch in which the innermost agent around `key` works; empty outside of any."""
        scope = key
        while scope and scope not in self._agents:
            scope = scope[: max(0, *map(scope.rfind, "./!~"))]
        head, slash, tail = scope.rpartition("/")
        return head + slash + tail.partition(".")[0]
