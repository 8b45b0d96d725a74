"""Equality: the comparison of answers by value, in spite of different spellings."""

from __future__ import annotations

import math
import re
import string
import unicodedata
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from typing import Any, cast

from tea.types import JsonValue, as_text

MOST_TEXT = 200_000  # characters of an answer that are looked at
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_UNITS = str.maketrans("", "", "$€£¥%,_ \u00a0\u202f")
_DROPPED = str.maketrans("", "", string.punctuation)


def same(one: JsonValue, other: JsonValue) -> bool:
    """Return whether two items are the same: equal as numbers if both are, else as normalised texts."""
    first, second = number_of(one), number_of(other)
    if first is not None and second is not None:
        return _is_near(first, second)
    if isinstance(one, list | Mapping) or isinstance(other, list | Mapping):
        return equal(one, other)
    return plain(one) == plain(other)


class Items:
    """Items to find others among, each by value and not by comparing every pair.

    Args:
        items: The items.
    """

    def __init__(self, items: Iterable[JsonValue]) -> None:
        self._data, self._words, self._all_words = set[Hashable](), set[str](), set[str]()
        numbers: list[float] = []
        for one in items:
            if isinstance(one, list | Mapping):
                self._data.add(_value_of(one))
                continue
            self._all_words.add(words := plain(one))
            if (number := number_of(one)) is None:
                self._words.add(words)
            else:
                numbers.append(number)
        self._numbers = sorted(numbers)

    def hold(self, one: JsonValue) -> bool:
        """Return whether one of the items is the same; see `same`."""
        if isinstance(one, list | Mapping):
            return _value_of(one) in self._data
        if (number := number_of(one)) is None:
            return plain(one) in self._all_words
        place = bisect_left(self._numbers, number)
        near = self._numbers[max(0, place - 1) : place + 1]
        return any(_is_near(number, other) for other in near) or plain(one) in self._words


def equal(one: JsonValue, other: JsonValue) -> bool:
    """Return whether two JSON values are equal: numbers by value, truth values apart from numbers."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        left, right = cast("list[Any]", one), cast("list[Any]", other)
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        named, wanted = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        return named.keys() == wanted.keys() and all(equal(value, wanted[key]) for key, value in named.items())
    return one == other


def text_of(value: JsonValue) -> str:
    """Return a value as text: text itself, other data as JSON; None is empty."""
    return "" if value is None else as_text(value)[:MOST_TEXT]


def plain(value: JsonValue) -> str:
    """Return a text without capitals, punctuation, articles and surplus spaces, as SQuAD normalises answers.

    A text of nothing else keeps them, so that `+` is not `-`.
    """
    text = unicodedata.normalize("NFKC", text_of(value)).casefold()
    bare = " ".join(_ARTICLES.sub(" ", text.translate(_DROPPED)).split())
    return bare or " ".join(text.split())


def number_of(value: JsonValue) -> float | None:
    """Return the number in a value, with separators of thousands, currency or percent signs; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        with suppress(OverflowError):
            return float(value)
        return None
    if not isinstance(value, str):
        return None
    text = unicodedata.normalize("NFKC", value).replace("\u2212", "-").strip().rstrip(".").translate(_UNITS)
    if not text or text[-1] not in "0123456789.":
        return None
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _is_near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _value_of(value: JsonValue) -> Hashable:
    """Return a hashable value, the same for `equal` values."""
    if isinstance(value, list):
        return "list", tuple(map(_value_of, cast("list[Any]", value)))
    if isinstance(value, Mapping):
        return "object", frozenset((name, _value_of(one)) for name, one in cast("Mapping[str, Any]", value).items())
    return ("truth", value) if isinstance(value, bool) else ("scalar", value)
