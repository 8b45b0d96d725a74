"""Bytes of a text file to lines, with the fitting encoding."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tea import ToolError, open_resolved
from tea.reading import Kind, Title, kind_of, packed_kind, size_words, text_lines, utf_16_of

MOST_BYTES = 50_000_000
HEAD = 16_384
_LOOKED_AT = 100_000
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A file's lines, how they were read, and the page or other place of each by its number, empty without any.

    `headings` are those of a document, None for those of its lines.
    """

    lines: list[str]
    read_as: str
    place: Callable[[int], str] = lambda _: ""
    headings: list[Title] | None = None


def text_of(data: bytes, name: str) -> Text:
    """Return the lines of a text: UTF-8, UTF-16, else Windows Latin.

    Args:
        data: The file's bytes.
        name: What its user calls it, for messages.

    Raises:
        ToolError: It is not text.
    """
    if wide := utf_16_of(data):
        return Text(lines=text_lines(data.decode(wide, errors="replace")), read_as="utf-16")
    if b"\x00" in data[:_LOOKED_AT]:
        raise no_text(data, len(data), name)
    try:
        return Text(lines=text_lines(data.decode("utf-8-sig")), read_as="utf-8")
    except UnicodeDecodeError:
        if _CONTROL.search(data, 0, _LOOKED_AT) and kind_of(data[:HEAD]).name != "binary":
            raise no_text(data, len(data), name) from None
    return Text(lines=text_lines(data.decode("cp1252", errors="replace")), read_as="windows-1252")


def file_bytes(path: Path, name: str) -> bytes:
    """Return a file's bytes, within the size limit.

    Raises:
        ToolError: It cannot be read, or it is too large.
    """
    try:
        with open_resolved(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size <= MOST_BYTES:
                return file.read()
            head = file.read(HEAD)
    except OSError as error:
        raise ToolError(f"{name!r} cannot be read: {error.strerror}.", fix="check the file.") from error
    if b"\x00" in head:
        raise no_text(head, size, name)
    raise ToolError(f"{name!r} is larger than {MOST_BYTES // 10**6} MB.", fix="read it with to_markdown, or split it.")


def no_text(data: bytes, size: int, name: str) -> ToolError:
    """Return the error naming a file's real kind.

    Args:
        data: Its first bytes, or all of them.
        size: How many it has.
        name: What its user calls it.
    """
    kind = _packed(data) or kind_of(data[:HEAD])
    fix = "name another file, or say in your answer that this one cannot be read."
    if kind.family in ("image", "audio", "video", "archive", "table", "document"):
        fix = "ask table_query." if kind.name == "xlsx" else "ask to_markdown."
    if kind.family == "image":
        fix = "ask to_markdown with ocr, which recognises letters in it."
    return ToolError(f"{name!r} is {kind.words} of {size_words(size)}, which cannot be read as text.", fix=fix)


def _packed(data: bytes) -> Kind | None:
    return packed_kind(data) if data.startswith(b"PK\x03\x04") else None
