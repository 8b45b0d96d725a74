"""The summary of a report: its numbers compared with the report, its sources and its other grounds."""

import re
from decimal import Decimal

from .checks import Evidence, lacking

MOST_COUNTED = 12  # whole numbers up to here may be counts, as of the items of a list
LEAST_ROUNDED = 2  # digits of a number that others may be rounded to
_SCALES = {"thousand": 3, "tausend": 3, "mille": 3, "mil": 3, "million": 6, "mio": 6, "billion": 9, "milliard": 9}
_SCALED = re.compile(rf"[ \u00a0\u202f]?({'|'.join(_SCALES)})(?:en|es|s)?\b", re.IGNORECASE)
_MARKS = re.compile(r"[,.'’\u00a0\u202f ](?=\d{3}(?!\d))")
_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,15})?")


def unsaid(summary: str, known: list[Evidence]) -> list[str]:
    """Return the unknown numbers and dates of a summary: not said, derived, counted or rounded from anything known."""
    found = lacking(summary, known)
    if not found:
        return []
    numbers = {Decimal(one) for each in known for one in each.numbers if _PLAIN.fullmatch(one)}
    return [one for one in found if not (_counts(one) or _is_rounding(one, summary, numbers))]


def _counts(value: str) -> bool:
    return value.isdecimal() and int(value) <= MOST_COUNTED


def _is_rounding(value: str, summary: str, numbers: set[Decimal]) -> bool:
    """Return whether a number, with the word for its scale behind it, is one of some numbers rounded."""
    place = summary.find(value)
    scaled = _SCALED.match(summary, place + len(value)) if place >= 0 else None
    scale = _SCALES[scaled[1].casefold()] if scaled else 0
    plain = value.replace(",", ".") if scaled else _MARKS.sub("", value)
    if not _PLAIN.fullmatch(plain):
        return False
    rounded = Decimal(plain).scaleb(scale) if scaled else Decimal(plain).normalize()
    if len(rounded.as_tuple().digits) < LEAST_ROUNDED:
        return False
    half = Decimal(5).scaleb(int(rounded.as_tuple().exponent) - 1)
    return any(abs(one - rounded) <= half for one in numbers)
