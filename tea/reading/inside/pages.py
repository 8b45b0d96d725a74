"""Pages of hypertext: HTML, EPUB books and notebooks to Markdown."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

from tea.reading.inside.charset import text_of
from tea.reading.inside.dates import dates_of
from tea.reading.inside.document import Order, Parsed, Unreadable
from tea.reading.inside.html import (
    DEEPEST,
    is_cut,
    markdown_and_links,
    markdown_of,
    parsed,
    title_of,
    unshown,
    unshown_words,
)
from tea.reading.inside.trees import parsed_xml
from tea.reading.inside.unpacked import opened_zip

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_FENCE = "```"
_MOST_OUTPUT = 4_000  # characters of what a notebook's cell gave
_DEEP = f"is nested too deeply, with more than {DEEPEST:,} elements in each other"
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def parse_html(order: Order) -> Parsed:
    """Return the main content of a page.

    Raises:
        Unreadable: It holds no text.
    """
    text, encoding = text_of(order.path.read_bytes(), order.content_type)
    tree = parsed(text)
    if tree is None:
        return Parsed(kind="text", text=text, facts={"encoding": encoding})
    cut = is_cut(tree)
    title, (published, modified) = title_of(tree), dates_of(tree, order.url, {})
    fields, scripts, bare = unshown(tree)
    markdown, links = markdown_and_links(tree, order.url)
    if not markdown.strip() and cut:
        raise Unreadable(f"{_DEEP}, and holds no text before", "read_file shows its source; or look for another.")
    if not markdown.strip():
        fix = "look for another source, or for the data that the page shows."
        fix = f"open it with `browser`, or {fix}" if order.url else fix
        raise Unreadable("holds no text; it may be made by a program in the browser", fix)
    facts = {"encoding": encoding, "published": published, "modified": modified, "links": links}
    notes = [f"It {_DEEP}, so a part of it is missing."] if cut else []
    notes += filter(None, [unshown_words(fields, scripts=scripts, bare=bare, text=markdown) if order.url else ""])
    return Parsed(kind="html", text=markdown, title=title, facts=facts, notes=notes, truncated=cut)


def plain_html(data: bytes, content_type: str = "") -> str:
    """Return the Markdown of a page within a book or a mail, empty if it holds none."""
    tree = parsed(text_of(data, content_type)[0])
    return "" if tree is None else markdown_of(tree, "")


def parse_epub(order: Order) -> Parsed:
    """Return the chapters of an EPUB book in their order, each under a mark with its number.

    Raises:
        Unreadable: It is damaged, protected or too large.
    """
    with opened_zip(order.path) as archive:
        names = set(archive.namelist())
        if "META-INF/encryption.xml" in names and b"EncryptedData" in archive.read("META-INF/encryption.xml"):
            protected = "META-INF/rights.xml" in names or "META-INF/sinf.xml" in names
            if protected:
                raise Unreadable("is protected by its seller", "give a copy without protection.")
        try:
            container = parsed_xml(archive.read("META-INF/container.xml"))
            package = next(str(one.get("full-path")) for one in container.iter(f"{_CONTAINER}rootfile"))
            book = parsed_xml(archive.read(package))
        except (KeyError, StopIteration) as error:
            raise Unreadable("is a damaged EPUB book", "check the file, or get it again.") from error
        items = {str(one.get("id")): one for one in book.iter(f"{_OPF}item")}
        parts = list[str]()
        chapters = [items[str(one.get("idref"))] for one in book.iter(f"{_OPF}itemref") if one.get("idref") in items]
        for number, item in enumerate(chapters, start=1):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(str(item.get("href")))))
            if name in names and (text := plain_html(archive.read(name)).strip()):
                parts.append(f"[chapter {number}]\n\n{text}")
    said = {one.tag.removeprefix(_DC): (one.text or "").strip() for one in reversed(list(book.iter(f"{_DC}*")))}
    facts = {"chapters": len(chapters), "author": said.get("creator", ""), "language": said.get("language", "")}
    return Parsed(kind="epub", text="\n\n".join(parts), title=said.get("title", ""), facts=filled(facts))


def parse_notebook(order: Order) -> Parsed:
    """Return the cells of a notebook with their outputs, each under a mark with its number.

    Raises:
        Unreadable: It is not a notebook.
    """
    try:
        book: Any = json.loads(order.path.read_bytes())
        cells, told = book["cells"], book.get("metadata", {})
        language = str(told.get("kernelspec", {}).get("language") or told.get("language_info", {}).get("name", ""))
        parts = [f"[cell {number}]\n\n{_notebook_cell(one, language)}" for number, one in enumerate(cells, start=1)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable("is a damaged notebook", "read it as a text with read_file.") from error
    return Parsed(kind="ipynb", text="\n\n".join(parts), facts={"cells": len(cells), "language": language})


def _notebook_cell(cell: Mapping[str, Any], language: str) -> str:
    source = _lines(cell.get("source", ""))
    if cell.get("cell_type") != "code":
        return source
    parts = [f"{_FENCE}{language}\n{source}\n{_FENCE}"]
    for output in cell.get("outputs", ()):
        text = _lines(output.get("text", "")) or _lines(output.get("data", {}).get("text/plain", ""))
        if output.get("output_type") == "error":
            text = _ANSI.sub("", "\n".join(output.get("traceback", ())))
        if text.strip():
            cut = text if len(text) <= _MOST_OUTPUT else f"{text[:_MOST_OUTPUT]}\n[cut]"
            parts.append(f"Output:\n\n{_FENCE}\n{cut.rstrip()}\n{_FENCE}")
    return "\n\n".join(parts)


def _lines(source: Any) -> str:
    return "".join(map(str, cast("list[Any]", source))) if isinstance(source, list) else str(source)


def filled(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the known facts."""
    return {name: value for name, value in facts.items() if value}
