"""Converting: PDF, Office and other foreign documents as passages' sections, parsed in the reader's sandboxes."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from tea.corpus.passages import Section, sections
from tea.corpus.reading import Document, Readers
from tea.reading import Options, Reader
from tea.reading.pages import PageReader
from tea.types import JsonObject

SUFFIXES = (".pdf", ".docx", ".docm", ".pptx", ".xlsx", ".odt", ".odp", ".ods", ".epub", ".eml", ".ipynb")
MOST_BYTES = 100_000_000
MOST_PAGES = 5_000
Terms = Callable[[], Awaitable[JsonObject]]
_MARK = re.compile(r"\[(?:page (\d+)|((?:slide|chapter|cell|mail) \d+|sheet [^\]]+))\]")


class Converter:
    """A reader of foreign documents for a corpus.

    Args:
        terms: Gives the terms of its sandboxes, as `Sandboxes.parser_terms` does; asked for with the first document.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    async def convert(self, data: bytes, name: str) -> Document:
        """Return a document with its pages; lines are those of its Markdown.

        Args:
            data: Its bytes.
            name: Its name.

        Raises:
            ToolError: It cannot be read.
        """
        reader = Reader(await self._terms())
        found = await reader.read(data, name, Options(most_pages=MOST_PAGES))
        parts = tuple(parted(found.lines))
        title = found.title or next((one.heading for one in parts if one.heading), "")
        return Document(title=title[:120], parts=parts)


def sandboxed(terms: Terms) -> Readers:
    """Return the readers of all kinds of documents, with their parsers in sandboxes.

    Args:
        terms: Gives the terms of these, as `Sandboxes.parser_terms` does.
    """
    return Readers(
        convert=Converter(terms).convert,
        converted=SUFFIXES,
        most_converted=MOST_BYTES,
        pages=lambda: PageReader(terms),
    )


def parted(lines: Sequence[str]) -> Iterator[Section]:
    """Yield the sections of a converted document, none across two pages, slides, sheets or chapters.

    Args:
        lines: Its lines; the mark of a page is left out of its text.
    """
    begin, page, place = 0, 0, ""
    for number, line in enumerate([*lines, "[page 0]"]):
        mark = _MARK.fullmatch(line)
        if mark is None:
            continue
        for one in sections("\n".join(lines[begin:number]), page):
            heading = " > ".join(part for part in (place, one.heading) if part)
            yield replace(one, line=one.line + begin, heading=heading)
        begin, page, place = number + 1, int(mark[1] or 0), mark[2] or ""
