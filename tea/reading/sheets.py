"""Sheets: the rows of a workbook as its parser wrote them, as foreign as the workbook."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tea.errors import ToolError
from tea.reading.inside.rows import MOST_CHARACTERS, rows_name
from tea.reading.inside.sheets import MOST_SHEETS
from tea.reading.inside.survey import MOST_COLUMNS
from tea.store.files import open_regular
from tea.store.strict import Refused

LONGEST_ROW = 60_000_000  # bytes of a row as a line of JSON
_LONGEST_TITLE = 300
_KINDS = frozenset({str, int, float, type(None)})
_HALVES = b"\\ud"  # begins a half of a pair; whole pairs come out right either way

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheets:
    """The sheets of a workbook, each with its filled rows in a file.

    Args:
        name: What the workbook's user calls it, for messages.
        folder: Holds the files.
        large: Whether the rows are to be streamed; all cells are then texts.
        titles: Names of the sheets.
        used: Columns in use of each sheet, counted from 0.
        hidden: Positions of the sheets that a workbook's program does not show.
    """

    name: str
    folder: Path
    large: bool
    titles: Sequence[str]
    used: Sequence[Sequence[int]]
    hidden: Sequence[int] = ()

    def rows(self, number: int) -> Iterator[list[Cell]]:
        """Yield the rows of a sheet one by one.

        Args:
            number: Its position, from 0.

        Raises:
            ToolError: The parser wrote something else.
        """
        try:
            with os.fdopen(open_regular(self.folder / rows_name(number)), "rb") as file:
                left = MOST_CHARACTERS
                while line := file.readline(LONGEST_ROW):
                    left -= len(line)
                    yield self._row(line, left)
        except (OSError, Refused) as error:
            raise self._foreign() from error

    def _row(self, line: bytes, left: int) -> list[Cell]:
        try:
            row: Any = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise self._foreign() from error
        if left < 0 or not isinstance(row, list):
            raise self._foreign()
        cells = cast("list[Cell]", row)
        if len(cells) > MOST_COLUMNS or not _KINDS.issuperset(map(type, cells)):
            raise self._foreign()
        if _HALVES in line.lower():
            return [cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell for cell in cells]
        return cells

    def _foreign(self) -> ToolError:
        return ToolError(f"The parser of {self.name!r} gave no rows.", fix="save the needed sheet as CSV.")


def sheets_from(answer: Mapping[str, Any], name: str, folder: Path) -> Sheets:
    """Return the sheets in the answer of the parser.

    Args:
        answer: What the parser said.
        name: What the workbook's user calls it.
        folder: Where it wrote.

    Raises:
        ToolError: It says something else.
    """
    titles, used = answer.get("titles"), answer.get("used")
    if not (isinstance(titles, list) and isinstance(used, list)):
        raise ToolError(f"The parser of {name!r} did not return sheets.", fix="save the needed sheet as CSV.")
    names = [" ".join(str(one).split())[:_LONGEST_TITLE] for one in cast("list[Any]", titles)]
    columns = [_columns(one) for one in cast("list[Any]", used)]
    if len(names) != len(columns) or len(names) > MOST_SHEETS:
        raise ToolError(f"{name!r} has too many sheets.", fix="save the needed sheet as CSV.")
    hidden, large = _columns(answer.get("hidden")), answer.get("large") is True
    return Sheets(name=name, folder=folder, large=large, titles=names, used=columns, hidden=hidden)


def _columns(positions: object) -> list[int]:
    """Return positions of columns or sheets in their order, none of them beyond the last of the format."""
    if not isinstance(positions, list):
        return []
    found = {
        one for one in cast("list[Any]", positions)[:MOST_COLUMNS] if isinstance(one, int) and 0 <= one < MOST_COLUMNS
    }
    return sorted(found)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
