"""Tables and answers in a model's form: short lines, and as many as there is room for."""

import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from typing import NotRequired, TypedDict

from .describing import ColumnDescription, Link, TableDescription
from .tables import Cell

MOST_CHARACTERS = 16_000
MOST_OF_A_TABLE = 2_500
_LEAST_OF_A_TABLE = 200
_FEW, _SOME = 10, 5
_UNIQUE = 0.9  # share of distinct values of a column of which the least and the greatest are shown
_MOST_OF_A_VALUE = 40
_LEAST_OF_A_CELL = 20
_CUT = "\u2026"


class BriefTable(TypedDict):
    """One table: its name in SQL, and a line for each column; `more` tells how to see the others."""

    table: str
    file: str
    sheet: NotRequired[str]
    rows: int
    layout: NotRequired[str]
    columns: list[str]
    more: NotRequired[str]


def brief_tables(tables: Sequence[TableDescription]) -> tuple[list[BriefTable], int]:
    """Return short descriptions, and how many tables found no room."""
    share = max(_LEAST_OF_A_TABLE, min(MOST_OF_A_TABLE, MOST_CHARACTERS // max(1, len(tables))))
    shown: list[BriefTable] = []
    left = MOST_CHARACTERS
    for table in tables:
        one = _brief_table(table, share)
        left -= _size(one)
        if left < 0 and shown:
            break
        shown.append(one)
    return shown, len(tables) - len(shown)


def brief_links(links: Sequence[Link]) -> list[str]:
    """Return links as conditions of joins, strongest first; of one in both directions the stronger."""
    found = dict[frozenset[tuple[str, str]], Link]()
    for link in links:
        ends = frozenset({(link["table"], link["column"]), (link["other_table"], link["other_column"])})
        found.setdefault(ends, link)
    return [_brief_link(link) for link in found.values()]


def _brief_link(link: Link) -> str:
    """Return a link as the condition of a join."""
    left = f"{_written(link['table'])}.{_written(link['column'])}"
    right = f"{_written(link['other_table'])}.{_written(link['other_column'])}"
    share = "" if link["coverage"] == 1 else f" ({link['coverage']:.0%} of the values)"
    return f"{left} = {right}{share}"


def fitting(rows: list[list[Cell]], most: int = MOST_CHARACTERS) -> tuple[list[list[Cell]], bool]:
    """Return the first rows with room, and whether cells of a row too long for all of it were cut."""
    left = most
    for number, row in enumerate(rows):
        left -= _size(row)
        if left < 0:
            return (rows[:number], False) if number else ([_cut_row(row, most)], True)
    return rows, False


def _brief_table(table: TableDescription, most: int) -> BriefTable:
    """Return a description with as many examples as there is room for, and if need be with fewer columns."""
    found = BriefTable(table=_written(table["name"]), file=table["file"], rows=table["rows"], columns=[])
    if sheet := table.get("sheet"):
        found["sheet"] = sheet
    if layout := table.get("layout"):
        found["layout"] = layout
    for examples in (_SOME, 3, 1, 0):
        found["columns"] = [_column(one, examples, table["rows"]) for one in table["columns"]]
        if _size(found) <= most:
            return found
    lines, left = found["columns"], most - 150 - len(table["name"]) - len(table["file"])
    count = 0
    while count < len(lines) and (left := left - _size(lines[count]) - 2) >= 0:
        count += 1
    found["columns"] = lines[:count]
    found["more"] = f"{len(lines) - count} columns more: SELECT * FROM {found['table']} LIMIT 1"
    return found


def _column(column: ColumnDescription, examples: int, rows: int) -> str:
    form = f" {column['form']}" if column["form"] not in ("", "iso") else ""
    form = " (dates, dmy or mdy)" if column.get("ambiguous") else form
    missing = f", {column['nulls']} missing" if column["nulls"] else ""
    repeated = column["type"] == "text" and _FEW < column["distinct"] < rows - column["nulls"]
    different = f", {column['distinct']} different" if repeated else ""
    head = f"{_written(column['name'])} {column['type']}{form}{missing}{different}"
    if examples and not form and column["type"] != "text" and _is_mostly_unique(column, rows):
        return f"{head}: {_value(column['min'])}, {_CUT}, {_value(column['max'])}"
    whole = examples == _SOME and column["distinct"] <= _FEW
    values = column["examples"][: column["distinct"] if whole else examples]
    shown = ", ".join(map(_value, values))
    more = f", {_CUT}" if len(values) < column["distinct"] else ""
    return f"{head}: {shown}{more}" if values else head


def _is_mostly_unique(column: ColumnDescription, rows: int) -> bool:
    """Return whether hardly a value repeats."""
    return column["distinct"] > _FEW and column["distinct"] >= _UNIQUE * (rows - column["nulls"])


def _value(value: Cell) -> str:
    if not isinstance(value, str):
        return str(value)
    line = " ".join(value.split())
    short = line if len(line) <= _MOST_OF_A_VALUE else line[:_MOST_OF_A_VALUE] + _CUT
    return f"'{short}'" if re.search(r"[,']", short) or short != value else short


@lru_cache(maxsize=10_000)
def _written(name: str) -> str:
    """Return a name in SQL's form: in quotes if it needs them."""
    quoted = '"' + name.replace('"', '""') + '"'
    if not re.fullmatch(r"[^\W\d]\w*", name):
        return quoted
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            (found,) = connection.execute(f"SELECT {name} FROM (SELECT 'known' AS {quoted}) AS {name}").fetchone()
        except sqlite3.Error:
            return quoted
    return name if found == "known" else quoted


def _cut_row(row: list[Cell], most: int) -> list[Cell]:
    share = max(_LEAST_OF_A_CELL, most // len(row) - 4)
    return [one[:share] + _CUT if isinstance(one, str) and len(one) > share else one for one in row]


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))
