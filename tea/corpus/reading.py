"""Reading: the text of a document in Markdown, by its kind.

Kinds that are not read here are read by what is given to `Readers`: a function for each suffix, or readers of web
pages and of other foreign documents that work in a sandbox.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import zlib
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tea.corpus.passages import Section, sections
from tea.errors import BadInput
from tea.reading.inside.charset import utf_16_of

if TYPE_CHECKING:
    from tea.reading.pages import PageReader

MOST_BYTES = 10_000_000
TEXTS = ("", ".txt", ".text", ".rst", ".adoc", ".org", ".log")
MARKDOWN = (".md", ".markdown", ".mkd")
HTML = (".html", ".htm", ".xhtml")

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_LOOKED_AT = 4_096

Reader = Callable[[bytes, str], "Document"]
Convert = Callable[[bytes, str], Awaitable["Document"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The title and the sections of a read document.

    Args:
        title: What it calls itself; empty for nothing.
        parts: Its sections.
    """

    title: str
    parts: tuple[Section, ...]


class Readers:
    """Readers of documents by the suffix of their names.

    Args:
        further: More readers by suffix, for example `.pdf`; each gives a `Document` of bytes and a name, or raises a
            TeaError.
        convert: Reads documents of foreign formats, which need a sandbox.
        converted: Suffixes of those.
        most_converted: Most bytes of one.
        pages: Makes a reader of web pages for one update; without it there are no web pages.
    """

    def __init__(
        self,
        further: Mapping[str, Reader] | None = None,
        *,
        convert: Convert | None = None,
        converted: Collection[str] = (),
        most_converted: int = MOST_BYTES,
        pages: Callable[[], PageReader] | None = None,
    ) -> None:
        self.pages = pages
        own: dict[str, Reader] = {**dict.fromkeys(TEXTS, read_text), **dict.fromkeys(MARKDOWN, read_markdown)}
        self._by_suffix: Mapping[str, Reader] = {**own, **(further or {})}
        self._convert, self._most = convert, most_converted
        self._converted = frozenset(() if convert is None else converted) - self._by_suffix.keys()

    def has(self, name: str) -> bool:
        """Return whether documents of a name's suffix are read."""
        return suffix_of(name) in self._by_suffix or suffix_of(name) in self._converted or self.is_page(name)

    def is_page(self, name: str) -> bool:
        """Return whether documents of a name's suffix are web pages, to be read together."""
        return self.pages is not None and suffix_of(name) in HTML and suffix_of(name) not in self._by_suffix

    def page(self, data: bytes, name: str) -> str:
        """Return the text of a web page, not parsed.

        Args:
            data: Its bytes; those of a name that ends in `.gz` are decompressed.
            name: Its name.

        Raises:
            BadInput: It is not text, or is too large.
        """
        data, name = _bounded(data, name, MOST_BYTES)
        return decoded(data, name)

    def most_bytes(self, name: str) -> int:
        """Return the most bytes of a document with a name."""
        return self._most if suffix_of(name) in self._converted else MOST_BYTES

    def read(self, data: bytes, name: str, loop: AbstractEventLoop | None = None) -> Document:
        """Return a document; this blocks.

        Args:
            data: Its bytes; those of a name that ends in `.gz` are decompressed.
            name: Its name.
            loop: Runs the sandbox of a foreign format, in another thread than this.

        Raises:
            BadInput: It is not text, is too large, or there is no reader for it.
            ToolError: It is of a foreign format, and cannot be read.
        """
        most, suffix = self.most_bytes(name), suffix_of(name)
        data, name = _bounded(data, name, most)
        if suffix in self._converted and self._convert is not None and loop is not None:
            return asyncio.run_coroutine_threadsafe(_awaited(self._convert(data, name)), loop).result()
        if (reader := self._by_suffix.get(suffix)) is None:
            raise BadInput(f"{name[-100:]!r} is not of a readable kind.", fix="add HTML, Markdown or plain text.")
        return reader(data, name)


async def _awaited(document: Awaitable[Document]) -> Document:
    return await document


def _bounded(data: bytes, name: str, most: int) -> tuple[bytes, str]:
    """Return the decompressed bytes of a document, and its name without `.gz`.

    Raises:
        BadInput: They are too many.
    """
    if name.endswith(".gz"):
        data, name = _unpacked(data, name, most), name.removesuffix(".gz")
    if len(data) > most:
        raise BadInput(f"{name[-100:]!r} has more than {most:,} bytes.", fix="leave it out, or divide it.")
    return data, name


def suffix_of(name: str) -> str:
    """Return the suffix of a name in small letters, without `.gz`."""
    last = name.removesuffix(".gz").rpartition("/")[2]
    stem, dot, suffix = last.rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def read_text(data: bytes, name: str) -> Document:
    """Return a plain text; its lines are counted as they stand."""
    text = decoded(data, name)
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return Document(title=first[:120], parts=(Section(text=text, line=1),) if text.strip() else ())


def read_markdown(data: bytes, name: str) -> Document:
    """Return a Markdown text; its lines are counted as they stand."""
    parts = tuple(sections(decoded(data, name)))
    return Document(title=next((one.heading for one in parts if one.heading), "")[:120], parts=parts)


def decoded(data: bytes, name: str) -> str:
    """Return the text of bytes: UTF-8 with a mark, UTF-16, else the declared encoding, else Latin.

    Raises:
        BadInput: They are not text.
    """
    if encoding := "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else utf_16_of(data):
        return _lines(data.decode(encoding, "replace"))
    if b"\0" in data[:_LOOKED_AT]:
        raise BadInput(f"{name[-100:]!r} is not text.", fix="leave it out.")
    try:
        return _lines(data.decode("utf-8"))
    except UnicodeDecodeError:
        declared = _CHARSET.search(data[:_LOOKED_AT])
        try:
            return _lines(data.decode(declared[1].decode("ascii") if declared else "cp1252", "replace"))
        except LookupError:
            return _lines(data.decode("cp1252", "replace"))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unpacked(data: bytes, name: str, most: int) -> bytes:
    """Return decompressed bytes, at most one more than are read.

    Raises:
        BadInput: They are not of gzip.
    """
    from io import BytesIO

    try:
        with gzip.open(BytesIO(data)) as file:
            return file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{name[-100:]!r} cannot be decompressed.", fix="leave it out, or mend it.") from error
