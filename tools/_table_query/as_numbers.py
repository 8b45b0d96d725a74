"""Columns taken for numbers by a statement, to tell of text among their values."""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .absent import RENAMED, unquoted
from .column_uses import COLUMN, EXTREME, ORDERED, column_uses
from .describing import short
from .joins import ASIDE, aliases_of, having_of, owner
from .measures import begins_with_number, measures_of
from .number_texts import number_texts_of
from .words import quoted

MOST_READ = 2_000  # different values of a column that are looked at
_OF_A_VALUE = 100  # their characters
_SUMMED = re.compile(rf"\b(?:sum|avg|total|round|abs)\s*+\(\s*+(?:distinct\s++)?{COLUMN}", re.IGNORECASE)
_CAST = re.compile(rf"\bcast\s*+\(\s*+{COLUMN}\s++as\s++(?:real|int|num|dec|float|double)", re.IGNORECASE)
_COMPUTED = re.compile(rf"{COLUMN}\s*+[-+*/%]\s*+\d", re.IGNORECASE)
_BEFORE = re.compile(rf'{COLUMN}\s*+[-+*/%](?=\s*+[(\w"])', re.IGNORECASE)
_BEHIND = re.compile(rf"[-+*/%]\s*+{COLUMN}", re.IGNORECASE)
_COMPARED = re.compile(
    rf"(?:[|+\-*/%]\s*+)?{COLUMN}\s*+(?:[<>!]=?|<>|==?|(?:\bnot\s++)?\bbetween\b)\s*+[-+]?\d", re.IGNORECASE
)
_TEXT = r"'(?:[^']|'')*+'"
_CALLS = r"(?P<calls>(?:\b(?:replace|trim|ltrim|rtrim)\s*+\(\s*+)++)"
_REPLACED = re.compile(
    rf"\bcast\s*+\(\s*+{_CALLS}{COLUMN}(?P<rest>(?:\s*+(?:,\s*+{_TEXT}\s*+){{0,2}}+\))++)"
    r"\s++as\s++(?:real|int|num|dec|float|double)",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"\b(?:case|iif|nullif|like|glob)\b", re.IGNORECASE)
_BEGINNING = re.compile(r"\s*+[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[-+]?\d++)?", re.IGNORECASE)


class NumberUse(NamedTuple):
    """A column used in a calculation, or else ordered or compared with a number.

    Args:
        orders: Whether nothing but its own order is asked for.
        dated: Whether dates may be meant as well.
    """

    table: str
    column: str
    computes: bool
    orders: bool = False
    dated: bool = False


def number_uses(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[NumberUse]:
    """Yield the columns taken for numbers by a statement.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    patterns = (_SUMMED, _CAST, _COMPUTED, _BEFORE, _BEHIND, _COMPARED, EXTREME, ORDERED)
    for use in column_uses(sql, columns, patterns):
        ((table, name),) = use.columns
        if use.pattern is not _COMPARED or use.text[0] not in "|+-*/%":
            orders = use.pattern in (EXTREME, ORDERED)
            dated = use.pattern in (_BEFORE, _BEHIND)
            yield NumberUse(table, name, not orders and use.pattern is not _COMPARED, orders, dated)


def number_doubt(connection: sqlite3.Connection, use: NumberUse) -> str:
    """Return a line about a column of text taken for numbers, empty if all its values are plain numbers.

    Args:
        connection: The database.
        use: Where a statement takes it so.
    """
    table, column = quoted(use.table), quoted(use.column)
    number = f"({column} GLOB '*[0-9]*' AND NOT ({column} GLOB '*[^0-9.eE+-]*' OR {column} GLOB '*[0-9.][+-]*'))"
    count, numbers = connection.execute(f"SELECT count({column}), sum({number}) FROM {table}").fetchone()
    others = f"SELECT {column}, CAST({column} AS REAL) AS x FROM {table} WHERE NOT {number} ORDER BY x = 0 LIMIT 1"
    if not (found := connection.execute(others).fetchone()):
        return ""
    values = f"SELECT DISTINCT substr({column}, 1, {_OF_A_VALUE}) FROM {table} WHERE {column} IS NOT NULL"
    texts = [str(one) for (one,) in connection.execute(f"{values} LIMIT {MOST_READ}")]
    read = number_texts_of(column, texts) or measures_of(column, texts)
    text, value = repr(short(found[0])), f"{found[1]:.15g}"
    if use.computes:
        if read and read.begun:
            return ""
        few = f"{count - numbers} of {count} values are not plain numbers"
        fix = f"take {read.number}" if read and read.number else "replace() what is wrong, or leave it out"
        return f"{column} is text; {text} counts as {value} ({few}): {fix}"
    if 2 * numbers < count if read is None else use.orders and read.ordered:
        return ""
    begun = read is None and all(begins_with_number(one) for one in texts if not one.strip().isdecimal())
    number = f"CAST(trim({column}) AS REAL)" if begun else read.number if read else ""
    fix = f"{number} compares" if number else "replace() what is wrong, and CAST compares"
    return f"{column} is text ({text} is not a plain number) and compared letter by letter; {fix} numbers"


class Replaced(NamedTuple):
    """A text column taken for a number after replacements; `value` is its expression in SQL."""

    table: str
    column: str
    value: str


def replaced_uses(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[Replaced]:
    """Yield the columns taken for numbers after replacements, of a statement without exceptions of its own.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    plain = ASIDE.sub("''", sql)
    if _CHOSEN.search(plain):
        return
    aliases, _ = aliases_of(plain, columns)
    having = having_of(aliases, columns)
    renamed = {unquoted(found[1]).casefold() for found in RENAMED.finditer(plain)}
    for found in _REPLACED.finditer(sql):
        of, name = found[2], unquoted(found[3])
        table = owner(of, found[3], aliases, having)
        balanced = found["calls"].count("(") == re.sub(_TEXT, "", found["rest"]).count(")")
        if table is not None and balanced and name.casefold() not in renamed:
            column = next(one for one in columns[table] if one.casefold() == name.casefold())
            yield Replaced(table, column, f"{found['calls']}{quoted(column)}{found['rest']}")


def replaced_doubt(connection: sqlite3.Connection, use: Replaced) -> str:
    """Return a line about a column whose texts are no numbers after their replacement either, empty without one.

    Args:
        connection: The database.
        use: Where a statement takes it so.
    """
    column = quoted(use.column)
    texts = f"SELECT DISTINCT {column}, CAST({use.value} AS TEXT), CAST({use.value} AS REAL)"
    sql = f"{texts} FROM {quoted(use.table)} WHERE {column} IS NOT NULL LIMIT {MOST_READ}"
    found = ((text, value) for text, said, value in connection.execute(sql) if _is_misread(str(said)))
    text, value = next(found, ("", 0.0))
    if not text:
        return ""
    told = f"of {column} {text[:40]!r} counts as {value:.15g} even as it is replaced"
    return f"{told}: replace() all that is wrong, or leave it out"


def _is_misread(text: str) -> bool:
    """Return whether a text is taken for another number than it says: only words behind one are left out rightly."""
    found = _BEGINNING.match(text)
    rest = text if found is None else text[found.end() :]
    return bool(text.strip()) and (found is None or any(map(str.isdecimal, rest)))
