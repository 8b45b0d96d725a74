"""Builders of questions that set two things side by side: yes or no, which is more, how much more, shares, dates."""

import re
from typing import Any

from _offline_pick import (
    MONTH_NAMES,
    Built,
    as_date,
    called,
    forms,
    group,
    measure,
    number,
    rows_with,
    subject,
    threshold,
    words,
)  # fmt: skip
from _offline_tables import Measure, Source


def yes_no(source: Source, wording: str) -> Built | None:
    if "{subject}" in wording:
        picked = subject(source, counted=True)
        if picked is None:
            return None
        size = len(picked[1])
        limit = max(1, int(size * source.random.choice((0.6, 1.4))))
        return {"subject": picked[0], "n": str(limit)}, "yesno", size > limit if "{n}" in wording else size > 0, ()
    column = measure(source)
    if column is None:
        return None
    known = source.frame[column.column].dropna()
    if "{at}" in wording:
        pair = two_rows(source, column)
        limit = threshold(source, column, source.frame)
        if pair is None or limit is None or pair[0][column.column] == limit:
            return None
        slots = {"at": source.table.at.format(e=called(source, pair[0])), "v": number(limit)}
        return {**slots, "np": words(source, column)}, "yesno", bool(pair[0][column.column] > limit), ()
    limit = float(f"{known.max() * source.random.choice((0.8, 1.3)):.3g}")
    return {"np": words(source, column), "v": number(limit)}, "yesno", bool((known > limit).any()), ()


def two_rows(source: Source, column: Measure) -> tuple[Any, Any] | None:
    """Choose two rows that differ in a column."""
    keyed = rows_with(source, column.column)
    if len(keyed) < 4:
        return None
    one, two = (keyed.iloc[place] for place in source.random.sample(range(len(keyed)), 2))
    return None if one[column.column] == two[column.column] else (one, two)


def compare_rows(source: Source, wording: str) -> Built | None:
    column = measure(source)
    pair = two_rows(source, column) if column else None
    if column is None or pair is None or source.table.row == "time zone":
        return None
    one, two = pair
    more, less = (one, two) if one[column.column] > two[column.column] else (two, one)
    slots = {"np": words(source, column), "e": called(source, one), "f": called(source, two)}
    slots["at"] = source.table.at.format(e=slots["e"])
    slots["at_f"] = source.table.at.format(e=slots["f"])
    return slots, "text", (*forms(source, more), called(source, more)), (*forms(source, less), called(source, less))


def two_groups(source: Source) -> tuple[str, str, int, int, str, str, str] | None:
    """Choose two values of a category with different sizes: phrases, sizes, values, name of the category."""
    category = group(source)
    if category is None:
        return None
    phrases = [phrase for phrase in category.filters if "{rows}" in phrase]
    sizes = source.frame[category.column].value_counts()
    if not phrases or len(sizes) < 2:
        return None
    phrase = source.random.choice(phrases)
    one, two = source.random.sample(list(sizes.index[:12]), 2)
    if sizes[one] == sizes[two]:
        return None
    said = [phrase.format(rows=source.table.rows, v=value) for value in (one, two)]
    return said[0], said[1], int(sizes[one]), int(sizes[two]), str(one), str(two), words(source, category)


def compare_groups(source: Source, wording: str) -> Built | None:
    found = two_groups(source)
    if found is None:
        return None
    one, two, size, other, v, w, cat = found
    more, less = (v, w) if size > other else (w, v)
    return {"subject": one, "other": two, "v": v, "w": w, "cat": cat}, "text", (more,), (less,)


def difference(source: Source, wording: str) -> Built | None:
    column = measure(source)
    pair = two_rows(source, column) if column else None
    if column is None or pair is None:
        return None
    high, low = sorted(pair, key=lambda row: -row[column.column])
    slots = {"np": words(source, column), "e": called(source, high), "f": called(source, low)}
    slots["at"] = source.table.at.format(e=slots["e"])
    slots["at_f"] = source.table.at.format(e=slots["f"])
    return slots, "number", float(high[column.column] - low[column.column]), ()


def difference_of_counts(source: Source, wording: str) -> Built | None:
    found = two_groups(source)
    if found is None or found[2] <= found[3]:
        return None
    return {"subject": found[0], "other": found[1]}, "number", found[2] - found[3], ()


def share(source: Source, wording: str) -> Built | None:
    slots: dict[str, str] = {}
    if "{np}" in wording:
        column = measure(source)
        limit = threshold(source, column, source.frame) if column else None
        if column is None or limit is None or source.frame[column.column].isna().any():
            return None
        slots = {"np": words(source, column), "v": number(limit)}
        size = int((source.frame[column.column] > limit).sum())
    else:
        picked = subject(source, counted=True)
        if picked is None or source.frame[picked[2].column].isna().any():
            return None
        slots = {"subject": picked[0], "cat": words(source, picked[2]), "v": picked[3]}
        size = len(picked[1])
    part = size / len(source.frame)
    return slots, "number", (100 * part,) if "percent" in wording else (100 * part, part), ()


def by_date(source: Source, wording: str) -> Built | None:
    if not source.table.date or ("{verb}" in wording and not source.table.date_words):
        return None
    if "{subject}" in wording and source.table.row != "day":
        return None
    days = source.frame[source.table.date].map(as_date)
    chosen = source.random.choice(list(days))
    slots = {"verb": source.table.date_words, "year": str(chosen.year)}
    slots["month"] = f"{MONTH_NAMES[chosen.month - 1]} {chosen.year}"
    in_month = "{month}" in wording
    frame = source.frame[days.map(lambda day: in_period(day, chosen, wording, in_month))]
    if "{np}" in wording:
        column = measure(source)
        if column is None or len(frame) < 2:
            return None
        name = "mean" if "average" in wording else "max" if "highest" in wording else "min"
        return {**slots, "np": words(source, column)}, "number", float(getattr(frame[column.column], name)()), ()
    if "{subject}" in wording:
        picked = subject(source, counted=True)
        if picked is None:
            return None
        frame = frame[frame[picked[2].column] == picked[3]]
        slots["subject"] = picked[0]
    return slots, "number", len(frame), ()


def in_period(day: Any, chosen: Any, wording: str, in_month: bool) -> bool:
    """Tell whether a day belongs to the period a wording speaks of."""
    if re.search(r"before|prior to", wording):
        return day.year < chosen.year
    if "after" in wording:
        return day.year > chosen.year
    if "or later" in wording:
        return day.year >= chosen.year
    return day.year == chosen.year and (not in_month or day.month == chosen.month)
