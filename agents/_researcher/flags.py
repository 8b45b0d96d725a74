"""Flags: what is doubtful about the rows of a list, cell by cell, each with its severity."""

from collections.abc import Iterator
from statistics import quantiles
from typing import Any

from .rows import Table

MOST_FLAGS = 200
LEAST_NUMBERS, FAR = 8, 3  # numbers of a column, and distances between its quartiles beyond them
SEVERITIES = ("high", "medium", "low")
KINDS = {"unfounded": "high", "contradiction": "medium", "outlier": "medium", "missing": "low"}


def flags(table: Table) -> list[dict[str, Any]]:
    """Return the flagged cells, the most severe first: row, column, kind and severity.

    A cell is `unfounded` if none of its sources says its number, a `contradiction` if they disagree, an `outlier` if
    its number is far from those of the other rows, and `missing` if it is not known.
    """
    edges = {name: _edges([row.value(name) for row in table.rows]) for name in table.columns}
    found = [
        {"row": [row.value(one) for one in table.key], "column": name, "kind": kind, "severity": KINDS[kind]}
        for row in table.rows
        for name in table.columns
        for kind in _kinds(row, name, edges[name])
    ]
    return sorted(found, key=lambda one: SEVERITIES.index(one["severity"]))[:MOST_FLAGS]


def worst(found: list[dict[str, Any]], *, complete: bool) -> str:
    """Return the severity of a whole list: high for an incomplete one, else that of its first flag."""
    if not complete:
        return SEVERITIES[0]
    return str(found[0]["severity"]) if found else "none"


def _kinds(row: Any, name: str, edges: tuple[float, float] | None) -> Iterator[str]:
    best = row.best(name)
    if best is None:
        yield "missing"
        return
    if best.is_doubtful and any(one.isdigit() for one in str(best.value)):
        yield "unfounded"
    if len(row.cells[name]) > 1:
        yield "contradiction"
    if edges is not None and _is_number(best.value) and not edges[0] <= best.value <= edges[1]:
        yield "outlier"


def _edges(values: list[Any]) -> tuple[float, float] | None:
    """Return the least and the greatest usual number of a column; None for too few, or for equal ones."""
    numbers = [one for one in values if _is_number(one)]
    if len(numbers) < LEAST_NUMBERS:
        return None
    first, _, third = quantiles(numbers, n=4)
    between = third - first
    return (first - FAR * between, third + FAR * between) if between else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
