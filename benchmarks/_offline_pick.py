"""Small choices the question builders share: a subject, a threshold, a row, and how values are written."""

from collections.abc import Callable
from datetime import date
from typing import Any

from _offline_tables import Category, Measure, Source

Built = tuple[dict[str, str], str, Any, tuple[str, ...]]
"""Slots of the wording, kind of answer, the right answer, rivals."""
Builder = Callable[[Source, str], Built | None]

MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def number(value: float) -> str:
    """Write a number the way a person would type it."""
    return str(int(value)) if float(value).is_integer() else f"{value:.10g}"


def subject(source: Source, *, counted: bool = False, low: int = 1) -> tuple[str, Any, Category, str] | None:
    """Choose a set of rows by one category: its phrase, the rows, the category and the value.

    Args:
        source: The table.
        counted: Whether the phrase must name the rows ("rainy days", not "1980").
        low: Least number of rows in the set.
    """
    options = [
        (category, phrase)
        for category in source.table.categories
        for phrase in category.filters
        if not counted or "{rows}" in phrase
    ]
    if not options:
        return None
    category, phrase = source.random.choice(options)
    sizes = source.frame[category.column].value_counts()
    values = [str(value) for value, size in sizes.items() if size >= low][:40]
    if not values:
        return None
    value = source.random.choice(values)
    return (
        phrase.format(rows=source.table.rows, v=value),
        source.frame[source.frame[category.column] == value],
        category,
        value,
    )


def measure(source: Source, *, total: bool = False) -> Measure | None:
    """Choose a numeric column, with `total` one whose sum means something."""
    options = [one for one in source.table.measures if one.total or not total]
    return source.random.choice(options) if options else None


def words(source: Source, column: Measure | Category) -> str:
    """Choose what to call a column: its plainest name three times out of four."""
    return column.words[0] if source.random.random() < 0.75 else source.random.choice(column.words)


def group(source: Source) -> Category | None:
    """Choose a category whose values repeat."""
    options = [category for category in source.table.categories if category.groups]
    return source.random.choice(options) if options else None


def plural(category: Category) -> str:
    """Give the plural of a category's name."""
    return category.plural or f"{category.words[0]} values"


def threshold(source: Source, column: Measure, frame: Any) -> float | None:
    """Choose a round value inside the middle of a column, so that both sides have rows."""
    known = frame[column.column].dropna()
    if known.nunique() < 4:
        return None
    quantile = float(known.quantile(source.random.choice((0.25, 0.5, 0.75, 0.9))))
    for digits in (2, 3, 4, 6):
        value = float(f"{quantile:.{digits}g}")
        if known.min() < value < known.max():
            return value
    return None


def rows_with(source: Source, column: str) -> Any:
    """Give the rows whose key is unique and whose value in a column is known."""
    frame = source.frame
    if not source.table.key:
        return frame.iloc[:0]
    key = frame[source.table.key]
    return frame[~key.duplicated(keep=False) & key.notna() & frame[column].notna()]


def forms(source: Source, row: Any) -> tuple[str, ...]:
    """Give every accepted name of a row."""
    found = [str(row[column]) for column in source.table.names if isinstance(row[column], str)]
    return tuple(form for name in found for form in spellings(name))


def spellings(name: str) -> tuple[str, ...]:
    """Give a value and, for a date, other ways to write it."""
    day = as_date(name)
    if day is None:
        return (name,)
    month = MONTH_NAMES[day.month - 1]
    exact = (name, day.isoformat(), f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}")
    return exact + ((day.isoformat()[:7], f"{month} {day.year}") if day.day == 1 else ())


def as_date(text: str) -> date | None:
    """Read an ISO date, with dashes or slashes."""
    try:
        return date.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None


def called(source: Source, row: Any) -> str:
    """Give the name of a row as a question says it; dates are sometimes written out."""
    name = str(row[source.table.key])
    day = as_date(name)
    if day is None:
        return name
    if source.table.row == "month":
        return f"{MONTH_NAMES[day.month - 1]} {day.year}"
    return source.random.choice(spellings(name)[:3])


def only(values: Any, *, highest: bool = True, place: int = 1) -> Any | None:
    """Give the label of the value at a place of the ranking, or None when a tie makes it ambiguous."""
    ranked = values.dropna().sort_values(ascending=not highest, kind="stable")
    if len(ranked) <= place:
        return None
    near = ranked.iloc[max(0, place - 2) : place + 1]
    gaps = near.diff().abs().iloc[1:]
    if (gaps <= 1e-9 * near.abs().max()).any():
        return None
    return ranked.index[place - 1]


def first(values: Any, count: int) -> list[Any] | None:
    """Give the labels of the highest values, or None when a tie at the edge makes them ambiguous."""
    ranked = values.dropna().sort_values(ascending=False, kind="stable")
    if len(ranked) <= count or ranked.iloc[count - 1] - ranked.iloc[count] <= 1e-9 * abs(ranked.iloc[0]):
        return None
    return list(ranked.index[:count])


def others(source: Source, column: str, taken: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Give the values of a column that are not right answers."""
    right = {form.casefold() for answer in taken for form in answer}
    return tuple(value for value in source.values(column) if value.casefold() not in right)


def cell(source: Source, column: Any, row: Any) -> tuple[str, Any, tuple[str, ...]]:
    """Give kind, answer and rivals for one cell."""
    if isinstance(column, Measure):
        return "number", float(row[column.column]), ()
    answer = spellings(str(row[column.column]))
    return "text", answer, others(source, column.column, (answer,))
