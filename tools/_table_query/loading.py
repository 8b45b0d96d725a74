"""Files to typed tables."""

from functools import lru_cache
from pathlib import Path

from tea import ToolError

from .columns import distinct, sql_name, typed
from .decoding import read_bytes, text_of
from .delimited import read_delimited
from .json_tables import read_json
from .tables import Budget, RawTable, Table
from .workbook import read_workbook

_DELIMITED = {".csv", ".tsv", ".tab", ".psv", ".dat", ".data"}
_JSON = {".json", ".jsonl", ".ndjson", ".geojson"}
_BOOKS = {".xlsx", ".xlsm"}
_MOST_KEPT = 1_000_000
_FIX = "name CSV, TSV, JSON, JSON lines or XLSX files; read_file reads other texts."


def load(paths: list[tuple[str, Path]]) -> list[Table]:
    """Return the tables of all files, each with a name of its own.

    Raises:
        ToolError: A file is missing, too large, or holds no table.
    """
    contents = tuple((file, read_bytes(path, file)) for file, path in paths)
    small = sum(len(data) for _, data in contents) <= _MOST_KEPT
    return list((_kept if small else _parsed)(contents))


def _parsed(contents: tuple[tuple[str, bytes], ...]) -> tuple[Table, ...]:
    """Return the tables in the bytes of files."""
    budget = Budget()
    raw = [table for file, data in contents for table in _read(file, data, budget)]
    for table in raw:
        budget.check(table)
    names = distinct(sql_name(table.name) for table in raw)
    return tuple(typed(table, name) for table, name in zip(raw, names, strict=True))


@lru_cache(maxsize=2)  # a question is followed by others about the same files
def _kept(contents: tuple[tuple[str, bytes], ...]) -> tuple[Table, ...]:
    return _parsed(contents)


def _read(file: str, data: bytes, budget: Budget) -> list[RawTable]:
    stem, suffix = Path(file).stem, Path(file).suffix.lower()
    if suffix in _BOOKS:
        return read_workbook(data, stem, file, budget)
    text = text_of(data, file)
    if suffix in _JSON or (suffix not in _DELIMITED and text.lstrip()[:1] in ("{", "[")):
        return read_json(text, stem, file, budget)
    table = read_delimited(text, stem, file, budget, loose=suffix in _DELIMITED)
    if table is None:
        raise ToolError(f"{file!r} holds no table.", fix=_FIX)
    return [table]
