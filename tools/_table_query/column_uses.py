"""Places of a statement with columns, found by patterns."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .absent import RENAMED, unquoted
from .joins import ASIDE, NAME, aliases_of, having_of, owner

COLUMN = rf"(?:({NAME})\s*+\.\s*+)?({NAME})(?!\s*+[(.])"
EXTREME = re.compile(rf"\b(?:min|max)\s*+\(\s*+{COLUMN}\s*+\)", re.IGNORECASE)
_GIVEN_A_NAME = re.compile(rf"(?:\b(?:select|distinct)\b|,)\s*+{COLUMN}\s++as\s++({NAME})", re.IGNORECASE)
ORDERED = re.compile(rf"\border\s++by\s++{COLUMN}(?!\s*+[-+*/%|])", re.IGNORECASE)


class ColumnUse(NamedTuple):
    """A place of a statement: the pattern it was found by, its text, and its columns, each with its table."""

    pattern: re.Pattern[str]
    text: str
    columns: tuple[tuple[str, str], ...]


def column_uses(
    sql: str, columns: Mapping[str, Sequence[str]], patterns: Sequence[re.Pattern[str]]
) -> Iterator[ColumnUse]:
    """Yield the places of a statement with known columns, texts and comments aside.

    A name given by the statement itself is taken for a column only if it is given once, and to a column.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
        patterns: Their groups are those of `COLUMN`, once for each column.
    """
    plain = ASIDE.sub("''", sql)
    aliases, _ = aliases_of(plain, columns)
    having = having_of(aliases, columns)
    renamed = Counter(unquoted(found[1]).casefold() for found in RENAMED.finditer(plain))
    given = {unquoted(found[3]).casefold(): found.groups()[:2] for found in _GIVEN_A_NAME.finditer(plain)}
    once = {name: of for name, of in given.items() if renamed[name] == 1 and unquoted(of[1]).casefold() not in renamed}
    for pattern in patterns:
        for found in pattern.finditer(plain):
            groups = found.groups()
            pairs = [(groups[at], groups[at + 1]) for at in range(0, len(groups), 2)]
            pairs = [pair if pair[0] else once.get(unquoted(pair[1]).casefold(), pair) for pair in pairs]
            meant = [(owner(of, name, aliases, having), unquoted(name)) for of, name in pairs]
            known = tuple((table, name) for table, name in meant if table is not None)
            if len(known) == len(pairs) and not any(name.casefold() in renamed for _, name in known):
                yield ColumnUse(pattern, found[0], known)
