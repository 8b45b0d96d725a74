"""Own ledger: the lines of a ledger written by this account; others, from a home of elsewhere, do not count."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from tea.source.seal import MARK, Seal, unmarked
from tea.store.evaluations import FileEvaluations, Ledger
from tea.types import JsonObject


class OwnLedger:
    """A ledger with a mark of this account on each line, for its name alone.

    Args:
        name: The name of the ledger.
        ledger: The open file.
        seal: Makes the marks.
    """

    def __init__(self, name: str, ledger: Ledger, seal: Seal) -> None:
        self._name, self._ledger, self._seal = name, ledger, seal
        self._foreign = 0

    def lines(self) -> list[JsonObject]:
        """Return the lines of this account, in order."""
        found = self._ledger.lines()
        ours = [one for one in found if is_own(self._name, one, self._seal)]
        self._foreign = len(found) - len(ours)
        return ours

    @property
    def foreign(self) -> str:
        """The number of other lines as words for people, empty for none."""
        count = self._foreign
        words = "1 line of the ledger was" if count == 1 else f"{count:,} lines of the ledger were"
        return f"{words} not written by this account, and {'does' if count == 1 else 'do'} not count" if count else ""

    def append(self, line: JsonObject) -> None:
        """Write one line; it survives the death of this process."""
        self._ledger.append({**line, MARK: self._seal(_content(self._name, line))})

    def sync(self) -> None:
        """Make everything written so far durable."""
        self._ledger.sync()


def is_own(name: str, line: JsonObject, seal: Seal) -> bool:
    """Return whether this account wrote a line into the named ledger."""
    return seal.made(line.get(MARK), _content(name, unmarked(line)))


@contextmanager
def own_ledger(store: FileEvaluations, name: str, seal: Seal) -> Generator[OwnLedger]:
    """Open a ledger for appending, alone.

    Raises:
        Conflict: Another process has it open.
        StorageError: It cannot be written.
    """
    with store.ledger(name) as ledger:
        yield OwnLedger(name, ledger, seal)


def _content(name: str, line: JsonObject) -> JsonObject:
    return {"ledger": name, "line": line}
