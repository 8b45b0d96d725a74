"""Head: all mutable facts of a component, as of one change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tea.components.operation import reasons_in_document
from tea.errors import Conflict, Damaged
from tea.refs import ALIAS, Version
from tea.types import JsonObject, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """All mutable facts of a component, as of one change.

    Args:
        number: Which change this is; 0 before the first.
        current: The version that a ref without selector means.
        aliases: Movable tags and the versions they stand for.
        states: Versions that are not active.
        removed: Versions that an unregistration took out of sight.
        undo: The change that a rollback goes back to.
        author: Who made the change.
        reason: Why, in their words.
        time: When, ISO 8601 in UTC.
    """

    number: int = 0
    current: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    states: Mapping[str, State] = field(default_factory=dict[str, State])
    removed: tuple[str, ...] = ()
    undo: int | None = None
    author: str = ""
    reason: str = ""
    time: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the document to store; its number is the file's name."""
        return {name: getattr(self, name) for name in Head.__slots__ if name != "number"}

    def leading(self, version: str) -> Head:
        """Return a head with a version as the current one, and with a way back to the version before."""
        undo = self.undo if self.current == version else (self.number if self.current else None)
        return replace(self, current=version, undo=undo, removed=tuple(one for one in self.removed if one != version))

    def without(self, versions: Sequence[str]) -> Head:
        """Return a head with versions hidden, and without pointers to them.

        Raises:
            Conflict: One of them is current by now.
        """
        gone = frozenset(versions)
        if self.current in gone:
            raise Conflict(f"{self.current} was made current by someone else at the same time.", fix="try again.")
        return replace(
            self,
            aliases={tag: one for tag, one in self.aliases.items() if one not in gone},
            states={one: state for one, state in self.states.items() if one not in gone},
            removed=tuple(sorted({*self.removed, *gone}, key=Version.parse)),
        )

    def with_back(self, versions: Sequence[str], before: Head) -> Head:
        """Return a head with versions restored to their state in `before`, unless they were hidden earlier."""
        back, hidden = frozenset(versions), frozenset(before.removed)
        aliases = {tag: one for tag, one in before.aliases.items() if one in back}
        states = {one: state for one, state in before.states.items() if one in back}
        return replace(
            self,
            aliases={**aliases, **self.aliases},
            states={**self.states, **states},
            removed=tuple(one for one in self.removed if one not in back or one in hidden),
        )

    @classmethod
    def from_json(cls, number: int, data: JsonObject) -> Head:
        """Read a document written by `to_json`.

        Raises:
            Damaged: It is not such a document.
        """
        try:
            found = _reader().validate_python({**data, "number": number})
        except ValidationError as error:
            problem = f"Change {number} of a component is unreadable: {reasons_in_document(error, 1)}."
            raise Damaged(problem, fix="restore its file in `heads`.") from error
        if not all(map(ALIAS.fullmatch, found.aliases)) or not (found.undo is None or 0 < found.undo < number):
            problem = f"Change {number} of a component is unreadable: it has another alias, or another way back."
            raise Damaged(problem, fix="restore its file in `heads`.")
        return found


@cache
def _reader() -> TypeAdapter[Head]:
    return TypeAdapter(Head)
