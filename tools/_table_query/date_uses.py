"""Columns taken for dates by a statement: subtracted, ordered, or given to a function of dates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .column_uses import COLUMN, EXTREME, ORDERED, column_uses
from .joins import ASIDE

_GIVEN = re.compile(
    rf"\b(?:(?:julianday|unixepoch|date|datetime)\s*+\(|strftime\s*+\(\s*+''\s*+,)\s*+{COLUMN}\s*+[,)]", re.IGNORECASE
)
_COMPARED = re.compile(rf"{COLUMN}\s*+[<>]=?\s*+{COLUMN}", re.IGNORECASE)
_SUBTRACTED = re.compile(rf"{COLUMN}\s*+-\s*+{COLUMN}", re.IGNORECASE)
_TEXTS_SUBTRACTED = re.compile(
    r"\b(iso|date|datetime)\s*+\([^()]*+\)\s*+-\s*+(?:iso|date|datetime)\s*+\(", re.IGNORECASE
)


class DateUse(NamedTuple):
    """Columns of values taken for dates, each with its table.

    Args:
        subtracted: Whether one is subtracted from the other.
    """

    columns: tuple[tuple[str, str], ...]
    subtracted: bool


def date_uses(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[DateUse]:
    """Yield the columns perhaps taken for dates by a statement.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    for use in column_uses(sql, columns, (_SUBTRACTED, _COMPARED, _GIVEN, EXTREME, ORDERED)):
        yield DateUse(use.columns, subtracted=use.pattern is _SUBTRACTED)


def subtracted_texts(sql: str) -> str | None:
    """Return the function before a minus and another date, None without such."""
    found = _TEXTS_SUBTRACTED.search(ASIDE.sub("''", sql))
    return found[1].lower() if found else None
