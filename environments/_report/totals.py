"""Totals of tables: sums and means of rows by the labels in a claim, and shares and differences of these."""

import csv
import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise, permutations, product
from typing import Any, cast

from .dates import MONTHS, YEAR_AND_MONTH, days_in
from .tables import LINKED, name_of, runs

MOST_CHARACTERS = 1_000_000  # of the sources of a claim, of which totals are built
MOST_TABLES = 40
MOST_CELLS = 200_000
MOST_MULTIPLIED = 50_000  # cells of a table, of which columns are multiplied
MOST_NUMERIC = 8  # columns of numbers, and of which each two are multiplied, as units and price
MOST_SETS = 60  # sets of rows that a claim names
MOST_STEPS = 200_000_000  # additions and comparisons for all claims on the same sources: some ten seconds
MOST_SQUARED = 20  # fractions of the sources, of which a claim on explained variance may tell the square
LEAST_ROWS = 2
LEAST_DIGITS = 3  # of a total; a shorter one is found by chance
_BESIDE = 0.1  # of a number: where others that follow as well are counted
_CHANCE = 0.1  # of a number to be given by one of those by chance, from which on it proves nothing
_YEARS = (1500, 2100)
_DELIMITERS = (",", "\t", ";", "|")
_CELL = re.compile(r"[€$£]?\s*(-?\d[\d,]*+(?:\.\d+)?)(?:\s*(?:%|[€$£]|[^\W\d]{1,5}))?(?:\s*\([^()]*\))?")
_PAIR = re.compile(r"[-*\s]*([^\W\d][^:=\n]{0,60}?)\s*[:=\s]\s*(-?\d[\d,]*+(?:\.\d+)?)\s*%?[.\s]*")
_APART = re.compile(r"[;,](?!\d)\s*(?:and\s|und\s)?|\s(?:and|und)\s")
_NOTHING = ("", "-", "\u2013", "n/a", "na", "nan", "none", "null")  # a cell without a value
_RULE = re.compile(r"[\s|:+=-]+")
_ID = re.compile(r"(?:.*[\W_])?(?:id|nr|no|key|index|number|code|year|month|day)", re.IGNORECASE)
_FRACTION = re.compile(r"(?<![\d.])0?\.\d{2,}")
_SQUARE = re.compile(r"\br\s?(?:²|\^?2\b)|squared\b|varian[cz]|bestimmtheit|quadrat", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_WITH_NUMBER = re.compile(  # but for a year, which may be a label, and a month behind it
    r"(?<!\w)(?<!\d{4}-)(?!(?:1[5-9]|20)\d\d(?![\w.,]*\d))\d[\d.,]*"
)

Rows = frozenset[int]
Grid = tuple[list[str], list[list[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table: the rows of each label, by column, and its columns of numbers, with products of two."""

    labels: list[dict[str, Rows]]
    columns: list[list[float]]

    @property
    def size(self) -> int:
        return len(self.columns[0])


class Totals:
    """The tables of sources, as the grounds of totals in claims.

    Args:
        texts: What the sources say: lines with delimiters, tables of Markdown, JSON, or lines of labels and numbers.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        text = "\n\n".join(dict.fromkeys(texts))
        grids = _grids(text) if len(text) <= MOST_CHARACTERS else []
        self._tables = [made for one in grids if (made := _table(one, grids))]
        self._fractions = list(dict.fromkeys(float(one[0]) for one in _FRACTION.finditer(text)))
        self._claim, self._found = "", dict[bool, list[list[float]]]()
        self._left = MOST_STEPS

    def give(self, number: str, claim: str, *, is_share: bool) -> bool:
        """Return whether a number follows: a total of labels in a claim, a mean, a difference, a share, or a square.

        Args:
            number: The number, with a point before its decimals.
            claim: The sentence that it stands in.
            is_share: Whether it is a percentage.
        """
        value, near = float(number), 0.5 * 10.0 ** -len(number.partition(".")[2])
        if self._is_fraction(value, near, claim, is_share=is_share):
            return True
        if claim != self._claim:
            self._claim, self._found = claim, self._following(claim)
        if not is_share and len(number.replace(".", "").strip("0")) < LEAST_DIGITS and value < 10**LEAST_DIGITS / 10:
            return False
        return any(_surely(some, value, near) for some in self._found[is_share])

    def _is_fraction(self, value: float, near: float, claim: str, *, is_share: bool) -> bool:
        """Return whether the sources have a percentage as a fraction, or the root of a share of variance."""
        scale = 100 if is_share else 1
        few = self._fractions if len(self._fractions) <= MOST_SQUARED else []
        squared = [one * one for one in few] if _SQUARE.search(claim) else []
        told = [*(few if is_share else ()), *squared]
        return any(abs(scale * one - value) <= near * 1.001 for one in told if value)

    def _following(self, claim: str) -> dict[bool, list[list[float]]]:
        """Return the numbers derived for a claim: plain ones and percentages, the simplest first, each in order."""
        sums, others, parts, compared = (set[float]() for _ in range(4))
        plain = _WITH_NUMBER.sub(" ", LINKED.sub(" ", claim))
        names = {name_of(one) for one in runs(_WORD.findall(plain))}
        for table in self._tables:
            chosen = list(_chosen(table, names))
            self._left -= (sum(map(len, chosen)) + len(chosen) ** 2) * len(table.columns)
            if self._left < 0:
                break
            for column in table.columns:
                totals = {rows: math.fsum(column[at] for at in rows) for rows in chosen}
                sums |= set(totals.values())
                others |= {total / len(rows) for rows, total in totals.items()}
                for (one, part), (other, whole) in permutations(totals.items(), 2):
                    others |= {part - whole, part / (whole or math.inf)}
                    (parts if one < other else compared).add(100 * part / (whole or math.inf))
                    compared.add(100 * (part - whole) / (whole or math.inf))
        ordered = [sorted({_plain(one) for one in some}) for some in (sums, others, parts, compared)]
        return {False: ordered[:2], True: ordered[2:]}


def _plain(value: float) -> float:
    return float(f"{abs(value):.10g}")


def _surely(found: Sequence[float], value: float, near: float) -> bool:
    """Return whether ordered numbers hold a value as it is written, and too few near it for a coincidence."""
    exact = near * 1.001 + 1e-9 * value
    if bisect_right(found, value + exact) == bisect_left(found, value - exact):
        return False
    beside = max(_BESIDE * value, 2 * near)
    others = bisect_right(found, value + beside) - bisect_left(found, value - beside) - 1
    return others * near <= _CHANCE * beside


def _chosen(table: _Table, names: set[str]) -> Iterator[Rows]:
    """Yield the sets of rows for the names in a claim, all rows first: of a label, of several in a column, of both.

    What is left without the labels of one column follows as well.
    """
    every = Rows(range(table.size))
    options, left = list[list[Rows]](), list[Rows]()
    for labels in table.labels:
        if named := [rows for name, rows in labels.items() if name in names]:
            together = Rows().union(*named)
            options.append(list(dict.fromkeys([*named, together, every])))
            left.append(every - together)
    found = [every]
    if options and math.prod(map(len, options)) <= MOST_SETS:
        found += [some[0].intersection(*some[1:]) for some in product(*options)]
    found += left
    yield from (rows for rows in dict.fromkeys(found) if rows)


def _table(grid: Grid, others: Sequence[Grid]) -> _Table | None:
    """Return a table with the labels of its own columns, and of a table beside it with a key; None without numbers."""
    header, rows = grid
    labels, columns = list[dict[str, Rows]](), list[list[float]]()
    for name, cells in zip(header, zip(*rows, strict=True), strict=True):
        numbers = [_number(one) for one in cells]
        given = [one for one, cell in zip(numbers, cells, strict=True) if cell.casefold() not in _NOTHING]
        is_number = None not in given and any(given)
        values = [one or 0.0 for one in numbers]
        if is_number and not _is_label(name, values):
            columns.append(values)
        elif not is_number or not _is_count(values):
            labels += [_labelled(cells), _by_month(cells)]
            labels += [_labelled([key.get(one, "") for one in cells]) for key in _keys(name, grid, others)]
    if not 0 < len(columns) <= MOST_NUMERIC:
        return None
    few = columns if len(rows) * len(header) <= MOST_MULTIPLIED else []
    products = [[a * b for a, b in zip(one, other, strict=True)] for one, other in combinations(few, 2)]
    return _Table(labels=labels, columns=[*columns, *products])


def _is_label(name: str, numbers: Sequence[float]) -> bool:
    """Return whether the numbers of a column name its rows: a count from row to row, years, or a key by its name."""
    years = all(_YEARS[0] <= one <= _YEARS[1] and one.is_integer() for one in numbers)
    return bool(_ID.fullmatch(name)) or _is_count(numbers) or years


def _is_count(numbers: Sequence[float]) -> bool:
    return {other - one for one, other in pairwise(numbers)} == {1.0}


def _keys(name: str, grid: Grid, others: Sequence[Grid]) -> Iterator[dict[str, str]]:
    """Yield the words of other tables for each value of a shared column, if it is a key there."""
    for header, rows in others:
        if (header, rows) == grid or not name or name not in header:
            continue
        at = header.index(name)
        if len({row[at] for row in rows}) == len(rows):
            for column in range(len(header)):
                if column != at and not all(_number(row[column]) for row in rows):
                    yield {row[at]: row[column] for row in rows}


def _labelled(cells: Sequence[str]) -> dict[str, Rows]:
    found: dict[str, set[int]] = {}
    for number, cell in enumerate(cells):
        if words := _WORD.findall(cell):
            found.setdefault(name_of(words), set()).add(number)
    return {name: Rows(rows) for name, rows in found.items()}


def _by_month(cells: Sequence[str]) -> dict[str, Rows]:
    """Return the rows of each month by its English names; empty unless each filled cell tells a single month."""
    found: dict[str, set[int]] = {}
    for number, cell in enumerate(cells):
        months = {(cell[:4], int(one)) for one in YEAR_AND_MONTH.findall(cell) if cell[:4].isdecimal()}
        months |= {(str(year), month) for year, month, _ in days_in(cell) if 0 < month <= len(MONTHS)}
        if cell and len(months) != 1:
            return {}
        for year, month in months:
            full = MONTHS[month - 1].capitalize()
            for words in ([full], [full[:3]], [full, year], [full[:3], year], [year, f"{month:02}"]):
                found.setdefault(name_of(words), set()).add(number)
    return {name: Rows(rows) for name, rows in found.items()}


def _number(cell: str) -> float | None:
    match = _CELL.fullmatch(cell.strip())
    return float(match[1].replace(",", "")) if match else None


def _grids(text: str) -> list[Grid]:
    """Return the tables of a text, each once: header and rows."""
    found = [*_of_lines(text), *_of_json(text), *_of_pairs(text)]
    unlike = {(tuple(header), tuple(map(tuple, rows))): (header, rows) for header, rows in found}
    return [one for one in unlike.values() if len(one[0]) * len(one[1]) <= MOST_CELLS][:MOST_TABLES]


def _of_lines(text: str) -> Iterator[Grid]:
    """Yield the tables of lines with delimiters, one line below the other."""
    lines = [one.strip() for one in text.splitlines()]
    for delimiter in _DELIMITERS:
        rows = [_cells(one, delimiter) for one in lines if delimiter != "|" or not one or not _RULE.fullmatch(one)]
        for width, some in groupby(rows, len):
            block = list(some) if width > 1 else []
            if block and not any(_number(cell) is not None for cell in block[0]):
                header, block = block[0], block[1:]
            else:
                header = [""] * width
            if len(block) >= LEAST_ROWS:
                yield header, block


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter not in line:
        return []
    if delimiter == "|":
        return [one.strip(" \t*_`") for one in line.strip("|").split("|")]
    try:
        return [one.strip() for one in next(csv.reader([line], delimiter=delimiter), list[str]())]
    except csv.Error:
        return []


def _of_json(text: str) -> Iterator[Grid]:
    """Yield the tables of JSON beginning a line: lists of objects, and objects of labels and numbers."""
    decoder, at = json.JSONDecoder(), 0
    for match in re.finditer(r"^\s*[\[{]", text, re.MULTILINE):
        if match.end() - 1 < at:
            continue
        try:
            value, at = decoder.raw_decode(text, match.end() - 1)
        except (ValueError, RecursionError):
            continue
        yield from _of_value(value)


def _of_value(value: Any, depth: int = 0) -> Iterator[Grid]:
    inner = list[Any]()
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        pairs = [[str(name), str(one)] for name, one in members.items() if _number(str(one)) is not None]
        if len(pairs) >= LEAST_ROWS:
            yield ["", ""], pairs
        inner = list(members.values())
    elif isinstance(value, list):
        inner = cast("list[Any]", value)
        rows = [cast("dict[str, Any]", one) for one in inner if isinstance(one, dict)]
        if len(rows) == len(inner) >= LEAST_ROWS:
            header = list(dict.fromkeys(name for row in rows for name in row))
            yield header, [["" if (one := row.get(name)) is None else str(one) for name in header] for row in rows]
    for one in inner if depth < 4 else ():
        if isinstance(one, dict | list):
            yield from _of_value(one, depth + 1)


def _of_pairs(text: str) -> Iterator[Grid]:
    """Yield the tables of labels, each with its number: in lines one below the other, or in one line."""
    block = list[list[str]]()
    for line in [*text.splitlines(), ""]:
        whole, parts = _PAIR.fullmatch(line[:200]), list[list[str]]()
        if whole and not _APART.search(whole[1]):
            block.append([whole[1], whole[2]])
            continue
        if len(block) >= LEAST_ROWS:
            yield ["", ""], block
        block = []
        for part in _APART.split(line[:2_000]):
            pair = _PAIR.fullmatch(part[:200])
            parts += [[pair[1], pair[2]]] if pair else []
        if len(parts) > LEAST_ROWS:
            yield ["", ""], parts


def texts_of(known: Iterable[Any]) -> list[str]:
    """Return the texts of pieces of evidence, each once."""
    return list(dict.fromkeys(text for one in known for text in one.texts if text))
