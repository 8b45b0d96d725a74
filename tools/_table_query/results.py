"""Rows of a query, as many and as long as there is room for."""

import math
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice

from tea import ToolError

from .tables import Cell

MOST_CELL_CHARACTERS = 4_000
MOST_COUNTED = 1_000_000
MOST_RESULT = 50_000_000  # characters of the rows of an answer


def counted(cursor: sqlite3.Cursor, count: int) -> int | None:
    """Return the number of a query's rows, None if they are too many or too slow to count."""
    try:
        while count <= MOST_COUNTED and (rows := cursor.fetchmany(1_000)):
            count += len(rows)
    except (sqlite3.Error, OverflowError):
        return None
    return count if count <= MOST_COUNTED else None


def bounded_rows(cursor: Iterable[Sequence[object]], most: int) -> list[list[Cell]]:
    """Return rows with their cells cut, never holding all values together.

    Raises:
        ToolError: They hold too much.
    """
    rows, left = list[list[Cell]](), MOST_RESULT
    for row in islice(cursor, most):
        left -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if left < 0:
            problem = f"The rows hold more than {MOST_RESULT // 10**6} MB."
            raise ToolError(problem, fix="select fewer columns or rows, or parts of texts: substr(cell, 1, 1000).")
        rows.append([_bounded(value) for value in row])
    return rows


def _bounded(value: object) -> Cell:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, float) and not value.is_integer():
        return float(f"{value:.15g}")  # what was summed shows no rounding of its parts
    if isinstance(value, str) and len(value) > MOST_CELL_CHARACTERS:
        return value[:MOST_CELL_CHARACTERS] + "…"
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)
