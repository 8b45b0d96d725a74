"""A table as it was read, and as it is typed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

MOST_CELLS = 5_000_000
Cell = str | int | float | None
Kind = Literal["integer", "real", "text", "date"]


@dataclass(slots=True, kw_only=True)
class RawTable:
    """Cells as a file gives them.

    Args:
        name: A name for it in SQL, not yet unique.
        file: The file it comes from.
        header: Column names as the file has them, perhaps empty or repeated.
        rows: Cells; a row may be shorter than the header.
        decimal_comma: Whether 3,14 is three and a bit.
        untyped: Whether every cell is text, so that NA and the like stand for missing values.
    """

    name: str
    file: str
    header: list[str]
    rows: Sequence[Sequence[Cell]]
    decimal_comma: bool = False
    untyped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One typed column; `form` tells how its dates are written."""

    name: str
    kind: Kind
    form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A typed table; `cells` holds a list for each column."""

    name: str
    file: str
    columns: list[Column]
    cells: list[list[Cell]] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.cells[0]) if self.cells else 0
