"""Sheets of OpenDocument workbooks, row by row, from one pass over their content."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

from tea.reading.inside.document import Unreadable
from tea.reading.inside.sheets import MOST_SHEETS, MOST_UNPACKED, Part
from tea.reading.inside.survey import MOST_COLUMNS

CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
_OFFICE, _TABLE, _TEXT = (f"urn:oasis:names:tc:opendocument:xmlns:{one}:1.0 " for one in ("office", "table", "text"))
_NUMBERS = frozenset({"float", "percentage", "currency"})
_WHOLE = re.compile(r"[+-]?\d{1,19}")
_TIME = re.compile(r"PT(\d{1,6})H(\d{1,2})M(\d{1,2})(?:[.,]\d+)?S")
_MOST_SPACES = 1_000
_SPLIT = "split the file, or save the needed sheet as CSV."

Value = str | int | float | None
Take = Callable[[list[Value], int], None]
Begin = Callable[[str], Take]


def is_open_workbook(archive: zipfile.ZipFile) -> bool:
    """Return whether an archive is an OpenDocument file.

    Raises:
        Unreadable: It is one, and encrypted or too large.
    """
    names = set(archive.namelist())
    if CONTENT not in names or "xl/workbook.xml" in names:
        return False
    if archive.getinfo(CONTENT).file_size > MOST_UNPACKED:
        raise Unreadable(f"unpacks to more than {MOST_UNPACKED // 10**6:,} MB", _SPLIT)
    if _MANIFEST in names:
        with archive.open(_MANIFEST) as stream:
            if b"encryption-data" in stream.read(1_000_000):
                raise Unreadable("is encrypted", "save it without a password.")
    return True


def read_open_sheets(path: Path, begin: Begin) -> None:
    """Hand over the filled rows of each sheet; of a formula the value last computed counts.

    Args:
        path: The workbook.
        begin: Is told the title of each sheet, and returns what takes its rows and how often each is repeated.

    Raises:
        Unreadable: It holds too much.
    """
    with zipfile.ZipFile(path) as archive, archive.open(CONTENT) as stream:
        _Content(begin).read(stream)


class _Content(Part):
    """The content of a workbook: the tables right below it, neither those in cells nor remarks."""

    separator = " "

    def __init__(self, begin: Begin) -> None:
        super().__init__()
        self._begin_sheet, self._sheets = begin, 0
        self._take: Take | None = None
        self._tables = self._remarks = self._paragraphs = self._again = self._empty = self._cell_again = 0
        self._row: list[Value] = []
        self._told: dict[str, str] = {}

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if name == f"{_TABLE}table":
            self._tables += 1
            if self._tables == 1:
                self._sheets += 1
                if self._sheets > MOST_SHEETS:
                    raise Unreadable(f"has more than {MOST_SHEETS:,} sheets", _SPLIT)
                self._take = self._begin_sheet(attributes.get(f"{_TABLE}name", ""))
        elif name == f"{_OFFICE}annotation":
            self._remarks += 1
        elif self._tables == 1 and not self._remarks:
            self._within(name, attributes)

    def _within(self, name: str, attributes: dict[str, str]) -> None:
        """Begin a part of a sheet."""
        if name == f"{_TABLE}table-row":
            self._row, self._empty = [], 0
            self._again = _count(attributes, f"{_TABLE}number-rows-repeated")
        elif name in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            self._begin()
            self._told, self._paragraphs = attributes, 0
            self._cell_again = _count(attributes, f"{_TABLE}number-columns-repeated")
        elif name == f"{_TEXT}p":
            self._paragraphs += 1
            self._taking = True
            if self._paragraphs > 1:
                self._data("\n")
        elif name == f"{_TEXT}s":
            self._data(" " * min(_count(attributes, f"{_TEXT}c"), _MOST_SPACES))
        elif name in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            self._data("\t" if name == f"{_TEXT}tab" else "\n")

    def _end(self, name: str) -> None:
        if name == f"{_TABLE}table":
            self._tables -= 1
        elif name == f"{_OFFICE}annotation":
            self._remarks -= 1
        elif self._tables == 1 and not self._remarks:
            if name == f"{_TEXT}p":
                self._taking = False
            elif name in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                self._end_cell(_value(self._told, "".join(self._words)))
            elif name == f"{_TABLE}table-row":
                self._end_row()

    def _data(self, text: str) -> None:
        if self._tables == 1 and not self._remarks:
            super()._data(text)

    def _end_cell(self, value: Value) -> None:
        """Add a cell to its row as often as it is repeated; empty ones only before a filled one."""
        if value in (None, ""):
            self._empty += self._cell_again
            return
        if len(self._row) + self._empty + self._cell_again > MOST_COLUMNS:
            raise Unreadable(f"has more than {MOST_COLUMNS:,} columns", _SPLIT)
        self._row += [None] * self._empty + [value] * self._cell_again
        self._empty = 0

    def _end_row(self) -> None:
        if self._take is not None and self._row:
            self._take(self._row, self._again)


def _count(attributes: dict[str, str], name: str) -> int:
    """Return how often something is repeated."""
    text = attributes.get(name, "1")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _value(attributes: dict[str, str], text: str) -> Value:
    """Return the value of a cell as a table has it."""
    kind = attributes.get(f"{_OFFICE}value-type", "")
    if kind in _NUMBERS:
        return _number(attributes.get(f"{_OFFICE}value", ""), text)
    if kind == "date":
        day, _, clock = attributes.get(f"{_OFFICE}date-value", "").partition("T")
        return (f"{day} {clock}" if clock.strip("0:.") else day) or text
    if kind == "time":
        found = _TIME.fullmatch(attributes.get(f"{_OFFICE}time-value", ""))
        return ":".join(f"{int(one):02}" for one in found.groups()) if found else text
    if kind == "boolean":
        return attributes.get(f"{_OFFICE}boolean-value", "") or text
    return attributes.get(f"{_OFFICE}string-value", "") or text or None


def _number(written: str, text: str) -> Value:
    if _WHOLE.fullmatch(written):
        return int(written)
    try:
        return float(written)
    except ValueError:
        return text
