"""The tables the offline benchmark asks about: what a row is, how people name its columns, and how to read it."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

MISSING = ("", "NA")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A numeric column and how people speak of it.

    Args:
        column: Its name in the file.
        words: Noun phrases, the plainest first.
        unit: What its numbers count; empty when people do not say it.
        looks: Questions for one row, with `{e}` for its name.
        most: Superlative for the highest ("heaviest"), and `least` for the lowest.
        over: What follows the noun of the row for values above `{v}`, and `under` for those below.
        total: Whether adding its values up means anything.
    """

    column: str
    words: tuple[str, ...]
    unit: str = ""
    looks: tuple[str, ...] = ()
    most: str = ""
    least: str = ""
    over: str = ""
    under: str = ""
    total: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A column of names or codes and how people speak of it.

    Args:
        column: Its name in the file.
        words: Noun phrases in the singular, the plainest first.
        plural: The noun phrase in the plural.
        filters: Ways to say "the rows whose value is {v}", with `{rows}`.
        asks: Whole questions that count such rows, for the tuning set, and `held` for the held-out one.
        looks: Questions for one row, with `{e}` for its name.
        groups: Whether its values repeat enough to group by.
    """

    column: str
    words: tuple[str, ...]
    plural: str = ""
    filters: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    groups: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file, what its rows are, and how people speak of it.

    Args:
        file: Name inside the data folder, or `package:path` for a file inside an installed package.
        domain: Heading in the report.
        row: Noun for one row, and `rows` its plural.
        key: Column that names a row; empty when none does.
        names: Columns that are accepted as the name of a row in an answer.
        key_word: Noun for the key ("state").
        at: How a row is referred to, with `{e}`.
        of: Preposition before a set of rows ("of", "on", "in").
        date: A column of ISO dates, `date_words` the verb that goes with it.
        columns: Header for files that carry it in a comment; such files are separated by tabs.
        missing: Cells that mean "not known".
        strangers: Names of rows that are not there.
        absent: Questions that the file cannot answer, and `held_absent` for the held-out set.
        gaps: Columns with missing cells, with a phrase ("no recorded sex").
        held_out: Whether only the held-out set uses it.
    """

    file: str
    domain: str
    row: str
    rows: str
    key: str = ""
    names: tuple[str, ...] = ()
    key_word: str = ""
    at: str = "of {e}"
    of: str = "of"
    date: str = ""
    date_words: str = ""
    columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = MISSING
    measures: tuple[Measure, ...] = ()
    categories: tuple[Category, ...] = ()
    strangers: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    held_absent: tuple[str, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()
    held_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its right answer.

    Args:
        text: What is asked.
        files: What it is asked about.
        kind: How the answer is compared: number, text, list, yesno, passage, or none (abstention is right).
        answer: The right answer; for text a tuple of accepted forms, for a list a tuple of such tuples.
        rivals: Other values the answer could have named.
        label: Class of question.
        table: Heading in the report.
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


def read(table: Table, path: Path) -> Any:
    """Read a file into a pandas frame: numbers where every known cell is one, everything else text."""
    import pandas as pd

    if path.suffix == ".json":
        frame = pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))
        frame = frame.map(lambda cell: "" if cell is None or cell != cell else number(cell))
    elif path.suffix == ".xlsx":
        frame = pd.read_excel(path, dtype=str, keep_default_na=False)
    elif table.columns:
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
        width = len(table.columns)
        frame = pd.DataFrame([(*line, *[""] * width)[:width] for line in lines], columns=list(table.columns))
    else:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, sep=None, engine="python")
    frame = frame.map(lambda cell: None if cell is None or cell.strip() in table.missing else cell.strip())
    numeric = [measure.column for measure in table.measures]
    for column in frame.columns:
        if column in numeric:
            frame[column] = pd.to_numeric(frame[column])
    return frame


def describe(path: Path) -> Table:
    """Describe a file nobody wrote about, from its header and cells alone."""
    blank = Table(file=path.name, domain=path.stem, row="row", rows="rows")
    frame = read(blank, path)
    measures: list[Measure] = []
    categories: list[Category] = []
    key = ""
    for column in frame.columns:
        known = frame[column].dropna()
        words = (column.replace("_", " ").strip(),)
        if len(known) and known.map(is_number).all():
            measures.append(Measure(column=column, words=words))
        elif len(known) and known.nunique() == len(frame) and not key:
            key = column
        elif 2 <= known.nunique() <= max(20, len(frame) // 5):
            categories.append(Category(column=column, words=words))
    return Table(
        file=path.name, domain=path.stem, row="row", rows="rows", key=key, names=(key,) if key else (),
        key_word=key.replace("_", " "), measures=tuple(measures), categories=tuple(categories),
        absent=("What is the average zorbical index?",), held_absent=("Which row has the highest blicket score?",),
    )  # fmt: skip


def number(cell: Any) -> str:
    """Write a cell as text, whole numbers without a fraction."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def is_number(cell: str) -> bool:
    """Tell whether a cell is a plain number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
