"""Columns taken for numbers by a statement, to tell of text among their values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .column_uses import COLUMN, EXTREME, ORDERED, column_uses

_SUMMED = re.compile(rf"\b(?:sum|avg|total)\s*+\(\s*+(?:distinct\s++)?{COLUMN}", re.IGNORECASE)
_CAST = re.compile(rf"\bcast\s*+\(\s*+{COLUMN}\s++as\s++(?:real|int|num|dec|float|double)", re.IGNORECASE)
_COMPUTED = re.compile(rf"{COLUMN}\s*+[-+*/%]\s*+\d", re.IGNORECASE)
_COMPARED = re.compile(
    rf"(?:[|+\-*/%]\s*+)?{COLUMN}\s*+(?:[<>!]=?|<>|==?|(?:\bnot\s++)?\bbetween\b)\s*+[-+]?\d", re.IGNORECASE
)


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
