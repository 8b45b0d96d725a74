"""Files with tables: their kind told by their bytes, and by their name only between kinds of text."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tea import ToolError, named_file, open_resolved
from tea.reading import kind_of

WORKBOOK, JSON, DELIMITED, TEXT = "workbook", "json", "delimited", "text"
Form = Literal["workbook", "json", "delimited", "text"]
_HEAD = 16_384
_BETWEEN = re.compile(r"[,;]")
_FORMS: dict[str, Form] = {
    "zip": WORKBOOK, "json": JSON, "jsonl": JSON, "csv": DELIMITED, "tsv": DELIMITED, "text": TEXT,
    "markdown": TEXT,
}  # fmt: skip
_DELIMITED_ENDINGS = {".csv", ".tsv", ".tab", ".psv", ".dat", ".data"}
_JSON_ENDINGS = {".json", ".jsonl", ".ndjson", ".geojson"}
_OTHERS = {
    "ole": "save it as XLSX, without a password.",
    "sqlite": "ask for it as CSV.",
    "parquet": "ask for it as CSV.",
    "binary": "name a CSV, TSV, JSON, XLSX or ODS file.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A file with possible tables.

    Args:
        name: What its user calls it.
        path: Where it is.
        form: How its tables are read; `text` for one that may hold none.
    """

    name: str
    path: Path = field(compare=False)
    form: Form

    @property
    def is_named_json(self) -> bool:
        """Whether its name promises JSON."""
        return Path(self.name).suffix.lower() in _JSON_ENDINGS


def table_file(name: str, path: Path) -> TableFile:
    """Return a file with the form of its tables.

    Args:
        name: What its user calls it.
        path: Where it is.

    Raises:
        ToolError: It cannot be read, or is of a kind without tables.
    """
    try:
        with open_resolved(path) as file:
            kind = kind_of(file.read(_HEAD), name)  # what is in a ZIP archive is looked at in the sandbox alone
    except OSError as error:
        raise ToolError(f"{name!r} cannot be read: {error.strerror}.", fix="check the file.") from error
    form = _FORMS.get(kind.name)
    if form is None:
        fix = _OTHERS.get(kind.name, "ask to_markdown.")
        if kind.is_packed:
            fix = "ask to_markdown, which unpacks it, and name the files in it."
        raise ToolError(f"{name!r} is {kind.words}, which holds no table for SQL.", fix=fix)
    named = Path(name).suffix.lower() in _DELIMITED_ENDINGS
    return TableFile(name=name, path=path, form=DELIMITED if form == TEXT and named else form)


def apart(names: Sequence[str], existing: Collection[str]) -> list[str]:
    """Return names of files, each of several in one text on its own, and the file of a table's name in its place.

    Args:
        names: What was named.
        existing: Names of the files there are.
    """
    found = list[str]()
    for name in names:
        parts = [_meant(part.strip(" '\""), existing) for part in _BETWEEN.split(name.strip("[] "))]
        whole = name in existing or not all(part in existing for part in parts)
        found += [_meant(name, existing)] if whole else parts
    return found


def _meant(name: str, existing: Collection[str]) -> str:
    """Return the file of a table's name if there is one alone, else the name."""
    return name if Path(name).suffix else named_file(name, existing) or name
