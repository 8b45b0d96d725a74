"""Tables inside XLSX workbooks: one for each sheet that has rows."""

import io
import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time

from tea import ToolError

from .tables import Cell, RawTable

MOST_UNPACKED = 1_000_000_000


def read_workbook(data: bytes, name: str, file: str) -> list[RawTable]:
    """Return each sheet's table; a formula gives the value last computed.

    Raises:
        ToolError: The file is not a workbook, or holds no table.
    """
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_UNPACKED:
                raise ToolError(f"{file!r} unpacks to more than {MOST_UNPACKED // 10**9} GB.", fix="split the file.")
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = [(sheet.title, [list(row) for row in sheet.iter_rows(values_only=True)]) for sheet in book.worksheets]
    except ToolError:
        raise
    except Exception as error:
        raise ToolError(f"{file!r} is not a readable workbook: {error}.", fix="save it as XLSX.") from error
    tables = [table for title, rows in sheets if (table := _table(rows, title, file))]
    if not tables:
        raise ToolError(f"{file!r} holds no table.", fix="put a header row above the values.")
    if len(tables) == 1:
        tables[0].name = name
    return tables


def _table(rows: Sequence[Sequence[object]], title: str, file: str) -> RawTable | None:
    cells = [[_cell(value) for value in row] for row in rows]
    cells = [row for row in cells if any(cell not in (None, "") for cell in row)]
    if len(cells) < 2:
        return None
    filled = [sum(cell not in (None, "") for cell in row) for row in cells]
    widest = max(filled)
    head = next(index for index, count in enumerate(filled) if count >= 0.6 * widest)
    used = [
        index for index in range(max(map(len, cells))) if any(index < len(r) and r[index] is not None for r in cells)
    ]
    header = ["" if index >= len(cells[head]) else str(cells[head][index] or "") for index in used]
    body = [[row[index] if index < len(row) else None for index in used] for row in cells[head + 1 :]]
    return RawTable(name=title, file=file, header=header, rows=body)


def _cell(value: object) -> Cell:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)
