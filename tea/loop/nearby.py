"""Nearby numbers: the number of a text nearest to a doubtful one, such as one with two digits changed round."""

from __future__ import annotations

import re

MOST_READ = 1_000_000
LARGEST_GAP = 0.03  # of the doubtful number
LEAST_DIGITS = 3  # fewer are near to too much
_NUMBER = re.compile(r"(?<![\w.])\d{1,15}(?:,\d{3}(?!\d))*(?:\.\d{1,15})?(?!\w|\.\d)")


def nearest_number(number: str, text: str) -> str:
    r"""Return the number of a text nearest to another, empty if none is near.

    One with the same digits is nearest, else the one with the least difference.

    Args:
        number: The other number, as it was written.
        text: The text.

    Examples:
        >>> nearest_number("847.0", "Cedar,874.0\nElm,850.5")
        '874.0'
        >>> nearest_number("-1,250", "Elm,990")
        ''
    """
    number = number.lstrip("-")
    digits, value = _digits(number), _value(number)
    if value is None or len(digits) < LEAST_DIGITS:
        return ""
    found = dict[str, tuple[bool, float]]()
    for one in dict.fromkeys(_NUMBER.findall(text)):
        other = _value(one)
        gap = abs(other - value) / value if other is not None and value else 1.0
        same = sorted(_digits(one)) == sorted(digits)
        if same or gap <= LARGEST_GAP:
            found[one] = (not same, gap)
    return min(found, key=lambda one: found[one], default="")


def _digits(number: str) -> str:
    """Return the digits of a number without zeros at the end of its fraction."""
    whole, _, fraction = number.replace(",", "").partition(".")
    return whole + fraction.rstrip("0")


def _value(number: str) -> float | None:
    try:
        return float(number.replace(",", ""))
    except ValueError:
        return None
