"""Numbers as texts: how a column of them is written, and what makes numbers of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from .numbers import ALSO_MISSING_AMONG_NUMBERS, MISSING

_MISSING = MISSING | ALSO_MISSING_AMONG_NUMBERS
FEWEST = 0.8  # share of the values of a column of numbers that are numbers
_LONGEST = 60  # characters of a number with all its dress
_SPACES, _QUOTES = " \u00a0\u2009\u202f", "'’"
_ALIKE = str.maketrans("\u00a0\u2009\u202f’−€‰", "   '-$%")  # wide signs in a pattern would take long to compile
_MONEY = r"(?:[$£¥]|kr\.?|NOK|SEK|DKK|EUR|USD|GBP|CHF) ?"
_UNIT = r" ?(?:[%$£¥]|[^\W\d_]++(?:/[^\W\d_]++)?[23²³]?\.?)"
_HEAD = rf"(?P<open>\()?[-+]?(?P<money>{_MONEY})?[-+]?(?:[1-9]\d?\d?(?:["
_MIDDLE = r"]\d\d\d)++|\d++)(?:["
_TAIL = rf"]\d++)?(?P<unit>{_UNIT})?(?(open)\))"
_SPACED = re.compile(rf"{_HEAD} '{_MIDDLE}.{_TAIL}")
_WITH_COMMAS = re.compile(rf"{_HEAD} ',{_MIDDLE}.{_TAIL}")
_WITH_POINTS = re.compile(rf"{_HEAD} '.{_MIDDLE},{_TAIL}")
_MIXED = re.compile(rf"{_HEAD} '{_MIDDLE}.,{_TAIL}")
_STYLES = (  # with what may stand between thousands, and before decimals
    (_SPACED, f"{_SPACES}{_QUOTES}", "."),
    (_WITH_COMMAS, f"{_SPACES}{_QUOTES},", "."),
    (_WITH_POINTS, f"{_SPACES}{_QUOTES}.", ","),
    (_MIXED, f"{_SPACES}{_QUOTES}", ".,"),
)
_PLAIN = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[-+]?\d++)?", re.IGNORECASE)
_ZEROS = {"k": 3, "tsd": 3, "mill": 6, "mio": 6, "mn": 6, "bn": 9, "mrd": 9}


@dataclass(frozen=True, slots=True)
class NumberTexts:
    """A column of numbers as texts.

    Args:
        number: The column as a number, in SQL; empty if no few replacements make one of it.
        ordered: Whether the order of the texts is that of the numbers.
        begun: Whether each text begins with its number, and so counts as it.
    """

    number: str
    ordered: bool
    begun: bool = False


class _Read(NamedTuple):
    """A number as a text, with its sign of money and its unit."""

    text: str
    money: str
    unit: str


def number_texts_of(column: str, values: Sequence[str]) -> NumberTexts | None:
    """Return a column of texts as one of numbers, None if a good part of them are none.

    Args:
        column: Its name, in SQL.
        values: Some of its different values.
    """
    there = present(values)
    read = [(_read(pattern, there), between, point) for pattern, between, point in _STYLES]
    found, between, point = max(read, key=lambda one: len(one[0]))
    units = {one.unit for one in found if one.unit}
    words = {_word(one) for one in units if not _zeros(one)}
    if len(found) < 2 or len(found) < FEWEST * len(there) or len(words) > 1:
        return None
    scales = {_zeros(one) for one in units} - {0}
    scaled = len(scales) > 1 or not all(one.unit for one in found)
    behind = {one: f"e{_zeros(one)}" if scaled and _zeros(one) else "" for one in units}
    replaced = _replacements(found, behind, between, point)
    plain = [_replaced(one.text, replaced) for one in found]
    if (words and scales) or not all(_PLAIN.fullmatch(one.strip()) for one in plain):
        return NumberTexts("", ordered=False)
    numbers = {one.text: float(text) for one, text in zip(found, plain, strict=True)}
    rising = all(numbers[one] <= numbers[other] for one, other in pairwise(sorted(numbers)))
    number = column
    for old, new in replaced:
        number = f"replace({number}, {_in_sql(old)}, {_in_sql(new)})"
    return NumberTexts(f"CAST({number} AS REAL)", ordered=rising and len(found) == len(values))


def present(values: Sequence[str]) -> list[str]:
    """Return values without the missing ones, and without blanks around them."""
    return [one.strip() for one in values if one.strip() not in _MISSING]


def is_number(text: str) -> bool:
    """Return whether a text is a number in any of its ways of writing."""
    return any(_read(pattern, [text.strip()]) for pattern, _, _ in _STYLES)


def _read(pattern: re.Pattern[str], texts: Sequence[str]) -> list[_Read]:
    """Return the texts written in a style."""
    found = ((one, pattern.fullmatch(one.translate(_ALIKE))) for one in texts if len(one) <= _LONGEST)
    return [
        _Read(one, one[slice(*match.span("money"))], one[slice(*match.span("unit"))]) for one, match in found if match
    ]


def _word(unit: str) -> str:
    return unit.strip().strip(".").casefold()


def _zeros(unit: str) -> int:
    """Return how many zeros a unit stands for."""
    return 6 if unit.strip() == "M" else _ZEROS.get(_word(unit), 0)


def _replacements(found: Sequence[_Read], units: dict[str, str], between: str, point: str) -> list[tuple[str, str]]:
    """Return the replacements that make plain numbers of texts, the longest before its parts."""
    before = dict.fromkeys((one.money for one in found if one.money), "")
    dress = sorted({**before, **units}.items(), key=lambda one: (-len(one[0]), one))
    if any(one.text[0] == "(" for one in found):
        dress += [("(", "-"), (")", "")]
    left = set("".join(_replaced(one.text, dress) for one in found))
    signs = [("−", "-")] if "−" in left else []
    thousands = [(one, "") for one in between if one in left]
    points = [(one, ".") for one in point if one in left and one != "."]
    return [*dress, *signs, *thousands, *points]


def _replaced(text: str, replaced: Sequence[tuple[str, str]]) -> str:
    for old, new in replaced:
        text = text.replace(old, new)
    return text


def _in_sql(text: str) -> str:
    """Return a text in SQL; blanks that look like a space by their number."""
    if len(text) == 1 and text in _SPACES[1:]:
        return f"char({ord(text)})"
    return "'" + text.replace("'", "''") + "'"
