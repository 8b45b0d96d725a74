"""Rows of workbooks: each sheet of an XLSX or ODS as a file of lines of JSON, read by `table_query`."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, TextIO

from tea.reading.inside.document import Unreadable
from tea.reading.inside.kinds import packed_kind
from tea.reading.inside.open_sheets import Take, is_open_workbook, read_open_sheets
from tea.reading.inside.sheets import VISIBLE, Workbook, is_large
from tea.reading.inside.survey import MOST_CELLS, survey

MOST_HELD = 50_000_000  # characters of all rows from which on they are read as those of a large workbook
MOST_STREAMED_CELLS = 40_000_000
MOST_CHARACTERS = 400_000_000
_LARGEST = 2**63  # from which on a whole number is none that SQL has
_SPLIT = "split the file, or clear cells far to the right."


class _MuchToHold(Exception):
    """The end of a reading with typed cells, since the rows are those of a large workbook."""


def write_sheets(path: Path, out: Path) -> dict[str, Any]:
    """Write the filled rows of each sheet, and return the facts about them.

    Numbers and texts of a small workbook stay apart; of a large one every cell is a text, as in a delimited file.

    Args:
        path: The workbook; of a formula the value last computed counts.
        out: Folder of the files, named by `rows_name`.

    Returns:
        `large`; `titles` of the sheets; `used` columns of each and the `hidden` sheets, counted from 0.

    Raises:
        Unreadable: It is not a workbook, or holds too much.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_kind(path)
            large, typed, streamed = is_large(archive), _typed, _streamed
            if is_open_workbook(archive):
                typed, streamed = _typed_open, _streamed_open
        if not large:
            with suppress(_MuchToHold):
                return typed(path, out)
        return streamed(path, out)
    except (Unreadable, MemoryError, RecursionError):
        raise
    except Exception as error:  # a foreign workbook fails in any way, and each means the same
        words = " ".join(str(error).split())[:200]
        raise Unreadable(f"is not a readable workbook: {words}", "save it as XLSX or ODS.") from error


def _check_kind(path: Path) -> None:
    """Refuse a ZIP archive without a workbook's parts.

    Raises:
        Unreadable: It is another document, or just an archive.
    """
    kind = packed_kind(path)
    if kind is None:
        fix = "ask to_markdown, which unpacks it, and name the files in it."
        raise Unreadable("is a ZIP archive, which holds no table for SQL", fix)
    if kind.family != "table":
        raise Unreadable(f"is {kind.words}, which holds no table for SQL", "ask to_markdown.")


def rows_name(number: int) -> str:
    """Return the name of the file of a sheet."""
    return f"rows-{number}.jsonl"


@dataclass(slots=True, kw_only=True)
class _Writer:
    """The file of one sheet, and the columns filled in it."""

    file: TextIO
    count: _Count
    used: set[int] = field(default_factory=set[int])

    def take(self, row: Sequence[object], times: int = 1) -> None:
        """Write a row with anything in it, one or several times."""
        filled = [index for index, cell in enumerate(row) if cell not in (None, "")]
        if not filled:
            return
        line = json.dumps(row)
        self.count.take(len(row) * times, len(line) * times)
        self.used.update(filled)
        for _ in range(times):
            self.file.write(line)
            self.file.write("\n")


class _Count:
    """The number of cells and characters of all sheets.

    Args:
        cells: How many there may be.
        characters: How many there may be.
        excess: Raised beyond them.
    """

    def __init__(self, cells: int, characters: int, excess: Exception) -> None:
        self._cells, self._characters, self._excess = cells, characters, excess

    def take(self, cells: int, characters: int) -> None:
        """Count a row."""
        self._cells -= cells
        self._characters -= characters
        if self._cells < 0 or self._characters < 0:
            raise self._excess


def _typed(path: Path, out: Path) -> dict[str, Any]:
    from openpyxl import load_workbook

    with zipfile.ZipFile(path) as archive:
        used = survey(archive)
    count = _Count(MOST_CELLS, MOST_HELD, _MuchToHold())
    titles, hidden = list[str](), list[int]()
    with path.open("rb") as data:
        book = load_workbook(data, read_only=True, data_only=True)
        for number, sheet in enumerate(book.worksheets):
            titles.append(str(sheet.title))
            hidden += [number] if sheet.sheet_state != VISIBLE else []
            with (out / rows_name(number)).open("w", encoding="ascii") as file:
                _write_typed(sheet, used, _Writer(file=file, count=count))
    return {"large": False, "titles": titles, "used": [list(range(len(used)))] * len(titles), "hidden": hidden}


def _write_typed(sheet: Any, used: Sequence[int], writer: _Writer) -> None:
    """Write the rows with the columns used by any sheet: one far to the right widens no row."""
    sheet.reset_dimensions()
    for row in sheet.iter_rows(values_only=True):
        writer.take([_cell(row[index]) for index in used if index < len(row)])


def _streamed(path: Path, out: Path) -> dict[str, Any]:
    book = Workbook(path)
    count = _most_streamed()
    used = list[list[int]]()
    for number, title in enumerate(book.titles):
        with (out / rows_name(number)).open("w", encoding="ascii") as file:
            writer = _Writer(file=file, count=count)
            book.read(title, writer.take)
        used.append(sorted(writer.used))
    hidden = [number for number, title in enumerate(book.titles) if title in book.hidden]
    return {"large": True, "titles": book.titles, "used": used, "hidden": hidden}


def _most_streamed() -> _Count:
    """Return a counter with the limits of a large workbook."""
    problem = f"has more than {MOST_STREAMED_CELLS:,} cells, or {MOST_CHARACTERS // 10**6:,} million characters"
    return _Count(MOST_STREAMED_CELLS, MOST_CHARACTERS, Unreadable(problem, _SPLIT))


def _typed_open(path: Path, out: Path) -> dict[str, Any]:
    return _opened(path, out, _Count(MOST_CELLS, MOST_HELD, _MuchToHold()), large=False)


def _streamed_open(path: Path, out: Path) -> dict[str, Any]:
    return _opened(path, out, _most_streamed(), large=True)


def _opened(path: Path, out: Path, count: _Count, *, large: bool) -> dict[str, Any]:
    """Write the rows of an OpenDocument workbook: of a large one every cell as a text."""
    titles, writers = list[str](), list[_Writer]()
    with ExitStack() as files:

        def begin(title: str) -> Take:
            file = files.enter_context((out / rows_name(len(titles))).open("w", encoding="ascii"))
            writer = _Writer(file=file, count=count)
            titles.append(title)
            writers.append(writer)
            told = _as_text if large else _cell
            return lambda row, times: writer.take([told(one) for one in row], times)

        read_open_sheets(path, begin)
    return {"large": large, "titles": titles, "used": [sorted(one.used) for one in writers]}


def _as_text(value: object) -> str:
    return "" if value is None else str(value)


def _cell(value: object) -> str | int | float | None:
    """Return a value of a workbook as a table has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) >= _LARGEST else value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)
