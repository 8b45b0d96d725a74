"""Text inside PDF, Word and PowerPoint files."""

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from tea import TeaError, ToolError, require_extra

from .decoding import Text
from .kinds import suffix_of

_EXTRA = "documents"
MOST_UNPACKED = 50_000_000  # of words; images do not count
MOST_PARTS = 20_000
_MARK = re.compile(r"\[(?:page|slide) \d+\]")


def document_of(data: bytes, name: str) -> Text | None:
    """Return the lines of a document, or None where the file is of no such kind.

    Args:
        data: The file's bytes, which tell its kind where its name does not.
        name: What its user calls it.

    Raises:
        MissingExtra: The extra `documents` is not installed.
        ToolError: The file cannot be read as what it is.
    """
    readers: dict[str, Callable[[bytes], Iterator[str]]] = {".pdf": _pdf, ".docx": _docx, ".pptx": _pptx}
    suffix = PurePath(name).suffix.lower()
    suffix = suffix if suffix in readers else suffix_of(data)
    if suffix not in readers:
        return None
    try:
        if suffix != ".pdf":
            _check_size(data, name)
        blocks = list(readers[suffix](data))
    except TeaError:
        raise
    except Exception as error:
        raise ToolError(f"{name!r} is not a readable {suffix[1:].upper()} file.", fix="check the file.") from error
    if not any(block.strip() for block in blocks if not _MARK.fullmatch(block)):
        raise ToolError(f"{name!r} holds no text; it may be scanned.", fix="give a file with a text layer.")
    lines = [line.rstrip() for block in blocks for line in (*block.splitlines(), "")]
    return Text(lines=lines, read_as=suffix[1:])


def _check_size(data: bytes, name: str) -> None:
    """Refuse an archive that unpacks to much more than a text has; its reader would hold all of it.

    Raises:
        ToolError: It does.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = [part.file_size for part in archive.infolist() if part.filename.endswith((".xml", ".rels"))]
        if sum(sizes) > MOST_UNPACKED or len(archive.infolist()) > MOST_PARTS:
            raise ToolError(f"{name!r} unpacks to more than {MOST_UNPACKED // 10**6} MB.", fix="split the file.")


def _pdf(data: bytes) -> Iterator[str]:
    pypdf: Any = require_extra("pypdf", _EXTRA)
    document = pypdf.PdfReader(io.BytesIO(data))
    if document.is_encrypted and not document.decrypt(""):
        raise ToolError("The PDF file wants a password.", fix="give a copy without one.")
    for number, page in enumerate(document.pages, start=1):
        yield f"[page {number}]"
        yield page.extract_text()


def _docx(data: bytes) -> Iterator[str]:
    """Yield paragraphs and tables in the order of the document; headings marked as in Markdown."""
    docx: Any = require_extra("docx", _EXTRA)
    for block in docx.Document(io.BytesIO(data)).iter_inner_content():
        if hasattr(block, "rows"):
            yield _table(block)
        else:
            level = re.fullmatch(r"(?:Heading |Title)(\d?)", block.style.name if block.style else "")
            yield f"{'#' * int(level[1] or 1)} {block.text}" if level and block.text.strip() else block.text


def _pptx(data: bytes) -> Iterator[str]:
    pptx: Any = require_extra("pptx", _EXTRA)
    for number, slide in enumerate(pptx.Presentation(io.BytesIO(data)).slides, start=1):
        yield f"[slide {number}]"
        title = slide.shapes.title
        for shape in slide.shapes:
            heading = title is not None and shape.shape_id == title.shape_id
            yield from (f"# {text}" if heading and text.strip() else text for text in _shape(shape))
        if slide.has_notes_slide:
            yield slide.notes_slide.notes_text_frame.text


def _shape(shape: Any) -> Iterator[str]:
    """Yield the text of a shape, of its table, or of the shapes it groups."""
    if hasattr(shape, "shapes"):
        for inner in shape.shapes:
            yield from _shape(inner)
    elif shape.has_text_frame:
        yield shape.text_frame.text
    elif shape.has_table:
        yield _table(shape.table)


def _table(table: Any) -> str:
    return "\n".join(" | ".join(" ".join(cell.text.split()) for cell in row.cells) for row in table.rows)
