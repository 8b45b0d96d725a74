"""The sheets of a large workbook as SQLite files, each kept under the digest of the workbook."""

import csv
import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from tea import ToolError

from .columns import sql_name
from .stored import LONGEST_FIELD, MOST_CELLS, SUFFIX, Source, StoredTable, keeping, stored_as
from .workbook_stream import Workbook

_SAMPLE = 400  # rows among which the header is looked for
_FULL = 0.6  # share of the widest row that a header fills at least


def stored_sheets(path: Path, file: str, folder: Path | None) -> list[StoredTable]:
    """Return the tables in a large workbook, one for each sheet with rows.

    Args:
        path: The file.
        file: What its user calls it.
        folder: Where copies are kept for all runs; None for a folder of the system's temporary files.

    Raises:
        ToolError: It is too large, is not a workbook, holds no table, or cannot be kept.
    """
    with keeping(path, file, folder) as (kept, digest):
        titles = kept / f"{digest}.sheets"
        found = _known(titles, kept, digest, file)
        if found is None:
            book = Workbook(path, file)
            made = [_made(book, number, title, kept, digest, file) for number, title in enumerate(book.titles)]
            found = [table for table in made if table is not None]
            part = titles.with_name(f".{titles.name}-{os.getpid()}")
            part.write_text(json.dumps([[one.path.name, one.name] for one in found]), encoding="utf-8")
            part.replace(titles)
    if not found:
        raise ToolError(f"{file!r} holds no table.", fix="put a header row above the values.")
    return found


def _known(titles: Path, kept: Path, digest: str, file: str) -> list[StoredTable] | None:
    """Return the kept tables, None if one is missing."""
    try:
        told: Any = json.loads(titles.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    found = [stored_as(kept / name, file, title, lambda: None) for name, title in told if name.startswith(digest)]
    there = [one for one in found if one is not None]
    return there if len(there) == len(told) else None


def _made(book: Workbook, number: int, title: str, kept: Path, digest: str, file: str) -> StoredTable | None:
    name = sql_name(title)
    target = kept / f"{digest}-{number}{SUFFIX}"
    with _spooled(book, title, kept / f".{digest}-{number}-{os.getpid()}.csv", file) as source:
        return stored_as(target, file, name, lambda: source)


@contextmanager
def _spooled(book: Workbook, title: str, path: Path, file: str) -> Generator[Source | None]:
    """Yield a sheet as a delimited file, read twice in a fraction of the sheet's time."""
    spool = _Spool(file)
    try:
        with path.open("w", encoding="utf-8", newline="") as writing:
            spool.write(book, title, csv.writer(writing))
        yield spool.source(path)
    finally:
        path.unlink(missing_ok=True)


class _Spool:
    """The rows of a sheet on their way into a file, and the facts about them."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._sample: list[list[str]] = []
        self._used: set[int] = set()
        self._cells = 0

    def write(self, book: Workbook, title: str, writer: Any) -> None:
        """Write the rows of a sheet."""

        def take(row: list[str]) -> None:
            filled = [index for index, cell in enumerate(row) if cell]
            if not filled:
                return
            self._used.update(filled)
            self._cells += len(row)
            if self._cells > MOST_CELLS:
                fix = "split the file, or clear cells far to the right."
                raise ToolError(f"{self._file!r} has more than {MOST_CELLS:,} cells.", fix=fix)
            if len(self._sample) < _SAMPLE:
                self._sample.append(row)
            writer.writerow(row)

        book.read(title, take)

    def source(self, path: Path) -> Source | None:
        """Return the table below the header, None without rows."""
        counts = [sum(map(bool, row)) for row in self._sample]
        if len(counts) < 2:
            return None
        head = next(index for index, count in enumerate(counts) if count >= _FULL * max(counts))
        used = sorted(self._used)
        header = [_cell(self._sample[head], index) for index in used]
        return Source(header=header, rows=lambda: _rows(path, head + 1, used), marks=False)


def _rows(path: Path, start: int, used: list[int]) -> Iterator[list[str]]:
    csv.field_size_limit(LONGEST_FIELD)
    width, whole = len(used), used == list(range(len(used)))
    with path.open(encoding="utf-8", newline="") as reading:
        for row in islice(csv.reader(reading), start, None):
            yield row if len(row) == width and whole else [_cell(row, index) for index in used]


def _cell(row: list[str], index: int) -> str:
    return row[index] if index < len(row) else ""
