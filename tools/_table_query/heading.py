"""The header of a sheet, and the rows above it."""

from collections import Counter
from collections.abc import Mapping, Sequence

from .columns import column_names
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
    names = column_names(header, len(header))
    said = [words for row in rows[-_MOST_ROWS:] if (words := _words(row, header, names))]
    text = "; ".join(said)
    text = text if len(text) <= _MOST_SAID else text[:_MOST_SAID] + "\u2026"
    return f"above the header: {text}" if text else ""


def _last_below(plain: Sequence[str], counts: Mapping[str, int], start: int, stop: int) -> int:
    """Return the last column below a cell: of a group with names of other groups too, its last, else its first.

    Args:
        plain: Names of the columns as the header has them.
        counts: How often each name is there.
        start: The cell's column.
        stop: The column of the next cell in its row, or the number of columns.
    """
    own = list(dict.fromkeys(plain[start:stop]))
    own = [name for name, other in zip(own, plain[start:stop], strict=False) if name == other]
    while stop == len(plain) and own and counts[own[-1]] < 2:  # a column behind the last group
        own.pop()
    return start + len(own) - 1 if any(counts[name] > 1 for name in own) else start


def _words(row: Sequence[Cell], header: Sequence[str], names: Sequence[str]) -> str:
    """Return the cells of a row with the columns below them; a title alone stands for itself."""
    cells = [(at, " ".join(str(cell).split())) for at, cell in enumerate(row) if cell not in (None, "")]
    if [at for at, _ in cells] == [0]:
        return repr(cells[0][1])
    plain = [" ".join(one.casefold().split()) for one in header]
    counts = Counter(plain)
    stops = [*(at for at, _ in cells), len(plain)][1:]
    said = list[str]()
    for (at, cell), stop in zip(cells, stops, strict=True):
        last = _last_below(plain, counts, at, min(stop, len(plain)))
        columns = [names[one] for one in (at, last) if one < len(names)]
        said.append(" over ".join(filter(None, (cell, " to ".join(dict.fromkeys(columns))))))
    return ", ".join(said)
