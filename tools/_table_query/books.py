"""Workbooks: parsed in a sandbox, and kept as rows or tables under the digest of their bytes."""

import asyncio
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tea import Context

from .files import WORKBOOK, TableFile
from .stored import BOOK, StoredTable, keep, keeping
from .stored_workbook import known_sheets, stored_sheets

if TYPE_CHECKING:
    from tea.reading import Sheets

MOST_KEPT = 20_000_000  # bytes of the rows of one book

Book = bytes | Sequence[StoredTable]  # rows as JSON, or the tables of a large one


async def open_books(ctx: Context, files: Sequence[TableFile], folder: Path | None) -> dict[str, Book]:
    """Return the workbooks among files by the names of their user; each is parsed once for all runs.

    Args:
        files: The files.
        folder: Where copies are kept, None for the system's temporary files.

    Raises:
        ToolError: One is not a workbook, is too large, or cannot be kept.
    """
    found = dict[str, Book]()
    for one in files:
        if one.form != WORKBOOK:
            continue
        book = await asyncio.to_thread(_recalled, one.path, one.name, folder)
        found[one.name] = await _parsed(ctx, one.path, one.name, folder) if book is None else book
    return found


async def _parsed(ctx: Context, path: Path, name: str, folder: Path | None) -> Book:
    from tea.reading import Reader

    reader = Reader(await ctx.parser_terms())
    async with reader.sheets(path, name) as sheets:
        return await asyncio.to_thread(_made, sheets, path, name, folder)


def _recalled(path: Path, name: str, folder: Path | None) -> Book | None:
    """Return the kept rows or tables, None without them."""
    with keeping(path, name, folder) as (kept, digest):
        return _rows_kept(kept / f"{digest}{BOOK}") or known_sheets(kept, digest, name)


def _made(sheets: "Sheets", path: Path, name: str, folder: Path | None) -> Book:
    with keeping(path, name, folder) as (kept, digest):
        if sheets.large:
            return stored_sheets(sheets, kept, digest)
        held = [
            [title, list(sheets.rows(number)), number in sheets.hidden] for number, title in enumerate(sheets.titles)
        ]
        data = json.dumps(held).encode()
        if len(data) <= MOST_KEPT:
            keep(kept / f"{digest}{BOOK}", sha256(data).hexdigest().encode() + data)
        return data


def _rows_kept(path: Path) -> bytes | None:
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    told, data = whole[:64], whole[64:]
    return data if told == sha256(data).hexdigest().encode() else None
