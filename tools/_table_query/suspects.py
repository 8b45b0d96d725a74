"""Rows hardly meant by a statement: a total of the others, and rows stated twice."""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .describing import short
from .joins import ASIDE, aliases_of
from .tables import Cell, Table
from .words import norm, quoted

MOST_ROWS, MOST_COLUMNS = 100_000, 50  # of a table that is looked through
MOST_AGAIN = 0.2  # share of rows stated again where no column tells one from another
_NEAR = 0.01  # of a total, whose parts may be rounded
_AGGREGATE = re.compile(
    r"\b(?:count|sum|avg|total|min|max|median|(?:stddev|var)(?:_pop)?|variance|corr)\s*+\(", re.IGNORECASE
)
_FALLING = re.compile(r"\border\s++by\b[^()]*?\bdesc\b", re.IGNORECASE)
_BOUNDED = re.compile(r"\bwhere\b.*?(?:(?<![<>-])>(?!>)|<(?![<>])|\bbetween\b)", re.IGNORECASE | re.DOTALL)
_OF_NULL = re.compile(r"\bis\s++null\b", re.IGNORECASE)
_ADDED = re.compile(r"\b(?:sum|count|avg|total)\s*+\((?!\s*+distinct\b)", re.IGNORECASE)
_ID = re.compile(r"(?:.*[_ ])?(?:id|nr|no|number|key|ref|code|uuid)", re.IGNORECASE)
_TEXT = re.compile(r"'((?:[^']|'')*+)'")
_PERHAPS = re.compile(r"(?:all|alle|alles|tous|toutes|todos|todas)(?: \w{2,20})?", re.IGNORECASE)
_PERIOD = re.compile(r"[qh][1-4](?: ?\d{4})?|\d{4}", re.IGNORECASE)
_FEWEST = 3  # rows of an exact sum whose label hardly tells
_TOTALS = {
    *("total", "totals", "total sum", "sum total", "grand total", "overall total", "overall", "sum", "all total"),
    *("summe", "gesamt", "gesamtsumme", "gesamtbetrag", "insgesamt", "summe gesamt", "somme", "total general"),
    *("totale", "suma", "suma total", "soma", "totaal", "totalt", "i alt"),
}


class Suspect(NamedTuple):
    """Rows of a table taken by a statement, perhaps wrongly.

    Args:
        table: The table.
        left: Tells in SQL which rows are left without them.
        words: What is told of them.
    """

    table: str
    left: str
    words: str


def suspects(connection: sqlite3.Connection, sql: str, tables: Mapping[str, Table]) -> Iterator[Suspect]:
    """Yield the suspect rows of the tables of a statement.

    Args:
        connection: The database.
        sql: The statement.
        tables: The tables that are held, by their names.
    """
    plain = ASIDE.sub("''", sql)
    named = aliases_of(plain, {name: [one.name for one in table.columns] for name, table in tables.items()})[0]
    texts = {norm(found) for found in _TEXT.findall(sql)}
    for table in (tables[name] for name in dict.fromkeys(named.values())):
        if 2 < len(table) <= MOST_ROWS and len(table.columns) <= MOST_COLUMNS:
            yield from _total(table, texts, about_none=_OF_NULL.search(plain) is not None)
            yield from _again(connection, table) if _ADDED.search(plain) else ()


def is_the_same(sql: str, rows: Sequence[Sequence[Cell]], others: Sequence[Sequence[Cell]]) -> bool:
    """Return whether suspect rows change nothing in an answer but a row of their own.

    The first row of a statement without an aggregate, or in falling order, may not be theirs: it is taken for the
    greatest or the only one. Nor may one of those chosen by the size of a number.

    Args:
        sql: The statement.
        rows: The first rows of the answer.
        others: As many of the answer without them.
    """
    plain = ASIDE.sub("''", sql)
    aggregate = _AGGREGATE.search(plain) is not None
    if rows[:1] != others[:1] and (not aggregate or _FALLING.search(plain)):
        return False
    if len(rows) != len(others) and not aggregate and _BOUNDED.search(plain):
        return False
    kept = [row for row in rows if row in others]
    return len(kept) >= len(rows) - 1 and sorted(map(repr, kept)) == sorted(map(repr, others))


def _total(table: Table, texts: set[str], *, about_none: bool) -> Iterator[Suspect]:
    """Yield the row of a table with the sums of all others; a statement naming it by its label means it so."""
    labels = [at for at, one in enumerate(table.columns) if one.kind == "text"]
    numbers = [cells for one, cells in zip(table.columns, table.cells, strict=True) if one.kind in ("integer", "real")]
    for at in labels:
        named = {cell for cell in set(table.cells[at]) if isinstance(cell, str) and _is_total(cell)}
        found = [row for row, cell in enumerate(table.cells[at]) if cell in named] if named else []
        sure = len(found) == 1 and any(_is_sum(cells, found[0]) for cells in numbers)
        if sure or (found := _perhaps_total(table.cells[at], numbers)):
            label = str(table.cells[at][found[0]])
            if norm(label) not in texts:
                yield _suspected(table, table.columns[at].name, label)
            return
    columns = [table.cells[at] for at in labels]
    nameless = [row for row in range(len(table)) if all(cells[row] is None for cells in columns)] if columns else []
    if not about_none and len(nameless) == 1 and _is_exact(numbers, nameless[0]):
        at = next((at for at in labels if table.cells[at].count(None) == 1), None)
        if at is not None:
            yield _suspected(table, table.columns[at].name, None)


def _perhaps_total(labels: Sequence[Cell], numbers: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the row called all, or like a period at the end of its parts, if its numbers are exact sums."""
    found = [row for row, one in enumerate(labels) if isinstance(one, str) and _PERHAPS.fullmatch(one.strip())]
    last = labels[-1]
    if (
        not found
        and isinstance(last, str)
        and _PERIOD.fullmatch(last.strip())
        and not _PERIOD.fullmatch(str(labels[0]))
    ):
        found = [len(labels) - 1]
    return found if len(found) == 1 and _is_exact(numbers, found[0]) else []


def _suspected(table: Table, column: str, label: str | None) -> Suspect:
    text = "NULL" if label is None else "'" + label.replace("'", "''") + "'"
    left = f"{quoted(column)} IS NOT {text}"
    row = f"the row without {quoted(column)}" if label is None else f"the row {short(label)!r}"
    words = f"{row} of {table.name} is the sum of the others, and is taken as one of them"
    return Suspect(table.name, left, f"{words}; WHERE {left} leaves it out")


def _is_total(cell: str) -> bool:
    return len(cell) < 30 and norm(cell) in _TOTALS


def _is_exact(numbers: Sequence[Sequence[Cell]], at: int) -> bool:
    """Return whether all numbers of a row are exact sums of the rest of their columns."""
    there = [cells for cells in numbers if cells[at] is not None]
    return bool(there) and all(_is_sum(cells, at, fewest=_FEWEST, near=0.0) for cells in there)


def _is_sum(cells: Sequence[Cell], at: int, *, fewest: int = 2, near: float = _NEAR) -> bool:
    """Return whether a number of a column is the sum of several others, the rest of the column."""
    others = [one for row, one in enumerate(cells) if row != at and isinstance(one, int | float)]
    value = cells[at]
    if not isinstance(value, int | float) or not value or len(others) < fewest:
        return False
    return abs(sum(others) - value) <= near + 1e-9 * abs(value)


def _again(connection: sqlite3.Connection, table: Table) -> Iterator[Suspect]:
    """Yield the rows of a table that are equal to an earlier one in every column, if they are hardly so by chance."""
    if len(set(zip(*table.cells, strict=True))) == len(table):  # SQL takes far longer to tell
        return
    names = [one.name for one in table.columns]
    columns = ", ".join(map(quoted, names))
    first = f"SELECT min(_rowid_) FROM main.{quoted(table.name)} GROUP BY {columns}"
    found = f"SELECT {columns} FROM main.{quoted(table.name)} WHERE _rowid_ NOT IN ({first})"
    rows = connection.execute(found).fetchall()
    few = len(names) >= 3 and len(rows) <= MOST_AGAIN * len(table)
    if not rows or not (few or _has_id(table, len(table) - len(rows))):
        return
    shown = short(", ".join(str(cell) for cell in rows[0] if cell is not None))
    many = "row is" if len(rows) == 1 else "rows are"
    words = f"{len(rows)} {many} in every column equal to another of {table.name} and counted again ({shown!r})"
    fix = f"if it is one thing stated twice, take FROM (SELECT DISTINCT * FROM {quoted(table.name)})"
    yield Suspect(table.name, f"_rowid_ IN ({first})", f"{words}; {fix}")


def _has_id(table: Table, different: int) -> bool:
    """Return whether a column tells all different rows of a table from each other."""
    named = (cells for one, cells in zip(table.columns, table.cells, strict=True) if _ID.fullmatch(one.name))
    return any(len(set(cells)) == different for cells in named)
