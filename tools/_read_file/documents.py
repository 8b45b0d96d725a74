"""Text inside PDF, Word and PowerPoint files."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tea import TeaError, ToolError, require_extra

from .decoding import Text, file_bytes

_EXTRA = "documents"


def read_document(path: Path, name: str) -> Text | None:
    """Return the lines of a document, or None when the file is of no such kind.

    Raises:
        MissingExtra: The extra `documents` is not installed.
        ToolError: The file cannot be read as what its name says.
    """
    readers: dict[str, Callable[[bytes], Iterator[str]]] = {".pdf": _pdf, ".docx": _docx, ".pptx": _pptx}
    suffix = path.suffix.lower()
    if suffix not in readers:
        return None
    data = file_bytes(path, name)
    try:
        lines = [line.rstrip() for block in readers[suffix](data) for line in block.splitlines()]
    except TeaError:
        raise
    except Exception as error:
        raise ToolError(f"{name!r} is not a readable {suffix[1:].upper()} file.", fix="check the file.") from error
    if not any(lines):
        raise ToolError(f"{name!r} holds no text; it may be scanned.", fix="give a file with a text layer.")
    return Text(lines=lines, read_as=suffix[1:])


def _pdf(data: bytes) -> Iterator[str]:
    pypdf: Any = require_extra("pypdf", _EXTRA)
    for number, page in enumerate(pypdf.PdfReader(io.BytesIO(data)).pages, start=1):
        yield f"[page {number}]"
        yield page.extract_text()


def _docx(data: bytes) -> Iterator[str]:
    docx: Any = require_extra("docx", _EXTRA)
    document = docx.Document(io.BytesIO(data))
    for paragraph in document.paragraphs:
        yield paragraph.text or "\n"
    for table in document.tables:
        for row in table.rows:
            yield " | ".join(cell.text for cell in row.cells)


def _pptx(data: bytes) -> Iterator[str]:
    pptx: Any = require_extra("pptx", _EXTRA)
    for number, slide in enumerate(pptx.Presentation(io.BytesIO(data)).slides, start=1):
        yield f"[slide {number}]"
        for shape in slide.shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text
