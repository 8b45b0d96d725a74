"""Cells to numbers, dates and missing values."""

import re
from collections.abc import Sequence
from datetime import date

MISSING = {"", "NA", "N/A", "n/a", "#N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>", "\\N"}
ALSO_MISSING_AMONG_NUMBERS = {
    "-",
    "--",
    "---",
    "?",
    ".",
    "..",
    "…",
    "*",
    "—",
    "–",
    "na",
    "Na",
    "unknown",
    "Unknown",
    "none",
}
EITHER = {"dmy", "mdy"}  # the forms of a date with a day of at most 12

_LONGEST = 400  # characters of a number with all its dress
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+|[+-]?\d{1,3}(\.\d{3}){2,}")
_POINTED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})?")
_DRESS = re.compile(r"^([+-]?)\s*[$€£¥]\s*|(?<!\s)\s*(%|[$€£¥])$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})([T ]\d{1,2}:\d\d.*)?")
_ISO_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_SLASHED = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})( \d{1,2}:\d\d.*)?")
_DAY_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[ -]([A-Za-z]{3,9})\.?,?[ -](\d{4})")
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")


def number(text: str, *, decimal_comma: bool = False) -> int | float | None:
    """Return the number shown by a cell, or None: thousands separators, currency signs and percents are dress."""
    if len(text) < 19 and text.isdecimal() and text.isascii():
        return int(text)
    bare = text if _PLAIN.fullmatch(text) else _undressed(text, decimal_comma)
    if not bare:
        return None
    if "." not in bare and "e" not in bare and "E" not in bare:
        value = int(bare) if len(bare) < 20 else 0
        return value if len(bare) < 20 and abs(value) < 2**63 else None
    value = float(bare)
    return value if abs(value) < 1e300 else None


def _undressed(text: str, decimal_comma: bool) -> str:
    """Return a number as Python writes it, nothing for other texts."""
    bare = text.strip()
    if len(bare) > _LONGEST:
        return ""
    bare = bare.replace("\u2212", "-").replace("\u00a0", "")
    if (bare and not bare[-1].isdigit()) or bare[:1] in "$€£¥+-":
        bare = _DRESS.sub(r"\1", bare)
    if decimal_comma and _COMMA.fullmatch(bare):
        bare = bare.replace(".", "").replace(",", ".")
    elif _GROUPED.fullmatch(bare):
        bare = bare.replace(",", "")
    return bare if _PLAIN.fullmatch(bare) else ""


def has_points_between_thousands(texts: Sequence[str]) -> bool:
    """Tell whether every number of a column is whole and written like 9.891 or 450, with a point somewhere."""
    bare = [_DRESS.sub(r"\1", text.strip()) for text in texts]
    return any("." in text for text in bare) and all(_POINTED.fullmatch(text) for text in bare)


def is_pointed(text: str) -> bool:
    """Tell whether a number is whole and written like 9.891 or 450."""
    return _POINTED.fullmatch(_DRESS.sub(r"\1", text.strip())) is not None


def is_code(text: str) -> bool:
    """Tell whether digits are a code rather than a quantity: 007."""
    bare = text.strip()
    return len(bare) > 1 and bare[0] == "0" and bare.isdigit()


def date_forms(text: str) -> set[str]:
    """Return the ways of reading a cell as a date: iso, dmy, mdy, words."""
    bare = text.strip()
    return {form for form in ("iso", "dmy", "mdy", "words") if iso_date(bare, form)}


def iso_date(text: str, form: str) -> str | None:
    """Return a date in ISO 8601, or None for a text of another form."""
    bare = text.strip()
    if form == "iso" and (found := _ISO_MONTH.fullmatch(bare)):
        return bare
    if form == "iso" and (found := _ISO.fullmatch(bare)):
        return _valid(found[1], found[2], found[3])
    if form in ("dmy", "mdy") and (found := _SLASHED.fullmatch(bare)):
        day, month = (found[1], found[2]) if form == "dmy" else (found[2], found[1])
        return _valid(found[3], month, day)
    if form == "words" and (found := _DAY_MONTH.fullmatch(bare)):
        return _valid(found[3], _month(found[2]), found[1])
    if form == "words" and (found := _MONTH_DAY.fullmatch(bare)):
        return _valid(found[3], _month(found[1]), found[2])
    return None


def _month(name: str) -> str:
    start = name[:3].lower()
    return str(_MONTHS.index(start) + 1) if start in _MONTHS else "0"


def _valid(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
