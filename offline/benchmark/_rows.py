"""Builders of questions about single rows: ranking them, looking them up, finding them, asking for two things."""

from typing import Any

from _pick import Built, any_row, called, forms, measure, number, only, others, rows_with, words
from _tables import Column, Source


def ranked(source: Source, column: Column | None, *, highest: bool, place: int = 1) -> Built | None:
    """Answer with the row at a place of the ranking."""
    keyed = rows_with(source, column.column) if column else ()
    label = only(source.frame[column.column], highest=highest, place=place) if column and len(keyed) > 2 else None
    if column is None or label is None or label not in keyed.index:
        return None
    answer = forms(source, source.frame.loc[label])
    return {"np": words(source, column)}, "text", answer, others(source, source.table.key, (answer,))


def top_row(source: Source, wording: str) -> Built | None:
    return ranked(source, measure(source), highest=True)


def bottom_row(source: Source, wording: str) -> Built | None:
    return ranked(source, measure(source), highest=False)


def nth_row(source: Source, wording: str) -> Built | None:
    return ranked(source, measure(source), highest=True, place=2 if "second" in wording else 3)


def superlative(source: Source, wording: str) -> Built | None:
    column = measure(source)
    if column is None or not (column.most or column.least):
        return None
    highest = bool(column.most) and (not column.least or source.random.random() < 0.5)
    built = ranked(source, column, highest=highest)
    return None if built is None else ({"most": column.most if highest else column.least}, *built[1:])


def top_rows(source: Source, wording: str) -> Built | None:
    column, count = measure(source), source.random.choice((3, 5))
    if column is None or rows_with(source, column.column).empty:
        return None
    best = source.frame[column.column].dropna().sort_values(ascending=False, kind="stable").iloc[: count + 1]
    rows = source.frame.loc[best.index[:count]]
    if len(best) <= count or best.iloc[-1] == best.iloc[-2] or rows[source.table.key].duplicated().any():
        return None
    answer = tuple(forms(source, row) for _, row in rows.iterrows())
    slots = {"np": words(source, column), "n": str(count)}
    return slots, "list", answer, others(source, source.table.key, answer)


def value_and_row(source: Source, wording: str) -> Built | None:
    """Ask for the highest value and its row, two things at once."""
    column = measure(source)
    built = ranked(source, column, highest=True)
    if column is None or built is None:
        return None
    return built[0], "both", ((number(float(source.frame[column.column].max())),), built[2]), ()


def own_look_up(source: Source, wording: str) -> Built | None:
    """Look one cell up with a question made for its column."""
    for column in (*source.table.measures, *source.table.categories):
        keyed = rows_with(source, column.column)
        if wording in column.looks and not keyed.empty:
            row = any_row(source, keyed)
            return ({"e": called(source, row)}, *_cell(source, column, row))
    return None


def _cell(source: Source, column: Column, row: Any) -> tuple[str, Any, tuple[str, ...]]:
    """Give kind, answer and rivals for one cell."""
    if column in source.table.measures:
        return "number", float(row[column.column]), ()
    answer = (str(row[column.column]),)
    return "text", answer, others(source, column.column, (answer,))


def look_up(source: Source, wording: str) -> Built | None:
    column = measure(source)
    keyed = rows_with(source, column.column) if column else None
    if column is None or keyed is None or keyed.empty:
        return None
    row = any_row(source, keyed)
    slots = {"np": words(source, column), "at": source.table.at.format(e=called(source, row))}
    return slots, "number", float(row[column.column]), ()


def reverse(source: Source, wording: str) -> Built | None:
    singles = [one for one in source.table.categories if not one.groups and one.column != source.table.key]
    if not (options := [*source.table.measures, *singles]):
        return None
    column = source.random.choice(options)
    keyed = rows_with(source, column.column)
    unique = keyed[~keyed[column.column].isin(source.frame[column.column][source.frame[column.column].duplicated()])]
    if unique.empty:
        return None
    row = any_row(source, unique)
    value, answer = row[column.column], forms(source, row)
    slots = {"np": words(source, column), "v": value if isinstance(value, str) else number(value)}
    return slots, "text", answer, others(source, source.table.key, (answer,))
