"""Usage: records of components used for tasks in successful runs; they can be read and erased.

On disk, `<traces>/usage/usage.sqlite`. It is derived from journals, each run once, and only grows, but for what a
person erases: a run whose uses were erased is not learned again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Protocol

from tea.errors import StorageError
from tea.refs import Kind
from tea.store.database import database
from tea.store.files import open_regular, shown
from tea.store.strict import Refused

_SCHEMA = """CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uses (
    run TEXT, kind TEXT, name TEXT, digest TEXT, text TEXT, time TEXT,
    PRIMARY KEY (run, kind, name, digest, text)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_time ON uses (kind, time)"""
_COUNTER = slice(24, 28)
_OF = "WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR name = ?2)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A component's use for one task.

    Args:
        run: The run that succeeded.
        kind: The component's kind.
        name: Its name.
        digest: Of the version that served.
        text: The task of the agent that called it; for an agent its own.
        time: When, ISO 8601 in UTC.
    """

    run: str
    kind: Kind
    name: str
    digest: str
    text: str
    time: str


class UsageStore(Protocol):
    """A store of uses; every method blocks, so call it in a thread, and raises StorageError if the disk fails."""

    def mark(self) -> bytes:
        """Return a mark, different after every change by any process."""
        ...

    def known(self) -> frozenset[str]:
        """Return the learned runs."""
        ...

    def learn(self, runs: Sequence[str], uses: Iterable[Use]) -> None:
        """Add the uses of runs, each run only once."""
        ...

    def read(self, *, kind: Kind | None = None, name: str | None = None, most: int | None = None) -> list[Use]:
        """Return the uses of a component, of a kind, or all: the newest `most` of them, the newest last."""
        ...

    def erase(self, *, kind: Kind | None = None, name: str | None = None) -> list[Use]:
        """Erase the uses of a component, or all, and return them."""
        ...


class FileUsage:
    """A `UsageStore` beside the journals in a folder.

    Args:
        root: The folder of the journals.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / "usage" / "usage.sqlite"

    def mark(self) -> bytes:
        """Return SQLite's change counter with the file's inode; see `UsageStore.mark`.

        Source: https://www.sqlite.org/fileformat2.html, 1.3.7.
        """
        try:
            with os.fdopen(open_regular(self._path), "rb") as file:
                return b"%d " % os.fstat(file.fileno()).st_ino + file.read(_COUNTER.stop)[_COUNTER]
        except (FileNotFoundError, NotADirectoryError):
            return b""
        except Refused as reason:
            fix = "`tea doctor --repair` removes it; it is made again."
            raise StorageError(f"Cannot read {shown(self._path)}: {reason}.", fix=fix) from reason
        except OSError as error:
            raise StorageError(f"Cannot read {shown(self._path)}: {error}.", fix="look at its permissions.") from error

    def known(self) -> frozenset[str]:
        """Return the learned runs; see `UsageStore.known`."""
        if not self._path.exists():
            return frozenset()
        with database(self._path, _SCHEMA, private=True) as connection:
            return frozenset(run for (run,) in connection.execute("SELECT run FROM runs"))

    def learn(self, runs: Sequence[str], uses: Iterable[Use]) -> None:
        """Add the uses of runs; see `UsageStore.learn`."""
        by_run: dict[str, list[Use]] = {run: [] for run in runs}
        for use in uses:
            by_run[use.run].append(use)
        with database(self._path, _SCHEMA, private=True) as connection:
            for run, some in by_run.items():
                if connection.execute("INSERT OR IGNORE INTO runs VALUES (?)", (run,)).rowcount:
                    rows = [astuple(use) for use in some]
                    connection.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, ?, ?)", rows)

    def read(self, *, kind: Kind | None = None, name: str | None = None, most: int | None = None) -> list[Use]:
        """Return uses; see `UsageStore.read`."""
        if not self._path.exists():
            return []
        query = f"SELECT * FROM uses {_OF} ORDER BY time DESC, run DESC, kind DESC, name DESC LIMIT ?3"
        with database(self._path, _SCHEMA, private=True) as connection:
            rows = connection.execute(query, (kind, name, -1 if most is None else most)).fetchall()
        return [_use(row) for row in reversed(rows)]

    def erase(self, *, kind: Kind | None = None, name: str | None = None) -> list[Use]:
        """Erase uses; see `UsageStore.erase`."""
        if not self._path.exists():
            return []
        with database(self._path, _SCHEMA, private=True) as connection:
            rows = connection.execute(f"SELECT * FROM uses {_OF}", (kind, name)).fetchall()
            connection.execute(f"DELETE FROM uses {_OF}", (kind, name))
        return [_use(row) for row in rows]


def _use(row: tuple[str, Kind, str, str, str, str]) -> Use:
    run, kind, name, digest, text, time = row
    return Use(run=run, kind=kind, name=name, digest=digest, text=text, time=time)
