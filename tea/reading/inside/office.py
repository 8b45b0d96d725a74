"""Office documents to Markdown: DOCX, PPTX and OpenDocument, in the order of their reading."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import Any

from tea.reading.inside.document import Order, Parsed, Unreadable, cell_words, markdown_table
from tea.reading.inside.trees import parsed_xml
from tea.reading.inside.unpacked import opened_zip

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HEADING = re.compile(r"(?:heading|title)\s?(\d?)", re.IGNORECASE)
_MOST_HEADING = 6
_MOST_COLUMNS = 200


def parse_docx(order: Order) -> Parsed:
    """Return headings, paragraphs, lists, tables, notes and headers of a Word file.

    Raises:
        Unreadable: It is damaged, encrypted or too large.
    """
    import docx

    with opened_zip(order.path) as archive:
        names = set(archive.namelist())
        notes = [text for part in ("footnotes", "endnotes", "comments") for text in _notes(archive, names, part)]
    document: Any = docx.Document(str(order.path))
    for again in list(document.element.body.iter(_FALLBACK)):  # it repeats what newer programs draw
        again.getparent().remove(again)
    styles = {one.style_id: one.name or "" for one in document.styles}
    blocks = list(_blocks(document.element.body, styles))
    if notes:
        blocks += ["## Notes", *notes]
    found = Parsed(kind="docx", text=_joined(blocks), title=document.core_properties.title or "")
    found.facts |= _properties(document.core_properties)
    if any(name.endswith("vbaProject.bin") for name in names):
        found.notes.append("It holds macros; they were neither run nor read.")
    return found


def _blocks(body: Any, styles: dict[str, str]) -> Iterator[str]:
    """Yield the content of a body or a frame, in order."""
    for one in body:
        if one.tag == f"{_W}p":
            yield _paragraph(one, styles)
        elif one.tag == f"{_W}tbl":
            yield _word_table(one)
        elif one.tag == f"{_W}sdt":
            for content in one.iterchildren(f"{_W}sdtContent"):
                yield from _blocks(content, styles)


def _paragraph(one: Any, styles: dict[str, str]) -> str:
    text = _runs(one).strip()
    if not text:
        return ""
    style = one.find(f"{_W}pPr/{_W}pStyle")
    name = styles.get(style.get(f"{_W}val"), "") if style is not None else ""
    if found := _HEADING.fullmatch(name):
        return f"{'#' * min(_MOST_HEADING, int(found[1] or 1))} {' '.join(text.split())}"
    numbered = one.find(f"{_W}pPr/{_W}numPr")
    if numbered is not None or name.startswith("List "):
        level = numbered.find(f"{_W}ilvl") if numbered is not None else None
        deep = int(level.get(f"{_W}val") or 0) if level is not None else 0
        return f"{'  ' * min(deep, 8)}- {text}"
    return text


def _runs(one: Any) -> str:
    """Return the words of a paragraph as they stand after all changes."""
    parts = list[str]()
    for node in one.iter(f"{_W}t", f"{_W}tab", f"{_W}br", f"{_W}cr", f"{_W}noBreakHyphen"):
        kind = node.tag.removeprefix(_W)
        parts.append({"t": node.text or "", "tab": "\t", "noBreakHyphen": "-"}.get(kind, "\n"))
    return "".join(parts)


def _word_table(table: Any) -> str:
    rows = list[list[str]]()
    for row in table.iterchildren(f"{_W}tr"):
        cells = list[str]()
        for cell in row.iterchildren(f"{_W}tc"):
            span = cell.find(f"{_W}tcPr/{_W}gridSpan")
            width = int(span.get(f"{_W}val") or 1) if span is not None else 1
            cells += [" ".join(_runs(one) for one in cell.iter(f"{_W}p")), *[""] * (min(width, _MOST_COLUMNS) - 1)]
        rows.append(cells[:_MOST_COLUMNS])
    return markdown_table(rows)


def _notes(archive: zipfile.ZipFile, names: set[str], part: str) -> Iterator[str]:
    if f"word/{part}.xml" not in names:
        return
    for number, one in enumerate(parsed_xml(archive.read(f"word/{part}.xml")), start=1):
        text = " ".join(_runs(one).split())
        if text:
            yield f"- {part.removesuffix('s')} {number}: {text}"


def parse_pptx(order: Order) -> Parsed:
    """Return the slides of a PowerPoint file with their tables and notes.

    Raises:
        Unreadable: It is damaged, encrypted or too large.
    """
    import pptx

    with opened_zip(order.path):
        pass
    slides: Any = pptx.Presentation(str(order.path))
    blocks = list[str]()
    for number, slide in enumerate(slides.slides, start=1):
        blocks.append(f"[slide {number}]")
        title = slide.shapes.title
        for shape in slide.shapes:
            heading = title is not None and shape.shape_id == title.shape_id
            for text in _shape(shape):
                blocks.append(f"# {' '.join(text.split())}" if heading and text.strip() else text)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            blocks.append(slide.notes_slide.notes_text_frame.text)
    found = Parsed(kind="pptx", text=_joined(blocks), title=slides.core_properties.title or "")
    found.facts |= {"slides": len(slides.slides), **_properties(slides.core_properties)}
    return found


def _shape(shape: Any) -> Iterator[str]:
    """Yield the text of a shape, of its table or chart, or of the shapes it groups."""
    if hasattr(shape, "shapes"):
        for inner in shape.shapes:
            yield from _shape(inner)
    elif shape.has_text_frame:
        yield shape.text_frame.text
    elif getattr(shape, "has_table", False):
        yield markdown_table([[cell.text for cell in row.cells] for row in shape.table.rows])
    elif getattr(shape, "has_chart", False):
        yield _chart(shape.chart)


def _chart(chart: Any) -> str:
    """Return the numbers of a chart as a table; nothing of a kind without categories."""
    try:
        plot = chart.plots[0]
        series = list(plot.series)
        head = ["", *(str(one.name) for one in series)]
        rows = [[str(name), *(str(one.values[at]) for one in series)] for at, name in enumerate(plot.categories)]
    except (IndexError, AttributeError, ValueError, KeyError):
        return ""
    return markdown_table([head, *rows])


_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"


def parse_opendocument(order: Order) -> Parsed:
    """Return the text of an OpenDocument text or presentation.

    Raises:
        Unreadable: It is damaged, encrypted or too large.
    """
    with opened_zip(order.path) as archive:
        names = set(archive.namelist())
        if "content.xml" not in names:
            raise Unreadable("is a damaged OpenDocument file", "check the file, or get it again.")
        manifest = "META-INF/manifest.xml" if "META-INF/manifest.xml" in names else "content.xml"
        if b"encryption-data" in archive.read(manifest):
            raise Unreadable("is encrypted", "give a copy without a password.")
        tree = parsed_xml(archive.read("content.xml"))
        meta = parsed_xml(archive.read("meta.xml")) if "meta.xml" in names else None
    blocks, slides = list[str](), 0
    for one in _open_blocks(tree):
        slides += one is None
        blocks.append(f"[slide {slides}]" if one is None else one)
    title = "" if meta is None else next((one.text or "" for one in meta.iter(f"{_DC}title")), "")
    return Parsed(
        kind="odp" if slides else "odt", text=_joined(blocks), title=title, facts={"slides": slides} if slides else {}
    )


def _open_blocks(one: Any) -> Iterator[str | None]:
    """Yield headings, paragraphs, lists and tables in order; None at the beginning of a slide."""
    for node in one:
        if node.tag == f"{_TEXT}h":
            level = int(node.get(f"{_TEXT}outline-level") or 1)
            yield f"{'#' * min(_MOST_HEADING, level)} {' '.join(_open_words(node).split())}"
        elif node.tag == f"{_TEXT}p":
            yield _open_words(node).strip()
            for frame in node.iter(f"{_DRAW}text-box"):
                yield from _open_blocks(frame)
        elif node.tag == f"{_TEXT}list-item":
            words = [block for block in _open_blocks(node) if block]
            yield "\n".join(f"  {line}" if number else f"- {line}" for number, line in enumerate(words))
        elif node.tag == f"{_TABLE}table":
            rows = [[_cell(cell) for cell in row.iterchildren(f"{_TABLE}table-cell")] for row in _rows(node)]
            yield markdown_table([row[:_MOST_COLUMNS] for row in rows])
        elif node.tag == f"{_DRAW}page":
            yield None
            yield from _open_blocks(node)
        elif isinstance(node.tag, str) and not node.tag.endswith(("tracked-changes", "sequence-decls")):
            yield from _open_blocks(node)


def _rows(table: Any) -> Iterator[Any]:
    return table.iter(f"{_TABLE}table-row")


def _cell(cell: Any) -> str:
    return " ".join(_open_words(one) for one in cell.iter(f"{_TEXT}p"))


def _open_words(node: Any) -> str:
    """Return the words of a paragraph, with its blanks, tabs and breaks, without the content of frames."""
    parts = [node.text or ""]
    for child in node:
        if child.tag == f"{_TEXT}s":
            parts.append(" " * min(100, int(child.get(f"{_TEXT}c") or 1)))
        elif child.tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            parts.append("\t" if child.tag.endswith("tab") else "\n")
        elif child.tag != f"{_DRAW}frame" and isinstance(child.tag, str):
            parts.append(_open_words(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _properties(properties: Any) -> dict[str, str]:
    found = {"author": properties.author or ""}
    for name, value in (("published", properties.created), ("modified", properties.modified)):
        found[name] = "" if value is None else f"{value:%Y-%m-%d}"
    return {name: cell_words(value)[:200] for name, value in found.items() if value}


def _joined(blocks: list[str]) -> str:
    return "\n\n".join(block for block in blocks if block.strip())
