"""Joins in a statement that counts: which rows are counted several times, and which are left out."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from .absent import unquoted

# No part gives back what it took, and none begins within a name: the time grows with the statement alone.
NAME = r'(?<!")"(?:[^"]|"")++"|\b[^\W\d]\w*+'
ASIDE = re.compile(r"'(?:[^']|'')*+'|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_BEHIND = (  # a table's name, where it has no other
    "from|on|using|where|join|inner|left|right|full|cross|natural|group|order|limit|having|union|except|intersect|window"
)
_TABLE = re.compile(
    rf"(?:\b(?:from|join)\s++|,\s*+)({NAME})(?:\s++(?:as\s++)?(?!(?:{_BEHIND})\b)({NAME}))?", re.IGNORECASE
)
_USING = re.compile(rf"\s*+using\s*+\(\s*+((?:{NAME})(?:\s*+,\s*+(?:{NAME}))*+)\s*+\)", re.IGNORECASE)
_SIDE = rf"(?:\b(norm|lower|upper|trim)\s*+\(\s*+)?(?:({NAME})\s*+\.\s*+)?({NAME})\s*+(?:\)\s*+)?"
_EQUAL = re.compile(rf"{_SIDE}==?\s*+{_SIDE}(?![+\-*/%|(.])", re.IGNORECASE)
_OUTER = re.compile(r"\b(?:left|right|full)\s++(?:outer\s++)?join\b", re.IGNORECASE)
_COUNTS = re.compile(r"\bcount\s*+\(\s*+(?!distinct\b)", re.IGNORECASE)
_COUNTED = re.compile(rf"\bcount\s*+\(\s*+(?!distinct\b)(?:({NAME})\s*+\.\s*+)?({NAME})", re.IGNORECASE)
_LED = re.compile(r"\s*+left\b", re.IGNORECASE)
_SELECT = re.compile(r'"(?:[^"]|"")*+"?|[()]|\bselect\b', re.IGNORECASE)
_GROUPED = re.compile(r"\bgroup\s++by\b", re.IGNORECASE)
_ONCE = re.compile(rf"\b(?:sum|avg|total)\s*+\(\s*+distinct\s++(?:({NAME})\s*+\.\s*+)?({NAME})", re.IGNORECASE)
_SUMMED = re.compile(rf"\b(?:sum|avg|total)\s*+\(\s*+(?!distinct\b)(?:({NAME})\s*+\.\s*+)?({NAME})", re.IGNORECASE)


Side = tuple[str, tuple[str, ...]]


class Join(NamedTuple):
    """Two tables with the equal parts of their rows: expressions over the columns of each, in the same order.

    Args:
        select: The number of the SELECT in the statement.
    """

    select: int
    left: str
    right: str
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]

    @property
    def sides(self) -> tuple[Side, Side]:
        """Return each table with its expressions."""
        return (self.left, self.left_keys), (self.right, self.right_keys)

    def many(self, repeats: Container[Side]) -> str | None:
        """Return the table with several rows for one of the other, None if both have or neither has.

        Args:
            repeats: The tables with several rows of the same values, each with its expressions.
        """
        found = [side[0] for side in self.sides if side in repeats]
        return found[0] if len(found) == 1 else None


class Counting(NamedTuple):
    """What a statement with joins counts.

    Args:
        joins: Its joins by equality.
        keeps: Whether a join keeps the rows that find no other.
        counts: Whether it counts rows.
        grouped: Whether it does so by groups.
        summed: The tables with columns of which it takes a sum or an average.
        counted: The tables with columns of which it counts the values.
        led: The first table, if a LEFT JOIN keeps its rows, so that it says what it counts.
        once: The columns, each with its table, of which it sums or averages each value once.
    """

    joins: tuple[Join, ...]
    keeps: bool
    counts: bool
    grouped: bool
    summed: frozenset[str]
    counted: frozenset[str]
    led: str | None
    once: tuple[tuple[str, str], ...]

    def counts_other(self, many: str, few: str) -> bool:
        """Return whether it may count rows of a table for those of another one, with several of them for each.

        Args:
            many: The table with several rows.
            few: The other table.
        """
        meant = self.led == many and few not in self.counted
        return self.counts and not self.grouped and many not in self.summed and not meant


def counting(sql: str, columns: Mapping[str, Sequence[str]]) -> Counting | None:
    """Return what a statement counts over tables, None if it joins none and takes no value once.

    Args:
        sql: The statement.
        columns: The names of each table's columns, by its name.
    """
    plain = ASIDE.sub("''", sql)
    counts, sums = _COUNTS.search(plain) is not None, list(_SUMMED.finditer(plain))
    once = list(_ONCE.finditer(plain))
    if not (counts or sums or once):
        return None
    aliases, order = aliases_of(plain, columns)
    having = having_of(aliases, columns)
    keys, selects = defaultdict[tuple[int, str, str], list[tuple[str, str]]](list), _selects(plain)
    for at, left, right, one, other in (*_equalities(plain, aliases, having), *_used(plain, order)):
        select = selects[bisect_right(selects, (at, len(plain))) - 1][1]
        tables = (left, right) if left < right else (right, left)
        keys[select, *tables].append((one, other) if left < right else (other, one))
    joins = tuple(
        Join(*between, tuple(one for one, _ in pairs), tuple(other for _, other in pairs))
        for between, pairs in keys.items()
    )
    owners = (owner(one[1], one[2], aliases, having) for one in sums)
    counted = (owner(one[1], one[2], aliases, having) for one in _COUNTED.finditer(plain))
    singly = ((owner(one[1], one[2], aliases, having), unquoted(one[2])) for one in once)
    if not (joins or once):
        return None
    return Counting(
        joins=joins,
        keeps=_OUTER.search(plain) is not None,
        counts=counts,
        grouped=_GROUPED.search(plain) is not None,
        summed=frozenset(filter(None, owners)),
        counted=frozenset(filter(None, counted)),
        led=order[0][0] if order and _LED.match(plain, order[0][1]) else None,
        once=tuple(dict.fromkeys((table, column) for table, column in singly if table is not None)),
    )


def fans(joins: Sequence[Join], repeats: Container[Side]) -> list[tuple[Join, Join]]:
    """Return pairs of joins in one SELECT: several rows of two tables meet at one row of a third.

    Args:
        joins: The joins.
        repeats: As for `Join.many`.
    """
    joined = {(one.select, one.left, one.right) for one in joins}
    many = [(one, side) for one in joins if (side := one.many(repeats)) is not None]
    return [
        (one, other)
        for (one, side), (other, end) in combinations(many, 2)
        if one.select == other.select
        and side != end
        and {one.left, one.right} - {side} == {other.left, other.right} - {end}
        and (one.select, *sorted((side, end))) not in joined
    ]


def aliases_of(plain: str, columns: Mapping[str, Sequence[str]]) -> tuple[dict[str, str], list[tuple[str, int]]]:
    """Return the tables of a statement by their names in it, and in their order with the ends of their mentions."""
    known = {name.casefold(): name for name in columns}
    meant, order = defaultdict[str, set[str]](set), list[tuple[str, int]]()
    for found in _TABLE.finditer(plain):
        table = known.get(unquoted(found[1]).casefold())
        if table is None:
            continue
        meant[unquoted(found[2] or table).casefold()].add(table)
        order.append((table, found.end()))
    return {name: tables.pop() for name, tables in meant.items() if len(tables) == 1}, order


def having_of(aliases: Mapping[str, str], columns: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Return the tables of the statement by their columns' names."""
    having = defaultdict[str, set[str]](set)
    for table in set(aliases.values()):
        for name in columns[table]:
            having[name.casefold()].add(table)
    return dict(having)


def owner(of: str | None, column: str, aliases: Mapping[str, str], having: Mapping[str, set[str]]) -> str | None:
    """Return the table of the statement that a column is meant of, None if it is not known."""
    tables = having.get(unquoted(column).casefold(), set())
    if of:
        table = aliases.get(unquoted(of).casefold())
        return table if table in tables else None
    return next(iter(tables)) if len(tables) == 1 else None


def _selects(plain: str) -> list[tuple[int, int]]:
    """Return the places in a statement at the beginning or continuation of a SELECT, with its number."""
    found, around, number = [(0, 0)], [0], 0
    for token in _SELECT.finditer(plain):
        word = token[0].casefold()
        if word == "select":
            number += 1
            around[-1] = number
        elif word == "(":
            around.append(around[-1])
        elif word == ")" and len(around) > 1:
            around.pop()
        found.append((token.start(), around[-1]))
    return found


def _equalities(
    plain: str, aliases: Mapping[str, str], having: Mapping[str, set[str]]
) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield what is equal in two tables of a statement: its place, the tables, and an expression of each."""
    for found in _EQUAL.finditer(plain):
        sides = [(found[at], found[at + 2], owner(found[at + 1], found[at + 2], aliases, having)) for at in (1, 4)]
        (first, one, left), (second, other, right) = sides
        if left is not None and right is not None and left != right:
            yield found.start(), left, right, _expression(first, one), _expression(second, other)


def _used(plain: str, order: Sequence[tuple[str, int]]) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield what `USING` says is equal in a table and the one before it."""
    for (left, _), (right, end) in pairwise(order):
        found = _USING.match(plain, end)
        if found is None or left == right:
            continue
        for name in re.findall(NAME, found[1]):
            yield end, left, right, _expression(None, name), _expression(None, name)


def _expression(function: str | None, column: str) -> str:
    name = '"' + unquoted(column).replace('"', '""') + '"'
    return f"{function.lower()}({name})" if function else name
