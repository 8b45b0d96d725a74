"""Large tables as SQLite files: read row by row, kept once for all runs under the digest of their bytes."""

import codecs
import csv
import hashlib
import json
import os
import sqlite3
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

from tea import ToolError, open_resolved
from tea.reading import utf_16_of

from .columns import column_names, numbered_names
from .delimited import Shape, layout_of, shape_of
from .describing import (
    FEW_EXAMPLES,
    MOST_LISTED,
    ColumnDescription,
    TableDescription,
    column_description,
    described,
    short,
)
from .judging import Judge
from .tables import MOST_COLUMNS, Column

LARGE = 16_000_000  # bytes from which on a file is not held in memory
MOST_BYTES = 1_000_000_000
MOST_CELLS = 40_000_000
MOST_KEPT = 4_000_000_000  # bytes of all copies together
MOST_VALUES = 100_000  # distinct values of a column that are held at once
SUFFIX, BOOK = ".sqlite", ".rows"
_VERSION, _FOLDER = "3", "tables"
_CHUNK, _SAMPLE_LINES = 1 << 20, 400
LONGEST_FIELD = 10_000_000
_SQL_TYPES = {"integer": "INTEGER", "real": "REAL", "text": "TEXT", "date": "TEXT"}
_CACHE = "PRAGMA cache_size = -32000"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """A typed table in an SQLite file, as table `t` with the columns `c0`, `c1` and so on.

    Args:
        name: Its name in SQL.
        file: The file it comes from.
        columns: Its columns.
        path: The SQLite file.
        rows: How many rows it has.
        told: The description of each column.
        layout: As of other tables.
        sheet: As of other tables.
    """

    name: str
    file: str
    columns: list[Column]
    path: Path
    rows: int
    told: list[ColumnDescription]
    layout: str = ""
    sheet: str = ""

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.rows

    def described(self) -> TableDescription:
        """Return its contents."""
        return described(self.name, self.file, self.sheet, self.rows, self.told, self.layout)

    def counts(self, position: int, phrases: tuple[str, ...] = ()) -> Counter[str] | None:
        """Return the distinct texts of a column with their numbers; None for too many.

        Args:
            position: The column.
            phrases: Of a column with too many, texts that hold all words of one of these, whatever their capitals.
        """
        column = f"c{position}"
        where, values = "", list[str]()
        if self.told[position]["distinct"] > MOST_VALUES:
            wanted = [words for phrase in phrases if (words := [word.rstrip("s") for word in phrase.lower().split()])]
            if not wanted:
                return None
            either = (" AND ".join([f"instr(lower({column}), ?)"] * len(words)) for words in wanted)
            where = f" AND ({' OR '.join(f'({one})' for one in either)})"
            values = [word for words in wanted for word in words]
        sql = f"SELECT {column}, count(*) FROM t WHERE {column} IS NOT NULL{where} GROUP BY 1 LIMIT {MOST_VALUES}"
        with closing(_opened(self.path)) as connection:
            return Counter({str(value): number for value, number in connection.execute(sql, values)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table read row by row, as often as it is needed.

    Args:
        header: Names of its columns, perhaps too few or empty.
        rows: Gives the rows below the header from the first on.
        decimal_comma: Whether 3,14 is three and a bit.
        marks: Whether NA and the like stand for missing values.
        layout: As of other tables.
    """

    header: list[str]
    rows: Callable[[], Iterator[list[str]]]
    decimal_comma: bool = False
    marks: bool = True
    layout: str = ""


def stored(path: Path, file: str, name: str, folder: Path | None, *, loose: bool = True) -> StoredTable | None:
    """Return the table in a large delimited file, None without one.

    Args:
        path: The file.
        file: What its user calls it.
        name: A name for the table.
        folder: Where copies are kept for all runs; None for a folder of the system's temporary files.
        loose: Take lines without any delimiter for a table of one column.

    Raises:
        ToolError: It is too large, or cannot be read or kept.
    """
    with keeping(path, file, folder) as (kept, digest):
        target = kept / f"{digest}{SUFFIX}"
        found = _copy_description(target)
        if found is None:
            source = _delimited(path, file, loose=loose)
            found = None if source is None else _make_copy(source, file, target)
        return None if found is None else _table(found, file, name, target)


def stored_as(target: Path, file: str, name: str, source: Callable[[], Source | None]) -> StoredTable | None:
    """Return the table kept in a file, made from a source if missing; None without rows.

    Args:
        target: The file, in the folder given by `keeping`.
        file: What its user calls the file it comes from.
        name: A name for the table.
        source: Opens the table; called once at most.

    Raises:
        ToolError: It is too large, or cannot be read.
    """
    found = _copy_description(target)
    if found is None and (opened := source()) is not None:
        found = _make_copy(opened, file, target)
    return None if found is None else _table(found, file, name, target)


@contextmanager
def keeping(path: Path, file: str, folder: Path | None) -> Generator[tuple[Path, str]]:
    """Yield the folder for copies, and the beginning of the names of those of a file.

    Args:
        path: The file.
        file: What its user calls it.
        folder: As for `stored`.

    Raises:
        ToolError: It is too large, or nothing can be kept.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ToolError(f"{file!r} is larger than {MOST_BYTES // 10**6} MB.", fix="split the file.")
        around = Path(tempfile.gettempdir()) / f"tea-{os.getuid()}" if folder is None else folder
        kept = around / _FOLDER
        for one in (around, kept) if folder is None else (kept,):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_own(one)
        yield kept, f"{_digest(path)}-{_VERSION}"
    except (OSError, sqlite3.Error) as error:
        raise ToolError(f"{file!r} cannot be kept as a table: {error}.", fix="make room on the disk.") from error


def _check_own(folder: Path) -> None:
    """Raise ToolError for a folder of another account, or one that others may write."""
    found = folder.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o022:
        raise ToolError(f"{str(folder)!r} is not a folder of this account alone.", fix="remove it.")


def _table(found: "_CopyDescription", file: str, name: str, target: Path) -> StoredTable:
    os.utime(target)
    columns, rows, told, layout = found
    return StoredTable(name=name, file=file, columns=columns, path=target, rows=rows, told=told, layout=layout)


def _digest(path: Path) -> str:
    with open_resolved(path) as reading:
        return hashlib.file_digest(reading, "sha256").hexdigest()


_CopyDescription = tuple[list[Column], int, list[ColumnDescription], str]


def _copy_description(path: Path) -> _CopyDescription | None:
    """Return a copy's own description, None without one."""
    if not path.is_file():
        return None
    try:
        with closing(_opened(path)) as connection:
            (text,) = connection.execute("SELECT facts FROM facts").fetchone()
            facts: Any = json.loads(text)
            return [Column(**one) for one in facts["columns"]], facts["rows"], facts["told"], facts.get("layout", "")
    except (sqlite3.Error, ValueError, TypeError, KeyError):
        path.unlink(missing_ok=True)
        return None


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    connection.execute(_CACHE)
    return connection


def _delimited(path: Path, file: str, *, loose: bool) -> Source | None:
    """Return the table in a delimited text, None without any."""
    encoding = _encoding(path, file)
    with _lines(path, encoding) as lines:
        first = list(islice(lines, _SAMPLE_LINES))
    shape = shape_of(first, loose=loose)
    if shape is None:
        return None
    found = shape
    below = list(islice(_rows(path, encoding, found, file), _SAMPLE_LINES))
    return Source(
        layout=layout_of(first, below, found.header, found.delimiter, encoding),
        header=found.header,
        rows=lambda: _rows(path, encoding, found, file),
        decimal_comma=found.decimal_comma,
    )


def _make_copy(source: Source, file: str, target: Path) -> _CopyDescription | None:
    """Make the copy of a table: read once to judge its columns, and once to keep them."""
    csv.field_size_limit(LONGEST_FIELD)
    judges = list[Judge]()
    rows = cells = 0
    for row in source.rows():
        rows, cells = rows + 1, cells + len(row)
        if cells > MOST_CELLS or len(row) > MOST_COLUMNS:
            raise ToolError(f"{file!r} has more than {MOST_CELLS:,} cells.", fix="split the file.")
        while len(judges) < len(row):
            judges.append(Judge(decimal_comma=source.decimal_comma, marks=source.marks))
        for judge, cell in zip(judges, row, strict=False):
            judge.take(cell)
    names = column_names(source.header, len(judges))
    layout = "; ".join(filter(None, (source.layout, numbered_names(source.header, names))))
    columns = [
        Column(name=name, kind=judge.kind, form=judge.form, ambiguous=judge.ambiguous)
        for name, judge in zip(names, judges, strict=False)
    ]
    if not rows or not columns:
        return None
    part = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        with closing(sqlite3.connect(part)) as connection:
            told = _fill(connection, columns, judges, source.rows())
            facts = {"columns": [_as_json(one) for one in columns], "rows": rows, "told": told, "layout": layout}
            connection.execute("CREATE TABLE facts (facts TEXT)")
            connection.execute("INSERT INTO facts VALUES (?)", (json.dumps(facts),))
            connection.commit()
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    _forget_oldest(target)
    return columns, rows, told, layout


def _fill(
    connection: sqlite3.Connection, columns: list[Column], judges: list[Judge], rows: Iterator[list[str]]
) -> list[ColumnDescription]:
    """Write the rows, and return the columns' contents."""
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(_CACHE)
    declared = ", ".join(f"c{number} {_SQL_TYPES[one.kind]}" for number, one in enumerate(columns))
    connection.execute(f"CREATE TABLE t ({declared})")
    width = len(columns)
    insert = f"INSERT INTO t VALUES ({', '.join('?' * width)})"
    meanings = [judge.meaning() for judge in judges]
    padded = (_padded(row, width) for row in rows)
    connection.executemany(insert, ([mean(cell) for mean, cell in zip(meanings, row, strict=True)] for row in padded))
    connection.commit()
    return [_description(connection, number, column) for number, column in enumerate(columns)]


def _padded(row: list[str], width: int) -> list[str]:
    return row if len(row) == width else [*row[:width], *[""] * (width - len(row))]


def _description(connection: sqlite3.Connection, number: int, column: Column) -> ColumnDescription:
    one = f"c{number}"
    sql = f"SELECT count(DISTINCT {one}), count(*) - count({one}), min({one}), max({one}) FROM t"
    count, nulls, lowest, highest = connection.execute(sql).fetchone()
    most = MOST_LISTED if count <= MOST_LISTED else FEW_EXAMPLES
    common = (
        f"SELECT {one} FROM t WHERE {one} IS NOT NULL GROUP BY {one} ORDER BY count(*) DESC, min(rowid) LIMIT {most}"
    )
    examples = [short(value) for (value,) in connection.execute(common)]
    return column_description(column, count, nulls, short(lowest), short(highest), examples)


def _as_json(column: Column) -> dict[str, str | bool]:
    return {"name": column.name, "kind": column.kind, "form": column.form, "ambiguous": column.ambiguous}


def _encoding(path: Path, file: str) -> str:
    """Return the encoding of a text: UTF-8, UTF-16, else Windows Latin."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_resolved(path) as reading:
        head = reading.read(_CHUNK)
        if wide := utf_16_of(head):
            return wide
        if b"\0" in head[:100_000]:
            raise ToolError(f"{file!r} is a binary file.", fix="name a CSV, TSV, JSON, XLSX or ODS file.")
        try:
            while head:
                decoder.decode(head)
                head = reading.read(_CHUNK)
            decoder.decode(b"", True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


@contextmanager
def _lines(path: Path, encoding: str) -> Generator[Iterator[str]]:
    with TextIOWrapper(open_resolved(path), encoding=encoding, errors="replace", newline="") as text:
        yield text


def _rows(path: Path, encoding: str, shape: Shape, file: str) -> Iterator[list[str]]:
    """Yield the non-empty rows below the header."""
    with _lines(path, encoding) as lines:
        body = (line for line in islice(lines, shape.skipped, None) if not (shape.comments and line.startswith("#")))
        try:
            rows = csv.reader(body, delimiter=shape.delimiter, skipinitialspace=True)
            yield from islice((row for row in rows if any(map(str.strip, row))), shape.rows_above, None)
        except csv.Error as error:
            fix = f"close its quotation marks, and keep a field below {LONGEST_FIELD:,} characters."
            raise ToolError(f"{file!r} is not a readable table: {error}.", fix=fix) from error


def keep(target: Path, data: bytes) -> None:
    """Keep bytes as one of the copies."""
    part = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        part.write_bytes(data)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    _forget_oldest(target)


def _forget_oldest(target: Path) -> None:
    """Remove the copies unused for longest, if all take too much."""
    with suppress(OSError):
        found = [(one.stat(), one.path) for one in os.scandir(target.parent) if one.name.endswith((SUFFIX, BOOK))]
        size = sum(facts.st_size for facts, _ in found)
        for facts, path in sorted(found, key=lambda one: one[0].st_mtime_ns):
            if size <= MOST_KEPT or path == str(target):
                break
            os.unlink(path)
            size -= facts.st_size
