"""Queries for what holds a place in a ranking."""

from collections.abc import Iterator
from dataclasses import replace

from .lexicon import lexicon
from .nouns import Noun
from .patterns import Bound
from .query import Measure, Query
from .rankings import Ranked
from .schema import Schema

Built = Iterator[tuple[Query, float]]


def ranked(bound: Bound, schema: Schema) -> Built:
    """Yield what holds a place in a ranking, or another column of it."""
    found: Ranked = bound["ranked"]
    shown = found.noun.shown
    if found.noun == Noun() and found.measure.column:
        shown = schema.table(found.measure.column.table).label
    wanted = tuple(span.column for span in bound.get("cols", ()))
    select = wanted or ((shown,) if shown else ())
    if not select or (not wanted and found.measure.column in select):
        return
    extreme, doubt = found.extreme, 0.2 * found.noun.guessed
    query = Query(
        kind="top",
        table=found.noun.table,
        select=select,
        measure=found.measure,
        where=found.where + bound["where"],
        descending=extreme.descending,
        rank=extreme.rank,
        count=extreme.count,
        plural=extreme.count > 1 or found.noun.plural,
        group=shown if found.grouped else None,
    )
    if not found.grouped:
        yield query, doubt
        yield from _group_readings(query, doubt)
    elif shown and not wanted and not _counts_itself(found):
        column = found.measure.column
        alone = column is not None and shown.unique and column.table == shown.table
        yield query, doubt + 0.3 * alone


def _counts_itself(found: Ranked) -> bool:
    """Tell whether a ranking counts the rows of names that do not repeat, which tells nothing."""
    shown, measure = found.noun.shown, found.measure
    alone = measure.function == "count" and measure.table in (None, found.noun.table)
    return shown is None or measure.column == shown or (shown.unique and alone)


def _group_readings(query: Query, doubt: float) -> Built:
    """Yield what a ranking of repeated names may mean instead: by their totals or averages."""
    name, measure = query.select[0], query.measure
    if measure is None or measure.column is None or not measure.column.numeric or len(query.select) > 1:
        return
    if name.table != measure.column.table or name.distinct >= 0.9 * (name.rows - name.nulls):
        return
    functions = ("sum", "avg") if set(measure.column.words) & lexicon().added_up else ("avg",)
    for function in functions:
        yield replace(query, group=name, measure=Measure(function=function, column=measure.column)), doubt + 0.05
