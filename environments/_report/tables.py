"""Tables as sources: what a large one says of a claim is its size, its counts, and rows that the claim singles out.

A number that is any cell of a large table proves nothing, least of all for a count.
"""

import csv
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations, islice, product
from typing import Any, cast

FEW_ROWS = 20  # a table up to here is read as any text
FEW_CHOSEN = 5  # rows of which each cell counts where a claim singles them out
MOST_CELLS = 500_000  # of a table that is read as one
_MOST_CHOICES = 200  # combinations of named values that are looked at for a claim
_MOST_TOGETHER = 40  # numbers of a claim of which each two are looked for in a row
_LONGEST = 8  # words of a cell that a claim can name
_SHORT = 3  # letters of a name that is told from a word by its capitals
_SAMPLE = 50
_ALIKE = 0.95  # of all lines, those of one width
_DELIMITERS = (",", "\t", ";", "|")
_YEARS = (1500, 2100)
_WORD = re.compile(r"\w+")
_CLAUSE = re.compile(r"[;:|]|,(?!\d)| and | und | et | y | e ")
_FIGURE = re.compile(r"-?\d+(?:\.\d+)?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
LINKED = re.compile(r"(?<=\])\([^()\s]*\)|\[\d[\d,; ]*\]")  # a link's address, and the numbers of a citation

Rows = frozenset[int]
Named = dict[int, dict[str, Rows]]
Cells = tuple[list[str], list[list[str]]]


@dataclass(slots=True, kw_only=True)
class Table:
    """A table with more than a few rows, as a source of claims.

    Args:
        header: The names of its columns.
        rows: Its rows, as wide as the header.
        days: Returns the days of a text, as year, month and day; 0 stands for none.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    days: Callable[[str], Iterable[tuple[int, int, int]]]
    _cells: dict[str, dict[int, Rows]] = field(init=False)
    _figures: list[list[Decimal | None]] = field(init=False)
    _places: dict[Decimal, Rows] = field(init=False)
    _ends: set[str] = field(init=False)
    _every: Rows = field(init=False)

    def __post_init__(self) -> None:
        """Note the rows of each value that a claim can name."""
        self._every = Rows(range(len(self.rows)))
        found: defaultdict[str, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._figures = []
        for column in range(len(self.header)):
            cells = [row[column] for row in self.rows]
            given = [one for one in cells if one]
            self._figures.append([Decimal(one) if _FIGURE.fullmatch(one) else None for one in cells])
            dated = bool(given) and all(any(self.days(one)) for one in given[:_SAMPLE])
            years = bool(given) and all(len(one) == 4 and one.isdecimal() and _is_year(one) for one in given)
            for number, cell in enumerate(cells):
                for name in self._names(cell, dated=dated, years=years):
                    found[name][column].add(number)
        self._cells = {name: {at: Rows(rows) for at, rows in one.items()} for name, one in found.items()}
        places: defaultdict[Decimal, set[int]] = defaultdict(set)
        for number, row in enumerate(zip(*self._figures, strict=True)):
            for figure in filter(None, row):
                places[figure].add(number)
        self._places = {figure: Rows(rows) for figure, rows in places.items()}
        self._ends = {one for row in (self.rows[0], self.rows[-1]) for cell in row for one in _NUMBER.findall(cell)}
        for cells in self._figures:
            if numbers := [one for one in cells if one is not None]:
                self._ends |= {str(abs(min(numbers))), str(abs(max(numbers)))}

    def figures(self, claim: str, at: int = -1) -> set[str]:
        """Return the numbers that the table has for a claim, or for one place of it.

        They are its size, its first and last row, the least and the greatest of each column, and of what the claim or a
        part of it names: for each combination of values the count of its rows, and the cells of a few rows; for columns
        the least and the greatest of such rows, and how many differ. Where a claim counts one group after another, as
        `40 Gentoo, 30 Adelie`, those of another group are not among them.

        Args:
            claim: A sentence, an item of a list or a row of a table.
            at: The place of the number in question, negative for any.
        """
        claim = LINKED.sub(lambda match: " " * len(match[0]), claim)
        found = {str(len(self.rows)), str(len(self.header))} | self._together(claim)
        if not self._places:  # without numbers nothing tells a header from a row
            found.add(str(len(self.rows) + 1))
        columns, clauses = self._columns(claim), list(_clauses(claim))
        clause = next((text for begin, end, text in clauses if begin <= at < end), "")
        own = self._counted(clause, [text for _, _, text in clauses])
        for text in dict.fromkeys([claim, clause] if own else [claim, *(text for _, _, text in clauses)]):
            named = self._named(text)
            found |= {name for one in named.values() for name in one if name.isdecimal()}
            for chosen in self._chosen(named, own):
                found.add(str(len(chosen)))
                if len(chosen) <= FEW_CHOSEN:
                    found |= {one for number in chosen for cell in self.rows[number] for one in _NUMBER.findall(cell)}
                found |= self._extremes(columns, chosen)
        return found | self._extremes(columns, self._every) | self._ends

    def _names(self, cell: str, *, dated: bool, years: bool) -> Iterator[str]:
        """Yield the names by which a claim can mean a cell."""
        if dated:
            for year, month, day in self.days(cell):
                yield from (str(year), f"{year}-{month}", f"{year}-{month}-{day}")
        elif years:
            yield cell
        elif not _FIGURE.fullmatch(cell) and 0 < len(words := _WORD.findall(cell)) <= _LONGEST:
            yield name_of(words)

    def _named(self, text: str) -> Named:
        """Return the values that a text names, by column."""
        names = [name_of(run) for run in runs(_WORD.findall(text))]
        for year, month, day in self.days(text):
            names.append(f"{year}-{month}-{day}" if day else f"{year}-{month}")
        exact = [one for one in names if one.count("-") == 2]
        found: Named = {}
        for name in names:
            if not (name.isdecimal() and any(one.startswith(f"{name}-") for one in exact)):
                for column, rows in self._cells.get(name, {}).items():
                    found.setdefault(column, {})[name] = rows
        return found

    def _counted(self, clause: str, clauses: Sequence[str]) -> Named:
        """Return the values of a clause in those columns of which each clause that names a value has a number, too."""
        named = [(self._named(text), text) for text in clauses]
        shared = {column for one, text in named for column in one if not _has_number(text, one)}
        return {column: values for column, values in self._named(clause).items() if column not in shared}

    def _chosen(self, named: Named, own: Named) -> Iterator[Rows]:
        """Yield the rows of each combination of named values; several of one column count together as well.

        Of a column with values of the number's own clause no other value counts alone.

        A column can be left out whose named values stand in another one, too, or in a few rows alone: they may be meant
        otherwise, and be named as an example.
        """
        choices: list[list[Rows]] = []
        for column, values in named.items():
            options = [rows for name, rows in values.items() if name in own.get(column, values)]
            others = [name for other, one in named.items() if other != column for name in one]
            if len(values) > 1:
                options.append(Rows().union(*options))
            if all(name in others or len(rows) <= FEW_CHOSEN for name, rows in values.items()):
                options.append(self._every)
            choices.append(options)
        if choices and math.prod(map(len, choices)) <= _MOST_CHOICES:
            for some in product(*choices):
                if (rows := some[0].intersection(*some[1:])) and rows != self._every:
                    yield rows

    def _columns(self, claim: str) -> list[int]:
        """Return the columns named in a claim by all words of their names, but for units."""
        said = {one for word in _WORD.findall(claim.casefold()) for one in (word, word.removesuffix("s"))}
        found: list[int] = []
        for column, name in enumerate(self.header):
            words = [one for one in re.findall(r"[^\W\d_]+", name.casefold()) if len(one) > _SHORT]
            if words and all(one in said or one.removesuffix("s") in said for one in words):
                found.append(column)
        return found

    def _extremes(self, columns: Sequence[int], chosen: Rows) -> set[str]:
        """Return the least and the greatest of the columns' numbers in rows, and how many values differ."""
        found = set[str]()
        for column in columns:
            found.add(str(len({cell for number in chosen if (cell := self.rows[number][column])})))
            if numbers := [one for number in chosen if (one := self._figures[column][number]) is not None]:
                found |= {str(abs(min(numbers))), str(abs(max(numbers)))}
        return found

    def _together(self, claim: str) -> set[str]:
        """Return numbers of a claim that stand together in a few rows; short ones stand together by chance."""
        numbers = dict.fromkeys(one for one in _NUMBER.findall(claim) if len(one.replace(".", "")) >= _SHORT)
        asked = {one: Decimal(one) for one in islice(numbers, _MOST_TOGETHER)}
        found = set[str]()
        for one, other in combinations(asked, 2):
            rows = self._places.get(asked[one], Rows()) & self._places.get(asked[other], Rows())
            if asked[one] != asked[other] and 0 < len(rows) <= FEW_CHOSEN:
                found |= {one, other}
        return found


def cells_of(text: str) -> Cells | None:
    """Return the header and rows of a text that is a table with more than a few rows, None for any other text.

    Args:
        text: Delimited lines with a header, or JSON with a list of objects.
    """
    found = _of_json(text) if text.lstrip()[:1] in ("[", "{") else _of_lines(text)
    return None if found is None or len(found[1]) <= FEW_ROWS else found


def row_names(text: str) -> set[str]:
    """Return the names of the rows of a table in delimited lines: a column's name and one of its unlike whole numbers.

    Args:
        text: The text, such as `order,amount` with its rows, of which `order 8` is one.
    """
    header, rows = _of_lines(text) or ([], [])
    found = set[str]()
    for name, cells in zip(header, zip(*rows, strict=True), strict=False):
        words = re.findall(r"[^\W\d_]+", name.casefold())
        if words and len(set(cells)) == len(cells) and all(map(str.isdecimal, cells)):
            found |= {f"{words[0]} {one}" for one in cells}
    return found


def _of_lines(text: str) -> Cells | None:
    """Return the header and rows of delimited lines; of lines without a header each column has an empty name."""
    lines = [one for one in text.splitlines() if one.strip() and not one.startswith("#")]
    for delimiter in _DELIMITERS:
        try:
            rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:
            continue
        width, same = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if delimiter == "\t" and rows:  # nothing but a table has one in each line, and its last cells may be left out
            width, same = max(map(len, rows)), sum(len(row) > 1 for row in rows)
        if width > 1 and same >= len(rows) * _ALIKE and width * len(rows) <= MOST_CELLS:
            kept = [[*row, *[""] * (width - len(row))][:width] for row in rows]
            named = not any(_FIGURE.fullmatch(cell) for cell in kept[0])
            return (kept[0], kept[1:]) if named else ([""] * width, kept)
    return None


def _of_json(text: str) -> Cells | None:
    """Return the members and values of a list of objects, which may be the one list among the members of an object."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        lists: list[Any] = [one for one in cast("dict[str, Any]", value).values() if isinstance(one, list)]
        value = lists[0] if len(lists) == 1 else None
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    rows = [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]
    if not rows or len(rows) != len(listed):
        return None
    header = list(dict.fromkeys(name for row in rows for name in row))
    if len(header) * len(rows) > MOST_CELLS:
        return None
    return header, [["" if (cell := row.get(name)) is None else str(cell) for name in header] for row in rows]


def _clauses(claim: str) -> Iterator[tuple[int, int, str]]:
    """Yield the begin, the end and the text of each clause."""
    begin = 0
    for match in _CLAUSE.finditer(claim):
        yield begin, match.start(), claim[begin : match.start()]
        begin = match.end()
    yield begin, len(claim), claim[begin:]


def _has_number(text: str, named: Named) -> bool:
    """Return whether a text has a number beside those in the names of values."""
    taken = {part for values in named.values() for name in values for part in re.findall(r"\d+", name)}
    return any(one.lstrip("0") not in taken for one in _NUMBER.findall(text))


def runs(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield runs of neighbouring words, of at most as many as the longest cell has."""
    for first in range(len(words)):
        for last in range(first + 1, min(len(words), first + _LONGEST) + 1):
            yield words[first:last]


def name_of(words: Sequence[str]) -> str:
    """Return words in the form in which they are compared: short ones keep their capitals."""
    name = " ".join(words)
    return name if len(name) <= _SHORT else name.casefold()


def _is_year(text: str) -> bool:
    return _YEARS[0] <= int(text) <= _YEARS[1]
