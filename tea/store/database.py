"""Small SQLite files for derived data, shared by several processes, with atomic changes."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tea.errors import LACKING, Damaged, StorageError, lacking_descriptors
from tea.store.files import shown, storage_error
from tea.store.scratch import PRIVATE_FILE, PRIVATE_FOLDER, PUBLIC_FOLDER

if TYPE_CHECKING:
    from sqlite3 import Connection

_PATIENCE = 20.0  # seconds that one process waits for another


@contextmanager
def database(path: Path, schema: str, *, private: bool = False) -> Generator[Connection]:
    """Open a connection in one transaction, committed if the body succeeds.

    Args:
        path: The file; created, with its folder and what tells git to leave it out, where it is missing.
        schema: Statements that create its tables where they are missing.
        private: Whether only this account may read what is created.

    Raises:
        StorageError: It cannot be read or written.
        Damaged: It is no database.
    """
    import sqlite3

    try:
        if not path.parent.is_dir():
            path.parent.mkdir(PRIVATE_FOLDER if private else PUBLIC_FOLDER, exist_ok=True)
            (path.parent / ".gitignore").write_text("*\n", encoding="ascii")
        if private and not path.exists():
            _create(path)
        connection = sqlite3.connect(path, timeout=_PATIENCE)
        try:
            connection.execute("PRAGMA secure_delete = ON")
            connection.executescript(schema)
            with connection:
                yield connection
        finally:
            connection.close()
    except (OSError, sqlite3.OperationalError) as error:
        if lack := _lack(error):
            raise storage_error("use", path, lack) from error
        fix = "look at its permissions, free space on its disk, or end what else uses it."
        raise StorageError(f"Cannot use {shown(path)}: {str(error)[:120]}.", fix=fix) from error
    except sqlite3.DatabaseError as error:
        fix = "`tea doctor --repair` removes it; it is made again."
        raise Damaged(f"{shown(path)} is not a database.", fix=fix) from error


def _lack(error: Exception) -> OSError | None:
    """Return the system's error behind a database's failure for lack of descriptors or space, None otherwise."""
    import sqlite3

    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CANTOPEN:
        return lacking_descriptors()
    return error if isinstance(error, OSError) and error.errno in LACKING else None


def fault(path: Path) -> str:
    """Return the problem with a database as text; empty if there is none, or if others keep it locked.

    Raises:
        StorageError: It cannot be read.
    """
    import sqlite3

    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE)
        try:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            return ""
        raise StorageError(f"Cannot read {shown(path)}: {str(error)[:120]}.", fix="look at its permissions.") from error
    except sqlite3.DatabaseError as error:
        return str(error)[:120]
    return "" if found == ("ok",) else " ".join(str(found[0] if found else "it is empty").split())[:120]


def _create(path: Path) -> None:
    """Make an empty database readable by this account only; SQLite's journals get the same mode.

    It is closed before it has its name: closing a file ends the locks of all of a process's connections to it.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE_FILE))
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


def discard(path: Path) -> None:
    """Remove a file of derived data."""
    with suppress(OSError):
        path.unlink()
