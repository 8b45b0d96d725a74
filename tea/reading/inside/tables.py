"""Tables to Markdown: workbooks and delimited texts, their first rows; `table_query` reads all of them."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from itertools import islice
from typing import Any

from tea.reading.inside.charset import text_of
from tea.reading.inside.document import Order, Parsed, Unreadable, markdown_table
from tea.reading.inside.sheets import VISIBLE
from tea.reading.inside.trees import parsed_xml
from tea.reading.inside.unpacked import opened_zip

MOST_ROWS = 1_000  # of one sheet
MOST_CELLS = 100_000  # of all
MOST_COLUMNS = 200
_MOST_SHEETS = 100
_MOST_BYTES = 300_000_000
_DELIMITERS = ",\t;|"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_Row = list[str]


def parse_workbook(order: Order) -> Parsed:
    """Return the sheets of an XLSX workbook, each under a mark with its name; formulas give the value last computed.

    Raises:
        Unreadable: It is damaged, encrypted or too large.
    """
    from openpyxl import load_workbook

    with opened_zip(order.path, _MOST_BYTES) as archive:
        macros = any(name.endswith("vbaProject.bin") for name in archive.namelist())
    try:
        with order.path.open("rb") as file:  # a name without its ending would be refused
            book = load_workbook(file, read_only=True, data_only=True)
            found = _sheets("xlsx", [(one.title, _sheet_rows(one)) for one in book.worksheets[:_MOST_SHEETS]])
            hidden = [str(one.title) for one in book.worksheets if one.sheet_state != VISIBLE]
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError) as error:
        raise Unreadable(f"is a damaged workbook: {error}", "save it again as XLSX.") from error
    if hidden:
        found.notes.append(f"Hidden sheets: {', '.join(hidden)[:300]}.")
    if macros:
        found.notes.append("It holds macros; they were neither run nor read.")
    return found


def _sheet_rows(sheet: Any) -> Iterator[_Row]:
    sheet.reset_dimensions()
    for row in sheet.iter_rows(values_only=True):
        cells = [_value(cell) for cell in row[:MOST_COLUMNS]]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _value(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(sep=" ")
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return str(cell)


def parse_open_workbook(order: Order) -> Parsed:
    """Return the sheets of an OpenDocument workbook.

    Raises:
        Unreadable: It is damaged, encrypted or too large.
    """
    with opened_zip(order.path) as archive:
        if "content.xml" not in archive.namelist():
            raise Unreadable("is a damaged OpenDocument file", "check the file, or get it again.")
        tree = parsed_xml(archive.read("content.xml"))
    tables = islice(tree.iter(f"{_TABLE}table"), _MOST_SHEETS)
    return _sheets("ods", [(one.get(f"{_TABLE}name") or "", _open_rows(one)) for one in tables])


def _open_rows(table: Any) -> Iterator[_Row]:
    for row in table.iter(f"{_TABLE}table-row"):
        cells = list[str]()
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            text = " ".join("".join(one.itertext()) for one in cell.iter(f"{_TEXT}p"))
            again = min(int(cell.get(f"{_TABLE}number-columns-repeated") or 1), MOST_COLUMNS)
            cells += [text] * again
        cells = cells[:MOST_COLUMNS]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _sheets(kind: str, sheets: Iterable[tuple[str, Iterable[_Row]]]) -> Parsed:
    """Return sheets with as many rows as there is room for."""
    parts, left, names, cut = list[str](), MOST_CELLS, list[str](), list[str]()
    for title, rows in sheets:
        names.append(title)
        shown, left, more = _room(rows, left)
        parts.append(f"[sheet {title}]\n\n{markdown_table(shown) or '(empty)'}")
        if more:
            cut.append(title)
    found = Parsed(kind=kind, text="\n\n".join(parts), facts={"sheets": names}, truncated=bool(cut))
    if cut:
        found.notes.append(
            f"Only the first rows of {', '.join(cut)[:300]} are shown; table_query reads all of a workbook."
        )
    return found


def _room(rows: Iterable[_Row], left: int) -> tuple[list[_Row], int, bool]:
    shown = list[_Row]()
    for row in rows:
        if len(shown) == MOST_ROWS or left < len(row):
            return shown, left, True
        left -= len(row)
        shown.append(row)
    return shown, left, False


def parse_delimited(order: Order, kind: str) -> Parsed:
    """Return a delimited text as a table, its first rows.

    Raises:
        Unreadable: A field is too long.
    """
    data = order.path.read_bytes()
    text, encoding = text_of(data, order.content_type)
    sample = "\n".join(text.splitlines()[:50])
    try:
        delimiter = "\t" if kind == "tsv" else csv.Sniffer().sniff(sample, _DELIMITERS).delimiter
    except csv.Error:
        delimiter = ","
    csv.field_size_limit(1_000_000)
    try:
        filled = (row[:MOST_COLUMNS] for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row))
        shown, _, more = _room(filled, MOST_CELLS)
    except csv.Error as error:
        raise Unreadable(f"is not a readable table: {error}", "read it as a text with read_file.") from error
    found = Parsed(kind=kind, text=markdown_table(shown), facts={"encoding": encoding}, truncated=more)
    if more:
        found.notes.append(f"Only the first {len(shown):,} rows are shown; table_query reads all.")
    return found
