"""Builders of questions about two things: yes or no, the larger, the difference, shares."""

from typing import Any

from _pick import Built, called, forms, group, measure, number, rows_with, subject, threshold, words
from _tables import Column, Source


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
    if "{at}" in wording:
        pair, limit = two_rows(source, column), threshold(source, column)
        if pair is None or limit is None or pair[0][column.column] == limit:
            return None
        slots = {"at": source.table.at.format(e=called(source, pair[0])), "v": number(limit)}
        return {**slots, "np": words(source, column)}, "yesno", bool(pair[0][column.column] > limit), ()
    known = source.frame[column.column].dropna()
    limit = float(f"{known.max() * source.random.choice((0.8, 1.3)):.3g}")
    return {"np": words(source, column), "v": number(limit)}, "yesno", bool((known > limit).any()), ()


def two_rows(source: Source, column: Column | None) -> tuple[Any, Any] | None:
    """Choose two rows with different values in a column."""
    keyed = rows_with(source, column.column) if column else ()
    if column is None or len(keyed) < 4:
        return None
    one, two = (keyed.iloc[place] for place in source.random.sample(range(len(keyed)), 2))
    return None if one[column.column] == two[column.column] else (one, two)


def compare_rows(source: Source, wording: str) -> Built | None:
    column = measure(source)
    pair = two_rows(source, column)
    if column is None or pair is None:
        return None
    less, more = sorted(pair, key=lambda row: row[column.column])
    slots = {"np": words(source, column), "e": called(source, pair[0]), "f": called(source, pair[1])}
    return slots, "text", forms(source, more), forms(source, less)


def two_groups(source: Source) -> tuple[str, str, int, int, str, str] | None:
    """Choose two values of a category with different sizes: phrases, sizes, values."""
    category = group(source)
    phrases = [phrase for phrase in category.filters if "{rows}" in phrase] if category else []
    sizes = source.frame[category.column].value_counts() if category else ()
    if not phrases or len(sizes) < 2:
        return None
    phrase = source.random.choice(phrases)
    one, two = source.random.sample(list(sizes.index[:12]), 2)
    said = [phrase.format(rows=source.table.rows, v=value) for value in (one, two)]
    return (*said, int(sizes[one]), int(sizes[two]), str(one), str(two)) if sizes[one] != sizes[two] else None


def compare_groups(source: Source, wording: str) -> Built | None:
    if (found := two_groups(source)) is None:
        return None
    one, two, size, other, v, w = found
    more, less = (v, w) if size > other else (w, v)
    return {"subject": one, "other": two}, "text", (more,), (less,)


def difference(source: Source, wording: str) -> Built | None:
    column = measure(source)
    pair = two_rows(source, column)
    if column is None or pair is None:
        return None
    high, low = sorted(pair, key=lambda row: -row[column.column])
    slots = {"np": words(source, column), "e": called(source, high), "f": called(source, low)}
    return slots, "number", float(high[column.column] - low[column.column]), ()


def share(source: Source, wording: str) -> Built | None:
    picked = subject(source, counted=True)
    if picked is None or source.frame[picked[2].column].isna().any():
        return None
    return {"subject": picked[0]}, "number", 100 * len(picked[1]) / len(source.frame), ()
