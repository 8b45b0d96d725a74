"""Builders of questions about sets of rows: counting, aggregates, groups."""

import re
from collections.abc import Callable
from typing import Any

from _pick import Built, group, measure, number, only, others, subject, threshold, words
from _tables import Source


def count_all(source: Source, wording: str) -> Built | None:
    return None if source.table.row in ("row", "year", "month", "quarter") else ({}, "number", len(source.frame), ())


def count_where(source: Source, wording: str) -> Built | None:
    picked = subject(source, counted=True)
    return ({"subject": picked[0]}, "number", len(picked[1]), ()) if picked else None


def count_asked(source: Source, wording: str) -> Built | None:
    for category in source.table.categories:
        if wording in category.held:
            value = source.random.choice(source.values(category.column)[:40])
            return {"v": value}, "number", int((source.frame[category.column] == value).sum()), ()
    return None


def count_number(source: Source, wording: str) -> Built | None:
    column = measure(source)
    limit = threshold(source, column) if column else None
    if column is None or limit is None:
        return None
    known = source.frame[column.column]
    least, below = re.search(r"or more|no less", wording), "under" in wording
    hits = known >= limit if least else known < limit if below else known > limit
    return {"np": words(source, column), "v": number(limit)}, "number", int(hits.sum()), ()


def count_between(source: Source, wording: str) -> Built | None:
    column = measure(source)
    known = source.frame[column.column].dropna() if column else ()
    if column is None or known.nunique() < 10:
        return None
    low, high = (float(f"{known.quantile(q):.3g}") for q in (0.3, 0.8))
    if low >= high or ((known == low) | (known == high)).any():
        return None
    slots = {"np": words(source, column), "a": number(low), "b": number(high)}
    return slots, "number", int(known.between(low, high).sum()), ()


def distinct(source: Source, wording: str) -> Built | None:
    category = group(source)
    if category is None:
        return None
    slots = {"plural": category.plural, "cat": category.words[0]}
    return slots, "number", int(source.frame[category.column].nunique()), ()


def list_values(source: Source, wording: str) -> Built | None:
    category = group(source)
    if category is None or source.frame[category.column].nunique() > 12:
        return None
    answer = tuple((value,) for value in source.values(category.column))
    return {"plural": category.plural, "cat": category.words[0]}, "list", answer, ()


def aggregate(source: Source, wording: str, name: str) -> Built | None:
    column = measure(source, total=name == "sum")
    if column is None:
        return None
    frame, scope = source.frame, source.random.choice(("", "", f" across all {source.table.rows}"))
    picked = subject(source, low=2)
    if picked and source.random.random() < 0.7:
        frame, scope = picked[1], f" {source.table.of} {picked[0]}"
    known = frame[column.column].dropna()
    if len(known) < 2:
        return None
    return {"np": words(source, column), "scope": scope}, "number", float(getattr(known, name)()), ()


def spread(source: Source, wording: str) -> Built | None:
    column = measure(source)
    if column is None:
        return None
    known = source.frame[column.column].dropna()
    return {"np": words(source, column)}, "number", float(known.max() - known.min()), ()


def group_of(source: Source, sizes: Callable[[Any], Any], highest: bool) -> Built | None:
    """Answer with the first group's value of a category."""
    category = group(source)
    label = only(sizes(source.frame.groupby(category.column)), highest=highest) if category else None
    if category is None or label is None:
        return None
    answer = (str(label),)
    return {"cat": words(source, category)}, "text", answer, others(source, category.column, (answer,))


def most_rows(source: Source, wording: str) -> Built | None:
    return group_of(source, lambda groups: groups.size(), highest=True)


def fewest_rows(source: Source, wording: str) -> Built | None:
    return group_of(source, lambda groups: groups.size(), highest=False)


def group_number(source: Source, wording: str, name: str) -> Built | None:
    column = measure(source, total=name == "sum")
    if column is None:
        return None
    built = group_of(source, lambda groups: getattr(groups[column.column], name)(), highest="lowest" not in wording)
    return None if built is None else ({**built[0], "np": words(source, column)}, *built[1:])
