"""The header of a sheet, and the rows above it."""

from collections.abc import Sequence

from .columns import distinct
from .tables import Cell

_FULL = 0.6  # share of the widest row that a header fills at least
_MOST_ROWS = 3
_MOST_SAID = 400  # characters


def header_row(filled: Sequence[int]) -> int:
    """Return the position of the header among rows.

    Args:
        filled: How many cells are filled in each row.
    """
    least = _FULL * max(filled)
    return next(index for index, count in enumerate(filled) if count >= least)


def above_header(rows: Sequence[Sequence[Cell]], header: Sequence[str]) -> str:
    """Return the rows above a header in words; empty without any.

    Args:
        rows: Their cells, over those of the header.
        header: Names of the columns.
    """
    names = list(distinct(" ".join(one.split()) or f"col_{at}" for at, one in enumerate(header, start=1)))
    said = [words for row in rows[-_MOST_ROWS:] if (words := _words(row, names))]
    text = "; ".join(said)
    text = text if len(text) <= _MOST_SAID else text[:_MOST_SAID] + "\u2026"
    return f"above the header: {text}" if text else ""


def _words(row: Sequence[Cell], names: Sequence[str]) -> str:
    """Return the cells of a row with the columns below them; a title alone stands for itself."""
    cells = [(at, " ".join(str(cell).split())) for at, cell in enumerate(row) if cell not in (None, "")]
    if [at for at, _ in cells] == [0]:
        return repr(cells[0][1])
    return ", ".join(f"{cell} over {names[at]}" if at < len(names) else cell for at, cell in cells)
