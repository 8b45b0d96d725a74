"""Small choices shared by the question builders: a subject, a threshold, a row, and formats of values."""

from collections.abc import Callable
from typing import Any

from _tables import Column, Source

Built = tuple[dict[str, str], str, Any, tuple[str, ...]]
"""Slots of the wording, kind of answer, the right answer, rivals."""
Builder = Callable[[Source, str], Built | None]


def number(value: float) -> str:
    """Write a number the way a person would type it."""
    return str(int(value)) if float(value).is_integer() else f"{value:.10g}"


def subject(source: Source, *, counted: bool = False, low: int = 1) -> tuple[str, Any, Column, str] | None:
    """Choose a set of rows by one category: its phrase, the rows, the category and the value.

    Args:
        source: The table.
        counted: Whether the phrase must name the rows ("rainy days", not "1980").
        low: Least number of rows in the set.
    """
    phrases = [(one, phrase) for one in source.table.categories for phrase in one.filters]
    options = [(one, phrase) for one, phrase in phrases if not counted or "{rows}" in phrase]
    if not options:
        return None
    category, phrase = source.random.choice(options)
    sizes = source.frame[category.column].value_counts()
    values = [str(value) for value, size in sizes.items() if size >= low][:40]
    if not values:
        return None
    value = source.random.choice(values)
    rows = source.frame[source.frame[category.column] == value]
    return phrase.format(rows=source.table.rows, v=value), rows, category, value


def measure(source: Source, *, total: bool = False) -> Column | None:
    """Choose a numeric column, with `total` one with a meaningful sum."""
    options = [one for one in source.table.measures if one.total or not total]
    return source.random.choice(options) if options else None


def words(source: Source, column: Column) -> str:
    """Choose a name for a column: its plainest one three times out of four."""
    return column.words[0] if source.random.random() < 0.75 else source.random.choice(column.words)


def group(source: Source) -> Column | None:
    """Choose a category with repeated values."""
    options = [category for category in source.table.categories if category.groups]
    return source.random.choice(options) if options else None


def threshold(source: Source, column: Column) -> float | None:
    """Choose a round value inside the middle of a column, with rows on both sides."""
    known = source.frame[column.column].dropna()
    if known.nunique() < 4:
        return None
    quantile = float(known.quantile(source.random.choice((0.25, 0.5, 0.75, 0.9))))
    rounded = (float(f"{quantile:.{digits}g}") for digits in (2, 3, 4, 6))
    return next((value for value in rounded if known.min() < value < known.max()), None)


def rows_with(source: Source, column: str) -> Any:
    """Give the rows with a unique key and a known value in a column."""
    frame = source.frame
    if not source.table.key:
        return frame.iloc[:0]
    key = frame[source.table.key]
    return frame[~key.duplicated(keep=False) & key.notna() & frame[column].notna()]


def any_row(source: Source, rows: Any) -> Any:
    """Choose a row."""
    return rows.iloc[source.random.randrange(len(rows))]


def forms(source: Source, row: Any) -> tuple[str, ...]:
    """Give every accepted name of a row."""
    return tuple(str(row[column]) for column in source.table.names if isinstance(row[column], str))


def called(source: Source, row: Any) -> str:
    """Give the name of a row as a question says it."""
    return str(row[source.table.key])


def only(values: Any, *, highest: bool = True, place: int = 1) -> Any | None:
    """Give the label of the value at a place of the ranking, or None when a tie makes it ambiguous."""
    ranked = values.dropna().sort_values(ascending=not highest, kind="stable")
    if len(ranked) <= place:
        return None
    near = ranked.iloc[max(0, place - 2) : place + 1]
    tied = (near.diff().abs().iloc[1:] <= 1e-9 * near.abs().max()).any()
    return None if tied else ranked.index[place - 1]


def others(source: Source, column: str, taken: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Give the wrong answers among the values of a column."""
    right = {form.casefold() for answer in taken for form in answer}
    return tuple(value for value in source.values(column) if value.casefold() not in right)
