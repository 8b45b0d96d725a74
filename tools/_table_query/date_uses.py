"""Columns taken for dates by a statement: subtracted, ordered, or given to a function of dates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .absent import RENAMED, unquoted
from .as_numbers import COLUMN, EXTREME, ORDERED
from .joins import ASIDE, aliases_of, having_of, owner

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
    """Yield the columns perhaps taken for dates by a statement; names given by itself are taken for none.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    plain = ASIDE.sub("''", sql)
    aliases, _ = aliases_of(plain, columns)
    having = having_of(aliases, columns)
    renamed = {unquoted(found[1]).casefold() for found in RENAMED.finditer(plain)}
    for pattern in (_SUBTRACTED, _COMPARED, _GIVEN, EXTREME, ORDERED):
        for found in pattern.finditer(plain):
            groups = found.groups()
            pairs = [(groups[at], groups[at + 1]) for at in range(0, len(groups), 2)]
            meant = [(owner(of, name, aliases, having), unquoted(name)) for of, name in pairs]
            known = tuple((table, name) for table, name in meant if table is not None)
            if len(known) == len(pairs) and not any(name.casefold() in renamed for _, name in known):
                yield DateUse(known, subtracted=pattern is _SUBTRACTED)


def subtracted_texts(sql: str) -> str | None:
    """Return the function before a minus and another date, None without such."""
    found = _TEXTS_SUBTRACTED.search(ASIDE.sub("''", sql))
    return found[1].lower() if found else None
