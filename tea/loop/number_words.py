"""Numbers written in English words, such as forty-one."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {
    **{word: number for number, word in enumerate(_SMALL)},
    **{word: 10 * number for number, word in enumerate(_TENS, start=2)},
    "dozen": 12,
    "half": 0.5,
    "quarter": 0.25,
    "third": 1 / 3,
}
_FACTORS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_WORD = "|".join(sorted((*_VALUES, *_FACTORS), key=len, reverse=True))
_FIRST = "".join(sorted({word[0] for word in (*_VALUES, *_FACTORS)}))  # most words of a text begin otherwise
_WRITTEN = re.compile(rf"\b(?=[{_FIRST}])(?:{_WORD})s?(?:(?:[\s-]+and)?[\s-]+(?:{_WORD})s?)*\b", re.IGNORECASE)
_SCALED = re.compile(
    r"(\d(?<![\w.,]\d)\d*(?:[.,]\d+)?)\s?(?:(thousand|million|billion)s?|(k|m|mn|mio|bn))\b", re.IGNORECASE
)
_SHORT = {"k": 1_000, "m": 1_000_000, "mn": 1_000_000, "mio": 1_000_000, "bn": 1_000_000_000}
_PARTS = re.compile(rf"\b({_WORD})s?\b", re.IGNORECASE)


def numbers_in_words(text: str) -> Iterator[float]:
    """Yield the numbers written in words in a text, or as digits with a word, as in 2.3 million.

    Examples:
        >>> list(numbers_in_words("Forty-one marks of two hundred and five thousand."))
        [41.0, 205000.0]
    """
    for match in _WRITTEN.finditer(text):
        whole, part = 0.0, 0.0
        for word in map(str.casefold, _PARTS.findall(match[0])):
            if word not in _FACTORS:
                part += _VALUES[word]
            elif word == "hundred":
                part = (part or 1.0) * 100
            else:
                whole, part = whole + (part or 1.0) * _FACTORS[word], 0.0
        yield whole + part
    for digits, long, short in _SCALED.findall(text):
        factor = _FACTORS[long.casefold()] if long else _SHORT[short.casefold()]
        yield float(digits.replace(",", ".")) * factor
