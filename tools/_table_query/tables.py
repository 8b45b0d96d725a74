"""A table as it was read, and as it is typed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tea import ToolError

MOST_CELLS = 5_000_000
MOST_CHARACTERS = 400_000_000
MOST_TABLES = 1_000
MOST_COLUMNS = 16_384  # as the format of workbooks has it
_LARGEST = 2**63  # from which on a whole number is none that SQL has
Cell = str | int | float | None
Kind = Literal["integer", "real", "text", "date"]


def plain(value: str | int | float | bool | None) -> Cell:
    """Return a value as a cell holds it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) and abs(value) >= _LARGEST else value


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
        sheet: The name of its sheet, if it is one of several.
        sheets: Sheets of one row beside it in its workbook, in words.
        layout: How its text differs from the plainest form: commas, UTF-8, and a header in the first line.
    """

    name: str
    file: str
    header: list[str]
    rows: Sequence[Sequence[Cell]]
    decimal_comma: bool = False
    untyped: bool = False
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    layout: str = ""

    @property
    def width(self) -> int:
        """Return the number of its columns, told by its longest row if longer than its header."""
        return max(1, len(self.header), max(map(len, self.rows), default=0))


class Budget:
    """Count the contents of one call's files while they are read, to stop before too large ones are held."""

    def __init__(self) -> None:
        self._cells = self._characters = self._tables = 0

    def take(self, file: str, cells: int, characters: int = 0) -> None:
        """Count read cells, and the characters in them.

        Raises:
            ToolError: They are too many.
        """
        self._cells += cells
        self._characters += characters
        if self._cells > MOST_CELLS:
            raise ToolError(f"{file!r} has more than {MOST_CELLS:,} cells.", fix="split the file.")
        if self._characters > MOST_CHARACTERS:
            problem = f"The cells of {file!r} hold more than {MOST_CHARACTERS // 10**6} million characters."
            raise ToolError(problem, fix="split the file.")

    def check(self, table: RawTable) -> None:
        """Refuse a table of too many cells, with rows made as long as its longest.

        Raises:
            ToolError: They are, or there are too many tables.
        """
        self._tables += 1
        if self._tables > MOST_TABLES:
            raise ToolError(f"{table.file!r} holds more than {MOST_TABLES:,} tables.", fix="split the file.")
        if table.width > MOST_COLUMNS or table.width * len(table.rows) > MOST_CELLS:
            problem = f"{table.file!r} has {len(table.rows):,} rows of up to {table.width:,} cells."
            fix = f"keep to {MOST_COLUMNS:,} columns and {MOST_CELLS:,} cells; perhaps one row is too long."
            raise ToolError(problem, fix=fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One typed column; `form` tells how its dates are written.

    `ambiguous` texts are dates with the day or the month first, and none of them shows which.
    """

    name: str
    kind: Kind
    form: str = ""
    ambiguous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A typed table; `cells` holds a list for each column, `sheets` what sheets of one row beside it say.

    `sheet` is the name of its sheet, if it is one of several.

    `layout` tells how the text of a delimited file differs from the plainest form.
    """

    name: str
    file: str
    columns: list[Column]
    cells: list[list[Cell]] = field(repr=False)
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    layout: str = ""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.cells[0]) if self.cells else 0
