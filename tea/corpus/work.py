"""Work: the reading of one update: web pages together, in one sandbox, and other documents one by one."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Sequence
from dataclasses import dataclass

from tea.corpus.passages import sections
from tea.corpus.reading import Document, Readers
from tea.errors import BadInput, TeaError
from tea.reading.pages import MOST_AT_ONCE, PageReader, PlainPage

MOST_BYTES = 8_000_000  # of documents read together


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A document about to be read.

    Args:
        url: Its address.
        state: Its mark in the index; another one tells of a change.
        name: Its name, whose suffix tells how it is read.
        date: The day that its page states; empty if unknown.
        data: Its bytes.
        known: Whether it was in the index before.
    """

    url: str
    state: str
    name: str
    date: str
    data: bytes
    known: bool


class Work:
    """The readers of one update.

    Args:
        readers: Read documents by the suffix of their names.
        pages: Reads web pages; None where nothing does.
        loop: Runs the sandboxes.
    """

    def __init__(self, readers: Readers, pages: PageReader | None, loop: AbstractEventLoop) -> None:
        self._readers, self._pages, self._loop = readers, pages, loop

    def is_full(self, waiting: Sequence[Waiting]) -> bool:
        """Return whether the waiting documents fill a batch."""
        return len(waiting) >= MOST_AT_ONCE or sum(len(one.data) for one in waiting) >= MOST_BYTES

    def read(self, waiting: Sequence[Waiting]) -> list[Document | TeaError]:
        """Return each document, or the error about it; this blocks, so call it in a thread, never on the event loop."""
        found, pages = dict[int, Document | TeaError](), dict[int, str]()
        for at, one in enumerate(waiting):
            try:
                if self._readers.is_page(one.name):
                    pages[at] = self._readers.page(one.data, one.name)
                else:
                    found[at] = self._readers.read(one.data, one.name, self._loop)
            except TeaError as error:
                found[at] = error
        if pages:
            parsed = asyncio.run_coroutine_threadsafe(self._parsed([*pages.values()]), self._loop).result()
            found |= dict(zip(pages, map(_document, parsed), strict=True))
        return [found[at] for at in range(len(waiting))]

    async def links(self, data: bytes, name: str) -> Sequence[str]:
        """Return the addresses of a page's links as they are written, none for an unreadable page."""
        try:
            (found,) = await self._parsed([self._readers.page(data, name)])
        except BadInput:
            return ()
        return found.links if isinstance(found, PlainPage) else ()

    async def _parsed(self, texts: Sequence[str]) -> Sequence[PlainPage | TeaError]:
        if self._pages is None:
            problem = "Web pages cannot be read here."
            return [BadInput(problem, fix="index them through a platform, which has a sandbox.")] * len(texts)
        try:
            return await self._pages.read(texts)
        except TeaError as error:
            return [error] * len(texts)


def _document(page: PlainPage | TeaError) -> Document | TeaError:
    if not isinstance(page, PlainPage):
        return page
    return Document(title=page.title, parts=tuple(sections(page.text)) if page.text else ())
