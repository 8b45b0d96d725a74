"""Columns taken for numbers by a statement, to tell of text among their values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .absent import RENAMED, unquoted
from .joins import ASIDE, NAME, aliases_of, having_of, owner

COLUMN = rf"(?:({NAME})\s*+\.\s*+)?({NAME})(?!\s*+[(.])"
_SUMMED = re.compile(rf"\b(?:sum|avg|total)\s*+\(\s*+(?:distinct\s++)?{COLUMN}", re.IGNORECASE)
_CAST = re.compile(rf"\bcast\s*+\(\s*+{COLUMN}\s++as\s++(?:real|int|num|dec|float|double)", re.IGNORECASE)
_COMPUTED = re.compile(rf"{COLUMN}\s*+[-+*/%]\s*+\d", re.IGNORECASE)
_COMPARED = re.compile(
    rf"(?:[|+\-*/%]\s*+)?{COLUMN}\s*+(?:[<>!]=?|<>|==?|(?:\bnot\s++)?\bbetween\b)\s*+[-+]?\d", re.IGNORECASE
)
EXTREME = re.compile(rf"\b(?:min|max)\s*+\(\s*+{COLUMN}\s*+\)", re.IGNORECASE)
ORDERED = re.compile(rf"\border\s++by\s++{COLUMN}", re.IGNORECASE)


class NumberUse(NamedTuple):
    """A column used in a calculation, or else ordered or compared with a number."""

    table: str
    column: str
    computes: bool


def number_uses(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[NumberUse]:
    """Yield the columns taken for numbers by a statement; names given by itself are taken for none.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    plain = ASIDE.sub("''", sql)
    aliases, _ = aliases_of(plain, columns)
    having = having_of(aliases, columns)
    renamed = {unquoted(found[1]).casefold() for found in RENAMED.finditer(plain)}
    for pattern in (_SUMMED, _CAST, _COMPUTED, _COMPARED, EXTREME, ORDERED):
        computes = pattern in (_SUMMED, _CAST, _COMPUTED)
        for found in pattern.finditer(plain):
            name = unquoted(found[2])
            table = owner(found[1], found[2], aliases, having)
            if table is not None and name.casefold() not in renamed and found[0][0] not in "|+-*/%":
                yield NumberUse(table, name, computes)
