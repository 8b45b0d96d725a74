"""Measures as texts: numbers with units of one kind, ordinals, and lengths of time."""

import re
from collections.abc import Sequence
from itertools import pairwise

from .number_texts import FEWEST, NumberTexts, present

_KINDS = (  # of units, each with its size
    {"mg": 0.001, "g": 1, "kg": 1000, "t": 1_000_000},
    {"mm": 0.001, "cm": 0.01, "m": 1, "km": 1000},
    {"ml": 0.001, "cl": 0.01, "dl": 0.1, "l": 1, "hl": 100},
    {"ms": 0.001, "s": 1, "sec": 1, "min": 60, "h": 3600, "hr": 3600, "hours": 3600, "d": 86_400, "days": 86_400},
    {"b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000},
    {"w": 1, "kw": 1000, "mw": 1_000_000, "gw": 1_000_000_000},
    {"wh": 1, "kwh": 1000, "mwh": 1_000_000, "gwh": 1_000_000_000},
)
_MEASURE = re.compile(r"([-+]?\d{1,15}(?:[.,]\d{1,9})?) ?([^\W\d_]{1,5})\.?")
_ORDINAL = re.compile(r"(\d{1,9})(?:st|nd|rd|th)", re.IGNORECASE)
_TIME = re.compile(r"(?:(\d{1,4}):)?(\d{1,4}):(\d\d)")
_CODE = re.compile(r"\d{1,9}[^\W\d_]{1,2}")


def measures_of(column: str, values: Sequence[str]) -> NumberTexts | None:
    """Return a column of texts as one of measures, None if a good part of them are none, or of several kinds.

    Args:
        column: Its name, in SQL.
        values: Some of its different values.
    """
    there = present(values)
    for read in (_ordinals, _times, _with_units):
        numbers, sql = read(column, there)
        if len(numbers) > 1 and len(numbers) >= FEWEST * len(there):
            rising = all(numbers[one] <= numbers[other] for one, other in pairwise(sorted(numbers)))
            ordered = rising and len(numbers) == len(values)
            return NumberTexts(sql, ordered=ordered, begun=read is _ordinals and len(numbers) == len(there))
    return None


def is_measure(text: str) -> bool:
    """Return whether a text is a measure of any kind."""
    there = [text.strip()]
    return any(read("", there)[0] for read in (_ordinals, _times, _with_units))


def begins_with_number(text: str) -> bool:
    """Return whether a text is a number with a letter or two behind it, such as the number of a house."""
    return _CODE.fullmatch(text.strip()) is not None


def _ordinals(column: str, texts: Sequence[str]) -> tuple[dict[str, float], str]:
    """Return the ordinals among texts as numbers, and the column as a number."""
    found = {one: match for one in texts if (match := _ORDINAL.fullmatch(one))}
    return {one: float(match[1]) for one, match in found.items()}, f"CAST(trim({column}) AS REAL)"


def _times(column: str, texts: Sequence[str]) -> tuple[dict[str, float], str]:
    """Return the times among texts in their smallest unit, and the column in it."""
    found = {one: match for one in texts if (match := _TIME.fullmatch(one))}
    numbers = {one: 3600.0 * int(of[1] or 0) + 60 * int(of[2]) + int(of[3]) for one, of in found.items()}
    colon = f"instr({column}, ':')"
    before, behind = f"substr({column}, 1, {colon} - 1)", f"substr({column}, {colon} + 1)"
    two = f"60 * CAST({before} AS REAL) + CAST({behind} AS REAL)"
    three = f"60 * ({two}) + CAST(substr({column}, -2) AS REAL)"
    if all(match[1] for match in found.values()):
        return numbers, f"({three})"
    mixed = f"CASE WHEN {column} LIKE '%:%:%' THEN {three} ELSE {two} END"
    return numbers, mixed if any(match[1] for match in found.values()) else f"({two})"


def _with_units(column: str, texts: Sequence[str]) -> tuple[dict[str, float], str]:
    """Return the numbers with units of one kind among texts in its base unit, and the column in it."""
    found = {one: match for one in texts if (match := _MEASURE.fullmatch(one))}
    units = {match[2].casefold() for match in found.values()}
    kind = next((one for one in _KINDS if units <= one.keys()), None)
    if kind is None or not units:
        return {}, ""
    numbers = {one: float(of[1].replace(",", ".")) * kind[of[2].casefold()] for one, of in found.items()}
    plain = f"replace({column}, ',', '.')" if any("," in one for one in found) else f"trim({column})"
    sizes = [(unit, kind[unit]) for unit in sorted(units, key=lambda one: (-len(one), one))]
    cases = " ".join(f"WHEN {column} LIKE '%{unit}' THEN {size:.15g}" for unit, size in sizes[:-1])
    size = f"CASE {cases} ELSE {sizes[-1][1]:.15g} END" if cases else f"{sizes[-1][1]:.15g}"
    return numbers, f"CAST({plain} AS REAL) * {size}"
