"""Sheets of large XLSX workbooks, row by row: no sheet and no list of texts is ever held as objects."""

from __future__ import annotations

import re
import zipfile
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar
from xml.parsers import expat

from tea.reading.inside.document import Unreadable
from tea.reading.inside.survey import MOST_COLUMNS

LARGE = 60_000_000  # bytes of unpacked sheets and texts from which on a workbook is not held in memory
MOST_UNPACKED = 1_500_000_000
MOST_ELEMENTS = 60_000_000
MOST_STRINGS = 60_000_000  # bytes of the texts shared by cells
MOST_SHEETS = 1_000
_MOST_PART = 2_000_000  # bytes of a part read as a whole
_LONGEST = 10_000_000  # characters of a cell
_PIECE = 2**18
VISIBLE = "visible"
_WHOLE = re.compile(r"\[Content_Types\]\.xml|.*\.rels|xl/(?:workbook|styles)\.xml|xl/theme/.*|docProps/.*")
_SPLIT = "split the file, or save the needed sheet as CSV."
_PLACE = re.compile(r"[A-Za-z]{1,3}")

Take = Callable[[list[str]], None]


def is_large(archive: zipfile.ZipFile) -> bool:
    """Return whether a workbook unpacks to more than memory may hold."""
    return sum(part.file_size for part in archive.infolist() if part.filename.endswith(".xml")) >= LARGE


class Workbook:
    """A workbook with its sheets read one after another, each once.

    Args:
        path: The file.

    Raises:
        Unreadable: It unpacks to too much, or is not a workbook.
    """

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            _check_parts(archive)
        outline = _outline(path)
        if len(outline.parts) > MOST_SHEETS:
            raise Unreadable(f"has more than {MOST_SHEETS:,} sheets", _SPLIT)
        self._path, self._outline = path, outline

    @property
    def titles(self) -> list[str]:
        """The names of its sheets."""
        return list(self._outline.parts)

    @property
    def hidden(self) -> set[str]:
        """The names of the sheets hidden by its program."""
        return self._outline.hidden

    def read(self, title: str, take: Take) -> None:
        """Hand over the non-empty rows of a sheet, each with empty texts for cells left out.

        Args:
            title: The sheet's name.
            take: Takes a row.

        Raises:
            Unreadable: It holds too much.
        """
        with zipfile.ZipFile(self._path) as archive, archive.open(self._outline.parts[title]) as stream:
            _Sheet(self._outline, take).read(stream)


def _check_parts(archive: zipfile.ZipFile) -> None:
    """Refuse a workbook with too much in it.

    Raises:
        Unreadable: It is refused.
    """
    parts = archive.infolist()
    if sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise Unreadable(f"unpacks to more than {MOST_UNPACKED // 10**6:,} MB", _SPLIT)
    if any(part.file_size > _MOST_PART for part in parts if _WHOLE.fullmatch(part.filename)):
        raise Unreadable(f"has styles or settings of more than {_MOST_PART // 10**6} MB", _SPLIT)


def _outline(path: Path) -> _Outline:
    """Return openpyxl's outline of a workbook before any sheet is opened: it looks through whole sheets for a size."""
    excel: Any = import_module("openpyxl.reader.excel")
    with path.open("rb") as file:  # a name without its ending would be refused
        reader = excel.ExcelReader(file, read_only=True, data_only=True)
        reader.read_manifest()
        strings = _Strings()
        if (found := reader.package.find(excel.SHARED_STRINGS)) is not None:
            with reader.archive.open(found.PartName[1:]) as stream:
                strings.read(stream)
        reader.read_workbook()
        excel.apply_stylesheet(reader.archive, reader.wb)
        sheets = [(sheet, rel) for sheet, rel in reader.parser.find_sheets() if rel.target in reader.valid_files]
    return _Outline(
        book=reader.wb,
        strings=strings,
        hidden={str(sheet.name) for sheet, _ in sheets if sheet.state != VISIBLE},
        parts={str(sheet.name): str(rel.target) for sheet, rel in sheets if "chartsheet" not in rel.Type},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outline:
    """A workbook without its cells: dates, styles, the texts shared by cells, the hidden sheets, the part of each."""

    book: Any
    strings: _Strings
    hidden: set[str]
    parts: dict[str, str]


class Part(ABC):
    """A parser of one part, bounded in elements and in the texts held at once.

    Attributes:
        separator: Stands between the namespace and the name of an element; None to take names as they are written.
    """

    separator: ClassVar[str | None] = None

    def __init__(self) -> None:
        self._elements = self._held = 0
        self._words: list[str] = []
        self._taking = False
        self._phonetic = 0

    def read(self, stream: Any) -> None:
        """Read the part from its beginning to its end."""
        parser = expat.ParserCreate(namespace_separator=self.separator)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = self._refuse_types
        while piece := stream.read(_PIECE):
            parser.Parse(piece, False)
            if self._elements > MOST_ELEMENTS:
                raise Unreadable(f"holds more than {MOST_ELEMENTS:,} elements", _SPLIT)
        parser.Parse(b"", True)

    @abstractmethod
    def _start(self, name: str, attributes: dict[str, str]) -> None: ...

    @abstractmethod
    def _end(self, name: str) -> None: ...

    def _data(self, text: str) -> None:
        if self._taking:
            self._held += len(text)
            if self._held > _LONGEST:
                raise Unreadable(f"has a cell of more than {_LONGEST:,} characters", _SPLIT)
            self._words.append(text)

    def _begin(self) -> None:
        self._words, self._held = [], 0

    def _refuse_types(self, *_: object) -> None:
        raise Unreadable("declares a document type", "save it as XLSX.")


class _Strings(Part):
    """The texts shared by cells, in one buffer."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes, self._ends = bytearray(), array("Q", [0])

    def __getitem__(self, number: int) -> str:
        """Return a text by its number.

        Raises:
            IndexError: There is none.
        """
        if not 0 <= number < len(self._ends) - 1:
            raise IndexError(f"there is no text {number}")
        return self._bytes[self._ends[number] : self._ends[number + 1]].decode("utf-8")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        match name.rpartition(":")[2]:
            case "si":
                self._begin()
            case "rPh":
                self._phonetic += 1
            case "t":
                self._taking = not self._phonetic
            case _:
                pass

    def _end(self, name: str) -> None:
        match name.rpartition(":")[2]:
            case "t":
                self._taking = False
            case "rPh":
                self._phonetic -= 1
            case "si":
                self._bytes += "".join(self._words).encode("utf-8", "replace")
                self._ends.append(len(self._bytes))
                if len(self._bytes) + 8 * len(self._ends) > MOST_STRINGS:
                    raise Unreadable(f"shares texts of more than {MOST_STRINGS // 10**6} MB", _SPLIT)
            case _:
                pass


class _Sheet(Part):
    """The rows of one sheet."""

    def __init__(self, outline: _Outline, take: Take) -> None:
        super().__init__()
        self._strings, self._take = outline.strings, take
        self._moments = {str(one) for one in outline.book._date_formats}
        self._spans = {str(one) for one in outline.book._timedelta_formats}
        self._epoch: datetime = outline.book.epoch
        self._row: list[str] = []
        self._column, self._kind, self._style = -1, "n", "0"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        local = name if ":" not in name else name.rpartition(":")[2]
        if local == "c":
            self._column = _column(attributes.get("r", ""), self._column)
            if self._column >= MOST_COLUMNS:
                raise Unreadable(f"names the column {self._column + 1}", _SPLIT)
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "0")
            self._words, self._held = [], 0
        elif local in ("v", "t"):
            self._taking = not self._phonetic
        elif local == "rPh":
            self._phonetic += 1
        elif local == "row":
            self._row, self._column = [], -1

    def _end(self, name: str) -> None:
        local = name if ":" not in name else name.rpartition(":")[2]
        if local == "c":
            if self._words:
                self._put(self._words[0] if len(self._words) == 1 else "".join(self._words))
        elif local in ("v", "t"):
            self._taking = False
        elif local == "rPh":
            self._phonetic -= 1
        elif local == "row" and self._row:
            self._take(self._row)
            self._row = []

    def _put(self, text: str) -> None:
        if missing := self._column - len(self._row) + 1:
            self._row += [""] * missing
        self._row[self._column] = self._meaning(text)

    def _meaning(self, text: str) -> str:
        """Return a cell as a delimited file has it."""
        if self._kind == "s":
            return self._strings[int(text)]
        if self._kind == "n":
            if self._style in self._moments:
                return _moment(text, self._epoch, self._style in self._spans)
            return repr(float(text)) if "E" in text or "e" in text else text
        if self._kind == "b":
            return "true" if text.strip() == "1" else "false"
        return text


@lru_cache(maxsize=20_000)
def _moment(text: str, epoch: datetime, span: bool) -> str:
    """Return a date, time or span in its ISO form; a number out of range stays as it is."""
    dates: Any = import_module("openpyxl.utils.datetime")
    try:
        found: object = dates.from_excel(float(text), epoch, timedelta=span)
    except (ValueError, OverflowError):
        return text
    if isinstance(found, datetime):
        return found.date().isoformat() if found.time() == time() else found.isoformat(sep=" ")
    return found.isoformat() if isinstance(found, date | time) else str(found)


@lru_cache(maxsize=MOST_COLUMNS)
def _number(letters: str) -> int | None:
    """Return the position of a column counted from 0, None for another name."""
    if _PLACE.fullmatch(letters) is None:
        return None
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _column(place: str, before: int) -> int:
    """Return the position of a cell, counted from 0: by its name such as `C7`, else behind the last."""
    found = _number(place.rstrip("0123456789")) if place else None
    return before + 1 if found is None else found
