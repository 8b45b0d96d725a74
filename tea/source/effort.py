"""Effort: the work spent on following the names of one component, bounded for names of any shape."""

from __future__ import annotations

from tea.source.text import refusal

_LEAST, _PER_NODE = 100_000, 10


class Effort:
    """A counter shared by all readers of a component's names.

    Args:
        nodes: How many nodes the syntax trees of its files have together; the work allowed grows with them.

    Attributes:
        left: The steps that are still allowed.
    """

    def __init__(self, nodes: int = 0) -> None:
        self.left = _LEAST + _PER_NODE * nodes

    def spend(self, steps: int = 1) -> None:
        """Count steps of work.

        Raises:
            BadComponent: All that is allowed was spent.
        """
        self.left -= steps
        if self.left < 0:
            problem = "The source's names and values take too long to follow."
            raise refusal(problem, "write fewer that stand for one another, and nest less.")
