"""Small SQLite files for derived data, shared by several processes, with atomic changes.

A file may have come with a folder from elsewhere, and SQLite does what it says: a link leads to another database, a
view in the place of a table computes without end, and a rollback journal that names a journal of several databases has
that file deleted. So a file is looked at before SQLite opens it, and holds our own tables and nothing else.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tea.characters import escaped_json
from tea.errors import LACKING, Damaged, StorageError, lacking_descriptors
from tea.store.access import foreign_hand
from tea.store.files import shown, storage_error
from tea.store.scratch import PRIVATE_FILE, PRIVATE_FOLDER, PUBLIC_FOLDER, make_derived

if TYPE_CHECKING:
    from sqlite3 import Connection

_PATIENCE = 20.0  # seconds that one process waits for another
_JOURNAL = "-journal"
_BESIDE = (_JOURNAL, "-wal", "-shm")
# The end of a rollback journal that names another file; none of ours does, as each change is in one database.
# Source: https://www.sqlite.org/fileformat2.html, 3, and `readSuperJournal` of SQLite's pager.
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
_FIX = "`tea doctor --repair` removes it; it is made again."
_REMOVE = "remove it; it is made again."


@contextmanager
def database(path: Path, schema: str, *, private: bool = False) -> Generator[Connection]:
    """Open a connection in one transaction, committed if the body succeeds.

    Args:
        path: The file; created, with its folder and what tells git to leave it out, where it is missing.
        schema: Statements that create its tables where they are missing.
        private: Whether only this account may read what is created.

    Raises:
        StorageError: It cannot be read or written.
        Damaged: It is not a database, another than the schema says, or leads elsewhere.
    """
    import sqlite3

    try:
        _check_files(path)
        make_derived(path.parent, PRIVATE_FOLDER if private else PUBLIC_FOLDER)
        if private and not path.exists():
            _create(path)
        connection = sqlite3.connect(path, timeout=_PATIENCE)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA secure_delete = ON")
            if foreign := set(connection.execute(_OBJECTS)) - _objects(schema):
                raise Damaged(f"{shown(path)} holds {_named(foreign)}, which tea did not make.", fix=_REMOVE)
            connection.executescript(schema)
            with connection:
                yield connection
        finally:
            connection.close()
    except (OSError, sqlite3.OperationalError) as error:
        if lack := _lack(error):
            raise storage_error("use", path, lack) from error
        fix = "look at its permissions, free space on its disk, or end what else uses it."
        raise StorageError(f"Cannot use {shown(path)}: {_said(error)}.", fix=fix) from error
    except sqlite3.DatabaseError as error:
        raise Damaged(f"{shown(path)} is not a database.", fix=_FIX) from error


_OBJECTS = "SELECT type, name, sql FROM sqlite_master"


@cache
def _objects(schema: str) -> frozenset[tuple[str, str, str | None]]:
    """Return the tables and indexes made by a schema, as SQLite writes them down."""
    import sqlite3

    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema)
        return frozenset(connection.execute(_OBJECTS))


def _named(objects: set[tuple[str, str, str | None]]) -> str:
    kind, name, _ = min(objects, key=str)
    return f"the {kind} {name[:40]!r}"


def _check_files(path: Path) -> None:
    """Refuse a database with files elsewhere, or of other accounts, or with one to make SQLite delete another file.

    Raises:
        Damaged: It is refused.
    """
    folder = path.parent
    if folder.is_symlink() and not folder.resolve().is_relative_to(folder.parent.resolve()):
        raise Damaged(f"{shown(folder)} is a link to elsewhere.", fix="put a folder there.")
    for one in (path, *(path.with_name(path.name + end) for end in _BESIDE)):
        try:
            mode = one.lstat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise Damaged(f"{shown(one)} is not a regular file.", fix=_FIX)
        with suppress(FileNotFoundError):  # a change of another process may have ended meanwhile
            if reason := foreign_hand(one):
                raise Damaged(f"{shown(one)} is not used: {reason}.", fix=_FIX)
        if one.name.endswith(_JOURNAL) and _names_another(one):
            raise Damaged(f"{shown(one)} names another file, which tea's never do.", fix=_FIX)


def _names_another(journal: Path) -> bool:
    """Return whether a rollback journal names a journal of several databases, to be deleted by SQLite."""
    with suppress(FileNotFoundError), journal.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_NAMES_ANOTHER)))
        return size > len(_NAMES_ANOTHER) and file.read() == _NAMES_ANOTHER
    return False


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
        _check_files(path)
    except Damaged as error:
        return error.problem.rstrip(".")
    except OSError as error:
        raise storage_error("read", path, error) from error
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE)
        try:
            if odd := set(connection.execute(f"{_OBJECTS} WHERE type IN ('view', 'trigger')")):
                return f"it holds {_named(odd)}"
            found = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            return ""
        raise StorageError(f"Cannot read {shown(path)}: {_said(error)}.", fix="look at its permissions.") from error
    except sqlite3.DatabaseError as error:
        return _said(error)
    return "" if found == ("ok",) else _said(found[0]) if found else "it is empty"


def _said(words: object) -> str:
    """Return the words of SQLite about a database in quotes, as they hold names of anybody."""
    return f"SQLite says {escaped_json(str(words)[:120])}"


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
    """Remove a file of derived data, and SQLite's own files beside it."""
    for one in (path, *(path.with_name(path.name + end) for end in _BESIDE)):
        with suppress(OSError):
            one.unlink()
