"""Files to typed tables."""

from pathlib import Path

from tea import ToolError

from .columns import sql_name, typed
from .decoding import read_text
from .delimited import read_delimited
from .json_tables import read_json
from .tables import MOST_CELLS, RawTable, Table
from .workbook import read_workbook

_DELIMITED = {".csv", ".tsv", ".tab", ".psv", ".dat", ".data"}
_JSON = {".json", ".jsonl", ".ndjson", ".geojson"}
_BOOKS = {".xlsx", ".xlsm"}
_FIX = "name CSV, TSV, JSON, JSON lines or XLSX files; read_file reads other texts."


def load(paths: list[tuple[str, Path]]) -> list[Table]:
    """Return the tables of all files, each with a name of its own.

    Raises:
        ToolError: A file is missing, too large, or holds no table.
    """
    raw = [table for file, path in paths for table in _read(file, path)]
    if sum(len(table.rows) * max(1, len(table.header)) for table in raw) > MOST_CELLS:
        raise ToolError(f"The tables have more than {MOST_CELLS:,} cells.", fix="split the files.")
    tables: list[Table] = []
    taken: set[str] = set()
    for table in raw:
        base = sql_name(table.name)
        name, repeat = base, 2
        while name.lower() in taken:
            name, repeat = f"{base}_{repeat}", repeat + 1
        taken.add(name.lower())
        tables.append(typed(table, name))
    return tables


def _read(file: str, path: Path) -> list[RawTable]:
    stem, suffix = Path(file).stem, Path(file).suffix.lower()
    if suffix in _BOOKS:
        return read_workbook(path, stem, file)
    text = read_text(path, file)
    if suffix in _JSON or (suffix not in _DELIMITED and text.lstrip()[:1] in ("{", "[")):
        return read_json(text, stem, file)
    table = read_delimited(text, stem, file, loose=suffix in _DELIMITED)
    if table is None:
        raise ToolError(f"{file!r} holds no table.", fix=_FIX)
    return [table]
