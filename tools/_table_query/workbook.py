"""Tables inside workbooks: one for each sheet with rows, and the words of sheets with only one."""

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from tea import ToolError

from .heading import above_header, header_row
from .tables import Budget, Cell, RawTable, plain

HIDDEN = "hidden sheet"
_CUT = "\u2026"
_MOST_SAID = 600  # characters of a sheet with one row


def read_workbook(data: bytes, name: str, file: str, budget: Budget) -> list[RawTable]:
    """Return each sheet's table; a formula gives the value last computed.

    Args:
        data: The rows of the sheets, as `books.py` keeps them.
        name: A name for a single table.
        file: What its user calls the workbook.
        budget: Counts the cells.

    Raises:
        ToolError: It holds no table, or too much.
    """
    held: Any = json.loads(data)
    sheets = [(str(title), _rows(rows, file, budget), bool(hidden)) for title, rows, hidden in held]
    tables = [table for title, rows, hidden in sheets if (table := _table(rows, title, file, hidden=hidden))]
    single = [(title, rows[0], hidden) for title, rows, hidden in sheets if len(rows) == 1]
    if not tables:  # of a sheet with one row nobody can say whether it is a header, so it is shown
        tables = [
            RawTable(name=title, sheet=title, file=file, header=[], rows=[row], layout=HIDDEN if hidden else "")
            for title, row, hidden in single
        ]
    elif single:
        tables[0].sheets = tuple(_row_words(*one) for one in single)
    if not tables:
        raise ToolError(f"{file!r} holds no table.", fix="put a header row above the values.")
    if len(tables) == 1:
        tables[0].name, tables[0].sheet = name, ""
    return tables


def _row_words(title: str, row: Sequence[Cell], hidden: bool) -> str:
    """Return a sheet of one row in words."""
    text = " | ".join(" ".join(str(cell).split()) for cell in row if cell not in (None, ""))
    text = text if len(text) <= _MOST_SAID else text[:_MOST_SAID] + _CUT
    return f'sheet {title}, {"hidden, " if hidden else ""}1 row: "{text}"'


def _rows(rows: list[list[Cell]], file: str, budget: Budget) -> list[list[Cell]]:
    for row in rows:
        budget.take(file, len(row), sum(len(cell) for cell in row if isinstance(cell, str)))
    return [[plain(cell) for cell in row] for row in rows]


def _table(cells: list[list[Cell]], title: str, file: str, *, hidden: bool) -> RawTable | None:
    if len(cells) < 2:
        return None
    filled = [sum(cell not in (None, "") for cell in row) for row in cells]
    head = header_row(filled)
    used = sorted(set(chain.from_iterable(_used(row) for row in cells)))
    header = ["" if index >= len(cells[head]) else str(cells[head][index] or "") for index in used]
    body = [[row[index] if index < len(row) else None for index in used] for row in cells]
    layout = "; ".join(filter(None, (HIDDEN if hidden else "", above_header(body[:head], header))))
    return RawTable(name=title, sheet=title, file=file, header=header, rows=body[head + 1 :], layout=layout)


def _used(row: Sequence[Cell]) -> list[int]:
    return [index for index, cell in enumerate(row) if cell is not None]
