"""Builders of questions about single rows: ranking them, looking them up, finding them, setting two side by side."""

from typing import Any

from _offline_pick import (
    Built,
    called,
    cell,
    first,
    forms,
    measure,
    number,
    only,
    others,
    rows_with,
    subject,
    words,
)
from _offline_tables import Measure, Source


def list_rows(source: Source, wording: str) -> Built | None:
    picked = subject(source, counted=True)
    if picked is None or not source.table.key or not 2 <= len(picked[1]) <= 8:
        return None
    if picked[1][source.table.key].duplicated().any():
        return None
    answer = tuple(forms(source, row) for _, row in picked[1].iterrows())
    return {"subject": picked[0]}, "list", answer, others(source, source.table.key, answer)


def ranked(source: Source, column: Measure, frame: Any, highest: bool, place: int = 1) -> Built | None:
    """Answer with the row at a place of the ranking."""
    keyed = rows_with(source, column.column)
    if keyed.empty or len(keyed) < 3:
        return None
    label = only(frame[column.column], highest=highest, place=place)
    if label is None or label not in keyed.index:
        return None
    answer = forms(source, frame.loc[label])
    return {"np": words(source, column)}, "text", answer, others(source, source.table.key, (answer,))


def top_row(source: Source, wording: str) -> Built | None:
    column = measure(source)
    return ranked(source, column, source.frame, highest=True) if column else None


def bottom_row(source: Source, wording: str) -> Built | None:
    column = measure(source)
    return ranked(source, column, source.frame, highest=False) if column else None


def nth_row(source: Source, wording: str) -> Built | None:
    column = measure(source)
    place = 2 if "second" in wording else 3
    return ranked(source, column, source.frame, highest=True, place=place) if column else None


def superlative(source: Source, wording: str) -> Built | None:
    column = measure(source)
    if column is None:
        return None
    highest = bool(column.most) and (not column.least or source.random.random() < 0.5)
    word = column.most if highest else column.least
    built = ranked(source, column, source.frame, highest=highest) if word else None
    return None if built is None else ({"most": word}, *built[1:])


def top_row_where(source: Source, wording: str) -> Built | None:
    picked, column = subject(source, counted=True, low=3), measure(source)
    built = ranked(source, column, picked[1], highest=True) if picked and column else None
    return None if built is None or picked is None else ({**built[0], "subject": picked[0]}, *built[1:])


def top_rows(source: Source, wording: str) -> Built | None:
    column, count = measure(source), source.random.choice((3, 5))
    if column is None or rows_with(source, column.column).empty:
        return None
    labels = first(source.frame[column.column], count)
    if labels is None or source.frame.loc[labels, source.table.key].duplicated().any():
        return None
    answer = tuple(forms(source, source.frame.loc[label]) for label in labels)
    slots = {"np": words(source, column), "n": str(count)}
    return slots, "list", answer, others(source, source.table.key, answer)


def own_look_up(source: Source, wording: str) -> Built | None:
    """Look one cell up with a question made for its column."""
    for column in (*source.table.measures, *source.table.categories):
        keyed = rows_with(source, column.column)
        if wording in column.looks and not keyed.empty:
            row = keyed.iloc[source.random.randrange(len(keyed))]
            return ({"e": called(source, row)}, *cell(source, column, row))
    return None


def look_up(source: Source, wording: str) -> Built | None:
    column = measure(source)
    keyed = rows_with(source, column.column) if column else None
    if column is None or keyed is None or keyed.empty:
        return None
    row = keyed.iloc[source.random.randrange(len(keyed))]
    name = words(source, column)
    slots = {"np": name, "np_title": name[0].upper() + name[1:], "at": source.table.at.format(e=called(source, row))}
    return slots, "number", float(row[column.column]), ()


def reverse(source: Source, wording: str) -> Built | None:
    singles = [one for one in source.table.categories if not one.groups and one.column != source.table.key]
    options = [*source.table.measures, *singles]
    if not options:
        return None
    column = source.random.choice(options)
    keyed = rows_with(source, column.column)
    unique = keyed[~keyed[column.column].duplicated(keep=False)]
    unique = unique[unique[column.column].isin(source.frame[column.column].value_counts().loc[lambda n: n == 1].index)]
    if unique.empty:
        return None
    row = unique.iloc[source.random.randrange(len(unique))]
    value = row[column.column]
    answer = forms(source, row)
    slots = {"np": words(source, column), "v": value if isinstance(value, str) else number(value)}
    return slots, "text", answer, others(source, source.table.key, (answer,))
