"""Cells that phrases stand for: the same words, nearly the same, or contained."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Literal, TypedDict

from .tables import Table
from .words import list_items, norm, singular

Match = Literal["exact", "normalised", "item", "fuzzy", "contained"]
MOST_MATCHES = 8
_ORDER: tuple[Match, ...] = ("exact", "normalised", "item", "fuzzy", "contained")


class Found(TypedDict):
    """One distinct cell value that a phrase stands for.

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
    """The distinct values of one text column, by their words."""

    def __init__(self, table: Table, position: int) -> None:
        self.table = table.name
        self.column = table.columns[position].name
        self.rows = Counter(cell for cell in table.cells[position] if isinstance(cell, str))
        self.exact: defaultdict[str, list[str]] = defaultdict(list)
        self.singular: defaultdict[str, list[str]] = defaultdict(list)
        self.words: defaultdict[str, list[str]] = defaultdict(list)
        self.items: defaultdict[str, list[str]] = defaultdict(list)
        self.lengths: defaultdict[int, list[str]] = defaultdict(list)
        for value in self.rows:
            key = norm(value)
            self.exact[key].append(value)
            self.singular[singular(key)].append(value)
            self.lengths[len(key)].append(key)
            for item in list_items(value):
                self.items[item].append(value)
            for word in dict.fromkeys(singular(key).split()):
                self.words[word].append(value)

    def find(self, phrase: str) -> tuple[Match, list[str]] | None:
        key = norm(phrase)
        if values := self.exact.get(key):
            same = [value for value in values if value == phrase.strip()]
            return ("exact", same) if same and len(values) == len(same) else ("normalised", values)
        if values := self.singular.get(singular(key)):
            return "normalised", values
        if values := self.items.get(key):
            return "item", values
        if values := self._near(key):
            return "fuzzy", values
        if values := self._containing(singular(key)):
            return "contained", values
        return None

    def _near(self, key: str) -> list[str]:
        """Return values one edit away, for words long enough that this is a slip."""
        if len(key) < 6 or not key.replace(" ", "").isalpha():
            return []
        near = [other for size in (-1, 0, 1) for other in self.lengths.get(len(key) + size, ()) if one_edit(key, other)]
        return [value for other in dict.fromkeys(near) for value in self.exact[other]]

    def _containing(self, key: str) -> list[str]:
        words = key.split()
        if not words or len(key) < 3:
            return []
        candidates = min((self.words.get(word, []) for word in words), key=len)
        padded = f" {key} "
        return [value for value in candidates if padded in f" {singular(norm(value))} "]


def find(tables: Iterable[Table], phrases: Iterable[str]) -> list[Found]:
    """Return the best matches of each phrase in each text column, bounded, best first."""
    indexes = [
        _Index(table, position)
        for table in tables
        for position, column in enumerate(table.columns)
        if column.kind in ("text", "date")
    ]
    return [found for phrase in dict.fromkeys(phrases) for found in _find_one(indexes, phrase)]


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
