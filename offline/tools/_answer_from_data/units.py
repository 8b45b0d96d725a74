"""Units of measure and their sizes, so 5 kg fit a column in grams."""

from collections.abc import Sequence

from .tokens import stem

_SIZES: tuple[dict[str, float], ...] = (
    {"mg": 1, "g": 1e3, "gram": 1e3, "kg": 1e6, "kilo": 1e6, "kilogram": 1e6, "tonne": 1e9, "lb": 453592.37,
     "pound": 453592.37},
    {"mm": 1, "millimeter": 1, "millimetre": 1, "cm": 10, "centimeter": 10, "centimetre": 10, "m": 1e3, "meter": 1e3,
     "metre": 1e3, "km": 1e6, "kilometer": 1e6, "kilometre": 1e6, "mile": 1609344, "mi": 1609344, "foot": 304.8,
     "feet": 304.8, "ft": 304.8, "inch": 25.4},
    {"ms": 1e-3, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "hr": 3600, "h": 3600,
     "day": 86400, "week": 604800}
)  # fmt: skip


def converted(number: int | float, unit: str, words: Sequence[str]) -> int | float:
    """Return a number in the unit of a column's name, or unchanged if either unit is unknown."""
    if not words or len(words) < 2:
        return number
    for sizes in _SIZES:
        by_stem = {stem(name): size for name, size in sizes.items()}
        said, held = by_stem.get(stem(unit.lower())), by_stem.get(words[-1])
        if said and held:
            value = round(number * said / held, 9)
            return int(value) if value == int(value) else value
    return number
