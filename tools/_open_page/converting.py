"""A server's reply, as lines of Markdown: its type told by its content, and not by its name or header alone."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from tea import ToolError
from tea.reading import Options, Reader, day_in, kind_of

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TEXT_TYPES = re.compile(r"text/|application/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml|x-tex|rtf)")
_LINK = re.compile(r"\]\(([^\s()<>]{1,1000})\)")
_MOST_LINKS = 1_000
_LOOKED_AT = 2_048
_TEXTS = frozenset(("text", "html", "xml", "json", "jsonl", "ipynb", "eml", "csv", "tsv", "yaml", "markdown", "rtf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most to read of a page: pages of a PDF file, and characters."""

    pages: int
    characters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page as lines of Markdown.

    Args:
        kind: `html`, `pdf` or `text`.
        title: What it calls itself, empty for nothing.
        lines: Its lines.
        read_as: The encoding it was read in, or which pages were.
        published: The day it was published, `YYYY-MM-DD`, empty where nothing says it.
        modified: The day it was changed last, likewise.
        truncated: Whether there is more than was read.
        digest: Of its text, so that one that has changed can be told.
        links: The addresses in it.
        notes: What is missing in it.
    """

    kind: str
    title: str
    lines: list[str]
    read_as: str
    published: str
    modified: str
    truncated: bool
    digest: str
    links: list[str]
    notes: list[str]


async def convert(
    reader: Reader, body: bytes, headers: Mapping[str, str], url: str, limits: Limits, *, truncated: bool
) -> Page:
    """Return a page as Markdown.

    Args:
        reader: Converts it, in a sandbox.
        body: Its bytes.
        headers: Headers of the answer.
        url: Its address.
        limits: What is read at most.
        truncated: Whether the body went on.

    Raises:
        ToolError: It is not a page, text or PDF file, or holds no text.
    """
    content_type = headers.get("content-type", "")
    kind = _kind(body, content_type, url)
    if kind == "pdf" and truncated:
        raise ToolError(f"The PDF file is larger than {len(body):,} bytes.", fix="look for another source.")
    options = Options(
        url=url, content_type=content_type, kind=kind, pages=(1, limits.pages), characters=limits.characters
    )
    document = await reader.read(body, url[:300], options)
    if document.is_scan:
        problem = "The PDF file holds no text on its first pages; it may be scanned."
        raise ToolError(problem, fix="look for another source with a text layer, or ask to_markdown with ocr.")
    facts = document.facts
    published, modified = (str(facts.get(name) or "") for name in ("published", "modified"))
    modified = modified or ("" if kind == "pdf" else day_in(headers.get("last-modified", "")))
    pages = int(facts.get("pages") or 0)
    return Page(
        kind=document.kind,
        title=document.title,
        lines=document.lines,
        read_as=_pages_read(facts) if pages else str(facts.get("encoding", "")),
        published=published,
        modified=modified if modified >= published else "",
        truncated=truncated or document.truncated or pages > limits.pages,
        digest=document.digest,
        links=facts["links"] if "links" in facts else _links(document.lines, url),
        notes=list(document.notes),
    )


def _links(lines: list[str], url: str) -> list[str]:
    """Return the addresses of the relative links of a text in Markdown."""
    found = list[str]()
    for link in dict.fromkeys(one for line in lines for one in _LINK.findall(line)):
        with suppress(ValueError):
            found.append(urljoin(url, link))
    return [one for one in found if one.startswith(("http://", "https://"))][:_MOST_LINKS]


def _pages_read(facts: Mapping[str, Any]) -> str:
    first, _, last = str(facts["read"]).partition("-")
    return f"pages {first} to {last or first} of {facts['pages']}"


def _kind(body: bytes, content_type: str, url: str) -> str:
    """Return whether a body is read as `html`, `pdf` or `text`.

    Raises:
        ToolError: It is something else.
    """
    found = kind_of(body)
    if found.name == "pdf":
        return "pdf"
    if found.name == "html" or ("html" in content_type.lower() and b"<" in body and found.name in (*_TEXTS, "binary")):
        return "html"
    if found.name in _TEXTS or (found.name == "binary" and _is_text(body, content_type)):
        return "text"
    what = found.words if found.name != "binary" else f"of type {_type_of(content_type)[:60] or 'unknown'}"
    fix = "look for a page about it."
    if found.family not in ("other", "text"):
        fix = "ask to_markdown, which reads such files, or look for a page about it."
    raise ToolError(f"{url[:300]!r} is {what}, which is not a page.", fix=fix)


def _is_text(body: bytes, content_type: str) -> bool:
    """Tell whether bytes unlike text are a text, as their server says."""
    head = body[:_LOOKED_AT]
    if b"\0" in head:
        return "utf-16" in content_type.lower()
    return bool(_TEXT_TYPES.match(_type_of(content_type))) or not _CONTROL.search(head)


def _type_of(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
