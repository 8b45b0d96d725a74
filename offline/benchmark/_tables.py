"""The tables of the benchmark: their rows, usual names of their columns, and their files."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import yaml

DATA = Path(__file__).resolve().parent.parent.parent / "examples" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column and how people speak of it.

    Args:
        column: Its name in the file.
        words: Noun phrases in the singular, the plainest first, and `plural` the phrase in the plural.
        looks: Questions for one row, with `{e}` for its name.
        most: Of a number, the superlative for the highest ("heaviest"), and `least` for the lowest.
        total: Of a number, whether adding its values up means anything.
        filters: Of a name, ways to say "the rows whose value is {v}", with `{rows}`.
        held: Of a name, whole questions that count such rows.
        groups: Of a name, whether its values repeat enough to group by.
    """

    column: str
    words: list[str]
    plural: str = ""
    looks: list[str] = field(default_factory=list[str])
    most: str = ""
    least: str = ""
    total: bool = False
    filters: list[str] = field(default_factory=list[str])
    held: list[str] = field(default_factory=list[str])
    groups: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file and the nature of its rows.

    Args:
        file: Name inside the data folder.
        domain: Heading in the report.
        row: Noun for one row, and `rows` its plural.
        key: Column that names a row, and `names` those that are accepted as its name in an answer.
        at: How a row is referred to, with `{e}`, and `of` the preposition before a set of rows ("of", "on", "in").
        columns: Header for files that carry it in a comment; such files are separated by tabs.
        missing: Cells that mean "not known".
        stranger: Name of a row that is not there.
        absent: Questions that the file cannot answer.
        measures: The columns of numbers, and `categories` those of names or codes.
    """

    file: str
    domain: str
    row: str
    rows: str
    key: str = ""
    names: list[str] = field(default_factory=list[str])
    at: str = "of {e}"
    of: str = "of"
    columns: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=lambda: ["", "NA"])
    stranger: str = ""
    absent: list[str] = field(default_factory=list[str])
    measures: list[Column] = field(default_factory=list[Column])
    categories: list[Column] = field(default_factory=list[Column])


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its right answer.

    Args:
        text: What is asked, and `files` what about.
        kind: How the answer is compared: number, text, list, yesno, both, or none (abstention is right).
        answer: The right answer; for text a tuple of accepted forms, for a list and for both a tuple of such tuples.
        rivals: Other values that the answer could have named.
        label: Class of question, and `table` the heading in the report.
        wording: The template, to count distinct ones.
    """

    text: str
    files: tuple[Path, ...]
    kind: str
    answer: Any
    rivals: tuple[str, ...] = ()
    label: str
    table: str
    wording: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table with its cells, ready to be asked about."""

    table: Table
    path: Path
    frame: Any
    random: Random = field(repr=False)

    def values(self, column: str) -> list[str]:
        """Give the distinct known values of a column as text, most frequent first."""
        return [str(value) for value in self.frame[column].dropna().value_counts().index]


def sources(seed: int) -> dict[str, Source]:
    """Read all tables; the seed decides every choice about them."""
    found: dict[str, Source] = {}
    for one in yaml.safe_load((Path(__file__).parent / "tables.yaml").read_text(encoding="utf-8")):
        columns = {kind: [Column(**column) for column in one.get(kind, ())] for kind in ("measures", "categories")}
        table = Table(file=one["file"], **one["about"], **columns)
        path, chance = DATA / table.file, Random(f"{seed} {table.file}")
        found[table.file] = Source(table=table, path=path, frame=read(table, path), random=chance)
    return found


def read(table: Table, path: Path) -> Any:
    """Read a file into a frame: measures as numbers, everything else as text."""
    if path.suffix == ".json":
        frame = pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))
        frame = frame.map(lambda cell: "" if cell is None or cell != cell else as_text(cell))
    elif path.suffix == ".xlsx":
        frame = pd.read_excel(path, dtype=str, keep_default_na=False)
    elif table.columns:
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
        width = len(table.columns)
        frame = pd.DataFrame([(*line, *[""] * width)[:width] for line in lines], columns=table.columns)
    else:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, sep=None, engine="python")
    frame = frame.map(lambda cell: None if cell is None or cell.strip() in table.missing else cell.strip())
    for measure in table.measures:
        frame[measure.column] = pd.to_numeric(frame[measure.column])
    return frame


def as_text(cell: Any) -> str:
    """Write a cell as text, whole numbers without a fraction."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
