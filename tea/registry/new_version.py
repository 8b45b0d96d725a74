"""NewVersion: the facts of a version about to be added."""

from __future__ import annotations

from dataclasses import dataclass, field

from tea.components.manifest import Lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """The facts of a version about to be added, except its content.

    Args:
        version: The version wanted, `X.Y.Z`; the next one by the kind of change if None.
        reason: Why, in words.
        lineage: Where it comes from; written by hand by default.
        author: Who adds it; the operator by default.
    """

    version: str | None = None
    reason: str = ""
    lineage: Lineage = field(default_factory=Lineage)
    author: str | None = None
