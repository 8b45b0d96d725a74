"""The sure facts in the head of a table, and its values as mere examples of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from tea.types import JsonValue

CUT = "\u2026"
LEAST_NAME = 4  # letters of a small word that names a value
_COLUMN = re.compile(r'(?P<name>"(?:[^"]|"")*"|\S+) (?P<type>\w+)(?P<rest>.*?)(?:: (?P<values>.*))?', re.DOTALL)
_VALUE = re.compile(r"'(?:[^']|'(?!, |$))*'|[^,\s][^,]*")
_NUMBER = re.compile(r"[-+]?[\d.,]+")
_DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?)?")
_TOKEN = re.compile(r"\w+")
_TRUTH = {"yes", "no", "true", "false", "y", "n", "t", "f"}  # an answer of these words is none of the examples


class Listed(NamedTuple):
    """Values of a column in a head.

    Args:
        values: Those shown.
        all: Whether the column has no others.
    """

    values: tuple[str, ...] = ()
    all: bool = False


class Column(NamedTuple):
    """A column in a head.

    Args:
        name: Its name in SQL.
        line: All that is said of it without its values.
        type: Its type.
        listed: Values of it.
    """

    name: str
    line: str
    type: str = ""
    listed: Listed = Listed()

    @classmethod
    def of(cls, line: str) -> Column:
        """Read the line of a column."""
        found = _COLUMN.fullmatch(line)
        if found is None:
            return cls(line, line)
        values = [one.strip() for one in _VALUE.findall(found["values"] or "")]
        shown = tuple(one.strip("'") for one in values if not one.strip("'").endswith(CUT))
        head = line if found["values"] is None else line[: found.start("values") - 2]
        return cls(found["name"], head, found["type"], Listed(shown, all=0 < len(values) == len(shown)))


def told(columns: Sequence[Column], *, whole: bool = True) -> list[str]:
    """Return the sure facts about the columns of a table: names, types, numbers of them, and single values.

    Args:
        columns: Those in the head.
        whole: Whether the table has no others, so that they can be counted.
    """
    lines = [f"- {_with_value(one)}" for one in columns]
    missing = [one.name for one in columns if " missing" in one.line]
    types = {kind: [one.name for one in columns if one.type == kind] for kind in dict.fromkeys(c.type for c in columns)}
    groups = {"columns": [one.name for one in columns], **types, "with missing values": missing}
    counted = [f"{len(names)} {kind}: {', '.join(names)}" for kind, names in groups.items()] if whole else []
    values = [f"{one.name}: {_extent(one.listed.values)}" for one in columns if one.listed.all]
    return [*lines, *counted, *values]


def shared_years(listed: Iterable[Listed]) -> list[str]:
    """Return the years common to all shown days of a column.

    Args:
        listed: Values of columns.

    Examples:
        >>> shared_years([Listed(("2025-07-08", "2025-08-19")), Listed(("2024-01-01", "2025-01-01"))])
        ['2025']
    """
    days = [one.values for one in listed if len(one.values) > 1 and all(map(_DAY.fullmatch, one.values))]
    years = [{day[:4] for day in some} for some in days]
    return [year for some in years if len(some) == 1 for year in some]


def picked(answer: JsonValue, listed: Iterable[Listed], others: str) -> list[str]:
    """Return the values of an answer found only in lists, except for complete lists named as a whole.

    Args:
        answer: The answer.
        listed: Values of columns.
        others: All else that was told and read.
    """
    texts, before = list(_leaves(answer)), _tokens(others.casefold())
    found = list[str]()
    for one in listed:
        named = [value for value in one.values if any(_is_in(value, text) for text in texts)]
        if len(named) < len(one.values) or not one.all:
            found += [value for value in named if _tokens(value.casefold()) not in before]
    return list(dict.fromkeys(found))


def named_whole(answer: JsonValue, listed: Iterable[Listed]) -> list[str]:
    """Return the values of columns with all values listed and named by an answer, of numbers the first and the last."""
    words = " ".join(_leaves(answer)).casefold()
    found = list[str]()
    for one in (each for each in listed if each.all):
        numbers = sorted((value for value in one.values if _NUMBER.fullmatch(value)), key=_size)
        ends = [numbers[0], numbers[-1]] if len(numbers) == len(one.values) else one.values
        if all(_tokens(value.casefold()) in _tokens(words) for value in ends):
            found += one.values
    return found


def of_named(words: str, listed: Iterable[Listed]) -> dict[str, Listed]:
    """Return the values named by words, each with its column of several; a short word in small letters names none.

    Examples:
        >>> of_named("How many are in Braga?", [Listed(("Braga", "Faro"), all=True), Listed(("in", "out"))])
        {'Braga': Listed(values=('Braga', 'Faro'), all=True)}
    """
    said, columns = _tokens(words.casefold()), [one for one in listed if len(one.values) > 1]
    named = ((value, one) for one in columns for value in one.values if _is_name(value))
    return {value: one for value, one in named if _tokens(value.casefold()) in said}


def _is_name(value: str) -> bool:
    """Return whether a value is no number, no yes or no, and no short word of small letters."""
    plain = _NUMBER.fullmatch(value) or value.casefold() in _TRUTH or (value.islower() and len(value) < LEAST_NAME)
    return len(value) > 1 and not plain


def _extent(values: Sequence[str]) -> str:
    """Return how many values there are, and of numbers and days the least and the greatest."""
    count = f"{len(values)} values"
    of_days = all(map(_DAY.fullmatch, values))
    if len(values) == 1 or not (of_days or all(map(_NUMBER.fullmatch, values))):
        return count
    order = sorted(values) if of_days else sorted(values, key=_size)
    return f"{count}, {order[0]} to {order[-1]}"


def _with_value(one: Column) -> str:
    """Return the line of a column, with its value if all rows have the same."""
    return f"{one.line}: {one.listed.values[0]}" if one.listed.all and len(one.listed.values) == 1 else one.line


def _size(number: str) -> float:
    try:
        return float(number.replace(",", ""))
    except ValueError:
        return 0.0


def _leaves(value: JsonValue) -> Iterator[str]:
    if isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            yield from _leaves(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _is_in(value: str, text: str) -> bool:
    """Return whether a text is a value, or names it; a word in small letters may mean anything in a longer text."""
    if _NUMBER.fullmatch(value) or value.casefold() in _TRUTH:
        return False
    if _tokens(value.casefold()) == _tokens(text.casefold()):
        return True
    return len(value) > 1 and not (value.isalpha() and value.islower()) and _tokens(value) in _tokens(text)


def _tokens(text: str) -> str:
    """Return the words of a text with a space around each."""
    return f" {' '.join(_TOKEN.findall(text))} "
