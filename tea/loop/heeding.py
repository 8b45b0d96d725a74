"""Warnings of results: unheeded by an answer of nothing, or ignored by one of something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from tea.loop.checks import ANSWER, numbers_stand_in
from tea.loop.claims import gives_up
from tea.loop.observation import Observation, clipped
from tea.loop.offer import DONE
from tea.types import Evidence, JsonValue, as_text

_MOST = 300  # characters of a warning
_LONGEST = 300  # characters of words that say there is nothing
_WARNING = "warning"
_MOST_CELLS = 400  # of a result, looked for in an answer
_LONGEST_CELL = 80
_NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*(?:[ \u00a0\u202f]\d{3}(?!\d))*(?:[.,]\d+)?")
_QUOTED = re.compile(r"""'((?:[^']|'')+)'|"([^"]+)\"""")
_ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)
_REMEDY = re.compile(
    r"\b(?:cast|replace|iso|julianday|distinct|not|left|exists|in|norm|lower|like|group)\b|<>|!=|\d\.0\b", re.IGNORECASE
)
_NOTHING = re.compile(
    r"\A\W*0+(?:[.,]0+)?(?![\d.,]*\d)|\b(?:no|none|nobody|nothing|never|zero|not (?:any|found))\b"
    r"|n(?:'|\u2019)t any\b|\b(?:keine?[mnrs]?|nichts|aucune?s?|rien|ning\u00fan|ninguna?|nada)\b",
    re.IGNORECASE,
)


def unheeded(results: Iterable[Observation], answer: JsonValue = None) -> str:
    """Return the warning of the last result, empty without one, or for an answer of something.

    Args:
        results: Results of calls, in their order.
        answer: The answer, None if there is none.

    Examples:
        >>> warned = {"rows": [], "warning": "nothing in city is 'oslo': did you mean 'Oslo'?"}
        >>> result = Observation(id="1", name="table_query", arguments={}, ok=True, value=warned)
        >>> unheeded([result], "There are no rows of Oslo.")
        "nothing in city is 'oslo': did you mean 'Oslo'?"
        >>> unheeded([result], "17")
        ''
    """
    last = next((one for one in reversed(list(results)) if one.ok and one.name != DONE), None)
    given: Any = None if last is None else last.value
    warning = cast("Mapping[str, Any]", given).get(_WARNING) if isinstance(given, Mapping) else None
    return clipped(warning, _MOST) if isinstance(warning, str) and _is_nothing(answer) else ""


class _Told(NamedTuple):
    """A result as it may support an answer.

    Args:
        result: The result.
        words: What it was asked, in words.
        cells: The values in its rows; of ordered ones in the first row.
        warning: Its warning, empty without one.
    """

    result: Observation
    words: str
    cells: Sequence[str]
    warning: str

    @classmethod
    def of(cls, result: Observation) -> _Told:
        """Look at a result."""
        value: Any = result.value
        members = cast("Mapping[str, Any]", value if isinstance(value, Mapping) else {})
        found: Any = members.get("rows")
        rows = cast("list[Any]", found) if isinstance(found, list) else []
        words = "\n".join(_texts(result.arguments))
        shown = rows[:1] if _ORDERED.search(words) else rows
        cells = [str(cell) for row in shown for cell in (cast("list[Any]", row) if isinstance(row, list) else [row])]
        warning = members.get(_WARNING) if rows else None
        return cls(result, words, cells[:_MOST_CELLS], warning if isinstance(warning, str) else "")

    def held(self, answer: str) -> list[str]:
        """Return the values in its rows named by an answer; none if both have numbers, and none in common."""
        plain = " ".join(one for one in self.cells if one[:1].isdigit() or one[:1] in "+-")
        said = _NUMBER.findall(answer)
        numbers = [one for one in said if plain and numbers_stand_in(one, plain)]
        if said and plain and not numbers:
            return []
        names = (one for one in dict.fromkeys(self.cells) if _is_name(one))
        return [*numbers, *(one for one in names if _stands_in(one, answer))]

    def holds(self, values: Iterable[str]) -> bool:
        """Return whether it shows all of some values."""
        text = self.result.text
        return all(_stands_in(one, text) or (one[0].isdigit() and numbers_stand_in(one, text)) for one in values)

    def rests_on(self, other: _Told) -> bool:
        """Return whether it was asked about a name in the rows of another."""
        names = "|".join(re.escape(one.replace("'", "''")) for one in other.cells if _is_name(one))
        chosen = rf"(?:(?<![<>!])=\s*|(?<!not )\bin\s*\([^)]*)'(?:{names})'"
        return bool(names) and re.search(chosen, self.words, re.IGNORECASE) is not None

    def heeds(self, warned: _Told) -> bool:
        """Return whether it asks otherwise about the names in a warning."""
        named = any(_stands_in(one, self.words) for one in _quoted(warned.warning))
        return named and (
            not isinstance(self.result.arguments.get("sql"), str) or _REMEDY.search(self.words) is not None
        )


def ignored(results: Iterable[Observation], answer: JsonValue, reason: str = "") -> list[Evidence]:
    """Return the doubt about an answer taken from a result with a warning; none if anything heeded it since.

    Args:
        results: Results of calls, in their order.
        answer: The answer.
        reason: The remark given with it; one about what the warning names heeds it.

    Examples:
        >>> warned = {"rows": [["Hamar"]], "warning": '"area" is text and compared letter by letter'}
        >>> result = Observation(id="1", name="table_query", arguments={}, ok=True, value=warned)
        >>> [one.doubt for one in ignored([result], "Hamar is the largest.")]
        ['"area" is text and compared letter by letter']
        >>> ignored([result], "Oslo is the largest.")
        []
    """
    told = [_Told.of(one) for one in results if one.ok and not one.repeated and one.name != DONE]
    said = as_text(answer)
    for at, warned in reversed(list(enumerate(told))):
        if warned.warning and _is_ignored(warned, told[at + 1 :], said, reason):
            return [Evidence(source=ANSWER, doubt=clipped(warned.warning, _MOST))]
    return []


def _is_ignored(warned: _Told, later: Sequence[_Told], said: str, reason: str) -> bool:
    """Return whether an answer rests on a result with a warning unheeded by it and by later results."""
    following = [one for one in later if one.rests_on(warned)]
    held = warned.held(said)
    if not held and not any(one.held(said) for one in following):
        return False
    fresh = [one for one in later if not one.warning and one not in following]
    if any(one.heeds(warned) or (held and one.holds(held)) for one in fresh):
        return False
    names = list(_quoted(warned.warning))
    left_out = any(_is_name(one) and one in warned.cells and not _stands_in(one, said) for one in names)
    return not (left_out or any(_stands_in(one, reason) or _speaks_of_row(one, said) for one in names))


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts in the arguments of a call."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _texts(one)


def _quoted(warning: str) -> Iterator[str]:
    """Yield the quoted names of a warning, of a column or a value."""
    return (one for pair in _QUOTED.findall(warning) if len(one := (pair[0] or pair[1]).strip()) > 1)


def _is_name(cell: str) -> bool:
    return 1 < len(cell) <= _LONGEST_CELL and not _NUMBER.fullmatch(cell) and cell not in ("None", "NULL")


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _speaks_of_row(name: str, text: str) -> bool:
    """Return whether a text speaks of the row with a name, such as a row left out."""
    row, name = r"(?:row|line|zeile|ligne)", re.escape(name)
    return re.search(rf"\b{row}\W{{1,3}}{name}\b|\b{name}\W{{1,3}}{row}", text, re.IGNORECASE) is not None


def _is_nothing(answer: JsonValue) -> bool:
    """Return whether an answer is zero, empty, or says there is nothing."""
    if not isinstance(answer, str):
        return not answer
    return gives_up(answer, "") or _NOTHING.search(answer[:_LONGEST]) is not None
