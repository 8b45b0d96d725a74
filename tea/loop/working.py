"""Working: the arithmetic written out in an answer, as in `2 x 7.40 + 3.70 = 18.50`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

MOST_OPERANDS = 40
_NUMBER = r"[$\u20ac\u00a3]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?![\d.,]*\d)"
_SIGN = r"(?:\s*[\u00d7\u00b7*+]\s*|\s*x\s*(?=[$\u20ac\u00a3\d])|\s+[-\u2212\u2013/\u00f7]\s+)"
_WRITTEN = re.compile(rf"(?<![\w.,]){_NUMBER}(?:{_SIGN}{_NUMBER})+")
_PARTS = re.compile(rf"({_SIGN})")
_GROUPED = re.compile(r",(?=\d{3}(?:\D|$))")
_MINUS, _OVER = ("-", "\u2212", "\u2013"), ("/", "\u00f7")


class Worked(NamedTuple):
    """Written out arithmetic.

    Args:
        operands: Its numbers.
        value: What it gives.
    """

    operands: list[float]
    value: float


def worked(text: str) -> Iterator[Worked]:
    """Yield the arithmetic written out in a text; one without a value is left out.

    Args:
        text: The text.

    Examples:
        >>> [one.value for one in worked("2 x 7.40 + 3.70 = 18.50")]
        [18.5]
    """
    for match in _WRITTEN.finditer(text):
        first, *rest = _PARTS.split(match[0])
        numbers = [_value(first), *map(_value, rest[1::2])]
        if len(numbers) > MOST_OPERANDS:
            continue
        terms = [[numbers[0]]]
        for sign, number in zip(map(str.strip, rest[::2]), numbers[1:], strict=True):
            if sign == "+" or sign in _MINUS:
                terms.append([-number if sign in _MINUS else number])
            elif sign not in _OVER:
                terms[-1].append(number)
            elif number:
                terms[-1].append(1 / number)
            else:
                break
        else:
            yield Worked(numbers, sum(map(prod, terms)))


def _value(text: str) -> float:
    return float(_GROUPED.sub("", text.strip("$\u20ac\u00a3 ")).replace(",", "."))
