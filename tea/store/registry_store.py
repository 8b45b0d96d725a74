"""The interface of a registry, independent of its storage: immutable versions, and heads naming the current one."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tea.store.bulk import Whole
from tea.store.catalogue import Describe, Facts
from tea.types import JsonObject


class RegistryStore(Protocol):
    """A store of versions and heads. All methods block; none needs a lock around it.

    `moves` counts the changes made through this object, so that whoever shares it sees at once that there was one.
    """

    moves: int

    def create(self, kind: str, name: str, version: str, document: JsonObject) -> None:
        """Add one version, permanently.

        Raises:
            AlreadyRegistered: That version exists; also when another process was faster.
            BadInput: The document is not JSON, or too large.
            StorageError: It cannot be written; nothing of it is left.
        """
        ...

    def advance(self, kind: str, name: str, head: JsonObject, expected: int) -> int:
        """Make `head` the head after number `expected`, and return its number.

        Raises:
            Conflict: The newest head is not `expected`; also when another process was faster.
            UnknownComponent: The name has no version.
            StorageError: It cannot be written; nothing of it is left.
        """
        ...

    def head(self, kind: str, name: str, number: int | None = None) -> tuple[int, dict[str, Any]]:
        """Return a head and its number, by default the newest; `(0, {})` when there is none.

        Raises:
            Damaged: The head is not what was written, or is gone.
        """
        ...

    def read(self, kind: str, name: str, version: str) -> dict[str, Any]:
        """Return the document of one version.

        Raises:
            UnknownComponent: There is no such version.
            Damaged: The file is not what was written.
        """
        ...

    def create_all(self, components: Iterable[Whole]) -> None:
        """Add components of new names with all their versions and heads, fast, each at once as a whole.

        Raises:
            Conflict: One of the names is there; those before it may have been added.
            BadInput: A document is not JSON, or too large; nothing is added.
            StorageError: They cannot be written; each is there as a whole or not at all.
        """
        ...

    def bury(self, kind: str, name: str, version: str, document: JsonObject) -> None:
        """Put `document`, the record of a version's purge, in the version's place.

        Raises:
            UnknownComponent: There is no such version.
            StorageError: It cannot be written; the version is what it was.
        """
        ...

    def versions(self, kind: str, name: str) -> list[str]:
        """Return the versions of a name, lowest first; none when the name is unknown."""
        ...

    def highest(self, kind: str, name: str) -> str | None:
        """Return the highest version of a name, None when the name is unknown."""
        ...

    def names(self, kind: str) -> list[str]:
        """Return the names of a kind with at least one version, sorted."""
        ...

    def mark(self, kind: str, name: str) -> object:
        """Return a mark of a name, equal as long as none of its pointers moves; None if it is uncertain or unknown.

        It costs microseconds, so it may be asked for on an event loop.
        """
        ...

    def survey(self, kind: str, form: int, describe: Describe, *, pointers: bool = False) -> Mapping[str, Facts | None]:
        """Return the listed facts of every name of a kind, sorted, reading only the changes since the last look.

        It is the very same object as long as nothing has changed.

        Args:
            kind: The kind.
            form: Number of the form of what `describe` returns; another number reads everything anew.
            describe: Reads one component.
            pointers: Whether it is enough that no pointer has moved since this process looked.
        """
        ...
