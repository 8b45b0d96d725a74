"""The sheets of a large workbook as SQLite files, each kept under the digest of the workbook."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tea import ToolError

from .columns import sql_name
from .heading import above_header, header_row
from .stored import SUFFIX, Source, StoredTable, keep, stored_as
from .workbook import HIDDEN

if TYPE_CHECKING:
    from tea.reading import Sheets

_SAMPLE = 400  # rows among which the header is looked for
_TITLES = ".sheets"


def stored_sheets(sheets: "Sheets", kept: Path, digest: str) -> list[StoredTable]:
    """Return the tables in a large workbook, one for each sheet with rows.

    Args:
        sheets: The rows of its sheets.
        kept: Folder for copies, as `keeping` gives it.
        digest: How their names begin.

    Raises:
        ToolError: It is too large, or holds no table.
    """
    made = [
        _of_sheet(kept / f"{digest}-{number}{SUFFIX}", sheets.name, title, lambda at=number: _source(sheets, at))
        for number, title in enumerate(sheets.titles)
    ]
    found = [table for table in made if table is not None]
    if not found:
        raise ToolError(f"{sheets.name!r} holds no table.", fix="put a header row above the values.")
    keep(kept / f"{digest}{_TITLES}", json.dumps([[one.path.name, one.sheet] for one in found]).encode())
    return found


def known_sheets(kept: Path, digest: str, file: str) -> list[StoredTable] | None:
    """Return the kept tables of a large workbook, None if one is missing.

    Args:
        kept: Folder of copies, as `keeping` gives it.
        digest: How their names begin.
        file: What its user calls the workbook.
    """
    try:
        told: Any = json.loads((kept / f"{digest}{_TITLES}").read_bytes())
    except (OSError, ValueError):
        return None
    found = [_of_sheet(kept / name, file, title, lambda: None) for name, title in told if name.startswith(digest)]
    there = [one for one in found if one is not None]
    return there if len(there) == len(told) else None


def _of_sheet(target: Path, file: str, title: str, source: Callable[[], Source | None]) -> StoredTable | None:
    """Return the table of a sheet, as `stored_as` does."""
    found = stored_as(target, file, sql_name(title), source)
    return None if found is None else replace(found, sheet=title)


def _source(sheets: "Sheets", number: int) -> Source | None:
    """Return the table below the header of a sheet, None without rows."""
    sample = list(islice(sheets.rows(number), _SAMPLE))
    counts = [sum(map(bool, row)) for row in sample]
    if len(counts) < 2:
        return None
    head = header_row(counts)
    used = list(sheets.used[number])
    header = [_cell(sample[head], index) for index in used]
    above = above_header([[_cell(row, index) for index in used] for row in sample[:head]], header)
    layout = "; ".join(filter(None, (HIDDEN if number in sheets.hidden else "", above)))
    return Source(header=header, rows=lambda: _rows(sheets, number, head + 1, used), marks=False, layout=layout)


def _rows(sheets: "Sheets", number: int, start: int, used: list[int]) -> Iterator[list[str]]:
    width, whole = len(used), used == list(range(len(used)))
    for row in islice(sheets.rows(number), start, None):
        if len(row) == width and whole:
            yield [cell if isinstance(cell, str) else "" for cell in row]
        else:
            yield [_cell(row, index) for index in used]


def _cell(row: list[Any], index: int) -> str:
    cell = row[index] if index < len(row) else ""
    return cell if isinstance(cell, str) else ""
