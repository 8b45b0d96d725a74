"""A question's meaning, before it is written as SQL."""

from dataclasses import dataclass
from typing import Literal

from .schema import Column, Table

Operator = Literal[
    "=", "!=", ">", ">=", "<", "<=", "between", "holds", "missing", "present", "starts", "ends", "contains", "true",
    "false",
]  # fmt: skip
Function = Literal["count", "distinct", "sum", "avg", "median", "min", "max", "range", "stddev", "variance", "value"]
Kind = Literal[
    "scalar", "values", "top", "groups", "share", "exists", "check", "truth", "difference", "ratio", "which", "compare",
    "place", "having"
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One test of a row.

    Args:
        column: What is tested.
        operator: How.
        values: Against what: one value, two for between, several for any of them; texts or numbers.
        other: Another column to compare with, or the column whose average (`mean`) to compare with.
        mean: Whether the comparison is with the average of `other`.
        row: The test of the row whose value of `other` to compare with.
        negated: Whether the test must fail.
        predicate: Whether the question asserts it ("were delayed") rather than restricts by it ("from Oslo").
    """

    column: Column
    operator: Operator
    values: tuple[str | int | float, ...] = ()
    other: Column | None = None
    mean: bool = False
    row: "Condition | None" = None
    negated: bool = False
    predicate: bool = False

    @property
    def equality(self) -> bool:
        """Return whether it names a cell's value, or lists its items."""
        return self.operator in ("=", "holds")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """Conditions joined by or."""

    conditions: tuple[Condition, ...]


Where = tuple[Condition | AnyOf, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number of a set of rows: a function of a column, or the count of a table's rows."""

    function: Function
    column: Column | None = None
    table: Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Hold a question's meaning.

    Args:
        kind: What shape of answer.
        table: Whose rows are counted, where no column tells.
        select: Columns to show.
        measure: What is computed, or ranked by.
        group: What is measured for each value of.
        where: Which rows.
        part: For shares, checks and places, the condition asked about; for pairs, the rows of the second side.
        descending: Whether the largest come first.
        rank: Which place is wanted.
        count: How many places.
        plural: Whether several answers are welcome.
        operator: For truths, and for groups that have so many rows, how the measure compares.
        number: For truths, with what.
        per: For an average of group measures, the outer function.
        base: Name of the table whose rows are looked at, where it is not the one that the columns tell.
        scale: For shares, what the whole is: 100 or 1.
    """

    kind: Kind
    table: Table | None = None
    select: tuple[Column, ...] = ()
    measure: Measure | None = None
    group: Column | None = None
    where: Where = ()
    part: Where = ()
    descending: bool = True
    rank: int = 1
    count: int = 1
    plural: bool = False
    operator: str = ""
    number: float = 0
    per: Function | None = None
    base: str = ""
    scale: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A query with its doubt; less is better. A misplaced one asks for something absent from the row."""

    query: Query
    cost: float
    misplaced: bool = False


def columns_of(where: Where) -> list[Column]:
    """Return the columns under conditions."""
    flat = [one for item in where for one in (item.conditions if isinstance(item, AnyOf) else (item,))]
    return [column for one in flat for column in (one.column, one.other) if column]


def single(where: Where) -> bool:
    """Tell whether conditions name one thing: some column equals one cell."""
    return any(isinstance(one, Condition) and one.equality and not one.negated for one in where)


def mentions(where: Where, column: Column) -> bool:
    """Tell whether conditions test a column."""
    return column in columns_of(where)
