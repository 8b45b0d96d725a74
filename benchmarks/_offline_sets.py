"""Builders of questions about sets of rows: counting, aggregates, groups, missing cells."""

import re
from collections.abc import Callable
from typing import Any

from _offline_pick import Built, first, group, measure, number, only, others, plural, subject, threshold, words
from _offline_tables import Source


def count_all(source: Source, wording: str) -> Built | None:
    if source.table.row in ("row", "year", "month", "quarter"):
        return None
    return {}, "number", len(source.frame), ()


def count_where(source: Source, wording: str) -> Built | None:
    picked = subject(source, counted=True)
    if picked is None:
        return None
    return {"subject": picked[0]}, "number", len(picked[1]), ()


def count_asked(source: Source, wording: str) -> Built | None:
    for category in source.table.categories:
        if wording in category.asks or wording in category.held:
            value = source.random.choice(source.values(category.column)[:40])
            return {"v": value}, "number", int((source.frame[category.column] == value).sum()), ()
    return None


def count_number(source: Source, wording: str) -> Built | None:
    column = measure(source)
    limit = threshold(source, column, source.frame) if column else None
    if column is None or limit is None:
        return None
    known = source.frame[column.column]
    if re.search(r"at least|or more|no less", wording):
        hits = known >= limit
    elif re.search(r"below|less than|under", wording):
        hits = known < limit
    else:
        hits = known > limit
    return {"np": words(source, column), "v": number(limit)}, "number", int(hits.sum()), ()


def count_between(source: Source, wording: str) -> Built | None:
    column = measure(source)
    if column is None:
        return None
    known = source.frame[column.column].dropna()
    if known.nunique() < 10:
        return None
    low, high = (float(f"{known.quantile(q):.3g}") for q in (0.3, 0.8))
    if low >= high or ((known == low) | (known == high)).any():
        return None
    slots = {"np": words(source, column), "a": number(low), "b": number(high)}
    return slots, "number", int(known.between(low, high).sum()), ()


def count_two(source: Source, wording: str) -> Built | None:
    picked, column = subject(source, counted=True, low=8), measure(source)
    limit = threshold(source, column, picked[1]) if picked and column else None
    if picked is None or column is None or limit is None:
        return None
    slots = {"subject": picked[0], "np": words(source, column), "v": number(limit)}
    hits = picked[1][column.column] > limit
    if "{over}" in wording:
        if not column.over or limit < 0:
            return None
        slots["over"] = column.over.format(v=number(limit))
    return slots, "number", int(hits.sum()), ()


def count_phrase(source: Source, wording: str) -> Built | None:
    """Count by what people say of a number: "that weigh more than 5000 g"."""
    column = measure(source)
    limit = threshold(source, column, source.frame) if column else None
    if column is None or limit is None:
        return None
    known = source.frame[column.column]
    phrase, hits = source.random.choice(((column.over, known > limit), (column.under, known < limit)))
    if not phrase or limit < 0:
        return None
    return {"subject": f"{source.table.rows} {phrase.format(v=number(limit))}"}, "number", int(hits.sum()), ()


def distinct(source: Source, wording: str) -> Built | None:
    category = group(source)
    if category is None:
        return None
    slots = {"plural": plural(category), "cat": category.words[0]}
    return slots, "number", int(source.frame[category.column].nunique()), ()


def list_values(source: Source, wording: str) -> Built | None:
    category = group(source)
    if category is None or source.frame[category.column].nunique() > 12:
        return None
    answer = tuple((value,) for value in source.values(category.column))
    return {"plural": plural(category), "cat": category.words[0]}, "list", answer, ()


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


def group_of(source: Source, wording: str, sizes: Callable[[Any], Any], highest: bool) -> Built | None:
    """Answer with the value of a category whose group comes first."""
    category = group(source)
    if category is None:
        return None
    label = only(sizes(source.frame.groupby(category.column)), highest=highest)
    if label is None:
        return None
    answer = (str(label),)
    return {"cat": words(source, category)}, "text", answer, others(source, category.column, (answer,))


def most_rows(source: Source, wording: str) -> Built | None:
    return group_of(source, wording, lambda groups: groups.size(), highest=True)


def fewest_rows(source: Source, wording: str) -> Built | None:
    return group_of(source, wording, lambda groups: groups.size(), highest=False)


def top_groups(source: Source, wording: str) -> Built | None:
    category = group(source)
    if category is None:
        return None
    labels = first(source.frame[category.column].value_counts(), 3)
    if labels is None:
        return None
    answer = tuple((str(label),) for label in labels)
    return {"plural": plural(category), "n": "3"}, "list", answer, others(source, category.column, answer)


def group_number(source: Source, wording: str, name: str) -> Built | None:
    column = measure(source, total=name == "sum")
    if column is None:
        return None
    highest = "lowest" not in wording
    built = group_of(source, wording, lambda groups: getattr(groups[column.column], name)(), highest=highest)
    return None if built is None else ({**built[0], "np": words(source, column)}, *built[1:])


def gap(source: Source, wording: str) -> Built | None:
    if not source.table.gaps:
        return None
    column, phrase = source.random.choice(source.table.gaps)
    return {"gap": phrase, "column": column}, "number", int(source.frame[column].isna().sum()), ()
