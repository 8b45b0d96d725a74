"""Cells for phrases: the same words, nearly the same, or contained."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Literal, TypedDict

from .stored import StoredTable
from .tables import Table
from .words import list_items, norm, norms, singular

Match = Literal["exact", "normalised", "item", "fuzzy", "contained"]
MOST_MATCHES = 8
MOST_PHRASES = 20  # by which values are found in a column with too many to be held
_ORDER: tuple[Match, ...] = ("exact", "normalised", "item", "fuzzy", "contained")


class Found(TypedDict):
    """One distinct cell value for a phrase.

    `values` counts the column's values matched alike, `lists` those in which the phrase is one of several items.
    """

    phrase: str
    table: str
    column: str
    value: str
    rows: int
    match: Match
    values: int
    lists: int


class _Index:
    """The distinct values of one text column, by their words.

    A word loses at most its last two letters as its plural ending, and keeps its first one in a slip: only values that
    are like a phrase in that are compared with it.
    """

    def __init__(self, table: str, column: str, rows: Counter[str]) -> None:
        self.table, self.column, self.rows = table, column, rows
        values = list(self.rows)
        keys = norms(values)
        self.exact: dict[str, tuple[str, ...]] = dict(zip(keys, zip(values, strict=True), strict=True))
        if len(self.exact) < len(keys):
            self.exact = _grouped(keys, values)
        self.items: defaultdict[str, list[str]] = defaultdict(list)
        for value in values:
            for item in list_items(value):
                self.items[item].append(value)
        self.keys = list(self.exact)
        self.text = "\n" + "\n".join(self.keys)
        self.ends = list(accumulate(len(key) + 1 for key in self.keys))

    @cached_property
    def begun(self) -> Mapping[str, Sequence[str]]:
        """The keys by their first letter."""
        return _grouped([key[:1] for key in self.keys], self.keys)

    def find(self, phrase: str) -> tuple[Match, list[str]] | None:
        key = norm(phrase)
        if values := self.exact.get(key):
            same = [value for value in values if value == phrase.strip()]
            return ("exact", same) if same and len(values) == len(same) else ("normalised", list(values))
        if values := self._inflected(singular(key)):
            return "normalised", values
        if values := self.items.get(key):
            return "item", values
        if values := self._near(key):
            return "fuzzy", values
        if values := self._containing(singular(key)):
            return "contained", values
        return None

    def _inflected(self, key: str) -> list[str]:
        """Return values different in plural endings only."""
        most = len(key) + 2 * len(key.split())
        begun = (other for other in self._with(f"\n{key[:2]}") if len(key) <= len(other) <= most)
        return self._values(other for other in begun if singular(other) == key)

    def _near(self, key: str) -> list[str]:
        """Return values one edit away, for words long enough to call this a slip."""
        if len(key) < 6 or not key.replace(" ", "").isalpha():
            return []
        near = [other for other in self.begun.get(key[:1], ()) if abs(len(other) - len(key)) < 2]
        return self._values(sorted((other for other in near if one_edit(key, other)), key=len))

    def _containing(self, key: str) -> list[str]:
        """Return values with these words in a row, in singular or plural; the longest word is looked for first."""
        if len(key) < 3:
            return []
        longest = max(key.split(), key=len)
        padded = f" {key} "
        begun = self._with(longest[:-1] if longest.endswith("y") else longest)
        return self._values(other for other in begun if padded in f" {singular(other)} ")

    def _with(self, part: str) -> Iterator[str]:
        """Yield the keys containing a part, or beginning with the text after a line break, in order."""
        place = self.text.find(part)
        while place >= 0:
            number = bisect_right(self.ends, place)
            yield self.keys[number]
            place = self.text.find(part, self.ends[number])

    def _values(self, keys: Iterable[str]) -> list[str]:
        return [value for key in keys for value in self.exact[key]]


def _grouped(keys: Sequence[str], values: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of each key, in order."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for key, value in zip(keys, values, strict=True):
        found[key].append(value)
    return {key: tuple(same) for key, same in found.items()}


def find(tables: Iterable[Table | StoredTable], phrases: Iterable[str]) -> list[Found]:
    """Return the best matches of each phrase in each text column, bounded, best first."""
    phrases = list(phrases)
    indexes = [
        _Index(table.name, column.name, counted)
        for table in tables
        for position, column in enumerate(table.columns)
        if column.kind in ("text", "date") and (counted := _counts(table, position, tuple(phrases))) is not None
    ]
    return [found for phrase in dict.fromkeys(phrases) for found in _find_one(indexes, phrase)]


def _counts(table: Table | StoredTable, position: int, phrases: tuple[str, ...]) -> Counter[str] | None:
    if isinstance(table, StoredTable):
        return table.counts(position, phrases[:MOST_PHRASES])
    return Counter(cell for cell in table.cells[position] if isinstance(cell, str))


def _find_one(indexes: list[_Index], phrase: str) -> list[Found]:
    results: list[Found] = []
    for index in indexes:
        if (hit := index.find(phrase)) is None:
            continue
        match, values = hit
        for value in values[:MOST_MATCHES]:
            results.append(
                Found(
                    phrase=phrase,
                    table=index.table,
                    column=index.column,
                    value=value[:500],
                    rows=index.rows[value],
                    match=match,
                    values=len(values),
                    lists=len(index.items.get(norm(phrase), ())),
                )
            )
    results.sort(key=lambda found: _ORDER.index(found["match"]))
    return results[: 3 * MOST_MATCHES]


def one_edit(left: str, right: str) -> bool:
    """Tell whether two words differ by one letter added, dropped, changed or swapped with its neighbour."""
    if left == right or abs(len(left) - len(right)) > 1 or left[0] != right[0]:
        return False
    start = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    if len(left) == len(right):
        swapped = left[:start] + left[start : start + 2][::-1] + left[start + 2 :]
        return left[start + 1 :] == right[start + 1 :] or swapped == right
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    return longer[start + 1 :] == shorter[start:]
