"""PDF to text, page by page, with what the file says of itself."""

import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

from tea import ToolError

from .dates import day_in


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfText:
    """The text of a PDF file; `pages` is how many it has, `read` how many were read."""

    text: str
    title: str
    published: str
    modified: str
    pages: int
    read: int


def pdf_text(data: bytes, most_pages: int, most_characters: int, seconds: float) -> PdfText:
    """Return the text of a PDF file, each page under a mark with its number.

    Args:
        data: The file.
        most_pages: How many pages are read at most.
        most_characters: After how many characters it ends.
        seconds: After how much time it ends, between two pages.

    Raises:
        ToolError: It is no PDF file that can be read, or holds no text.
    """
    until, parts, size = time.monotonic() + seconds, list[str](), 0
    with _opened(data) as document:
        pages, told = len(document), document.get_metadata_dict()
        for number in range(min(pages, most_pages)):
            if size > most_characters or time.monotonic() > until:
                break
            text = _page_text(document, number)
            parts.append(f"[page {number + 1}]\n\n{text}")
            size += len(text)
    if not size:
        problem = f"The PDF file holds no text on its first {len(parts)} pages; it may be scanned."
        raise ToolError(problem, fix="look for another source with a text layer.")
    return PdfText(
        text="\n\n".join(parts),
        title=" ".join(str(told.get("Title", "")).split())[:300],
        published=day_in(str(told.get("CreationDate", "")).removeprefix("D:")[:8]),
        modified=day_in(str(told.get("ModDate", "")).removeprefix("D:")[:8]),
        pages=pages,
        read=len(parts),
    )


@contextmanager
def _opened(data: bytes) -> Generator[Any]:
    """Open a file; the library is not made for several threads at once."""
    import pypdfium2

    with _lock():
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            problem = "The PDF file cannot be read; it is damaged, or wants a password."
            raise ToolError(problem, fix="look for another source.") from error
        with closing(document):
            yield document


def _page_text(document: Any, number: int) -> str:
    """Return the text of one page; one that is damaged has none."""
    import pypdfium2

    try:
        with closing(document[number]) as page, closing(page.get_textpage()) as text:
            return text.get_text_bounded().replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "").strip()
    except pypdfium2.PdfiumError:
        return ""


@cache
def _lock() -> Lock:
    return Lock()
