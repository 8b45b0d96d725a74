# /// script
# dependencies = ["openpyxl>=3.1"]
# ///
"""Questions to table files: what they hold, where a phrase stands, and SQL over them."""

import asyncio
from pathlib import Path
from typing import NotRequired, TypedDict

from tea import Context, ToolError, tool

from ._table_query.database import Database
from ._table_query.describing import Link, TableDescription, describe, links
from ._table_query.finding import Found
from ._table_query.finding import find as find_cells
from ._table_query.loading import load

MOST_FILES = 20
MOST_PHRASES = 400
MOST_ROWS = 1_000


class Answer(TypedDict):
    """What was asked for: `tables` and `links`, or `found`, or `columns` and `rows`."""

    tables: NotRequired[list[TableDescription]]
    links: NotRequired[list[Link]]
    found: NotRequired[list[Found]]
    columns: NotRequired[list[str]]
    rows: NotRequired[list[list[str | int | float | None]]]
    row_count: NotRequired[int]
    truncated: NotRequired[bool]


@tool(effects="reads", idempotent=True, network=False)
async def table_query(
    ctx: Context, files: list[str], sql: str = "", find: list[str] | None = None, limit: int = 100
) -> Answer:
    """Describe tables, find cells by their words, or run one SQL query over CSV, TSV, JSON and XLSX files.

    With neither `sql` nor `find`, describes each table: columns, types, values, and which columns link two tables.
    Besides SQLite's usual functions there are median(x), stddev(x), variance(x), norm(text) for comparing words
    without case and accents, has_item(text, item) for cells that list several, and iso(text, form) for dates whose
    described form is not iso.

    Args:
        files: Names of table files in the workspace. A file's table is named after the file, a workbook's after
            its sheets.
        sql: One SELECT or WITH statement of SQLite over the tables.
        find: Phrases to look for in the cells.
        limit: Most rows to return, at most 1000.
    """
    phrases = find or []
    if not files or len(files) > MOST_FILES:
        raise ToolError(f"{len(files)} files were named.", fix=f"name 1 to {MOST_FILES} files.")
    if sql and phrases:
        raise ToolError("Both sql and find were given.", fix="give one of them.")
    if len(phrases) > MOST_PHRASES or not 1 <= limit <= MOST_ROWS:
        raise ToolError("Too much was asked for.", fix=f"at most {MOST_PHRASES} phrases and {MOST_ROWS} rows.")
    paths = [(name, ctx.path(name)) for name in files]
    return await asyncio.to_thread(_answer, paths, sql, phrases, limit)


def _answer(paths: list[tuple[str, Path]], sql: str, phrases: list[str], limit: int) -> Answer:
    tables = load(paths)
    if phrases:
        return {"found": find_cells(tables, phrases)}
    if not sql:
        return {"tables": [describe(table) for table in tables], "links": links(tables)}
    with Database(tables) as database:
        columns, rows, truncated = database.select(sql, limit)
    return {"columns": columns, "rows": rows, "row_count": len(rows), "truncated": truncated}
