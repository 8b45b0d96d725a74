"""Document: the content of a file as lines of Markdown, and the ways to read a long one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypedDict, cast

from tea.reading.headings import Title, titles
from tea.types import JsonObject

MOST_OUTLINE = 300
_SHOWN = 300
_MARK = re.compile(r"\[((?:page|slide|chapter|cell|mail) \d+|sheet [^\]]*)\]")


class Heading(TypedDict):
    """One entry of an outline: its line, its level from 1, its words, and its page or other place."""

    line: int
    level: int
    title: str
    place: str


class _Folded(TypedDict, total=False):
    times: int
    around: str


class Match(_Folded):
    """A found line: its number, its page or other place, and its words.

    `times` counts the lines of the same words, `around` holds it with the lines before and behind it.
    """

    line: int
    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file as lines of Markdown.

    Args:
        name: What its user calls it.
        kind: Short name of what it is, told by its content: `pdf`, `docx`, `png`.
        family: `text`, `table`, `document`, `image`, `audio`, `video` or `archive`.
        title: What it calls itself, empty for nothing.
        lines: Its lines; pages, slides, sheets and chapters begin with a mark such as `[page 3]`.
        facts: What else is known: pages, encoding, dates, size.
        notes: What its reader should know, each a sentence.
        truncated: Whether there is more than was read.
        digest: Of its lines, as 16 hexadecimal digits.
        parts: Names of files that were taken out of it.
    """

    name: str
    kind: str
    family: str
    title: str
    lines: list[str]
    facts: JsonObject
    notes: list[str]
    truncated: bool
    digest: str
    parts: list[str] = field(default_factory=list[str])

    @property
    def characters(self) -> int:
        """How many characters its lines have."""
        return sum(map(len, self.lines))

    @property
    def is_scan(self) -> bool:
        """Whether all pages read lack a text layer."""
        without = cast("list[int]", self.facts.get("without_text") or [])
        return bool(without) and len(without) == sum(line.startswith("[page ") for line in self.lines)

    def place(self, number: int) -> str:
        """Return the page, slide, sheet or chapter of a line, empty if there is none.

        Args:
            number: The line, from 1.
        """
        for line in reversed(self.lines[:number]):
            if mark := _MARK.fullmatch(line):
                return mark[1]
        return ""

    def outline(self) -> list[Heading]:
        """Return its headings, or its table of contents; of a document without both, its pages with their first lines.

        At most 300 entries; the deepest go first.
        """
        found = self._contents() or self._headings() or self._places()
        for level in range(6, 1, -1):
            if len(found) <= MOST_OUTLINE:
                break
            found = [one for one in found if one["level"] < level]
        return found[:MOST_OUTLINE]

    def find(self, text: str, limit: int | None = None) -> tuple[list[Match], int]:
        """Return lines with a text, regardless of capitals and blanks, and their number in all.

        Args:
            text: What to look for.
            limit: Most lines to return, None for all.
        """
        wanted = " ".join(text.split()).casefold()
        numbers = [n for n, line in enumerate(self.lines, start=1) if wanted in " ".join(line.split()).casefold()]
        return self.matches((number, self._around(number, text)) for number in numbers[:limit]), len(numbers)

    def matches(self, lines: Iterable[tuple[int, str]]) -> list[Match]:
        """Return found lines, each with its page or other place.

        Args:
            lines: Number and words of each, in the order of the numbers.
        """
        found, place, at = list[Match](), "", 0
        for number, text in lines:
            for line in self.lines[at:number]:
                mark = _MARK.fullmatch(line)
                place = mark[1] if mark else place
            at = number
            found.append(Match(line=number, place=place, text=text))
        return found

    def _around(self, number: int, text: str) -> str:
        line = self.lines[number - 1]
        start = max(0, line.casefold().find(text.casefold()) - _SHOWN // 2)
        return line[start : start + _SHOWN]

    def titles(self) -> list[Title]:
        """Return its headings in order, the same for its outline and for passages found in it.

        A file's own table of contents comes first; a page with an entry that stands nowhere on it has none of them.
        """
        if not self.facts.get("contents"):
            return titles(self.lines)
        placed = self._contents()
        vague = {one["place"] for one in placed if self._is_page(one["line"])}
        known = [Title(one["line"], one["level"], one["title"]) for one in placed if not self._is_page(one["line"])]
        starts = (n for n, line in enumerate(self.lines, start=1) if line.startswith("[page ") and line[1:-1] in vague)
        return sorted([*known, *(Title(number, 1, "") for number in starts)], key=lambda one: one.line)

    def _is_page(self, number: int) -> bool:
        """Return whether a line is the mark of a page, or none of those read."""
        return not number or self.lines[number - 1].startswith("[page ")

    def _contents(self) -> list[Heading]:
        """Return the file's own table of contents, each entry with its line, or that of its page."""
        told = cast("list[dict[str, Any]]", self.facts.get("contents") or [])
        if not told:
            return []
        pages = {line: number for number, line in enumerate(self.lines, start=1) if line.startswith("[page ")}
        return [
            Heading(
                line=self._line_of(one["title"], pages.get(f"[page {one['page']}]", 0)), level=one["level"],
                title=one["title"], place=f"page {one['page']}",
            )
            for one in told
        ]  # fmt: skip

    def _line_of(self, title: str, page: int) -> int:
        """Return the line of a title on its page; the page's own line if the title is not found."""
        wanted = " ".join(title.split()).casefold()
        for number in range(page + 1, len(self.lines) + 1) if page else ():
            line = " ".join(self.lines[number - 1].strip("# ").split()).casefold()
            if line.startswith("[page "):
                break
            if line == wanted:
                return number
        return page

    def _headings(self) -> list[Heading]:
        found = {one.line: one for one in titles(self.lines) if one.text}
        entries, place = list[Heading](), ""
        for number, line in enumerate(self.lines, start=1):
            if mark := _MARK.fullmatch(line):
                place = mark[1]
                if place.startswith("sheet "):
                    entries.append(Heading(line=number, level=1, title=place.removeprefix("sheet "), place=place))
            elif one := found.get(number):
                entries.append(Heading(line=number, level=one.level, title=one.text, place=place))
        return entries

    def _places(self) -> list[Heading]:
        """Return pages and the like with the first words on them."""
        found = list[Heading]()
        for number, line in enumerate(self.lines, start=1):
            if mark := _MARK.fullmatch(line):
                after = (one for one in self.lines[number : number + 5] if one.strip() and not _MARK.fullmatch(one))
                found.append(Heading(line=number, level=1, title=next(after, "")[:120], place=mark[1]))
        return found


def digest_of(lines: Sequence[str]) -> str:
    """Return the digest of lines, 16 hexadecimal digits."""
    return sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:16]
