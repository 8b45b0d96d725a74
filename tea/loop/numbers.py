"""Numbers of a proposed answer: those found in what was read, and those following from it by simple arithmetic."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import isfinite
from statistics import fmean, median
from typing import Any, NamedTuple, cast

from tea.loop.checks import numbers_in
from tea.loop.dates import spans
from tea.models.rendering import rendered
from tea.types import JsonValue

MOST_FEW = 40  # numbers of a result that are combined with others
MOST_POOL = 80
MOST_ROWS, MOST_COLUMNS = 40, 12  # of a table whose groups are added up
MOST_COMPARED = 6  # columns of which sums of groups are compared
MOST_SUBSETS = 8  # single values of which each subset is added up
MOST_COUNTED = 50  # things that are counted by reading
MOST_SAID = 12  # a number that stands in words for itself: the top three, two of them
MOST_READ = 2_000_000
MOST_ANSWER = 20_000
_UNITS = (2.0, 7.0, 10.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0, 1000.0, 1024.0, 3600.0, 86_400.0, 1e6, 1e9)
_SCALES = (1.0, 1e3, 1e6, 1e9)
_ASIDE = re.compile(
    r"^```.*?^```|https?://\S+|\[\d{1,4}\]|\b\d{1,2}:\d{2}(?::\d{2})?\b|^\s*(?:[-*+]\s+)?\d{1,3}[.)]\s"
    r"|\b\d+(?:[.,]\d+)?\s?(?:e[-+]?\d+|[x\u00d7*]\s?10\^?[-+]?\d+)|(?<![\w.])\d+(?:\.\d+){2,}(?!\.?\d)|\w+@\S+",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[ ,.'\u2019_]\d{3}(?!\d))*(?:[.,]\d+)?(?![^\W\d]*\d)")
_GROUPED = re.compile(r"(?<=\d)[ ,.'\u2019_](?=\d{3}(?!\d))")
_COMMA, _DOTTED = re.compile(r"(?<=\d),(?=\d)"), re.compile(r"(?<=\d)\.(?=\d{3}(?!\d))")
_CELLS = re.compile(r"\s*[,;|\t]\s*|\s{2,}")
_WORD = re.compile(r"\w+")


class _Reading(NamedTuple):
    """A possible value of a written number, and half of the unit of its last digit."""

    value: float
    near: float


def unfounded(answer: JsonValue, given: str, read: Iterable[JsonValue]) -> list[str]:
    """Return the numbers of an answer that stand nowhere, and follow from nothing read by simple arithmetic.

    Roundings, percentages, sums and means of columns and groups, and what these differ by, days between dates, counts
    of what was read, and the sum, difference, product and quotient of two numbers follow. It is a doubt and no proof:
    of many numbers too much follows.

    Args:
        answer: The answer.
        given: Words with numbers that need no other source, such as the task.
        read: Values of results, and texts shown whole.
    """
    wanted = list(_wanted(answer))
    if not wanted:
        return []
    values = list(read)
    texts = "\n".join([given, *map(rendered, values)])[:MOST_READ]
    known = sorted({abs(one) for one in _all_numbers(texts)})
    counted = max(map(_listed, values), default=0)
    left = [one for one in wanted if not _stands(one, known) and not _is_count(one, counted, alone=len(wanted) == 1)]
    if not left:
        return []
    own = {abs(one) for word in wanted for one, _ in word.readings if _stands(word, known)}
    found = _Derived.of(values, [*sorted(own), *map(abs, _all_numbers(given))], spans(texts))
    return list(dict.fromkeys(one.text for one in left if not any(map(found.gives, one.readings))))


class _Wanted(NamedTuple):
    """A number of an answer."""

    text: str
    readings: tuple[_Reading, ...]
    is_value: bool = False


class _Derived(NamedTuple):
    """What follows from the numbers read.

    Args:
        pool: Numbers of which two are combined, in order.
        counts: Numbers by which those are multiplied and divided, if there are results.
        more: Sums and means of groups, and all others, in order.
        last: Numbers of which none other follows: days between dates, and what sums of groups differ by, in order.
    """

    pool: list[float]
    counts: list[float]
    more: list[float]
    last: list[float]

    @classmethod
    def of(cls, values: Sequence[JsonValue], own: Iterable[float], last: Iterable[float]) -> _Derived:
        """Return what follows from values read and further numbers."""
        few, single, counts, more = list[float](), list[float](), set[float](), set[float]()
        compared = set(last)
        for value in values:
            numbers = list(dict.fromkeys(map(abs, _all_numbers(_words(value)))))
            few += numbers if len(numbers) <= MOST_FEW else ()
            single += numbers if len(numbers) == 1 else ()
            for rows in _tables(value):
                totals, groups = _added(rows)
                few += totals
                more |= groups
                compared |= _compared(rows)
                counts |= {float(len({*map(str, column)})) for column in zip(*rows, strict=False)} | {float(len(rows))}
        listed = list(dict.fromkeys(own))[:MOST_POOL]
        for numbers in (listed, list(dict.fromkeys(single))):
            more |= _subsets(numbers) if len(numbers) <= MOST_SUBSETS else set()
        pool = {*few[-MOST_POOL:], *listed}
        divisors = {*pool, *counts} - {0.0} if values else set[float]()
        return cls(sorted(pool), sorted(divisors), sorted({*more, *pool, *counts}), sorted(compared))

    def gives(self, wanted: _Reading) -> bool:
        """Return whether a number is one of these, or two of them give it."""
        return any(self._gives(wanted.value * scale, wanted.near * scale) for scale in _SCALES)

    def _gives(self, value: float, near: float) -> bool:
        if _holds(self.more, value, near) or _holds(self.last, value, near):
            return True
        if any(_holds(self.pool, each, near) for one in self.pool for each in (value - one, one - value, one + value)):
            return True
        part = near / 100
        if _holds(self.last, value / 100, part):
            return True
        shares = ((value, near), (value / 100, part), (1 + value / 100, part), (1 - value / 100, part))
        if not self.counts:
            return False
        divided = any(_holds(self.more, share * one, at * one) for one in self.counts for share, at in shares)
        return divided or any(
            any(_holds(self.pool, value * by, near * by) for by in (1 / one, one, 100 / one if one < 100 else one))
            for one in (*self.counts, *_UNITS)
        )


def _wanted(answer: JsonValue) -> Iterator[_Wanted]:
    """Yield the numbers of an answer; those alone in a member of it are values."""
    if isinstance(answer, Mapping):
        for one in cast("Mapping[str, Any]", answer).values():
            yield from _wanted(one)
    elif isinstance(answer, list):
        for one in cast("list[Any]", answer):
            yield from _wanted(one)
    elif isinstance(answer, int | float) and not isinstance(answer, bool) and isfinite(answer):
        text = (f"{answer:.12f}".rstrip("0") if "e" in repr(answer) else repr(answer)).removesuffix(".0")
        yield _Wanted(text, tuple(_readings(text.lstrip("-"))), is_value=True)
    elif isinstance(answer, str):
        plain = unicodedata.normalize("NFKC", _ASIDE.sub(" ", answer[:MOST_ANSWER]))
        for match in _NUMBER.finditer(plain):
            yield _Wanted(match[0], tuple(_readings(match[0])))


def _readings(text: str) -> Iterator[_Reading]:
    """Yield the possible values of a number: a mark before three digits may group them or begin a fraction."""
    whole = _GROUPED.sub("", text)
    for one in dict.fromkeys((whole, re.sub(r"[ '\u2019_]", "", text).replace(",", "."))):
        number, point, fraction = one.replace(",", ".").partition(".")
        if "." in fraction:
            continue
        zeros = len(number) - len(number.rstrip("0")) if not point and len(number) > 2 else 0
        near = 0.5 * 10.0 ** (-len(fraction) if point else zeros if zeros > 1 else 0)
        yield _Reading(float(f"{number}.{fraction or 0}"), near * (1 + 1e-9))


def _all_numbers(text: str) -> Iterator[float]:
    """Yield the numbers of a text, in each way of marking thousands and fractions."""
    yield from filter(isfinite, numbers_in(text))
    if "," in text:
        yield from filter(isfinite, numbers_in(_COMMA.sub(".", _DOTTED.sub("", text))))


def _stands(one: _Wanted, known: Sequence[float]) -> bool:
    """Return whether a number occurs, as it is, rounded, or as a percentage."""
    return any(_holds(known, value * scale, near * scale) for value, near in one.readings for scale in (*_SCALES, 0.01))


def _is_count(one: _Wanted, counted: int, *, alone: bool) -> bool:
    """Return whether a number may count what was read, or only stands in the words."""
    value = min((each.value for each in one.readings), default=0.0)
    if not value.is_integer():
        return False
    return value <= min(counted, MOST_COUNTED) or (value <= MOST_SAID and not alone and not one.is_value)


def _holds(numbers: Sequence[float], value: float, near: float) -> bool:
    """Return whether ordered numbers hold a value, as nearly as it is written."""
    near += 1e-9 * abs(value)
    return bisect_left(numbers, value - near) < bisect_right(numbers, value + near)


def _listed(value: JsonValue) -> int:
    """Return the number of things that a value lists: rows, members, or words of a text."""
    if isinstance(value, str):
        return len(_WORD.findall(value[:MOST_READ]))
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).values()
        return max(len(members), *map(_listed, members)) if members else 0
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return max(len(items), *map(_listed, items)) if items else 0
    return 1


def _words(value: JsonValue) -> str:
    """Return a value as text; of a query its rows alone, as their number is none of its numbers."""
    if isinstance(value, Mapping) and "rows" in value:
        return rendered(cast("Mapping[str, Any]", value)["rows"])[:MOST_READ]
    return rendered(value)[:MOST_READ]


def _tables(value: JsonValue) -> Iterator[list[list[Any]]]:
    """Yield the tables of a value as rows: given as such, as objects with the same members, as lists, or as lines."""
    if isinstance(value, str):
        lines = [_CELLS.split(line.strip()) for line in value[:MOST_READ].splitlines()]
        width, _ = Counter(map(len, lines)).most_common(1)[0] if lines else (0, 0)
        rows = [[_cell(one) for one in line] for line in lines if len(line) == width]
        yield rows if width > 1 else [list(numbers_in(" ".join(line))) for line in lines]
    elif isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        yield [] if "rows" in members else [[one] for one in members.values()]
        for one in members.values():
            yield from _tables(one) if isinstance(one, list | dict) or (isinstance(one, str) and "\n" in one) else ()
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        if all(isinstance(one, list) for one in items):
            yield items
        elif all(isinstance(one, dict) for one in items):
            yield [list(one.values()) for one in items]
        else:
            yield [[one] for one in items]


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _added(rows: Sequence[Sequence[Any]]) -> tuple[list[float], set[float]]:
    """Return sums and means of the columns of a table, and counts, sums and means of its groups and ordered parts."""
    totals, groups = list[float](), set[float]()
    columns = [list(column) for column in zip(*rows, strict=False)]
    numeric = [one for one in columns if _numeric(one)][:MOST_COLUMNS]
    for numbers in map(_numeric, numeric):
        totals += (
            [sum(numbers), fmean(numbers), median(numbers), max(numbers) - min(numbers)] if len(numbers) > 1 else ()
        )
    for some in (each for by in columns[:MOST_COLUMNS] for each in _parts(by)) if len(rows) <= MOST_ROWS else ():
        groups.add(float(len(some)))
        for column in numeric:
            numbers = _numeric([column[at] for at in some])
            groups |= {sum(numbers), fmean(numbers)} if numbers else set()
    return [abs(one) for one in totals], {abs(one) for one in groups}


def _compared(rows: Sequence[Sequence[Any]]) -> set[float]:
    """Return differences and shares of rows and sums of groups between columns, and of those sums between groups."""
    found = set[float]()
    columns = [list(column) for column in zip(*rows, strict=False)] if len(rows) <= MOST_ROWS else []
    numeric = [one for one in columns if _numeric(one)]
    if not 0 < len(numeric) <= MOST_COMPARED:
        return found
    across = [list(row) for row in zip(*numeric, strict=True)]
    for by in columns[:MOST_COLUMNS]:
        groups = [[at for at, one in enumerate(by) if str(one) == value] for value in dict.fromkeys(map(str, by))]
        if 1 < len(groups) < len(rows):
            sums = [[sum(_numeric([column[at] for at in some])) for some in groups] for column in numeric]
            across += [*sums, *map(list, zip(*sums, strict=True))]
    for one, other in (pair for some in across for pair in combinations(_numeric(some), 2)):
        found |= {abs(one - other), *(abs(one - other) / abs(each) for each in (one, other) if each)}
    return found


def _parts(column: Sequence[Any]) -> Iterator[list[int]]:
    """Yield the rows with an equal value in a column, and the first and last ones in its order."""
    for value in dict.fromkeys(map(str, column)):
        yield [at for at, one in enumerate(column) if str(one) == value]
    order = sorted(range(len(column)), key=lambda at: (_numeric([column[at]]) or [0.0])[0])
    for at in range(1, len(order)):
        yield order[:at]
        yield order[at:]


def _numeric(values: Iterable[Any]) -> list[float]:
    return [float(one) for one in values if isinstance(one, int | float) and not isinstance(one, bool)]


def _subsets(numbers: Sequence[float]) -> set[float]:
    """Return the sum and the mean of each choice of numbers."""
    chosen = [some for size in range(2, len(numbers) + 1) for some in combinations(numbers, size)]
    return {sum(some) for some in chosen} | {fmean(some) for some in chosen}
