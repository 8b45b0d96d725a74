"""Tombstone: the record of a version with purged bytes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tea.characters import escaped_json, in_sentence
from tea.components.operation import reasons_in_document
from tea.errors import Damaged, Purged
from tea.refs import NAME, Kind, Ref, is_version
from tea.types import JsonObject

_KEY = "purged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A tombstone in the place of a version, reserving its number against other bytes.

    Args:
        kind: The kind.
        name: The name.
        version: The version.
        digest: Of what it held.
        author: Who purged it.
        reason: Why, in their words.
        time: When, ISO 8601 in UTC.
    """

    kind: Kind
    name: str
    version: str
    digest: str
    author: str = ""
    reason: str = ""
    time: str = ""

    @property
    def ref(self) -> Ref:
        """The exact version, as a ref."""
        return Ref(kind=self.kind, name=self.name, selector=self.version)

    def error(self) -> Purged:
        """Return the error for a request for the bytes."""
        who, when = in_sentence(self.author or "somebody"), in_sentence(self.time)
        reason = escaped_json(self.reason.rstrip(".")) if self.reason else "no reason"
        problem = f"{self.ref} was purged by {who} at {when}: {reason}."
        return Purged(problem, fix="use another version; a copy that was saved before can be registered again.")

    def to_json(self) -> dict[str, Any]:
        """Return the document stored in place of the version."""
        return {_KEY: asdict(self)}

    @classmethod
    def of(cls, document: JsonObject) -> Tombstone | None:
        """Return the tombstone in a stored document, or None if it contains another.

        Raises:
            Damaged: It says that it is one, and is not.
        """
        if _KEY not in document:
            return None
        told: Any = document[_KEY]
        try:
            if set(document) != {_KEY} or not set(told) <= {one.name for one in fields(cls)}:
                raise Damaged("A tombstone has unexpected members.", fix="bring its version file back.")
            found = _reader().validate_python(told)
            if not NAME.fullmatch(found.name) or not is_version(found.version):
                raise Damaged("A tombstone has no valid name or version.", fix="bring its version file back.")
            return found
        except (ValidationError, TypeError) as error:
            problem = f"A tombstone is unreadable: {reasons_in_document(error, 1)}."
            raise Damaged(problem, fix="bring its version file back.") from error


@cache
def _reader() -> TypeAdapter[Tombstone]:
    return TypeAdapter(Tombstone)
