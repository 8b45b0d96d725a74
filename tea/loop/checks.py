"""Checks of evidence against the results read by a run."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

from tea.loop.observation import Observation
from tea.loop.opening import Head
from tea.models.rendering import result_text
from tea.types import Evidence, Fact, JsonObject, JsonValue, Result

GIVEN = ("task", "the task", "question")  # what a person said needs no other source
ANSWER = "the answer"  # the source of a doubt about an answer without evidence
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
# What stands before is asked after the sign, which is rarer than digits; in other patterns of numbers, too.
_GROUPING = re.compile(r"[,\u2009\u202f '_](?<=\d.)(?<!\d{4}.)(?=\d{3}(?!\d))")  # not between a year and a number
_WORD = re.compile(r"[^\W\d_]+")
_FRAGMENT = re.compile(r"\.{3}|…|\n|;|\||(?<=[.!?])\s")
MOST_LINE = 160  # characters of the line shown beside a quote that does not stand
_PART = re.compile(r"[^\W_]+")
_LINE = re.compile(r"\n|(?<=[.!?])\s")
_TOKEN = re.compile(rf"(?P<number>{_NUMBER.pattern})|(?P<word>{_WORD.pattern})")
_GROUPED = re.compile(rf"(?<![\w.])[-+]?\d+(?:{_GROUPING.pattern}\d{{3}})+(?:\.\d+)?")
_BESIDE = " ,;:-()[]|\u2013\u2014"
_MARKS = ('"', "'", "\u201c", "\u201d", "\u201e", "\u00ab", "\u00bb")
_AROUND = _BESIDE + "".join(_MARKS)
_PLACE = re.compile(
    r"(?:(?:(?:lines?|rows?|pages?|pp?\.|columns?|cells?|tables?|sections?|chapters?|paragraphs?|steps?|L|\u00a7"
    r"|(?:agenda )?items?|points?|entry|entries|bullets?|numbers?|nos?\.?|articles?|clauses?|figures?|slides?|verses?"
    r"|punkte?|zeilen?|seiten?|abschnitte?|ziffern?|nr\.)\s*#?"
    r"(?:\d+(?:\.\d+)*|[A-Z]{1,3}\d+)|sheets? \w+)"
    r"(?:\s*(?:-|\u2013|to|and|und|bis|&|,(?=\s*\d+\s*(?:,|and|und|&|$))|:(?=[A-Z]+\d))"
    r"\s*(?:L?\d+(?:\.\d+)*|[A-Z]{1,3}\d+))*[\s.,:;)-]*)+",
    re.IGNORECASE,
)
_LINES = re.compile(r"\b(?:lines?\s*#?|L)(\d{1,9})(?:\s*(?:-|\u2013|to|and)\s*L?(\d{1,9}))?", re.IGNORECASE)
_SOURCE = re.compile(r"https?://\S+|\S.{0,198}\.\w{1,8}")
_SEPARATOR = re.compile(r"[,;:|({\[=]")
_LONGEST_QUOTE, _MOST_READ = 2_000, 1_000_000
_MOST_GAPS = 12  # that are told of the results of agents
_MOST_SOUGHT = 200  # pieces of a quote, and numbers of a piece, of which each is sought in every line
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-", "\xa0": " "})


class Sources:
    """Texts read by the run, by their sources.

    Args:
        task: The task in words, and what the person said since.
        facts: What whoever gave the task away knows.
        results: What calls gave.
        of_parts: Evidence of finished parts, with the doubts of whoever worked on them.
        heads: Heads of its files; only a whole one counts as the file, of another the quote must stand in it.
        missing: Names without a file in the workspace.
        made: Names of files that the run made.
        by_others: Ids of the results that other agents gave.
    """

    def __init__(
        self,
        task: str,
        facts: Iterable[Fact],
        results: Iterable[Observation],
        of_parts: Iterable[Evidence] = (),
        heads: Iterable[Head] = (),
        missing: Collection[str] = (),
        made: Collection[str] = (),
        by_others: Collection[str] = (),
    ) -> None:
        self._task, self._made, self._by_others = task, made, by_others
        self._missing = missing
        self._heads = list(heads)
        self._of_parts = list(of_parts)
        self._facts = list(facts)
        self._results = [one for one in results if one.ok and not one.repeated]
        self._texts: dict[str, str] = {}

    def doubt(self, evidence: Evidence) -> str:
        """Return the reason evidence cannot be confirmed, empty if it can."""
        source = evidence.source.strip()
        if (doubt := self._doubt_of_parts(evidence)) and not self._is_read_here(source.casefold()):
            return doubt
        heads = self._head_of(source)
        texts = [*self._of(source), *(one.text for one in heads if one.whole)]
        if not evidence.quote.strip():
            quoted = bool(texts) or source in self._made
        else:
            quoted = any(stands_in(evidence.quote, text) for text in (*texts, *(one.all for one in heads)))
        if quoted:
            return ""
        if not texts:
            if source in self._missing:
                return f"there is no file {source[:100]!r} in the workspace"
            part = "; its head shows only a part of it" if heads else ""
            return f"{source[:100]!r} was not opened for this answer{part}"
        line = nearest_line(evidence.quote, "\n".join((*texts, *(one.all for one in heads))))
        near = f", nearest to it is {line!r}" if line else ""
        return f"the quote {evidence.quote[:80]!r} does not stand in what was read of {source[:100]!r}{near}"

    def located(self, evidence: Evidence) -> Evidence:
        """Return evidence given in one text with its source, the rest as its quote, and its place there as its detail.

        A text that names nothing read is a quote of what it stands in, or a detail of what holds all its numbers. The
        number of a line without the quote becomes that of the only read line with it.
        """
        return self._at_its_line(self._with_source(evidence))

    def _with_source(self, evidence: Evidence) -> Evidence:
        text = evidence.source.strip()
        calls = [name for one in self._results for name in (one.name, one.id)]
        files = [name for one in self._results for name in _strings(one.arguments) if _SOURCE.fullmatch(name)]
        read = list(dict.fromkeys([*(one.name for one in self._heads), *files, *calls]))
        if text in (*read, *GIVEN) or (" " not in text and any(self._of(text))):
            return evidence
        for name in read:
            if (at := _place_of(name, text)) is not None:
                return self._split(evidence, name, f"{text[:at]} {text[at + len(name) :]}", read)
        if evidence.quote:
            return evidence
        if name := next((name for name in read if any(stands_in(text, one) for one in self._shown(name))), ""):
            return evidence.model_copy(update={"source": name, "quote": text})
        held = (name for name in read if any(numbers_stand_in(text, one) for one in self._shown(name)))
        name = next(held, "") if any(map(str.isdecimal, text)) and " " in text else ""
        return evidence.model_copy(update={"source": name, "detail": text}) if name else evidence

    def _split(self, evidence: Evidence, source: str, beside: str, read: Sequence[str]) -> Evidence:
        """Return evidence with the words beside its source: a place as its detail, the rest as its quote if missing.

        Other words without a number, but for places and the ends of names of sources, count as a detail where they do
        not stand in the source; words in quotation marks are a quote.
        """
        rest = " ".join(beside.split()).strip(_AROUND)
        outer = beside.strip(f"{_BESIDE}.")
        marked = outer.startswith(_MARKS) and outer.endswith(_MARKS)
        place = found[0] if not marked and (found := _PLACE.match(rest)) else ""
        rest = rest[len(place) :].strip(_AROUND)
        rest = "" if rest == "of" else rest
        details = [evidence.detail, place.strip(_AROUND)]
        ends = [one for one in rest.split() if any(map(str.isalpha, one)) and any(name.endswith(one) for name in read)]
        told = [one for one in _PLACE.sub(" ", rest).split() if one not in ends]
        quoted = any(map(str.isdecimal, "".join(told))) or any(stands_in(rest, one) for one in self._shown(source))
        quotes = bool(rest) and (quoted or marked) and not evidence.quote
        details += [rest] if not quotes else []
        detail = ", ".join(filter(None, details))
        return evidence.model_copy(
            update={"source": source, "quote": rest if quotes else evidence.quote, "detail": detail}
        )

    def _at_its_line(self, evidence: Evidence) -> Evidence:
        """Return evidence with the line of its quote in place of another one named by its detail."""
        named = list(_LINES.finditer(evidence.detail))
        if len(named) != 1 or not evidence.quote.strip():
            return evidence
        first, last = int(named[0][1]), int(named[0][2] or named[0][1])
        source = evidence.source.strip().casefold()
        results = (one.value for one in self._results if _named(one.arguments, source))
        lines = {number: line for value in results for number, line in _numbered(value)}
        said = "\n".join(line for number, line in sorted(lines.items()) if first <= number <= last)
        if stands_in(evidence.quote, said):
            return evidence
        stands = [number for number, line in lines.items() if stands_in(evidence.quote, line)]
        if len(stands) != 1:
            return evidence
        start, end = named[0].span()
        detail = f"{evidence.detail[:start]}line {stands[0]}{evidence.detail[end:]}"
        return evidence.model_copy(update={"detail": detail})

    def _shown(self, source: str) -> list[str]:
        return [*self._of(source), *(one.all for one in self._head_of(source))]

    def _head_of(self, source: str) -> list[Head]:
        return [one for one in self._heads if _is_of(source.casefold(), one.name.casefold())]

    def knows(self, source: str) -> bool:
        """Return whether a source was read or shown, wholly or in part; naming it in a call is neither."""
        name = source.strip().casefold()
        return (
            name in GIVEN
            or any(_is_of(name, one.name.casefold()) for one in self._heads)
            or any(name in one.source.casefold() for one in self._facts)
            or any(_is_argument(one.arguments, name) or name in self._text(one).casefold() for one in self._results)
        )

    def _doubt_of_parts(self, evidence: Evidence) -> str:
        """Return the doubt of finished parts about equal or overlapping evidence, empty if any of it is undoubted."""
        name, words = evidence.source.strip().casefold(), (evidence.quote, evidence.detail)
        given = [one for one in self._of_parts if one.source.casefold() == name]
        same = [one for one in given if (one.quote, one.detail) == words] or [
            one for one in given if not (one.quote and evidence.quote) or _overlap(one.quote, evidence.quote)
        ]
        return same[0].doubt if same and all(one.doubt for one in same) else ""

    def _is_read_here(self, name: str) -> bool:
        """Return whether this agent itself has read a source."""
        return any(_named(one.arguments, name) for one in self._results if one.id not in self._by_others)

    def _of(self, source: str) -> Iterator[str]:
        """Yield the texts read from a source; a derived result includes its arguments."""
        name = source.casefold()
        if name in GIVEN:
            yield self._task
        for fact in self._facts:
            if name and name in fact.source.casefold():
                yield f"{fact.fact}\n{fact.quote}"
        for one in self._results:
            text = self._text(one)
            if (
                name in (one.id, one.name.casefold())
                or _named(one.arguments, name)
                or (name and name in text.casefold())
            ):
                yield "\n".join([text, *_strings(one.arguments)]) if _is_derived(one) else text

    def _text(self, result: Observation) -> str:
        if result.id not in self._texts:
            self._texts[result.id] = result_text({"value": result.value})
        return self._texts[result.id]


def stands_in(quote: str, text: str) -> bool:
    """Return whether the words and numbers of a quote occur in a text.

    White space, case, kinds of quotation marks, separators of thousands, percent and rounding do not count. A quote in
    pieces (`...`, `|`, `;`, lines) stands where each of its pieces does: as it is, or with all of its words and numbers
    in one sentence or row, in their order; cells and clauses, which follow a comma or the like, may change places.
    """
    whole = _plain(text)
    if _stands_whole(quote, whole):
        return True
    pieces = [piece for piece in (_plain(one).strip(" \"'.,:") for one in _FRAGMENT.split(quote)) if piece]
    if len(pieces) > _MOST_SOUGHT:
        return False
    lines = [line for line in map(_plain, _LINE.split(text)) if line]
    bare = any(_WORD.search(piece) is None for piece in pieces)
    everything = [number for line in lines for number in numbers_in(line)] if bare else []
    return bool(pieces) and all(_is_piece(one, whole) or _in_a_line(one, lines, everything) for one in pieces)


def holds(quote: str, text: str) -> bool:
    """Return whether a quote occurs in a text as it is; white space, case, kinds of quotation marks do not count."""
    return _stands_whole(quote, _plain(text))


def _stands_whole(quote: str, whole: str) -> bool:
    return _is_piece(_plain(quote).strip(" \"'."), whole)


def _overlap(one: str, other: str) -> bool:
    return stands_in(one, other) or stands_in(other, one)


def nearest_line(quote: str, text: str) -> str:
    """Return the line, or the sentence of a long one, with the most words and numbers of a quote; empty without any.

    Nothing is near to a bare number.

    Args:
        quote: The quote.
        text: What was read.
    """
    if _WORD.search(quote) is None:
        return ""
    wanted = set(_PART.findall(_plain(quote)[:_LONGEST_QUOTE]))
    best, line = 0.0, ""
    for one in _LINE.split(text[:_MOST_READ]):
        there = set(_PART.findall(_plain(one[:_LONGEST_QUOTE])))
        held = len(wanted & there)
        if held and held - len(there) / 1_000 > best:
            best, line = held - len(there) / 1_000, one.strip()
    return line if len(line) <= MOST_LINE else f"{line[:MOST_LINE].rpartition(' ')[0] or line[:MOST_LINE]} ..."


def numbers_stand_in(words: str, text: str) -> bool:
    """Return whether all numbers of some words occur in a text; separators, percent and rounding do not count."""
    return standing_in(text)(words)


def standing_in(text: str) -> Callable[[str], bool]:
    """Return the test of words for `numbers_stand_in` a text, reading the text once."""
    known = list(numbers_in(_plain(text)))

    def stand(words: str) -> bool:
        wanted = list(_wanted(_plain(words)))
        return len(wanted) <= _MOST_SOUGHT and all(_found(one, known) for one in wanted)

    return stand


def gaps_about(results: Iterable[Result], answer: str) -> list[str]:
    """Return the first gaps of results that name a number of an answer, as of values that were doubted."""
    gaps = dict.fromkeys(gap for one in results for gap in one.gaps)
    return list(islice((gap for gap in gaps if is_about(gap, answer)), _MOST_GAPS))


def is_about(words: str, answer: str) -> bool:
    """Return whether some words name a number of an answer."""
    known = list(numbers_in(_plain(answer)))
    return any(_found(one, known) for one in islice(_wanted(_plain(words)), _MOST_SOUGHT))


def with_doubts(evidence: Sequence[Evidence], sources: Sources) -> tuple[Evidence, ...]:
    """Return evidence with its doubts filled in."""
    return tuple(one.model_copy(update={"doubt": sources.doubt(one)}) for one in evidence)


def doubts_in(evidence: Iterable[Evidence]) -> str:
    """Return the doubts of evidence in one line, each once."""
    return "; ".join(dict.fromkeys(one.doubt for one in evidence if one.doubt))


def joined(first: Sequence[Evidence], second: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return all evidence of both, each once."""
    known = {(one.source, one.detail, one.quote): one for one in (*second, *first)}
    return tuple(known[key] for key in dict.fromkeys((one.source, one.detail, one.quote) for one in (*first, *second)))


def evidence_in(value: JsonObject) -> tuple[Evidence, ...]:
    """Return the evidence given to `done`."""
    return tuple(Evidence.model_validate(one) for one in value["evidence"])


class _Number(NamedTuple):
    """A number of a quote.

    Args:
        value: Its value.
        decimals: Number of its decimals.
        percent: Whether it is a percentage.
    """

    value: float
    decimals: int
    percent: bool


class _Line(NamedTuple):
    """A sentence or row as words and numbers.

    Args:
        words: Places of each word, in order.
        numbers: Numbers with their places; one with separators of thousands whole and in its parts.
        begins: Places at which a cell or clause begins, if there are several.
    """

    words: dict[str, list[int]]
    numbers: list[tuple[float, int]]
    begins: set[int]

    @classmethod
    def of(cls, text: str) -> _Line:
        """Read a line in plain letters."""
        line, end = cls({}, [], set()), 0
        for match in _TOKEN.finditer(text):
            if _SEPARATOR.search(text, end, match.start()):
                line.begins.add(match.start())
            if match["number"] is None:
                line.words.setdefault(match[0], []).append(match.start())
            else:
                line.numbers.append((float(match[0]), match.start()))
            end = match.end()
        line.numbers.extend((float(_GROUPING.sub("", one[0])), one.start()) for one in _GROUPED.finditer(text))
        if line.begins and (first := _TOKEN.search(text)):
            line.begins.add(first.start())
        return line

    def holds(self, piece: Sequence[str | _Number]) -> bool:
        """Return whether words and numbers stand in their order; each cell or clause may come before those ahead of it.

        Taking the nearest place is enough: from there all can be reached that can be from a later one.
        """
        at = -1
        for one in piece:
            if isinstance(one, str):
                places = self.words.get(one, [])
            else:
                places = sorted(place for value, place in self.numbers if _found(one, (value,)))
            reached = [*places[bisect_right(places, at) :][:1], *(place for place in places if place in self.begins)]
            if not reached:
                return False
            at = min(reached)
        return True


def _is_piece(piece: str, whole: str) -> bool:
    """Return whether a text holds a piece without cutting a number: 70 is not a quote of 700."""
    at = -1
    for _ in range(_MOST_SOUGHT):
        if (at := whole.find(piece, at + 1)) < 0:
            return False
        around = whole[max(0, at - 1) : at] + piece[:1], piece[-1:] + whole[at + len(piece) :][:1]
        if not any(len(one) == 2 and one.isdecimal() for one in around):
            return True
    return False


def _in_a_line(piece: str, lines: Sequence[str], everything: Sequence[float]) -> bool:
    parts = list(_parts(piece))
    numbers = [one for one in parts if not isinstance(one, str)]
    if len(numbers) > _MOST_SOUGHT:
        return False
    words = {one for one in parts if isinstance(one, str)}
    if not words:
        return bool(numbers) and all(_found(one, everything) for one in numbers)
    return any(_Line.of(line).holds(parts) for line in lines if all(word in line for word in words))


def insisted(evidence: Sequence[Evidence], doubt: str) -> tuple[Evidence, ...]:
    """Add a doubt about an answer to its evidence, as the answer was given again in spite of it.

    Args:
        evidence: The evidence, with its own doubts.
        doubt: What is not known of the answer; without it nothing changes.
    """
    if not doubt:
        return tuple(evidence)
    marked = tuple(one if one.doubt else one.model_copy(update={"doubt": doubt}) for one in evidence)
    return marked if any(one.doubt == doubt for one in marked) else (*marked, Evidence(source=ANSWER, doubt=doubt))


def _parts(piece: str) -> Iterator[str | _Number]:
    """Yield the words and numbers of a quote, in order."""
    text = _GROUPING.sub("", piece)
    for match in _TOKEN.finditer(text):
        yield _number(match, text) if match["word"] is None else match[0]


def _wanted(piece: str) -> Iterator[_Number]:
    """Yield the numbers of a quote."""
    text = _GROUPING.sub("", piece)
    for match in _NUMBER.finditer(text):
        yield _number(match, text)


def _number(match: re.Match[str], text: str) -> _Number:
    decimals = len(match[0].partition(".")[2]) if "e" not in match[0] else 12
    return _Number(float(match[0]), decimals, text[match.end() : match.end() + 2].strip().startswith("%"))


def _found(wanted: _Number, numbers: Iterable[float]) -> bool:
    value, decimals, percent = wanted
    near = 0.5 * 10.0**-decimals + 1e-9 * abs(value)
    return any(abs(one - value) <= near or (percent and abs(100 * one - value) <= near) for one in numbers)


def numbers_in(text: str) -> Iterator[float]:
    """Yield the numbers of a text, those with separators of thousands both whole and in their parts."""
    for variant in dict.fromkeys((text, _GROUPING.sub("", text))):
        yield from (float(match[0]) for match in _NUMBER.finditer(variant))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text.translate(_QUOTES)).casefold().split())


def _numbered(value: JsonValue) -> Iterator[tuple[int, str]]:
    """Yield the lines of an excerpt, a text with the numbers of its first and last line, by their numbers."""
    match value:
        case {"start": int(start), "end": int(end), "text": str(text)}:
            lines = text.split("\n")
            if len(lines) == end - start + 1:
                yield from enumerate(lines, start)
        case _:
            return


def _named(arguments: JsonObject, name: str) -> bool:
    """Return whether arguments name a source, by its whole name or the last part of its path."""
    last = name.rpartition("/")[2]
    given = [one.casefold() for one in _strings(arguments)]
    return bool(last) and any(name in one or last == one.rpartition("/")[2] for one in given)


def _is_argument(arguments: JsonObject, name: str) -> bool:
    """Return whether a source is one of the arguments, by its whole name or the last part of its path."""
    last = name.rpartition("/")[2]
    return bool(last) and any(last == one.casefold().rpartition("/")[2] for one in _strings(arguments))


def _is_of(source: str, name: str) -> bool:
    """Return whether a source is a file, by its name, a part of it, or the last part of its path."""
    return bool(source) and (source in name or source.rpartition("/")[2] == name.rpartition("/")[2])


def _place_of(name: str, text: str) -> int | None:
    """Return the position of a source's name in a text, None without it; a part of a longer name does not count.

    An address with a query is longer than the one without.
    """
    found = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|[?&]\w)", text, re.IGNORECASE)
    return None if found is None else found.start()


def _is_derived(result: Observation) -> bool:
    """Return whether a result was derived from its arguments, such as a sum or a query."""
    return not isinstance(result.value, Mapping) or "rows" in cast("Mapping[str, Any]", result.value)


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _strings(one)
