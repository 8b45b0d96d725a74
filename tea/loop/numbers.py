"""Numbers of a proposed answer: those found in the results, and those following from them by simple arithmetic."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import Any, NamedTuple, TypeGuard, cast

from tea.loop.checks import numbers_in
from tea.loop.dates import dates_apart, dates_of, spans, years_between, years_of
from tea.loop.derived import (
    LARGEST,
    Numbers,
    Rows,
    closely,
    converted,
    holds,
    holds_surely,
    loosely,
    numbers_of,
    simply,
)
from tea.loop.number_words import numbers_in_words
from tea.loop.working import worked
from tea.models.rendering import rendered
from tea.types import JsonValue

MOST_FEW = 40  # numbers of a result that are combined with others
MOST_TOGETHER = 8  # of which each two are
MOST_SAID = 3  # a number that stands in words for itself: one of them, the first two
MOST_LOOKED = 200  # rows of a table in which named ones are sought
MOST_WORDS = 200  # words of a question and its answer that are counted in texts
MOST_READ = 2_000_000
MOST_ANSWER = 20_000
_FIRST = 1500  # of years
LEAST_CONVERTED = 100
_SCALES = (1e3, 1e6, 1e9)
_PERCENT = re.compile(r"\s?(?:%|pct\b|per\s?cent|percentage|prozent|procent|pour\s?cent|por\s?cien)", re.IGNORECASE)
_TIMES = re.compile(r"[\s-]?(?:times|fold|x|\u00d7|mal|fach|fois|veces|volte|vezes|keer|ganger)\b", re.IGNORECASE)
_SCALE = re.compile(r"\s?(?:k|thousand|tausend|mille|million|mio|mill|billion|mrd|milliard)", re.IGNORECASE)
_SHARE = re.compile(r"%|pct|per\s?cent|prozent|procent|pour\s?cent|por\s?cien|share|rate|proportion", re.IGNORECASE)
_SQUARE = re.compile(r"\br\s?(?:²|\^?2\b)|squared\b|varian[cz]|bestimmtheit|quadrat", re.IGNORECASE)
_YEARS = re.compile(r"\b(?:years?|old|age|ago|jahre?n?|alt|ans|a\u00f1os)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"https?://\S+|\[\d{1,4}\]|\b\d{1,2}:\d{2}(?::\d{2})?\b|^[^\S\n]*(?:[-*+]\s+)?\d{1,3}[.)]\s"
    r"|\b\d+(?:[.,]\d+)?\s?(?:e[-+]?\d+|[x\u00d7*]\s?10\^?[-+]?\d+)|(?<![\w.])\d+(?:\.\d+){2,}(?!\.?\d)|\w+@\S+",
    re.MULTILINE | re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_FENCE, _OF_VALUES = re.compile(r"^```(\w*)(.*?)^```", re.DOTALL | re.MULTILINE), ("json", "tsv")
_NUMBER = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:[ ,.'\u2019_]\d{3}(?!\d))+|\d+)(?:[.,]\d+)?(?![^\W\d]*\d)"  # no year before a number
)
_MINUS = re.compile(r"(?:^|[\s(=:])[-\u2212]\Z")
_SPACED = re.compile(r"[-+]?[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?")
_BLANK = re.compile(r"[ \u00a0\u2009\u202f](?<=\d.)(?=\d{3}(?!\d))")
_GROUPED = re.compile(r"(?<=\d)[ ,.'\u2019_](?=\d{3}(?!\d))")
_COMMA, _DOTTED = re.compile(r",(?<=\d,)(?=\d)"), re.compile(r"\.(?<=\d\.)(?=\d{3}(?!\d))")
_AGE = re.compile(r"\b(?:old|ages?|aged|full|completed?|years?|alt|Jahren?|ans|a\u00f1os|anni)\b", re.IGNORECASE)
_JUDGED = {"confidence", "certainty", "probability", "likelihood", "rating"}  # an answer says so of itself
_CELLS = re.compile(r"\s*[,;|\t]\s*|\s{2,}")
_DATED = re.compile(
    r"(?<![\w.])(?:(?:1[5-9]|20)\d\d[-/](?:0?[1-9]|1[0-2]|[QW]\d{1,2})(?:[-/]\d{1,2})?(?:[T ]\d\d:\d\d(?::\d\d)?)?"
    r"|\d{1,2}([./-])\d{1,2}\1(?:\d\d)?\d\d)(?!\d)"
)
_LABEL = re.compile(r"(?![A-Z]{3}\b)[^\W\d_]+[ _#.-]{1,2}\d{1,4}")  # such as Room 12, unlike EUR 12
_LABELS = re.compile(
    r"(?:.*[_ ])?(?:id|nr|no|code|zip)|year|quarter|month|week|weekday|day|hour|rank|jahr|monat|tag", re.IGNORECASE
)
_WORD, _DIGITS = re.compile(r"\w+"), re.compile(r"\d+")


class _Reading(NamedTuple):
    """A possible value of a written number, and half of the unit of its last digit."""

    value: float
    near: float


def unfounded(
    answer: JsonValue,
    asked: str,
    read: Iterable[JsonValue],
    stated: str = "",
    *,
    wording: bool = True,
    queried: Sequence[str] = (),
    today: str = "",
) -> list[str]:
    """Return the numbers of an answer found nowhere, and following from nothing read by simple arithmetic.

    Roundings, percentages, sums and means of columns and groups, and what these differ by, days between dates, counts
    of what was read, and the sum, difference, product and quotient of two numbers follow: of what question and answer
    name for sure, of all else where a number of as many digits would hardly follow by chance. So does what the answer
    itself works out from known numbers. It is a doubt and no proof.

    Args:
        answer: The answer.
        asked: The question in words.
        read: Values of results, and texts shown whole.
        stated: Other words with numbers that need no source.
        wording: Whether small numbers among several count as part of the wording.
        queried: Tables shown whole and queried besides; of them only what columns and named rows give follows.
        today: The date of the run, `2026-05-03`; its year is a number, its month and day are none.
    """
    if not any(_wanted(answer)):
        return []
    values = list(read)
    texts = "\n".join([asked, stated, today[:4], *queried, *map(rendered, values)])[:MOST_READ]
    dates = dates_of(f"{today}\n{texts}")
    known = sorted({abs(one) for one in _all_numbers(texts)})
    wanted = [each for one in _wanted(answer, {*dates}) for each in _apart(one, known)]
    of_years = (
        {*years_between(texts), *years_of(dates), *_years_until(f"{stated}\n{today}", values, asked, answer)}
        if _YEARS.search(f"{asked}\n{rendered(answer)}"[:MOST_ANSWER])
        else set[float]()
    )
    found = _Found.of(answer, asked, values, stated, [*spans(dates), *of_years], queried)
    several = wording and len(wanted) > 1
    aged = _AGE.search(f"{asked}\n{rendered(answer)}"[:MOST_ANSWER]) is not None
    left = [one for one in wanted if not (_stands(one, known, aged) or _is_said(one, several, len(wanted)))]
    for _ in range(2):  # what follows from a derived number follows too
        own = [each for one in wanted if one not in left for each in _meant(one, known)]
        left = found.without(left, own) if left else left
    left = _not_worked(left, rendered(answer)[:MOST_ANSWER]) if left else left
    return list(dict.fromkeys(one.text for one in left))


def numbers_following(answer: JsonValue, text: str) -> list[str]:
    """Return the numbers of an answer given by a sum, a difference or a share of two numbers of a text.

    Each digit counts, also zeros at the end. Those of the answer itself that the text says count for sure, and what
    follows from them; others where a number of as many digits would hardly follow by chance.

    Args:
        answer: The answer.
        text: What it rests on.

    Examples:
        >>> numbers_following("It grew from 140 to 162, by 22 or 15.7 %, not by 23.", "First 140, then 162.")
        ['22', '15.7']
    """
    known = sorted({abs(one) for one in _all_numbers(text[:MOST_READ])})
    left = [one.exact for one in _wanted(answer, {*dates_of(rendered(answer)[:MOST_ANSWER])})]
    own, found, far = list[float](), list[str](), simply(known)
    for one in [*left]:
        if standing := [value for value, _ in one.readings if holds(known, value, 0)]:
            own += standing
            left.remove(one)
    for _ in range(2):
        near, new = simply(own), list[_Wanted]()
        for one in left:
            if one.follows(near, by_chance=False) or one.follows(far, by_chance=True):
                new.append(one)
        left = [one for one in left if one not in new]
        found += [one.text for one in new]
        own += [value for one in new for value, _ in one.readings]
    return list(dict.fromkeys(found))


class _Wanted(NamedTuple):
    """A number of an answer."""

    text: str
    readings: tuple[_Reading, ...]
    is_value: bool = False
    is_share: bool = False
    is_quotient: bool = False
    is_scaled: bool = False

    @property
    def is_small(self) -> bool:
        """Whether it has too few digits to be told from another number in another unit."""
        return all(one.value < LEAST_CONVERTED and one.near >= 0.5 for one in self.readings)

    @property
    def exact(self) -> _Wanted:
        """This number with zeros at its end as digits."""
        return self._replace(readings=tuple(_Reading(value, min(near, 0.5)) for value, near in self.readings))

    def follows(self, numbers: Numbers, *, by_chance: bool, shares: bool = False) -> bool:
        """Return whether it is among derived numbers.

        Args:
            numbers: These.
            by_chance: Whether it is refused where one of as many digits would often be among them by chance.
            shares: Whether it may be a percentage that is not marked as such.
        """
        return any(
            numbers.give(
                value,
                near,
                is_share=self.is_share,
                may_be_share=shares or not value.is_integer(),
                by_chance=by_chance,
                is_quotient=self.is_quotient,
                is_scaled=self.is_scaled,
            )
            for value, near in self.readings
        )


class _Found(NamedTuple):
    """The read results as tables and numbers.

    Args:
        tables: The tables.
        read: How many of them are results; others were queried.
        named: For each the rows that question or answer name.
        single: Results of one number.
        together: Those of each result of very few.
        few: Numbers of small results.
        asked: Numbers of the question, none of an address.
        stated: The numbers stated besides, none of an address.
        spans: Days between dates.
        counts: Counts of members, lines and words of what was read.
        shares: Whether question or answer speak of shares.
    """

    tables: Sequence[Rows]
    read: int
    named: Sequence[Sequence[int]]
    single: list[float]
    together: list[list[float]]
    few: list[float]
    asked: list[float]
    stated: list[float]
    spans: list[float]
    counts: list[float]
    shares: bool
    squares: list[float]

    @classmethod
    def of(
        cls,
        answer: JsonValue,
        asked: str,
        values: Sequence[JsonValue],
        stated: str,
        days: Sequence[float],
        queried: Sequence[str],
    ) -> _Found:
        """Look at the read results."""
        words = f"{asked}\n{rendered(answer)}"[:MOST_ANSWER]
        single, together, few = list[float](), list[list[float]](), list[float]()
        for value in values:
            operands = _operands(value)
            if any(_with_spaced(rows) is not rows for rows in _tables(value)):
                operands = _BLANK.sub("", operands)
            numbers = list(dict.fromkeys(map(abs, _all_numbers(operands))))
            few += numbers if len(numbers) <= MOST_FEW else ()
            single += numbers if len(numbers) == 1 else ()
            together += [numbers] if 1 < len(numbers) <= MOST_TOGETHER else []
        read = [rows for value in values for rows in _tables(value) if rows]
        tables = [*read, *(rows for text in queried for rows in _tables(text) if rows)]
        tables = [_with_spaced(rows) for rows in tables]
        tokens, numbers = _tokens(words), {abs(one) for one in _all_numbers(words)}
        return cls(
            tables=tables,
            read=len(read),
            named=[_named(rows, tokens, numbers) for rows in tables],
            single=single,
            together=together,
            few=few,
            stated=list(dict.fromkeys(map(abs, _all_numbers(_ADDRESS.sub(" ", stated))))),
            asked=list(dict.fromkeys(map(abs, _all_numbers(_ADDRESS.sub(" ", asked))))),
            spans=sorted(days),
            counts=sorted({float(one) for value in values for one in _counts(value, words)} | _alike(values)),
            shares=_SHARE.search(words) is not None,
            squares=[one * one for one in {*single, *chain(*together)} if 0 < one < 1] if _SQUARE.search(words) else [],
        )

    def without(self, left: Sequence[_Wanted], own: Sequence[float]) -> list[_Wanted]:
        """Return the numbers following from nothing read.

        Args:
            left: The numbers.
            own: Other numbers of the answer, which stand or follow.
        """
        numbers = [*self.single, *self.asked, *own] if self.few or self.tables else []
        together = [*self.together, list(dict.fromkeys(own))[:MOST_TOGETHER]]  # those of the answer stand together
        near = closely(self.tables, self.named, numbers, together, [*self.asked, *own], self.read)
        near = near._replace(
            values=sorted({*near.values, *self.counts, *self.spans, *self.squares}),
            shares=sorted({*near.shares, *self.squares}),
        )
        left = [one for one in left if not one.follows(near, by_chance=False, shares=self.shares)]
        far = (
            loosely(self.tables[: self.read], [*self.few, *numbers], self.stated)
            if left and self.few
            else Numbers([], [])
        )
        other = converted(self.few) if left and self.few else Numbers([], [])
        left = [one for one in left if not one.follows(far, by_chance=True, shares=self.shares)]
        return [one for one in left if one.is_small or not one.follows(other, by_chance=True, shares=self.shares)]


def _years_until(stated: str, values: Sequence[JsonValue], asked: str, answer: JsonValue) -> set[float]:
    """Return the years to dates stated besides, such as today, from those of named rows and the extreme ones."""
    ends = {one.year for one in dates_of(stated)}
    words = f"{asked}\n{rendered(answer)}"[:MOST_ANSWER]
    tokens, found = _tokens(words), set[float]()
    for rows in (rows for value in values for rows in _tables(value) if rows and ends):
        for column in zip(*rows, strict=False):
            years = [one for one in numbers_of(column) if one.is_integer() and _FIRST <= one <= max(ends)]
            named = [column[at] for at in _named(rows, tokens, set())]
            found |= {min(years), max(years), *(one for one in named if one in years)} if years else set()
    return {end - one for end in ends for one in found} if len(ends) <= MOST_SAID else set()


def _named(rows: Rows, words: str, numbers: set[float]) -> list[int]:
    """Return the rows with a name, or a number used as one, among the words."""
    found = list[int]()
    for at, row in enumerate(rows[:MOST_LOOKED]):
        texts = [one for one in row if isinstance(one, str) and _WORD.search(one)]
        if any(_tokens(one) in words for one in texts) or not numbers.isdisjoint(numbers_of(row[:1])):
            found.append(at)
    return found


def _counts(value: JsonValue, words: str) -> Iterator[int]:
    """Yield how many members, lines and words a value has, and how often each of some words is in it."""
    if isinstance(value, str):
        text = value[:MOST_READ]
        yield from (len(_WORD.findall(text)), sum(1 for line in text.splitlines() if line.strip()))
        tokens = Counter(_WORD.findall(text.casefold()))
        yield from (tokens[one] for one in list(dict.fromkeys(_WORD.findall(words.casefold())))[:MOST_WORDS])
    elif isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).values()
        yield len(members)
        for one in members:
            yield from _counts(one, words) if isinstance(one, list | dict | str) else ()
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        yield len(items)
        for one in items[:MOST_LOOKED]:
            yield from _counts(one, words) if isinstance(one, list | dict) else ()


def _alike(values: Sequence[JsonValue]) -> set[float]:
    """Return how many results are the same short value each, such as true."""
    short = [one for one in values if isinstance(one, bool | int | float) or (isinstance(one, str) and "\n" not in one)]
    return {float(one) for one in Counter(map(rendered, short)).values()} if len(short) > 1 else set()


def _tokens(text: str) -> str:
    """Return the words of a text in small letters, with a space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _apart(one: _Wanted, known: Sequence[float]) -> list[_Wanted]:
    """Return the numbers of a row, first read as one number with its thousands apart, if each is known for sure."""
    parts = one.text.split(" ") if _NUMBER.fullmatch(one.text) else []
    row = [_Wanted(each, tuple(_readings(each))) for each in parts]
    if len(row) < 2 or any(holds(known, value, near) for value, near in one.readings):
        return [one]
    first, *others = (each.readings[0].value for each in row)
    listed = holds(known, first, 0) and all(holds(known, one, 0) and holds_surely(known, one, 0.5) for one in others)
    return row if listed else [one]


def _meant(one: _Wanted, known: Sequence[float]) -> list[float]:
    """Return the values of a number found or derived: of several readings the found ones."""
    standing = [value for value, near in one.readings if holds(known, value, near)]
    return standing or [value for value, _ in one.readings]


def _wanted(answer: JsonValue, known: Container[date] = ()) -> Iterator[_Wanted]:
    """Yield the numbers of an answer, without its judgements; those alone in a member of it are values.

    Args:
        answer: The answer.
        known: The known dates, whose parts are not numbers.
    """
    if isinstance(answer, Mapping):
        for name, one in cast("Mapping[str, Any]", answer).items():
            yield from _wanted(one, known) if name.casefold() not in _JUDGED else ()
    elif isinstance(answer, list):
        for one in cast("list[Any]", answer):
            yield from _wanted(one, known)
    elif isinstance(answer, int | float) and not isinstance(answer, bool) and _is_usual(answer):
        text = (f"{answer:.12f}".rstrip("0") if "e" in repr(answer) else repr(answer)).removesuffix(".0")
        yield _Wanted(text, tuple(_readings(text.lstrip("-"))), is_value=True)
    elif isinstance(answer, str):
        text, dates = dates_apart(answer[:MOST_ANSWER], known)
        for one in dates:  # named as a whole where a part of it is unknown
            yield from (_Wanted(one, tuple(_readings(part))) for part in _DIGITS.findall(one))
        plain = unicodedata.normalize("NFKC", _ASIDE.sub(" ", _FENCE.sub(_unfenced, text)))
        for match in _NUMBER.finditer(plain):
            behind = (one.match(plain, match.end()) is not None for one in (_PERCENT, _TIMES, _SCALE))
            sign = "-" if _MINUS.search(plain, 0, match.start()) else ""
            yield _Wanted(sign + match[0], tuple(_readings(match[0])), False, *behind)


def _unfenced(block: re.Match[str]) -> str:
    """Return the inside of a fence with values, and nothing of code."""
    kind, inside = block[1].casefold(), block[2]
    if kind == "csv":
        return inside.replace(",", ", ")
    return inside if kind in _OF_VALUES or (not kind and inside.lstrip().startswith(("[", "{"))) else " "


def _readings(text: str) -> Iterator[_Reading]:
    """Yield the possible values of a number: a mark before three digits may group them or begin a fraction."""
    whole = _GROUPED.sub("", text)
    for one in dict.fromkeys((whole, re.sub(r"[ '\u2019_]", "", text).replace(",", "."))):
        number, point, fraction = one.replace(",", ".").partition(".")
        if "." in fraction or not _is_usual(float(number)):
            continue
        zeros = len(number) - len(number.rstrip("0")) if not point and len(number) > 2 else 0
        near = 0.5 * 10.0 ** (-len(fraction) if point else zeros if zeros > 1 else 0)
        yield _Reading(float(f"{number}.{fraction or 0}"), near * (1 + 1e-9))


def _all_numbers(text: str) -> Iterator[float]:
    """Yield the numbers of a text, in each way of marking thousands and fractions, and those in words."""
    yield from filter(_is_usual, numbers_in(text))
    yield from numbers_in_words(text)
    if "," in text:
        yield from filter(_is_usual, numbers_in(_COMMA.sub(".", _DOTTED.sub("", text))))


def _is_usual(number: float) -> bool:
    """Return whether a number is not too large to be calculated with."""
    return abs(number) <= LARGEST


def _stands(wanted: _Wanted, numbers: Sequence[float], aged: bool) -> bool:
    """Return whether a number occurs, as it is, rounded, as a percentage, or of an age as its full years."""
    for value, near in wanted.readings:
        if holds(numbers, value, near) or (wanted.is_share and holds(numbers, value / 100, near / 100)):
            return True
        if aged and value.is_integer() and holds(numbers, value + 0.5, 0.4999):
            return True
        if any(holds_surely(numbers, value * scale, near * scale) for scale in (*_SCALES, 0.01)):
            return True
    return False


def _not_worked(left: Sequence[_Wanted], answer: str) -> list[_Wanted]:
    """Return the numbers not calculated from known ones by arithmetic written out in an answer."""
    unknown = {reading.value for one in left for reading in one.readings}
    sums = sorted(abs(one.value) for one in worked(answer) if unknown.isdisjoint(one.operands))
    return [one for one in left if not any(holds(sums, value, near) for value, near in one.readings)]


def _is_said(wanted: _Wanted, several: bool, most: int) -> bool:
    """Return whether a number is part of the wording, such as a small count or the number of a list item."""
    value = min((each.value for each in wanted.readings), default=0.0)
    return value.is_integer() and several and not wanted.is_share and value <= (most if wanted.is_value else MOST_SAID)


def _operands(value: JsonValue) -> str:
    """Return the numbers of a value to calculate with in a text: of a query its rows alone, no dates, no labels."""
    if not isinstance(value, Mapping) or "rows" not in value:
        return _DATED.sub(" ", rendered(value)[:MOST_READ])
    members = cast("Mapping[str, Any]", value)
    rows: Any = members["rows"]
    columns: Any = members.get("columns")
    if _is_rows(rows) and isinstance(columns, list):
        kept = [at for at, name in enumerate(cast("list[Any]", columns)) if not _LABELS.fullmatch(str(name))]
        cells = (str(row[at]) for row in rows for at in kept or range(len(row)) if at < len(row))
        rows = [one for one in cells if not _LABEL.fullmatch(one)]
    return _DATED.sub(" ", rendered(rows)[:MOST_READ])


def _is_rows(value: Any) -> TypeGuard[list[list[Any]]]:
    return isinstance(value, list) and all(isinstance(one, list) for one in cast("list[Any]", value))


def _tables(value: JsonValue) -> Iterator[list[list[Any]]]:
    """Yield the tables of a value as rows: given as such, as objects with the same members, as lists, or as lines."""
    if isinstance(value, str):
        lines = [_CELLS.split(line.strip()) for line in value[:MOST_READ].splitlines()]
        width, _ = Counter(map(len, lines)).most_common(1)[0] if lines else (0, 0)
        rows = [[_cell(one) for one in line] for line in lines if len(line) == width]
        headed = len(rows) > 1 and bool(numbers_of(rows[1])) and not numbers_of(rows[0])
        yield rows[headed:] if width > 1 else [list(numbers_in(" ".join(line))) for line in lines]
    elif isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        yield [] if "rows" in members else [[one] for one in members.values()]
        for one in members.values():
            yield from _tables(one) if isinstance(one, list | dict) or (isinstance(one, str) and "\n" in one) else ()
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        if all(isinstance(one, list) for one in items):
            yield items
        elif all(isinstance(one, dict) for one in items):
            yield [list(one.values()) for one in items]
        else:
            yield [[one] for one in items]


def _with_spaced(rows: Rows) -> Rows:
    """Return rows with each column of numbers with blanks between thousands as numbers."""
    columns = [list(column) for column in zip(*rows, strict=False)] if len({*map(len, rows)}) == 1 else []
    spaced = {
        at for at, one in enumerate(columns) if any(isinstance(cell, str) and _SPACED.fullmatch(cell) for cell in one)
    }
    if not spaced:
        return rows
    return [[_plain(cell) if at in spaced else cell for at, cell in enumerate(row)] for row in rows]


def _plain(cell: Any) -> Any:
    """Return a text of a number, with blanks between its thousands or none, as a number."""
    if not isinstance(cell, str):
        return cell
    bare = re.sub(r"\s", "", cell).replace(",", ".") if _SPACED.fullmatch(cell) else cell
    return _cell(bare)


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
