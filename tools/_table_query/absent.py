"""Comparisons of a column with a text in a statement, to tell of texts that no cell has."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

# No part gives back what it took, and what is not a comparison is taken whole: the time grows with the statement alone.
_NAME = r'"(?:[^"]|"")++"|[^\W\d]\w*+'
_TEXT = r"'(?:[^']|'')*+'"
_COLUMN = rf"(?:(?P<table>{_NAME})\s*+\.\s*+)?(?P<column>{_NAME})"
_SIDE = rf"(?:\b(?P<function>norm|lower|upper|trim)\s*+\(\s*+)?{_COLUMN}(?(function)\s*+\))"
_ORDERED = r"(?P<ordered>[<>]=?|(?:\bnot\s++)?\bbetween\b)"
_OPERATOR = rf"(?:==?|!=|<>|\bis(?:\s++not)?\b|(?:\bnot\s++)?\bin\b|(?:\bnot\s++)?(?P<like>\blike\b)|{_ORDERED})"
_SOME = rf"(?P<texts>\(\s*+{_TEXT}(?:\s*+,\s*+{_TEXT})*+\s*+\)|{_TEXT}(?:\s++and\s++{_TEXT})?+)(?!\s*+\|\|)"
_OTHERS = rf"""{_TEXT}|"(?:[^"]|"")*+"?|\w++|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"""
_COMPARED = re.compile(rf"(?P<joined>[|+\-*/%]\s*+)?{_SIDE}\s*+{_OPERATOR}\s*+{_SOME}|{_OTHERS}", re.IGNORECASE)
_TEXTS = re.compile(_TEXT)
RENAMED = re.compile(rf"\bas\s++({_NAME})", re.IGNORECASE)


class Comparison(NamedTuple):
    """A comparison of a column of a table, or of a function of it, with a text; with `like`, with a pattern.

    Args:
        ordered: Whether it asks for the order of the two.
    """

    table: str
    column: str
    function: str
    like: bool
    text: str
    ordered: bool


def comparisons(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[tuple[Comparison, ...]]:
    """Yield the comparisons with a text in a statement, each as those with every table that may be meant.

    Names given by the statement itself are taken for no columns.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    renamed = {unquoted(found[1]).casefold() for found in RENAMED.finditer(sql)}
    named = defaultdict[str, list[tuple[str, str]]](list)
    for table, one in ((table, one) for table, some in columns.items() for one in some):
        named[one.casefold()].append((table, one))
    for found in _COMPARED.finditer(sql):
        name = unquoted(found["column"] or "").casefold()
        if not name or name in renamed or found["joined"]:
            continue
        of = unquoted(found["table"] or "")
        meant = [one for one in named.get(name, ()) if of not in columns or one[0] == of]
        for text in _TEXTS.findall(found["texts"]):
            plain, function = text[1:-1].replace("''", "'"), (found["function"] or "").lower()
            if meant:
                like, ordered = found["like"] is not None, found["ordered"] is not None
                yield tuple(Comparison(*one, function, like, plain, ordered) for one in meant)


class OrderedTexts(NamedTuple):
    """The texts compared by order with a column, or with those of several tables by its name.

    Args:
        columns: Each with its table.
    """

    columns: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]


def ordered_texts(compared: Iterable[tuple[Comparison, ...]]) -> list[OrderedTexts]:
    """Return the texts compared by order with each column, but not with a function of it.

    Args:
        compared: The comparisons of a statement.
    """
    found = defaultdict[tuple[tuple[str, str], ...], list[str]](list)
    for some in compared:
        if some[0].ordered and not some[0].function:
            found[tuple((one.table, one.column) for one in some)].append(some[0].text)
    return [OrderedTexts(columns, tuple(dict.fromkeys(texts))) for columns, texts in found.items()]


def unquoted(name: str) -> str:
    """Return a name without its quotes in SQL."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
