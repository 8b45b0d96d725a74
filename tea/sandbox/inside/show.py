"""Values as a few lines: the parts needed by a person or a model."""

from __future__ import annotations

import reprlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 4_000
_ROWS, _COLUMNS, _WIDTH = 20, 20, 160


class _Short(reprlib.Repr):
    """A writer of values without their excess; names the parts left out of the outermost."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxtuple, self.maxset, self.maxdict = 5, 50, 50, 50, 50
        self.maxfrozenset, self.maxdeque, self.maxarray = 50, 50, 50
        self.maxstring, self.maxlong, self.maxother = 2_000, 2_000, 2_000


def shown(value: Any) -> str:
    """Return a value in words short enough for a page, with its size if not all of it is there."""
    if (table := _table(value)) is not None:
        return table
    words = f"{value[:MOST]!r}..." if isinstance(value, str) and len(value) > MOST else _written(value)
    if len(words) > MOST:
        words = f"{words[:MOST]}..."
    return f"{words}\n({_size(value)})" if "..." in words and _size(value) else words


def _table(value: Any) -> str | None:
    """Return a table of pandas as its first and last rows; None for anything else."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, pandas.DataFrame | pandas.Series):
        return None
    frame = isinstance(value, pandas.DataFrame)
    width = {"max_cols": _COLUMNS, "line_width": _WIDTH} if frame else {}
    words = value.to_string(max_rows=_ROWS, **width)
    shape = f"{len(value)} rows x {len(value.columns)} columns" if frame else f"{len(value)} rows, {value.dtype}"
    return f"{words[:MOST]}\n({shape})"


def _written(value: Any) -> str:
    if isinstance(value, str | list | tuple | set | frozenset | dict | int):
        return _Short().repr(value)  # pyright: ignore[reportUnknownArgumentType]
    return repr(value)


def _size(value: Any) -> str:
    try:
        count = len(value)
    except Exception:  # the value is anybody's
        return ""
    return f"{type(value).__name__}, {count} {'characters' if isinstance(value, str) else 'items'}"
