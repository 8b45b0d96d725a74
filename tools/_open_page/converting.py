"""What a server gave, as lines of Markdown: its type told by its content, and not by its name or header alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from tea import ToolError

from .charset import text_of
from .dates import dates_of, day_in
from .html import markdown_of, parsed, title_of
from .pdf import pdf_text
from .windows import lines_of

_HTML = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype html|html|head|body|title|meta|script|div|p|h1)\b", re.I | re.S
)
_XHTML = re.compile(rb"<html\b", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TEXT_TYPES = re.compile(r"text/|application/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml|x-tex|rtf)")
_KINDS = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"), (b"RIFF", "a media file"),
    (b"PK\x03\x04", "an archive or office file"), (b"\x1f\x8b", "a GZIP archive"), (b"\x00\x00\x00", "a media file"),
    (b"ID3", "a sound"), (b"OggS", "a sound or video"), (b"\xd0\xcf\x11\xe0", "an old office file"),
    (b"7z\xbc\xaf", "a 7Z archive"), (b"Rar!", "a RAR archive"),
)  # fmt: skip
_LOOKED_AT = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is read of a page at most: pages of a PDF file, characters, and seconds."""

    pages: int
    characters: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
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
    """

    kind: str
    title: str
    lines: list[str]
    read_as: str
    published: str
    modified: str
    truncated: bool
    digest: str


def convert(body: bytes, headers: Mapping[str, str], url: str, limits: Limits, *, truncated: bool) -> Document:
    """Return a page as Markdown.

    Args:
        body: Its bytes.
        headers: Headers of the answer.
        url: Its address.
        limits: What is read at most.
        truncated: Whether the body went on.

    Raises:
        ToolError: It is no page, text or PDF file, or holds no text.
    """
    content_type = headers.get("content-type", "")
    if b"%PDF-" in body[:1_024]:
        return _pdf(body, limits, truncated=truncated)
    if not _is_text(body, content_type):
        raise ToolError(
            f"{url[:300]!r} is {_kind(body, content_type)}, which is no page.", fix="look for a page about it."
        )
    text, read_as = text_of(body, content_type)
    tree = parsed(text) if _is_html(body, content_type) else None
    if tree is None:
        return _document(
            "text", text, read_as, limits, modified=day_in(headers.get("last-modified", "")), more=truncated
        )
    title, (published, modified) = title_of(tree), dates_of(tree, url, headers)
    markdown = markdown_of(tree, url)
    if not markdown.strip():
        problem = f"{url[:300]!r} holds no text; it may be made by a program in the browser."
        raise ToolError(problem, fix="look for another source, or for the data that the page shows.")
    return _document("html", markdown, read_as, limits, title, published, modified, more=truncated)


def _pdf(body: bytes, limits: Limits, *, truncated: bool) -> Document:
    if truncated:
        raise ToolError(f"The PDF file is larger than {len(body):,} bytes.", fix="look for another source.")
    found = pdf_text(body, limits.pages, limits.characters, limits.seconds)
    read_as = f"pages 1 to {found.read} of {found.pages}"
    more = found.read < found.pages
    return _document("pdf", found.text, read_as, limits, found.title, found.published, found.modified, more=more)


def _document(
    kind: str,
    text: str,
    read_as: str,
    limits: Limits,
    title: str = "",
    published: str = "",
    modified: str = "",
    *,
    more: bool,
) -> Document:
    lines = lines_of(text[: limits.characters])
    return Document(
        kind=kind,
        title=title,
        lines=lines,
        read_as=read_as,
        published=published,
        modified=modified,
        truncated=more or len(text) > limits.characters,
        digest=sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:16],
    )


def _is_html(body: bytes, content_type: str) -> bool:
    """Tell whether a text is HTML: by how it begins, and by its header where it begins like nothing else."""
    head = body[:_LOOKED_AT].lstrip(b"\xef\xbb\xbf")
    if _HTML.match(head) or (head.lstrip().startswith(b"<?xml") and _XHTML.search(head)):
        return True
    return "html" in content_type.lower() and b"<" in body


def _is_text(body: bytes, content_type: str) -> bool:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    head = body[:_LOOKED_AT]
    if b"\0" in head or any(head.startswith(mark) for mark, _ in _KINDS):
        return "utf-16" in content_type.lower() and b"\0" in head
    kind = content_type.partition(";")[0].strip().lower()
    return bool(_TEXT_TYPES.match(kind)) or not _CONTROL.search(head)


def _kind(body: bytes, content_type: str) -> str:
    known = next((words for mark, words in _KINDS if body.startswith(mark)), "")
    return known or f"of type {content_type.partition(';')[0].strip()[:60] or 'unknown'}"
