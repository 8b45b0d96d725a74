"""Passages: a text in overlapping parts of about 2,000 characters, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SIZE, OVERLAP = 2_000, 200

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_FENCE = re.compile(r"\s*(```|~~~)")
_BREAKS = ("\n\n", "\n", ". ", " ")
_LEAST_SHARE = 0.6  # of a passage, before which it does not end


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a document.

    Args:
        text: Its words.
        line: The line of the document it begins in, from 1.
        page: The page it begins in, from 1; 0 where there are no pages.
        heading: The headings above it, the highest first, divided by ` > `.
    """

    text: str
    line: int
    page: int = 0
    heading: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Text below one heading.

    Args:
        text: Its words, the heading among them.
        line: The line it begins in, from 1.
        page: Its page, from 1; 0 where there are no pages.
        heading: As of a passage.
    """

    text: str
    line: int
    page: int = 0
    heading: str = ""


def sections(text: str, page: int = 0) -> list[Section]:
    """Return the sections of a Markdown text."""
    found, block, start = list[Section](), list[str](), 1
    above, fenced = list[tuple[int, str]](), False
    heading = ""
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= bool(_FENCE.match(line))
        title = None if fenced else _HEADING.match(line)
        if title is not None:
            found.append(Section(text="\n".join(block), line=start, page=page, heading=heading))
            block, start, level = [], number, len(title[1])
            above = [*(one for one in above if one[0] < level), (level, title[2].rstrip("#").strip()[:120])]
            heading = " > ".join(name for _, name in above if name)
        block.append(line)
    found.append(Section(text="\n".join(block), line=start, page=page, heading=heading))
    return [one for one in found if one.text.strip()]


def passages(parts: Sequence[Section], size: int = SIZE, overlap: int = OVERLAP) -> Iterator[Passage]:
    """Yield the passages of some sections: small neighbours together, large ones divided with an overlap.

    Args:
        parts: The sections, in the order of the document.
        size: Most characters of a passage.
        overlap: How many characters a passage repeats of the one before, where a section is divided.
    """
    group, held = list[Section](), 0
    for part in parts:
        if group and (held + len(part.text) > size or group[0].page != part.page):
            yield _together(group)
            group, held = [], 0
        if len(part.text) > size:
            yield from _divided(part, size, overlap)
        else:
            group.append(part)
            held += len(part.text) + 1
    if group:
        yield _together(group)


def joined(parts: Sequence[Passage]) -> list[str]:
    """Return the lines of a document from its passages in their order, each line at its number without pages."""
    lines = list[str]()
    for part in parts:
        at = len(lines) if part.page else part.line - 1
        lines += [""] * (at - len(lines))
        for number, line in enumerate(part.text.split("\n"), at):
            if number == len(lines):
                lines.append(line)
            else:
                lines[number] = _merged(lines[number], line)
    return lines


def _merged(first: str, second: str) -> str:
    """Return a line from two parts of it; the second may repeat the end of the first."""
    if second in first:
        return first
    if first in second:
        return second
    most = min(len(first), len(second), SIZE)
    shared = next((size for size in range(most, 0, -1) if first.endswith(second[:size])), 0)
    return first + second[shared:]


def _together(group: Sequence[Section]) -> Passage:
    first = group[0]
    return Passage(
        text="\n".join(one.text for one in group), line=first.line, page=first.page, heading=_common(group)
    )  # fmt: skip


def _common(group: Sequence[Section]) -> str:
    """Return the headings above a group, and the names of its sections."""
    names = list(dict.fromkeys(one.heading for one in group if one.heading))
    return "; ".join(names)[:300]


def _divided(part: Section, size: int, overlap: int) -> Iterator[Passage]:
    """Yield the parts of a long section, each cut after a paragraph, line, sentence or word if possible."""
    start, text, line, counted = 0, part.text, part.line, 0
    while True:
        end = _end(text, start, size)
        piece = text[start:end]
        if piece.strip():
            line, counted = line + text.count("\n", counted, start), start
            yield Passage(text=piece.strip("\n"), line=line, page=part.page, heading=part.heading)
        if end >= len(text):
            return
        start = _start(text, max(start + 1, end - overlap), end)


def _end(text: str, start: int, size: int) -> int:
    if len(text) - start <= size:
        return len(text)
    for mark in _BREAKS:
        at = text.rfind(mark, start + int(size * _LEAST_SHARE), start + size)
        if at >= 0:
            return at + len(mark)
    return start + size


def _start(text: str, wanted: int, end: int) -> int:
    """Return the beginning of a word at or behind a place."""
    while wanted < end and not text[wanted - 1].isspace():
        wanted += 1
    return wanted
