"""Numbers following from results by simple arithmetic: those asked about, and coincidences among all others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise, product
from math import isfinite, log10
from statistics import fmean, median, pstdev, stdev
from typing import Any, NamedTuple

MOST_ROWS, MOST_COLUMNS = 40, 12  # of a table whose groups are added up
MOST_COMPARED = 6  # columns of which sums of groups are compared, and rows of which each two are
MOST_CLOSE = 8  # numbers of which each two are combined for sure
MOST_POOL = 80
MOST_SUBSETS = 5  # numbers of which each choice is added up
MOST_FIRST = 5  # rows that are first by a column, and added up
MOST_BOUNDS = 6  # numbers of the question that rows are counted by
LEAST_EXACT = 10  # a quotient without a remainder that is hardly one by chance
LEAST_CHANCE = 0.1  # of a coincidence; a number less probable by chance counts as derived
_UNITS = (2.0, 7.0, 10.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0, 1000.0, 1024.0, 3600.0, 86_400.0, 1e6, 1e9)
_OTHER_UNITS = (*_UNITS, 0.45359237, 1.609344, 2.54, 3.280839895, 3.785411784)  # pounds, miles, inches, feet, gallons
_SCALES = (1e3, 1e6, 1e9)
_FEWEST_TOTALLED = 4  # numbers of a column, with its total
LARGEST = 1e100  # of a number: sums and squares of it are finite, too
_FEW_CHANCES = 10  # times the unit of a number's last digit, in which coincidences are counted
_BESIDE = 0.2  # of a number, in which they are counted too

Rows = Sequence[Sequence[Any]]
Pair = tuple[float, float]


class Numbers(NamedTuple):
    """Numbers in order.

    Args:
        values: Sums, differences, counts and the like.
        shares: Quotients, and differences as a part of one of two numbers; also meant by percentages.
        ratios: Quotients of numbers asked about, which may be rounded to a whole number of times.
        totals: Sums of columns, which may be rounded to thousands or more.
    """

    values: list[float]
    shares: list[float]
    ratios: Sequence[float] = ()
    totals: Sequence[float] = ()

    @classmethod
    def of(
        cls, values: Iterable[float], pairs: Iterable[Pair], compared: Iterable[Pair] = (), parts: Iterable[Pair] = ()
    ) -> Numbers:
        """Return numbers, and the results of any two of them.

        Args:
            values: The numbers.
            pairs: Those of which all is derived: sum, difference, mean, product and shares.
            compared: Those of which differences and shares are derived.
            parts: Those of which the first is a part of the second.
        """
        found, shares = list(values), list[float]()
        both = list(pairs)
        for one, other in both:
            found += (one + other, (one + other) / 2, one * other)
            found += [one * other / 100] if 0 < min(one, other) < 100 else []
        for one, other in (*both, *compared):
            found.append(one - other)
            for by in (one, other):
                shares += (one / by, other / by, (one - other) / by) if by else ()
        for one, whole in parts:
            shares += (one / whole, 1 - one / whole) if whole else ()
        return cls(*(sorted({*map(abs, filter(isfinite, some))}) for some in (found, shares)))

    def give(
        self,
        value: float,
        near: float,
        *,
        is_share: bool,
        may_be_share: bool,
        by_chance: bool,
        is_quotient: bool = False,
        is_scaled: bool = False,
    ) -> bool:
        """Return whether a number is among them, to the precision of its digits.

        Args:
            value: The number.
            near: Half of the unit of its last digit.
            is_share: Whether it is a percentage.
            may_be_share: Whether it may be one that is not marked as such.
            by_chance: Whether a number is refused where one of as many digits would often be among them by chance.
            is_quotient: Whether it is said to be one of the ratios.
            is_scaled: Whether it is followed by a word for thousands or more.
        """
        held = holds_surely if by_chance else holds
        is_part = is_scaled and value < 1  # of a million: no part of a whole
        if (is_share or (may_be_share and not is_part)) and held(self.shares, value / 100, near / 100):
            return True
        if is_share:
            return False
        if is_quotient and holds(self.ratios, value, near):
            return True
        if held(self.values, value, near):
            return True
        if not is_part and (holds_surely if near >= 0.5 else held)(self.shares, value, near):
            return True
        if is_scaled and any(holds(self.totals, value * scale, near * scale) for scale in _SCALES):
            return True
        of = (self.values, self.shares) if is_scaled else (self.values,)
        return any(holds_surely(some, value * scale, near * scale) for some in of for scale in _SCALES)


def holds(numbers: Sequence[float], value: float, near: float) -> bool:
    """Return whether ordered numbers hold a value, to the precision of its digits."""
    return _count(numbers, value, near + 1e-9 * abs(value)) > 0


def holds_surely(numbers: Sequence[float], value: float, near: float) -> bool:
    """Return whether ordered numbers hold a value, and too few near it for a coincidence."""
    if not holds(numbers, value, near):
        return False
    near = _exactness(value, near)
    beside = max(_FEW_CHANCES * near, _BESIDE * abs(value))
    return (_count(numbers, value, beside) - 1) * near <= LEAST_CHANCE * beside


def _exactness(value: float, near: float) -> float:
    """Return half the unit of a value's last digit, not counting zeros at the end of its decimals."""
    unit = 10.0 ** round(log10(2 * near))
    while unit < 0.5 and abs(value / unit / 10 - round(value / unit / 10)) < 1e-6:
        unit *= 10
    return max(near, unit / 2)


def closely(
    tables: Sequence[Rows],
    named: Sequence[Sequence[int]],
    numbers: Sequence[float],
    together: Sequence[Sequence[float]],
    bounds: Sequence[float],
    read: int,
) -> Numbers:
    """Return the numbers following from columns, and from rows and numbers named by question or answer.

    Sums, means, medians and ranges of columns, shares of them, what the largest, the smallest, the first and the last
    differ by, and what rows named by either and single numbers give with each other.

    Args:
        tables: Tables read, as rows.
        named: For each the rows that are named.
        numbers: Single numbers read, and those of question and answer.
        together: Few numbers that stand together in a result.
        bounds: Numbers that rows may be counted by.
        read: How many of the tables give the sums of their columns to be combined with other numbers, not just divided.
    """
    values, pairs, close = list[float](), list[Pair](), list(dict.fromkeys(numbers))
    compared, parts, times, totals = list[Pair](), list[Pair](), list[Pair](), list[float]()
    for number, (rows, some) in enumerate(zip(tables, named, strict=True)):
        columns = [list(column) for column in zip(*rows, strict=False)][:MOST_COLUMNS]
        numeric = [(at, found) for at, one in enumerate(columns) for found in _with_total_apart(numbers_of(one))]
        for at, column in numeric:
            here = [each for row in some for each in numbers_of([columns[at][row]])]
            counts = _counted(column, bounds)
            values += [*_measures(column), *counts, *_groups_of(columns, columns[at], some)]
            parts += [*_shared(column, here), *((one, float(len(column))) for one in counts)]
            compared += _within(column, here)
            times += combinations(here if len(here) <= MOST_COMPARED else (), 2)
            close += here
        for at in some:
            pairs += combinations(numbers_of(rows[at])[:MOST_COMPARED], 2)
        across = list(_across(rows))
        compared += across if number < read else ()
        parts += (both for one, other in across for both in ((one, other), (other, one))) if number >= read else ()
        sums = [sum(column) for _, column in numeric if number < read]
        close += sums
        totals += map(abs, sums)
        values += _sizes(columns, len(rows), some)
    own = list(dict.fromkeys(numbers))[:MOST_POOL]
    times += [pair for some in together for pair in combinations(some, 2)]
    pairs += times
    values += [*_chosen(own[:MOST_SUBSETS]), *close, sum(own), *(one * by for one in own for by in _UNITS)]
    values += [one / by for one in own for by in _UNITS]
    close = list(dict.fromkeys(close))
    pairs += combinations(close if len(close) <= MOST_CLOSE else own[:MOST_CLOSE], 2)
    found = Numbers.of([*values, *(each for pair in pairs for each in _besides(*pair))], pairs, compared, parts)
    ratios = sorted(max(pair) / min(pair) for pair in ((abs(one), abs(other)) for one, other in times) if min(pair))
    return found._replace(ratios=ratios, totals=sorted(totals))


def loosely(tables: Sequence[Rows], numbers: Iterable[float], stated: Sequence[float] = ()) -> Numbers:
    """Return the numbers following from any two numbers read, and from any group of rows.

    Args:
        tables: Tables read, as rows.
        numbers: Other numbers read.
        stated: Numbers stated besides, of which a read one may be a part.
    """
    values, pool, compared = set[float](), list(dict.fromkeys(numbers)), set[float]()
    for rows in tables:
        totals, groups = _added(rows)
        pool += totals
        values |= groups
        compared |= _compared(rows)
        pool += (float(len(rows)), *(float(len({*map(str, column)})) for column in zip(*rows, strict=False)))
    pool = list(dict.fromkeys(pool))[-MOST_POOL:]
    found = Numbers.of({*values, *pool, *compared}, combinations(pool, 2), parts=product(pool, stated[:MOST_POOL]))
    return Numbers(found.values, sorted({*found.shares, *map(abs, compared)}))


def simply(numbers: Iterable[float]) -> Numbers:
    """Return the sums, differences and shares of any two numbers."""
    pairs = list(combinations(list(dict.fromkeys(numbers))[:MOST_POOL], 2))
    return Numbers.of((one + other for one, other in pairs), (), pairs)


def converted(numbers: Iterable[float]) -> Numbers:
    """Return numbers in other units, such as miles or a day's hours."""
    pool = list(dict.fromkeys(numbers))[-MOST_POOL:]
    return Numbers(sorted({each for one in pool for by in _OTHER_UNITS for each in (one * by, one / by)}), [])


def numbers_of(values: Iterable[Any]) -> list[float]:
    """Return the numbers among values, none too large to be calculated with."""
    numbers = (one for one in values if isinstance(one, int | float) and not isinstance(one, bool))
    return [float(one) for one in numbers if abs(one) <= LARGEST]


def _with_total_apart(column: list[float]) -> Iterator[list[float]]:
    """Yield a column, and its other numbers too if the largest seems to be their total."""
    yield from [column] if column else ()
    largest = max(column, default=0.0)
    if len(column) >= _FEWEST_TOTALLED and abs(sum(column) - 2 * largest) <= 1e-9 * largest:
        at = column.index(largest)
        yield [*column[:at], *column[at + 1 :]]


def _besides(one: float, other: float) -> Iterator[float]:
    """Yield a number with and without a percentage of it, and a large quotient without a remainder."""
    part, whole = one * other / 100, max(one, other)
    yield from (whole + part, whole - part) if 0 < min(one, other) < 100 else ()
    yield from (by for by in (one / (other or 1), other / (one or 1)) if by >= LEAST_EXACT and by.is_integer())


def _difference(pair: Pair) -> float:
    return pair[1] - pair[0]


def _quotient(pair: Pair) -> float:
    return pair[1] / pair[0] if pair[0] else 0.0


def _count(numbers: Sequence[float], value: float, near: float) -> int:
    return bisect_right(numbers, value + near) - bisect_left(numbers, value - near)


def _measures(column: Sequence[float]) -> list[float]:
    """Return the sums of a column, of its first rows by size, and its mean, median, range and deviation."""
    order = sorted(column, reverse=True)
    first = [sum(order[:most]) for most in range(2, min(MOST_FIRST, len(order)) + 1)]
    spread = [stdev(column), pstdev(column)] if len(column) > 1 else []
    return [sum(column), fmean(column), median(column), order[0] - order[-1], *first, *spread, float(len(column))]


def _shared(column: Sequence[float], here: Sequence[float]) -> Iterator[Pair]:
    """Yield the parts of a column for questions about a share, each with the whole.

    Args:
        column: Its numbers.
        here: Those of the rows that are named.
    """
    order, total = sorted(column, reverse=True), sum(column)
    first = (sum(order[:most]) for most in range(1, min(MOST_FIRST, len(order)) + 1))
    for one in dict.fromkeys((*here, *first, order[-1], fmean(column), sum(here))):
        yield one, total
    for one, other in combinations(here if len(here) <= MOST_COMPARED else (), 2):
        yield one - other, total
    if min(column[0], column[-1]) > 0 and len(column) > 2:
        yield (column[-1] / column[0]) ** (1 / (len(column) - 1)) - 1, 1.0  # growth from row to row


def _within(column: Sequence[float], here: Sequence[float]) -> Iterator[Pair]:
    """Yield the pairs of numbers of a column to compare with each other."""
    order = sorted(column, reverse=True)
    yield order[0], order[-1]
    yield order[0], order[min(1, len(order) - 1)]
    yield column[0], column[-1]
    for one in here if len(here) <= MOST_COMPARED else ():
        yield from ((one, each) for each in (order[0], order[-1], fmean(column)))
    steps = list(pairwise(column))
    for key in (_difference, _quotient):
        yield from (min(steps, key=key), max(steps, key=key)) if steps else ()


def _across(rows: Rows) -> Iterator[Pair]:
    """Yield the extreme pairs of numbers of one row, and the sums of columns, as pairs to compare."""
    found = [list(column) for column in zip(*rows, strict=False)]
    columns = [one for one in found if len(numbers_of(one)) == len(rows)]
    for one, other in combinations(columns[:MOST_COMPARED], 2):
        pairs = list(zip(numbers_of(one), numbers_of(other), strict=True))
        for key in (_difference, _quotient):
            yield from (min(pairs, key=key), max(pairs, key=key))
        yield sum(numbers_of(one)), sum(numbers_of(other))


def _groups_of(columns: Sequence[Sequence[Any]], column: Sequence[Any], some: Sequence[int]) -> Iterator[float]:
    """Yield the sums and means of groups of rows: the extreme ones, and those of named rows."""
    for by in columns if len(column) <= MOST_ROWS else ():
        keys = list(dict.fromkeys(map(str, by)))
        if 1 < len(keys) < len(by):
            groups = {
                each: numbers_of(one for key, one in zip(by, column, strict=True) if str(key) == each) for each in keys
            }
            for measure in (sum, fmean):
                found = {key: measure(one) for key, one in groups.items() if one}
                yield from (min(found.values()), max(found.values())) if found else ()
                yield from (found[by[at]] for at in some if by[at] in found)


def _sizes(columns: Sequence[Sequence[Any]], rows: int, some: Sequence[int]) -> Iterator[float]:
    """Yield the numbers of rows: all, those named, distinct ones, and the largest group of each column."""
    yield from (float(rows), float(rows - 1), float(len(some)))
    for column in columns:
        words = list(map(str, column))
        sizes = {one: float(count) for one, count in Counter(words).items()}
        yield float(len(sizes))
        yield from (sizes[words[at]] for at in some if sizes[words[at]] > 1)
        yield max(sizes.values())


def _counted(column: Sequence[float], bounds: Sequence[float]) -> list[float]:
    """Return how many numbers are above, below and at each bound, without none and all."""
    found = list[float]()
    for bound in bounds[:MOST_BOUNDS]:
        over, at = sum(one > bound for one in column), sum(one == bound for one in column)
        found += map(float, (over, over + at, len(column) - over, len(column) - over - at))
    return [one for one in dict.fromkeys(found) if 0 < one < len(column)]


def _chosen(numbers: Sequence[float]) -> set[float]:
    """Return the sum and the mean of each choice of numbers."""
    chosen = [some for size in range(2, len(numbers) + 1) for some in combinations(numbers, size)]
    return {sum(some) for some in chosen} | {fmean(some) for some in chosen}


def _added(rows: Rows) -> tuple[list[float], set[float]]:
    """Return sums and means of the columns of a table, and counts, sums and means of its groups and ordered parts."""
    totals, groups = list[float](), set[float]()
    columns = [list(column) for column in zip(*rows, strict=False)]
    numeric = [one for one in columns if numbers_of(one)][:MOST_COLUMNS]
    for column in map(numbers_of, numeric):
        totals += [sum(column), fmean(column), median(column), max(column) - min(column)] if len(column) > 1 else ()
    for some in (each for by in columns[:MOST_COLUMNS] for each in _parts(by)) if len(rows) <= MOST_ROWS else ():
        groups.add(float(len(some)))
        for column in numeric:
            numbers = numbers_of([column[at] for at in some])
            groups |= {sum(numbers), fmean(numbers)} if numbers else set()
    return totals, groups


def _compared(rows: Rows) -> set[float]:
    """Return differences and shares of rows and sums of groups between columns, and of those sums between groups."""
    found = set[float]()
    columns = [list(column) for column in zip(*rows, strict=False)] if len(rows) <= MOST_ROWS else []
    numeric = [one for one in columns if numbers_of(one)]
    if not 0 < len(numeric) <= MOST_COMPARED:
        return found
    across = [list(row) for row in zip(*numeric, strict=True)]
    for by in columns[:MOST_COLUMNS]:
        groups = [[at for at, one in enumerate(by) if str(one) == value] for value in dict.fromkeys(map(str, by))]
        if 1 < len(groups) < len(rows):
            sums = [[sum(numbers_of([column[at] for at in some])) for some in groups] for column in numeric]
            across += [*sums, *map(list, zip(*sums, strict=True))]
    for one, other in (pair for some in across for pair in combinations(numbers_of(some), 2)):
        found |= {abs(one - other), *(abs(one - other) / abs(each) for each in (one, other) if each)}
    return found


def _parts(column: Sequence[Any]) -> Iterator[list[int]]:
    """Yield the rows with an equal value in a column, and the first and last ones in its order."""
    for value in dict.fromkeys(map(str, column)):
        yield [at for at, one in enumerate(column) if str(one) == value]
    order = sorted(range(len(column)), key=lambda at: (numbers_of([column[at]]) or [0.0])[0])
    for at in range(1, len(order)):
        yield order[:at]
        yield order[at:]
