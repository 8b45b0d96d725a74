"""The contents of tables: columns with types and values, and links between two tables."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NotRequired, TypedDict

from .tables import Cell, Column, Table
from .words import norm

MOST_LISTED = 20
FEW_EXAMPLES = 5
_MOST_CHARACTERS = 80
_MOST_COMPARED = 100_000  # pairs of columns


class ColumnDescription(TypedDict):
    """One column; `examples` holds all values when there are at most 20, else 5.

    `ambiguous` dates have the day or the month first, and none of them shows which.
    """

    name: str
    type: str
    form: str
    distinct: int
    nulls: int
    min: str | int | float | None
    max: str | int | float | None
    examples: list[str | int | float | None]
    ambiguous: NotRequired[bool]


class TableDescription(TypedDict):
    """One table; `sheet` is its name in its workbook, if different.

    `layout` tells how the text of its file differs from the plainest form, for other readers.
    """

    name: str
    file: str
    sheet: NotRequired[str]
    rows: int
    layout: NotRequired[str]
    columns: list[ColumnDescription]


class Link(TypedDict):
    """Two columns with the same values: `coverage` is the share of the left one's values found in the right one."""

    table: str
    column: str
    other_table: str
    other_column: str
    coverage: float
    unique: bool


def describe(table: Table) -> TableDescription:
    """Return a table's contents."""
    columns = [_describe(column, cells) for column, cells in zip(table.columns, table.cells, strict=True)]
    return described(table.name, table.file, table.sheet, len(table), columns, table.layout)


def described(
    name: str, file: str, sheet: str, rows: int, columns: list[ColumnDescription], layout: str
) -> TableDescription:
    """Return a description, with a sheet of another name and a layout only if there are such."""
    found = TableDescription(name=name, file=file, rows=rows, columns=columns)
    if sheet and sheet != name:
        found["sheet"] = sheet
    if layout:
        found["layout"] = layout
    return found


def _describe(column: Column, cells: list[Cell]) -> ColumnDescription:
    present = [cell for cell in cells if cell is not None]
    counts = Counter(present)
    listed = [value for value, _ in counts.most_common(MOST_LISTED if len(counts) <= MOST_LISTED else FEW_EXAMPLES)]
    numeric = [cell for cell in counts if isinstance(cell, int | float)]
    texts = [cell for cell in counts if isinstance(cell, str)] if not numeric else []
    lowest, highest = (min(numeric), max(numeric)) if numeric else (min(texts, default=None), max(texts, default=None))
    nulls, examples = len(cells) - len(present), [short(value) for value in listed]
    return column_description(column, len(counts), nulls, short(lowest), short(highest), examples)


def column_description(
    column: Column, distinct: int, nulls: int, lowest: Cell, highest: Cell, examples: list[Cell]
) -> ColumnDescription:
    """Return a description of a column, with a mark of ambiguous dates only if it has them."""
    found = ColumnDescription(
        name=column.name,
        type=column.kind,
        form=column.form,
        distinct=distinct,
        nulls=nulls,
        min=lowest,
        max=highest,
        examples=examples,
    )
    if column.ambiguous:
        found["ambiguous"] = True
    return found


def short(value: Cell) -> Cell:
    """Return a value with no more letters than a description has room for."""
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else value


def links(tables: Sequence[Table]) -> list[Link]:
    """Return pairs of columns of different tables with largely equal values, strongest first."""
    if len(tables) < 2:
        return []
    found: list[Link] = []
    sets = {
        (table.name, column.name): _keys(column, cells)
        for table in tables
        for column, cells in zip(table.columns, table.cells, strict=True)
    }
    compared = 0
    for left, right in combinations(tables, 2):
        compared += len(left.columns) * len(right.columns)
        if compared > _MOST_COMPARED:
            break
        for one in left.columns:
            for two in right.columns:
                first, second = sets[left.name, one.name], sets[right.name, two.name]
                if first is None or second is None or not _comparable(one, two):
                    continue
                found += _link(left, one, first[0], right, two, *second)
                found += _link(right, two, second[0], left, one, *first)
    return sorted(found, key=lambda link: -link["coverage"])


def _keys(column: Column, cells: list[Cell]) -> tuple[set[str], bool] | None:
    """Return a column's distinct values and whether none repeats, or None when it cannot be a key."""
    if column.kind in ("real", "date"):
        return None
    present = [cell for cell in cells if cell is not None]
    distinct = {norm(str(cell)) for cell in set(present)}
    return (distinct, len(distinct) == len(present)) if len(distinct) >= 3 else None


def _comparable(one: Column, two: Column) -> bool:
    """Compare texts freely; whole numbers are keys only for names with a common word."""
    if one.kind != two.kind:
        return False
    shared = set(norm(one.name).split()) & set(norm(two.name).split())
    return one.kind == "text" or bool(shared)


def _link(
    left: Table, one: Column, first: set[str], right: Table, two: Column, second: set[str], unique: bool
) -> list[Link]:
    shared = len(first & second)
    coverage = shared / len(first)
    if not unique or coverage < 0.6 or shared < 3:
        return []
    return [
        Link(
            table=left.name,
            column=one.name,
            other_table=right.name,
            other_column=two.name,
            coverage=round(coverage, 3),
            unique=unique,
        )
    ]
