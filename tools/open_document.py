"""One file as Markdown: the leaf under `to_markdown`, which alone opens it, in a sandbox."""

import asyncio
import re
from base64 import b64decode
from pathlib import Path
from typing import Any, NotRequired, TypedDict
from urllib.parse import unquote_to_bytes

from tea import Context, StaticEmbedder, ToolError, open_resolved, tool
from tea.reading import (
    UNFIT,
    Document,
    Heading,
    Match,
    Options,
    Reader,
    best_excerpts,
    folded,
    is_fit,
    kind_of,
    kind_of_file,
    window_of,
)

MOST_DATA = 20_000_000
MOST_LISTED = 200
HEAD = 16_384
_PAGES = re.compile(r"(\d{1,6})(?:\s*+(-|–|to)(?:\s*+(\d{1,6}))?)?")
_LANGUAGE = re.compile(r"[A-Za-z_]{2,20}(?:\+[A-Za-z_]{2,20}){0,5}")
_DATA = re.compile(r"data:([^,;]*)((?:;[^,;]*)*),", re.IGNORECASE)
_USUAL_FACT = ("encoding", "utf-8")
_HIDDEN_FACTS = ("contents", "without_text", "links", "parts")


class Passage(TypedDict):
    """A part that fits a question: its first and last line, its place, the heading above it, and its words."""

    start: int
    end: int
    place: str
    heading: str
    text: str


class Opened(TypedDict):
    """A file as it was read: see `to_markdown`."""

    source: str
    kind: str
    document: str
    total_lines: int
    title: NotRequired[str]
    truncated: NotRequired[bool]
    place: NotRequired[str]
    start: NotRequired[int]
    end: NotRequired[int]
    next_start: NotRequired[int]
    text: NotRequired[str]
    outline: NotRequired[list[Heading]]
    matches: NotRequired[list[Match]]
    total: NotRequired[int]
    passages: NotRequired[list[Passage]]
    facts: NotRequired[dict[str, Any]]
    files: NotRequired[list[str]]
    notes: NotRequired[list[str]]


@tool(
    effects="writes",
    idempotent=True,
    network=False,
    evolvable=False,
    after="files taken out of an archive, mail or video are in a folder beside it",
    metadata={"category": "part"},
)
async def open_document(
    ctx: Context,
    source: str,
    pages: str = "",
    start: int = 1,
    outline: bool = False,
    find: str = "",
    regex: bool = False,
    question: str = "",
    ocr: bool = False,
    unpack: bool = False,
    language: str = "eng",
    url: str = "",
    content_type: str = "",
) -> Opened:
    """Convert a file of the workspace to Markdown, and give the part of it that is wanted.

    Args:
        source: Its name, or a `data:` address.
        url: Where it comes from.
        content_type: What its server said that it is.
    """
    if not _LANGUAGE.fullmatch(language):
        raise ToolError(f"{language[:40]!r} is not a language.", fix="name it as tesseract does, as in eng or deu+fra.")
    given = source.strip()
    name, content, said = ("data", *_data(given)) if given.startswith("data:") else (source, await ctx.file(source), "")
    taken_out = unpack or await asyncio.to_thread(_is_packed, content, name)
    options = Options(
        url=url, content_type=content_type or said, pages=_range(pages), ocr=ocr, unpack=taken_out, language=language
    )
    folder = ctx.path(f"{name}.d") if taken_out else None
    reader = Reader(await ctx.parser_terms())
    document = await reader.read(content, name, options, parts=folder)
    opened = _head(document, name)
    if outline:
        opened["outline"] = document.outline()
    elif find.strip() and regex:
        _found(opened, document, *await reader.search(document, find))
    elif find.strip():
        _found(opened, document, *document.find(find))
    elif question.strip():
        opened["passages"] = await asyncio.to_thread(_passages, document, question)
        if opened["passages"] and not is_fit(document.lines, question):
            opened["notes"] = [*opened.get("notes", ()), UNFIT]
    else:
        _window(opened, document, start)
    return opened


def _head(document: Document, name: str) -> Opened:
    """Return the facts told about every document."""
    opened = Opened(
        source=name,
        kind=document.kind,
        document=document.digest,
        total_lines=len(document.lines),
    )
    if document.title:
        opened["title"] = document.title
    if document.truncated:
        opened["truncated"] = True
    told = {key: value for key, value in document.facts.items() if key not in _HIDDEN_FACTS and value}
    if facts := {key: value for key, value in told.items() if (key, value) != _USUAL_FACT}:
        opened["facts"] = facts
    notes = list(document.notes)
    if document.parts:
        opened["files"] = [f"{name}.d/{one}" for one in document.parts[:MOST_LISTED]]
        if len(document.parts) > MOST_LISTED:
            notes.append(f"{len(document.parts) - MOST_LISTED:,} more files are in {name}.d.")
    if not document.lines:
        notes.append("It is empty.")
    if notes:
        opened["notes"] = notes
    return opened


def _found(opened: Opened, document: Document, matches: list[Match], total: int) -> None:
    opened["matches"], left = folded(document, matches)
    opened["total"] = total
    if left := left + total - len(matches):
        opened["truncated"] = True
        note = (
            f"{left:,} found lines are not shown: find more words, or an expression with `regex`; or ask a `question`."
        )
        opened["notes"] = [*opened.get("notes", ()), note]


def _window(opened: Opened, document: Document, start: int) -> None:
    window = window_of(document.lines, start)
    opened["start"], opened["end"], opened["text"] = window["start"], window["end"], window["text"]
    if place := document.place(window["start"]):
        opened["place"] = place
    if "next_start" in window:
        opened["next_start"] = window["next_start"]


def _passages(document: Document, question: str) -> list[Passage]:
    found = best_excerpts(document.lines, question, StaticEmbedder().embed)
    return [Passage(place=document.place(one["start"]), **one) for one in found]


def _is_packed(content: Path | bytes, name: str) -> bool:
    if isinstance(content, bytes):
        return kind_of(content[:HEAD], name).is_packed
    try:
        with open_resolved(content) as file:
            return kind_of_file(file, name).is_packed
    except OSError as error:
        raise ToolError(f"{name!r} cannot be read: {error.strerror}.", fix="check the file.") from error


def _range(pages: str) -> tuple[int, int]:
    """Return first and last page, 0 for the end.

    Raises:
        ToolError: It is not a range.
    """
    if not pages.strip():
        return 1, 0
    found = _PAGES.fullmatch(pages.strip())
    first = int(found[1]) if found else 0
    last = (int(found[3] or 0) if found[2] else first) if found else 0
    if first < 1 or (last and last < first):
        raise ToolError(f"{pages[:40]!r} is not a range of pages.", fix="write 3, 10-20, or 10- to the end.")
    return first, last


def _data(address: str) -> tuple[bytes, str]:
    """Return the bytes and the type of a `data:` address (RFC 2397).

    Raises:
        ToolError: It is not such an address, or too long.
    """
    found = _DATA.match(address[:2_000])
    if found is None or len(address) > MOST_DATA:
        problem = "The data: address cannot be read." if found is None else "The data: address is too long."
        raise ToolError(problem, fix="write data:TYPE;base64,BYTES, or name a file.")
    body = address[found.end() :]
    try:
        data = b64decode(body, validate=True) if ";base64" in found[2].lower() else unquote_to_bytes(body)
    except ValueError as error:
        raise ToolError("The data: address holds no base64.", fix="write data:TYPE;base64,BYTES.") from error
    return data, found[1]
