"""Head: all that can change about a component, as of one change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tea.errors import Damaged
from tea.operation import reasons
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
        """Return the document that is stored; its number is the file's name."""
        return {name: getattr(self, name) for name in Head.__slots__ if name != "number"}

    @classmethod
    def from_json(cls, number: int, data: JsonObject) -> Head:
        """Read what `to_json` wrote.

        Raises:
            Damaged: It is no such document.
        """
        try:
            return _reader().validate_python({**data, "number": number})
        except ValidationError as error:
            problem = f"Change {number} of a component is unreadable: {reasons(error, 1)}."
            raise Damaged(problem, fix="restore its file in `heads`.") from error


@cache
def _reader() -> TypeAdapter[Head]:
    return TypeAdapter(Head)
