"""Columns taken for numbers by a statement, to tell of text among their values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .absent import RENAMED, unquoted
from .column_uses import COLUMN, EXTREME, ORDERED, column_uses
from .joins import ASIDE, aliases_of, having_of, owner
from .words import quoted

_SUMMED = re.compile(rf"\b(?:sum|avg|total)\s*+\(\s*+(?:distinct\s++)?{COLUMN}", re.IGNORECASE)
_CAST = re.compile(rf"\bcast\s*+\(\s*+{COLUMN}\s++as\s++(?:real|int|num|dec|float|double)", re.IGNORECASE)
_COMPUTED = re.compile(rf"{COLUMN}\s*+[-+*/%]\s*+\d", re.IGNORECASE)
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
    """A column used in a calculation, or else ordered or compared with a number."""

    table: str
    column: str
    computes: bool


def number_uses(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[NumberUse]:
    """Yield the columns taken for numbers by a statement.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    for use in column_uses(sql, columns, (_SUMMED, _CAST, _COMPUTED, _COMPARED, EXTREME, ORDERED)):
        ((table, name),) = use.columns
        if use.text[0] not in "|+-*/%":
            yield NumberUse(table, name, use.pattern in (_SUMMED, _CAST, _COMPUTED))


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


def is_misread(text: str) -> bool:
    """Return whether a text is taken for another number than it says: only words behind one are left out rightly."""
    found = _BEGINNING.match(text)
    rest = text if found is None else text[found.end() :]
    return bool(text.strip()) and (found is None or any(map(str.isdecimal, rest)))
