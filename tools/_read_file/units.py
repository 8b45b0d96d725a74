"""A text cut into sentences, each with its context: headings, the words before it, its record."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .words import content_words, root, stem

_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9À-Þ])")
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|approx|ca|Fig|Inc|Ltd|Jr|Sr)\.$")
_MARKED = re.compile(r"#{1,6}\s+(.*)|(.{1,80})\n[=-]{3,}$|\[(\w[\w .-]{0,60})\]$|(\w[\w ,-]{0,60}):$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Z\d][^.!?:;,|]{2,79}[^.!?:;,|\s]")
_NUMBERED = re.compile(r"(?:(?:Section|Chapter|Article|Part) )?\d+(?:\.\d+)*[.):]?\s+[A-Z][^.!?:;|]{1,58}")
_QUESTION = re.compile(
    r"(?:\**(?:Q(?:uestion)?\s?\d*[.:)]|\d+[.)]|#+)\s*)?\**[\"“]?[A-Z].{3,150}\?[\"”]?\**", re.DOTALL
)
_ALONE = re.compile(
    r"\s*(?:[-*•]|\d+[.)])\s+|\s*\||#{1,6} |\["
    r"|\d{4}-\d\d-\d\d|\d{1,2}:\d\d\b|\*\*.*\*\*$|(?:\d+\.)+\d+\s"
)
_ITEM = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+")
_KEY = re.compile(r"[^\w\"“]*((?:(?![.!?] )[^:=]){1,50}?)(?::| =)\s+\S")
_BOLD = re.compile(r"(?:\*\*|__)([^*_]{2,60}?)[.:]?(?:\*\*|__)[.:]?\s+(?=\S)")
_LONGEST_ABBREVIATION = 8  # characters, with its stop and what stands before it
_MOST_RECORD = 2_000
_BACK = 3
_SHORT_LINE = 40
_WRAPPED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, an item of a list or a line of a record.

    Args:
        start: Its first line, from 1.
        end: Its last line.
        text: Its words, on one line.
        stems: How often each stem stands in it.
        roots: The roots of those.
        context: Stems that it leans on: of title and heading, of the sentences before it, of the record's first line.
        above: Stems of the heading of its section, and of the question above that it answers.
        asked: Stems of that question alone.
        position: How many sentences of its paragraph stand before it.
    """

    start: int
    end: int
    text: str
    stems: Counter[str]
    roots: frozenset[str]
    context: frozenset[str]
    above: frozenset[str]
    asked: frozenset[str]
    position: int


@dataclass(slots=True)
class _Place:
    """The reader's place in a text."""

    title: str = ""
    heading: str = ""
    question: str = ""
    record: str = ""
    last: int = 0


def sentences(lines: list[str]) -> Iterator[Sentence]:
    """Yield the sentences of a text."""
    place = _Place()
    for start, block in _blocks(lines):
        start, block = _without_headings(start, block, place)
        if not block:
            continue
        if start > place.last + 1:
            place.record = ""
        place.last = start + len(block) - 1
        parts = list(_split(block))
        for position in range(len(parts)):
            yield _sentence(start, parts, position, place)
        place.record = place.record or " ".join(block)[:_MOST_RECORD]


def _sentence(start: int, parts: list[tuple[int, int, str]], position: int, place: _Place) -> Sentence:
    """Return one of the sentences of a paragraph with its first line at `start`."""
    first, last, text = parts[position]
    near = " ".join(one for *_, one in parts[max(0, position - _BACK) : position])
    words = Counter(map(stem, content_words(text)))
    return Sentence(
        start=start + first,
        end=start + last,
        text=text,
        stems=words,
        roots=frozenset(map(root, words)),
        context=_stems(f"{place.title} {place.heading} {place.question} {near} {place.record}"),
        above=_stems(f"{place.question} {place.heading if place.heading != place.title else ''}"),
        asked=_stems(place.question),
        position=position,
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(text)))


def _without_headings(start: int, block: list[str], place: _Place) -> tuple[int, list[str]]:
    """Note the heading at a block's beginning; return the rest of the block."""
    whole, first = "\n".join(line.strip() for line in block), block[0].strip()
    asked = _QUESTION.fullmatch(first)
    if asked and (len(block) > 1 or not whole.count(". ")):
        place.question = first.strip("#* ")
        return start + 1, block[1:]
    found = _MARKED.match(whole)
    if found:
        place.heading = next(group for group in found.groups() if group is not None)[:_MOST_RECORD]
        left = block[found[0].count("\n") + 1 :]
    elif len(block) == 1 and _PLAIN.fullmatch(first) and not _ITEM.match(first):
        place.heading, left = first, []
    elif len(block) > 1 and _begins(first) and block[1].strip()[:1].isupper():
        place.heading, left = first, block[1:]
    elif bold := _BOLD.match(first):
        place.heading, left = bold[1], [first[bold.end() :], *block[1:]]
    else:
        return start, block
    place.question, place.record = "", ""
    place.title = place.title or place.heading
    return start + len(block) - len(left), left


def _begins(line: str) -> bool:
    """Tell whether a paragraph's first line is its heading: a numbered one, or a short one without a stop."""
    return bool(_NUMBERED.fullmatch(line)) or (len(line) <= _SHORT_LINE and bool(_PLAIN.fullmatch(line)))


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield paragraphs with the number of their first line; items of a list and lines of a record stand alone."""
    block: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        entry = _KEY.match(line) and (not block or len(block[-1]) < _WRAPPED or _KEY.match(block[0]))
        alone = entry or _ALONE.match(line)
        if block and (not line.strip() or alone):
            yield number - len(block), block
            block = []
        if line.strip():
            block.append(line)


def _split(block: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the sentences of a paragraph with the offsets of their first and last line."""
    starts: list[int] = []
    joined = ""
    for line in block:
        starts.append(len(joined))
        joined += line.strip() + " "
    begin = 0
    cuts = [found.end() for found in _END.finditer(joined) if not _abbreviated(joined, found.start())]
    for cut in [*cuts, len(joined)]:
        text = joined[begin:cut].strip()
        if text:
            first = bisect_right(starts, begin) - 1
            last = bisect_left(starts, begin + len(joined[begin:cut].rstrip())) - 1
            yield first, last, text
        begin = cut


def _abbreviated(text: str, end: int) -> bool:
    """Tell whether a text ends, at a place, with an abbreviation; its last characters tell."""
    return _ABBREVIATION.search(text, max(0, end - _LONGEST_ABBREVIATION), end) is not None
