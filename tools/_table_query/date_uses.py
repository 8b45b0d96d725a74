"""Columns taken for dates by a statement: subtracted, ordered, or given to a function of dates."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .column_uses import COLUMN, EXTREME, ORDERED, column_uses
from .joins import ASIDE

_GIVEN = re.compile(
    rf"\b(?:(?:julianday|unixepoch|date|datetime)\s*+\(|strftime\s*+\(\s*+''\s*+,)\s*+{COLUMN}\s*+[,)]", re.IGNORECASE
)
_READ = re.compile(rf"\b(?:iso|year|quarter|month|day|substr|substring)\s*+\(\s*+{COLUMN}\s*+,", re.IGNORECASE)
_COMPARED = re.compile(rf"{COLUMN}\s*+[<>]=?\s*+{COLUMN}", re.IGNORECASE)
_SUBTRACTED = re.compile(rf"{COLUMN}\s*+-\s*+{COLUMN}", re.IGNORECASE)
_TEXTS_SUBTRACTED = re.compile(
    r"\b(iso|date|datetime)\s*+\([^()]*+\)\s*+-\s*+(?:iso|date|datetime)\s*+\(", re.IGNORECASE
)
_ALONE = re.compile(rf"\b(?:iso|year|quarter|month|day)\s*+\(\s*+{COLUMN}\s*+\)", re.IGNORECASE)


class DateUse(NamedTuple):
    """Columns of values taken for dates, each with its table.

    Args:
        subtracted: Whether one is subtracted from the other.
        read: Whether day and month are read from them.
    """

    columns: tuple[tuple[str, str], ...]
    subtracted: bool
    read: bool


def date_uses(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[DateUse]:
    """Yield the columns perhaps taken for dates by a statement.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    for use in column_uses(sql, columns, (_READ, _SUBTRACTED, _COMPARED, _GIVEN, EXTREME, ORDERED)):
        yield DateUse(use.columns, subtracted=use.pattern is _SUBTRACTED, read=use.pattern is _READ)


def with_forms(sql: str, columns: Mapping[str, Sequence[str]], form_of: Callable[[str, str], str]) -> str:
    """Return a statement with the form of each column given to `iso` alone, if it is known.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
        form_of: Gives the form of a table's column, empty for an unknown one.
    """
    forms = {use.text: form_of(*use.columns[0]) for use in column_uses(sql, columns, (_ALONE,))}

    def with_form(found: re.Match[str]) -> str:
        form = forms.get(found[0]) if found[1] is not None or found[2] is not None else None
        return f"{found[0][:-1].rstrip()}, '{form}')" if form else found[0]

    return re.sub(rf"{_ALONE.pattern}|{ASIDE.pattern}", with_form, sql, flags=re.IGNORECASE)


def without_forms(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the columns given to `iso` alone, each with its table."""
    for use in column_uses(sql, columns, (_ALONE,)):
        yield use.columns[0]


def subtracted_texts(sql: str) -> str | None:
    """Return the function before a minus and another date, None without such."""
    found = _TEXTS_SUBTRACTED.search(ASIDE.sub("''", sql))
    return found[1].lower() if found else None
