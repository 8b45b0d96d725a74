"""Files to typed tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from tea import ToolError

from .books import Book
from .columns import distinct, sql_name, typed
from .decoding import decoded, read_bytes
from .delimited import read_delimited
from .files import DELIMITED, JSON, TEXT, WORKBOOK, TableFile
from .json_tables import read_json
from .stored import LARGE, StoredTable, stored
from .tables import Budget, RawTable, Table
from .workbook import read_workbook

_MOST_KEPT = 1_000_000
_MOST_LARGE = 8  # of as many files one connection reads, with its own
_FIX = "name CSV, TSV, JSON, JSON lines, XLSX or ODS files; read_file reads other texts."


def load(files: list[TableFile], books: Mapping[str, Book], folder: Path | None) -> list[Table | StoredTable]:
    """Return the tables of all files, each with a name of its own.

    Args:
        files: The files.
        books: The workbooks among them.
        folder: Where copies of large ones are kept, None for the system's temporary files.

    Raises:
        ToolError: A file is missing, too large, or holds no table.
    """
    large = {file: _named(book, file) for file, book in books.items() if not isinstance(book, bytes)}
    large |= {one.name: [_large(one, folder)] for one in files if _is_large(one)}
    many = sum(map(len, large.values()))
    if many > _MOST_LARGE:
        raise ToolError(f"{many} large tables are too many.", fix=f"name files with at most {_MOST_LARGE} at once.")
    held = {file: book for file, book in books.items() if isinstance(book, bytes)}
    contents = tuple(
        (one, held.get(one.name) or read_bytes(one.path, one.name)) for one in files if one.name not in large
    )
    small = sum(len(data) for _, data in contents) <= _MOST_KEPT
    read = (_kept if small else _parsed)(contents) if contents else ()
    found = [*read, *chain.from_iterable(large.values())]
    names = distinct(one.name for one in found)
    return [one if one.name == name else replace(one, name=name) for one, name in zip(found, names, strict=True)]


def _is_large(file: TableFile) -> bool:
    try:
        return file.form in (DELIMITED, TEXT) and file.path.stat().st_size >= LARGE
    except OSError:
        return False


def _large(file: TableFile, folder: Path | None) -> StoredTable:
    loose = file.form == DELIMITED
    table = stored(file.path, file.name, sql_name(Path(file.name).stem), folder, loose=loose)
    if table is None:
        raise ToolError(f"{file.name!r} holds no table.", fix=_FIX)
    return table


def _named(found: Sequence[StoredTable], file: str) -> Sequence[StoredTable]:
    """Return the tables of a workbook; a single one has the name of the file."""
    return [replace(found[0], name=sql_name(Path(file).stem), sheet="")] if len(found) == 1 else found


def _parsed(contents: tuple[tuple[TableFile, bytes], ...]) -> tuple[Table, ...]:
    """Return the tables in the bytes of files."""
    budget = Budget()
    raw = [table for file, data in contents for table in _read(file, data, budget)]
    for table in raw:
        budget.check(table)
    names = distinct(sql_name(table.name) for table in raw)
    return tuple(typed(table, name) for table, name in zip(raw, names, strict=True))


@lru_cache(maxsize=2)  # a question is followed by others about the same files
def _kept(contents: tuple[tuple[TableFile, bytes], ...]) -> tuple[Table, ...]:
    return _parsed(contents)


def _read(file: TableFile, data: bytes, budget: Budget) -> list[RawTable]:
    name, stem = file.name, Path(file.name).stem
    if file.form == WORKBOOK:
        return read_workbook(data, stem, name, budget)
    text, encoding = decoded(data, name)
    if file.form == JSON or (file.form == TEXT and text.lstrip()[:1] in ("{", "[")):
        return read_json(text, stem, name, budget)
    table = read_delimited(text, stem, name, budget, loose=file.form == DELIMITED, encoding=encoding)
    if table is None and file.is_named_json:
        return read_json(text, stem, name, budget)
    if table is None:
        raise ToolError(f"{name!r} holds no table.", fix=_FIX)
    return [table]
