"""Typed tables in an in-memory SQLite database that only answers questions."""

import math
import sqlite3
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tea import ToolError

from .naming import check_names, unknown_name
from .numbers import iso_date
from .tables import Cell, Table
from .words import list_items, norm

SECONDS = 20.0
MOST_CELL_CHARACTERS = 4_000
MOST_COUNTED = 1_000_000
MOST_BYTES = 10_000_000  # of one value, in a table or on the way to an answer
_SQL_TYPES = {"integer": "INTEGER", "real": "REAL", "text": "TEXT", "date": "TEXT"}
_FUNCTION_NAMES = """
abs avg ceil ceiling char coalesce concat concat_ws count cume_dist date datetime dense_rank exp first_value floor
format glob group_concat has_item ifnull iif instr iso julianday lag last_value lead length like ln log log10 log2 lower
ltrim max median min mod norm nth_value ntile nullif percent_rank pi pow power printf quote rank replace round
row_number rtrim sign sqrt stddev strftime string_agg substr substring sum time total trim trunc typeof unicode
unixepoch upper variance
"""
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
_ACTIONS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """Rows that a query gave.

    Args:
        columns: Their names.
        rows: As many as were wanted.
        more: Whether others follow.
        total: How many there are, with those that were skipped; None where nobody counted to the end.
    """

    columns: list[str]
    rows: list[list[Cell]]
    more: bool
    total: int | None


class Database:
    """The tables of one call; a context manager."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
        self._columns = {table.name: [column.name for column in table.columns] for table in tables}
        for table in tables:
            self._load(table)
        self._add_functions()
        self._connection.set_authorizer(_authorize)

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def select(self, sql: str, limit: int, offset: int = 0, *, count: bool = False) -> Selected:
        """Run one read-only statement.

        Args:
            sql: The statement.
            limit: Most rows to return.
            offset: Rows to skip.
            count: Whether to count those that follow.

        Raises:
            ToolError: The statement is wrong, is not a query, or takes too long.
        """
        deadline = time.monotonic() + SECONDS
        self._connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        try:
            check_names(self._connection, sql)
            cursor = self._connection.execute(sql)
            if cursor.description is None:
                raise ToolError("The SQL is not a query.", fix="write one SELECT or WITH statement.")
            skipped = sum(1 for _ in islice(cursor, offset))
            rows = cursor.fetchmany(limit + 1)
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            raise self._refusal(error, sql) from None
        names = [str(column[0]) for column in cursor.description]
        known = skipped + len(rows)
        shown = [[_bounded(value) for value in row] for row in rows[:limit]]
        total = _counted(cursor, known) if count else None
        return Selected(columns=names, rows=shown, more=len(rows) > limit, total=total)

    def _refusal(self, error: Exception, sql: str) -> ToolError:
        text = str(error)
        if named := unknown_name(text, sql, self._columns, _FUNCTIONS):
            return named
        if "interrupted" in text:
            return ToolError(f"The SQL takes longer than {SECONDS:.0f} seconds.", fix="ask for less.")
        if "not authorized" in text or "prohibited" in text:
            return ToolError(f"The SQL may only read: {text}.", fix="write one SELECT with ordinary functions.")
        return ToolError(f"The SQL fails: {text}.", fix="check the syntax; without sql the tables are described.")

    def _load(self, table: Table) -> None:
        columns = ", ".join(f"{quoted(column.name)} {_SQL_TYPES[column.kind]}" for column in table.columns)
        holes = ", ".join("?" * len(table.columns))
        try:
            self._connection.execute(f"CREATE TABLE {quoted(table.name)} ({columns})")
            self._connection.executemany(
                f"INSERT INTO {quoted(table.name)} VALUES ({holes})", zip(*table.cells, strict=True)
            )
        except (sqlite3.Error, OverflowError, ValueError) as error:
            raise ToolError(f"{table.file!r} does not fit a database: {error}.", fix="use a simpler file.") from None

    def _add_functions(self) -> None:
        self._connection.create_function("norm", 1, _norm, deterministic=True)
        self._connection.create_function("has_item", 2, _has_item, deterministic=True)
        self._connection.create_function("iso", 2, _iso, deterministic=True)
        for name, aggregate in (("median", _Median), ("stddev", _Deviation), ("variance", _Variance)):
            self._connection.create_aggregate(name, 1, aggregate)


def quoted(name: str) -> str:
    """Return a name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action in _ACTIONS or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _counted(cursor: sqlite3.Cursor, known: int) -> int | None:
    """Return how many rows a query gives, None where they are too many or too slow to count."""
    try:
        while known <= MOST_COUNTED and (rows := cursor.fetchmany(1_000)):
            known += len(rows)
    except (sqlite3.Error, OverflowError):
        return None
    return known if known <= MOST_COUNTED else None


def _bounded(value: object) -> Cell:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str) and len(value) > MOST_CELL_CHARACTERS:
        return value[:MOST_CELL_CHARACTERS] + "…"
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


def _norm(value: object) -> str | None:
    return None if value is None else norm(str(value))


def _has_item(value: object, item: object) -> int | None:
    if value is None:
        return None
    wanted = norm(str(item))
    return int(norm(str(value)) == wanted or wanted in list_items(str(value)))


def _iso(value: object, form: object) -> str | None:
    return None if value is None else iso_date(str(value), str(form))


class _Numbers:
    """Base of the aggregates over numbers; missing values and texts do not count."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def step(self, value: Any) -> None:
        if isinstance(value, int | float):
            self.values.append(value)


class _Median(_Numbers):
    def finalize(self) -> Any:
        return statistics.median(self.values) if self.values else None


class _Deviation(_Numbers):
    """Sample standard deviation."""

    def finalize(self) -> Any:
        return statistics.stdev(self.values) if len(self.values) > 1 else None


class _Variance(_Numbers):
    """Sample variance."""

    def finalize(self) -> Any:
        return statistics.variance(self.values) if len(self.values) > 1 else None
