"""Questions to table files: what they hold, where a phrase stands, and SQL over them."""

import asyncio
from pathlib import Path
from typing import NotRequired, TypedDict

from tea import Context, Texts, ToolError, tool

from ._table_query.books import Book, open_books
from ._table_query.brief import BriefTable, brief_links, brief_tables, fitting
from ._table_query.database import Database
from ._table_query.describing import Link, TableDescription, describe, links
from ._table_query.files import TableFile, apart, table_file
from ._table_query.finding import Found
from ._table_query.finding import find as find_cells
from ._table_query.loading import load
from ._table_query.naming import columns_as_texts
from ._table_query.stored import StoredTable
from ._table_query.tables import Cell, Table

ENDINGS = "csv tsv tab json jsonl ndjson geojson xlsx xlsm ods"
ARCHIVES = "zip tar gz tgz bz2 xz 7z"  # which tables come out of
MOST_FILES = 20
MOST_PHRASES = 400
MOST_ROWS = 1_000
MOST_SHEETS = 20
DROPPED = "`/` drops the decimals of whole numbers; 1.0 * a / b keeps them"
_FOUND = ("phrase", "table", "column", "value", "rows", "match")


class Answer(TypedDict):
    """What was asked for: `tables` and `links`, or `columns` and `rows`; for programs also `found`, beside `tables`.

    `row_count` rows are in it. Where `truncated` is true, the query gave `query_rows`, and more follow from
    `next_offset` on. `cut` says that cells are shortened. `sheets` are those of one row, which SQL does not reach.
    """

    tables: NotRequired[list[BriefTable] | list[TableDescription]]
    sheets: NotRequired[list[str]]
    links: NotRequired[list[str] | list[Link]]
    found: NotRequired[list[Found]]
    columns: NotRequired[list[str]]
    rows: NotRequired[list[list[Cell]]]
    row_count: NotRequired[int]
    query_rows: NotRequired[int]
    truncated: NotRequired[bool]
    next_offset: NotRequired[int]
    cut: NotRequired[str]
    warning: NotRequired[str]
    more: NotRequired[str]


@tool(effects="reads", idempotent=True, network=False, metadata={"files": f"{ENDINGS} {ARCHIVES}"})
async def table_query(
    ctx: Context,
    files: Texts,
    sql: str = "",
    find: tuple[str, ...] = (),
    limit: int = 100,
    offset: int = 0,
    full: bool = False,
) -> Answer:
    """Run SQL over CSV, TSV, JSON, XLSX, ODS files, find cells by their words, or describe tables.

    Let SQL count, join. It has median, corr(x, y), stddev (sample), stddev_pop, norm(text), has_item(list, x),
    iso(date, form 'dmy', 'mdy', 'words', '%d.%m.%Y').

    Args:
        sql: One SELECT.
        full: For programs: statistics.
    """
    if any(set(",;") & set(name) or not Path(name).suffix for name in files):
        files = apart(files, await ctx.files())
    if not files or len(files) > MOST_FILES:
        raise ToolError(f"{len(files)} files were named.", fix=f"name 1 to {MOST_FILES} files.")
    if sql.strip() and find:
        raise ToolError("Both sql and find were given.", fix="give one of them.")
    if len(find) > MOST_PHRASES or limit < 1 or offset < 0:
        raise ToolError(
            "Too many phrases, or rows out of range.", fix=f"give at most {MOST_PHRASES} phrases, and limit from 1."
        )
    given = [await asyncio.to_thread(table_file, name, await ctx.file(name)) for name in files]
    folder = await ctx.cache()
    books = await open_books(ctx, given, folder)
    return await asyncio.to_thread(_answer, given, books, folder, sql, find, min(limit, MOST_ROWS), offset, full)


def _answer(
    files: list[TableFile],
    books: dict[str, Book],
    folder: Path | None,
    sql: str,
    phrases: tuple[str, ...],
    limit: int,
    offset: int,
    full: bool,
) -> Answer:
    tables = load(files, books, folder)
    if phrases:
        found = find_cells(tables, phrases)
        return {**_described(tables, full), "found": found} if full else _found(found, limit, offset)
    if not sql.strip():
        return _described(tables, full)
    try:
        with Database(tables) as database:
            sql = database.with_forms(database.resolved(sql))
            got = database.select(sql, limit, offset, count=not full)
            whole = not full and database.drops_decimals(sql, got.rows, offset)
            doubts = [] if full else database.doubts(sql, got.rows, offset)
    except MemoryError:
        raise ToolError("The SQL holds too much at once.", fix="ask for less, or for its parts.") from None
    if full:
        return {"columns": got.columns, "rows": got.rows, "row_count": len(got.rows), "truncated": got.more}
    answer = _paged(got.columns, got.rows, got.total, offset)
    texts = columns_as_texts(sql, (column.name for table in tables for column in table.columns))
    beyond = (
        "" if got.rows or not got.total else f"the SQL, with its own LIMIT, gives {got.total} rows; offset skips all"
    )
    if warning := "; ".join(filter(None, (texts, beyond, *doubts, DROPPED if whole else ""))):
        answer["warning"] = warning
    return answer


def _described(tables: list[Table | StoredTable], full: bool) -> Answer:
    described = [table.described() if isinstance(table, StoredTable) else describe(table) for table in tables]
    linked = links([table for table in tables if not isinstance(table, StoredTable)])
    if full:
        return {"tables": described, "links": linked}
    shown, left = brief_tables(described)
    answer: Answer = {"tables": shown}
    if sheets := [line for table in tables if isinstance(table, Table) for line in table.sheets]:
        answer["sheets"] = sheets[:MOST_SHEETS]
    if linked:
        answer["links"] = brief_links(linked)[:20]
    if left:
        answer["more"] = f"{left} tables more: SELECT name FROM sqlite_master LIMIT 1000 OFFSET {len(shown)}"
    return answer


def _found(found: list[Found], limit: int, offset: int) -> Answer:
    rows: list[list[Cell]] = [[one[name] for name in _FOUND] for one in found]
    return _paged(list(_FOUND), rows[offset : offset + limit], len(rows), offset)


def _paged(columns: list[str], rows: list[list[Cell]], total: int | None, offset: int) -> Answer:
    """Return the first rows to fit, with their share of all if some are left out."""
    shown, cut = fitting(rows)
    after = offset + len(shown)
    more = total is None or after < total
    answer: Answer = {"columns": columns, "rows": shown, "row_count": len(shown), "truncated": more}
    if more:
        answer["next_offset"] = after
        if total is not None:
            answer["query_rows"] = total
    if cut:
        answer["cut"] = "Long cells are cut; substr(cell, start, length) reads on."
    return answer
