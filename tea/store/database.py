"""Small SQLite files for what is derived: several processes share one, and a change counts as a whole or not at all."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tea.errors import Damaged, StorageError
from tea.store.files import shown

if TYPE_CHECKING:
    from sqlite3 import Connection

_PATIENCE = 20.0  # seconds that one process waits for another


@contextmanager
def database(path: Path, schema: str) -> Generator[Connection]:
    """Lend a connection, in one transaction that is kept where the body succeeds.

    Args:
        path: The file; created, with its folder and what tells git to leave it out, where it is missing.
        schema: Statements that create its tables where they are missing.

    Raises:
        StorageError: It cannot be read or written.
        Damaged: It is no database.
    """
    import sqlite3

    try:
        if not path.parent.is_dir():
            path.parent.mkdir(exist_ok=True)
            (path.parent / ".gitignore").write_text("*\n", encoding="ascii")
        connection = sqlite3.connect(path, timeout=_PATIENCE)
        try:
            connection.execute("PRAGMA secure_delete = ON")
            connection.executescript(schema)
            with connection:
                yield connection
        finally:
            connection.close()
    except (OSError, sqlite3.OperationalError) as error:
        fix = "look at its permissions, free space on its disk, or end what else uses it."
        raise StorageError(f"Cannot use {shown(path)}: {str(error)[:120]}.", fix=fix) from error
    except sqlite3.DatabaseError as error:
        raise Damaged(f"{shown(path)} is no database.", fix="remove it; it is made again.") from error


def discard(path: Path) -> None:
    """Remove a file that can be made again."""
    with suppress(OSError):
        path.unlink()
