"""The tables by their description: columns, the noun for a row, the naming column, links."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, cast

from .lexicon import lexicon, synonyms
from .tokens import name_words, norm, stem

_NAMES = ("name", "title", "label", "full name", "common name", "model", "country name", "city name")
_COARSER = {
    "year": frozenset(["year"]),
    "month": frozenset(["month", "quarter", "year"]),
    "weekday": frozenset(["week"]),
}
_STEPS = (
    (3.5, frozenset(["day", "date"])),
    (15.0, frozenset(["week", "date"])),
    (45.0, frozenset(["month", "date"])),
    (180.0, frozenset(["quarter", "date"])),
)
PARTS = {"year": 0, "month": 12, "weekday": 7}
_NUMBERING = ("id", "no", "number", "index")
_TRUE = {"1", "true", "yes", "y", "t"}
_FALSE = {"0", "false", "no", "n", "f"}


def items_of(text: str) -> list[str]:
    """Return the things listed in a cell."""
    return [item.strip() for item in re.split(r";|\||,(?=\s)", text) if item.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table."""

    table: str
    name: str
    kind: str
    form: str
    distinct: int
    nulls: int
    rows: int
    low: str | int | float | None
    high: str | int | float | None
    examples: tuple[str | int | float, ...]
    part: str = ""

    @property
    def words(self) -> list[str]:
        """Return the stems of its name's words; of a part of a date, the part's name."""
        return [self.part] if self.part else name_words(self.name)

    @property
    def numeric(self) -> bool:
        """Whether its cells are numbers."""
        return self.kind in ("integer", "real")

    @property
    def unique(self) -> bool:
        """Whether no two rows share a value."""
        return self.distinct == self.rows - self.nulls and self.nulls <= 0.1 * self.rows

    @property
    def long(self) -> bool:
        """Whether its cells are longer than codes."""
        texts = [value for value in self.examples if isinstance(value, str)]
        return sum(map(len, texts)) > 4 * len(texts)

    @property
    def listing(self) -> bool:
        """Whether its cells list several things each: Egypt; Sudan."""
        texts = [value for value in self.examples if isinstance(value, str)]
        return len(texts) > 1 and sum(len(items_of(text)) > 1 for text in texts) * 2 >= len(texts)

    @property
    def wordy(self) -> bool:
        """Whether its cells are mostly letters."""
        text = "".join(str(value) for value in self.examples)
        return sum(letter.isalpha() for letter in text) >= 0.6 * len(text)

    @property
    def identifies(self) -> bool:
        """Return whether its numbers name rows instead of measuring something."""
        return self.kind == "integer" and self.unique and not {"rank", *_NUMBERING}.isdisjoint(self.words[-1:])

    @property
    def numbers_things(self) -> bool:
        """Return whether its numbers are names, unique or not, without a meaningful sum or average."""
        return self.kind == "integer" and not {"code", "zip", "phone", *_NUMBERING}.isdisjoint(self.words[-1:])

    @property
    def year(self) -> bool:
        """Whether its numbers are years."""
        low, high = self.low, self.high
        if self.kind != "integer" or not isinstance(low, int) or not isinstance(high, int):
            return False
        named = any(word in lexicon().dating for word in self.words)
        return low > -3000 and 1000 < high < 2200 and ("year" in self.words or (low >= 1000 and named))

    @property
    def dated(self) -> bool:
        """Whether it tells when."""
        return self.kind == "date" or self.year

    @property
    def told(self) -> str:
        """Return its name: its own, or one for a part of a date."""
        return self.part or self.name

    @property
    def truths(self) -> tuple[str | int | float, str | int | float] | None:
        """Its values for no and yes, when those are all it has."""
        values = {norm(str(value)): value for value in self.examples}
        false = [value for key, value in values.items() if key in _FALSE]
        true = [value for key, value in values.items() if key in _TRUE]
        if self.distinct > 2 or len(values) != self.distinct or len(false) + len(true) != self.distinct or not values:
            return None
        if self.numeric:
            return (0, 1)
        return (false or ["No"])[0], (true or ["Yes"])[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table."""

    name: str
    file: str
    rows: int
    columns: tuple[Column, ...]

    @property
    def parts(self) -> list[Column]:
        """Return the year, month and weekday of the rows' only date, if no column holds them."""
        dates = [column for column in self.columns if column.kind == "date"]
        if len(dates) > 1:
            said = {"date", "day", *self.nouns}
            dates = [column for column in dates if set(column.words) <= said]
        known = {word for column in self.columns for word in column.words}
        moments = self.counts_time if not any(column.identifies for column in self.columns) else frozenset[str]()
        return [
            replace(dates[0], kind="text", form=dates[0].form, part=part, distinct=few, examples=())
            for part, few in PARTS.items()
            if len(dates) == 1
            and not (moments & _COARSER[part])
            and part not in known
            and not (part == "weekday" and "day" in known)
        ]

    @property
    def nouns(self) -> list[str]:
        """Return stems for a row, from the names of the table and its file."""
        words = [*name_words(self.name), *name_words(PurePosixPath(self.file).stem)]
        return [
            word for word in dict.fromkeys(words) if not re.fullmatch(r"\d+|csv|data|dataset|table|list|t|the|of", word)
        ]

    @property
    def label(self) -> Column | None:
        """Return the naming column of a row, if it is clear."""
        return self.named_label or self._unique or self._number or self.moment

    @property
    def _number(self) -> Column | None:
        """Return the number column called as the rows are: order_no, in orders."""
        return next((one for one in self.columns if one.identifies and set(one.words) & set(self.nouns)), None)

    @property
    def named_label(self) -> Column | None:
        """Return the naming column by its own name."""
        texts = [column for column in self.columns if column.kind == "text" and column.distinct > 0]
        unique = [column for column in texts if column.unique]
        nouns = set(self.nouns)
        for column in (*unique, *texts):
            near = column.distinct >= 0.8 * self.rows
            if (
                near
                and (norm(column.name) in _NAMES or set(column.words) & nouns)
                and not set(column.words) & {"code", "id"}
            ):
                return column
        named = [
            column for column in unique if any(word.endswith(("name", "nam", "titl", "title")) for word in column.words)
        ]
        return named[0] if named else None

    @property
    def _unique(self) -> Column | None:
        """Return the first column of words without equal rows."""
        texts = [column for column in self.columns if column.kind == "text" and column.unique]
        return next((column for column in texts if column.wordy), texts[0] if texts else None)

    @property
    def moment(self) -> Column | None:
        """Return the time column, if each row is a moment of its own."""
        return next((column for column in self.columns if column.dated and column.unique), None)

    @property
    def _step(self) -> frozenset[str]:
        """Return stems of the stretch of time between two rows, any if the dates do not tell."""
        found = [re.match(r"(\d{4})\D(\d\d?)(?:\D(\d\d?))?", str(edge)) for edge in self._edges]
        days = [int(one[1]) * 365.25 + int(one[2]) * 30.44 + int(one[3] or 1) for one in found if one]
        between = (days[1] - days[0]) / max(1, self.rows - 1) if len(days) == 2 else 0.0
        return next((names for most, names in _STEPS if 0 < between <= most), lexicon().times)

    @property
    def _edges(self) -> tuple[str | int | float | None, ...]:
        return (self.moment.low, self.moment.high) if self.moment else ()

    @property
    def counts_time(self) -> frozenset[str]:
        """Return stems of a row's stretches of time: a date, or year and quarter together."""
        if self.named_label:
            return frozenset()
        if self.moment:
            found = self._step if self.moment.kind == "date" else frozenset(["year"])
            return found - {word for column in self.columns if column.kind != "date" for word in column.words} | (
                found & set(self.moment.words)
            )
        years = [column for column in self.columns if column.year]
        for column in self.columns:
            parts = years[0].distinct * column.distinct if years else 0
            if column.kind == "integer" and set(column.words) & lexicon().times and 0.8 * parts <= self.rows <= parts:
                return frozenset(column.words) - {"year"} if column not in years else frozenset[str]()
        return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A column of names of another table's rows."""

    table: str
    column: str
    other_table: str
    other_column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """All tables of a question."""

    tables: tuple[Table, ...]
    links: tuple[Link, ...]

    @property
    def columns(self) -> list[Column]:
        """Every column of every table, and the parts of dates."""
        return [column for table in self.tables for column in (*table.columns, *table.parts)]

    def table(self, name: str) -> Table:
        """Return the table by its name."""
        return next(table for table in self.tables if table.name == name)

    def column(self, table: str, name: str) -> Column | None:
        """Return a column by its table and name, or None."""
        own = self.table(table).columns
        return next((column for column in own if column.name == name), None)

    def path(self, many: str, one: str) -> Link | None:
        """Return the link from rows of one table to single rows of another, or None."""
        found = [link for link in self.links if (link.table, link.other_table) == (many, one)]
        return found[0] if found else None


def schema_from(value: Mapping[str, Any]) -> Schema:
    """Return the schema in a description by `table_query`."""
    tables = tuple(_table(item) for item in cast("Sequence[Mapping[str, Any]]", value["tables"]))
    links = tuple(
        Link(
            table=item["table"],
            column=item["column"],
            other_table=item["other_table"],
            other_column=item["other_column"],
        )
        for item in cast("Sequence[Mapping[str, Any]]", value.get("links", []))
    )
    return Schema(tables=tables, links=links)


def _table(item: Mapping[str, Any]) -> Table:
    name, rows = str(item["name"]), int(item["rows"])
    columns = tuple(_column(column, name, rows) for column in item["columns"])
    return Table(name=name, file=str(item["file"]), rows=rows, columns=columns)


def _column(item: Mapping[str, Any], table: str, rows: int) -> Column:
    return Column(
        table=table,
        name=str(item["name"]),
        kind=str(item["type"]),
        form=str(item["form"]),
        distinct=int(item["distinct"]),
        nulls=int(item["nulls"]),
        rows=rows,
        low=item["min"],
        high=item["max"],
        examples=tuple(item["examples"]),
    )


def is_row_noun(table: Table, word: str) -> bool:
    """Tell whether a stem stands for a row of the table: cars, in mtcars."""
    word = stem(word)
    if word in table.nouns:
        return True
    if word in table.counts_time or any(synonyms(word, noun) for noun in table.nouns):
        return True
    return len(word) >= 3 and any(noun.endswith(word) and len(noun) <= len(word) + 5 for noun in table.nouns)
