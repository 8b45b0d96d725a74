"""Survey: a workbook's unpacked size before it is read, since a small file may hold more than any memory."""

from __future__ import annotations

import re
import zipfile
from typing import Any
from xml.parsers import expat

from tea.reading.inside.document import Unreadable

MOST_CELLS = 5_000_000
MOST_COLUMNS = 16_384  # as the format of workbooks has it
MOST_UNPACKED = 200_000_000
MOST_PARTS = 10_000
MOST_ELEMENTS = 3 * MOST_CELLS
MOST_TOGETHER = 250_000  # that are held at once: of a row, of a text, of a part that is read as a whole
MOST_ROWS = 8 * 1_048_576  # with those that are left out between two
MOST_PADDED = 1_500_000_000  # cells of rows that reach from the first column to their last
_PIECE = 2**16
_PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_SPLIT = "split the file, or clear cells far to the right or below."


def survey(archive: zipfile.ZipFile) -> list[int]:
    """Return the used columns of a workbook's sheets, counted from 0.

    Each part is read once as a stream that keeps nothing, so the size of what is refused does not matter.

    Args:
        archive: The workbook.

    Raises:
        Unreadable: It unpacks to too much.
        expat.ExpatError: A part is not XML.
    """
    parts = archive.infolist()
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise Unreadable(f"unpacks to more than {MOST_UNPACKED // 10**6} MB", "split the file.")
    found = _Survey()
    for part in parts:
        if part.filename.lower().endswith((".xml", ".rels")):
            with archive.open(part) as stream:
                found.read(stream)
    return sorted(found.columns)


class _Survey:
    """Count the elements of all parts, and note the columns with filled cells."""

    def __init__(self) -> None:
        self.columns: set[int] = set()
        self._elements = self._values = self._padded = self._rows = 0

    def read(self, stream: Any) -> None:
        """Read one part."""
        self._row = self._column = self._together = 0
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._starts
        parser.StartDoctypeDeclHandler = self._refuse_types
        while piece := stream.read(_PIECE):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
        self._end_row()

    def _starts(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        self._together += 1
        if self._values > MOST_CELLS or self._elements > MOST_ELEMENTS or self._together > MOST_TOGETHER:
            raise Unreadable(f"holds more than {MOST_CELLS:,} cells", _SPLIT)
        match name.rpartition(":")[2]:
            case "c":
                found = _PLACE.fullmatch(attributes.get("r", ""))
                self._column = _number(found[1]) if found else self._column + 1
                if self._column > MOST_COLUMNS:
                    raise Unreadable(f"names the column {self._column}", _SPLIT)
            case "v" | "is":
                self._values += 1
                self.columns.add(max(0, self._column - 1))
            case "row":
                self._begin_row(attributes.get("r", ""))
            case "si":
                self._together = 0
            case _:
                pass

    def _begin_row(self, number: str) -> None:
        self._end_row()
        row = int(number) if number.isdecimal() and len(number) < 10 else self._row + 1
        self._rows += max(0, row - self._row)
        self._row, self._together = max(row, self._row), 0
        if self._rows > MOST_ROWS:
            raise Unreadable(f"names more than {MOST_ROWS:,} rows", _SPLIT)

    def _end_row(self) -> None:
        self._padded += self._column
        self._column = 0
        if self._padded > MOST_PADDED:
            raise Unreadable("has rows that are too wide", _SPLIT)

    def _refuse_types(self, *_: object) -> None:
        raise Unreadable("declares a document type", "save it as XLSX.")


def _number(letters: str) -> int:
    """Return the number of a column: 1 for A, 28 for AB."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
