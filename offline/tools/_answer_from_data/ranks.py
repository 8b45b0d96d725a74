"""Queries for places in a ranking."""

from collections.abc import Iterator
from dataclasses import replace

from .lexicon import lexicon
from .nouns import Noun
from .patterns import Bound
from .query import Measure, Query
from .rankings import Extreme, Ranked, carries, facing, less_is_first
from .schema import Column, Schema

Built = Iterator[tuple[Query, float]]


def ranked(bound: Bound, schema: Schema) -> Built:
    """Yield the holder of a place in a ranking, or another column of it."""
    found: Ranked = bound["ranked"]
    shown = found.noun.shown
    if found.noun == Noun() and found.measure.column:
        shown = schema.table(found.measure.column.table).label
    wanted = tuple(span.column for span in bound.get("cols", ()))
    select = wanted or ((shown,) if shown else ())
    if not select or (not wanted and found.measure.column in select):
        return
    column = found.measure.column
    extreme, doubt = facing(found.extreme, column) if column else found.extreme, 0.2 * found.noun.guessed
    if column and column.dated and extreme == found.extreme and _measures_otherwise(extreme, column):
        return
    doubt += 0.4 * any(one is not None and bool(one.truths) for one in wanted)
    most = found.extreme.span is not None and found.extreme.span.tag == "MOST"
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
    beside = bool(wanted) and (found.noun.table is not None or found.noun.column is not None)
    if (
        most
        and column
        and query.measure == Measure(function="value", column=column)
        and select[0].table != column.table
    ):
        query = replace(query, measure=Measure(function="sum", column=column), group=select[0])
    groups = [] if found.grouped or beside else list(_group_readings(query, doubt))
    if most and any(other.measure and other.measure.function == "sum" for other, _ in groups):
        yield groups[0]
    elif not found.grouped:
        yield query, doubt
        yield from groups
    elif shown and not _counts_itself(found) and (not wanted or _beside(found, wanted)):
        alone = column is not None and shown.unique and column.table == shown.table
        yield query, doubt + 0.3 * alone


def _measures_otherwise(extreme: Extreme, column: Column) -> bool:
    """Tell whether a superlative measures something, but no moments: the longest, of dates."""
    said = extreme.span.sense.attributes if extreme.span else ()
    return bool(said) and not {"date", "year"} & set(said) and not carries(said, column)


def place(bound: Bound, schema: Schema) -> Built:
    """Yield the place of one thing; nothing if the direction is unknown."""
    column, entity, way = bound["number"].column, bound["entity"], bound.get("way")
    if column.year or not entity.equality or entity.column == column or entity.column.table != column.table:
        return
    if way is None and less_is_first(column):
        return
    extreme = Extreme(descending=way is None or way.sense.value == "max", span=way)
    query = Query(
        kind="place", measure=Measure(function="value", column=column), where=bound["where"], part=(entity,),
        descending=facing(extreme, column).descending
    )  # fmt: skip
    yield query, 0.0


def _beside(found: Ranked, wanted: tuple[Column | None, ...]) -> bool:
    """Tell whether the wanted column belongs to the names of rows ranked by another table."""
    shown, counted = found.noun.shown, found.measure.table
    named = shown is not None and shown.unique and counted not in (None, found.noun.table)
    return named and all(column is not None and shown is not None and column.table == shown.table for column in wanted)


def _counts_itself(found: Ranked) -> bool:
    """Tell whether a ranking counts the rows of unique names, always one."""
    shown, measure = found.noun.shown, found.measure
    alone = measure.function == "count" and measure.table in (None, found.noun.table)
    return shown is None or measure.column == shown or (shown.unique and alone)


def _group_readings(query: Query, doubt: float) -> Built:
    """Yield other meanings of a ranking of repeated names: by their totals or averages."""
    name, measure = query.select[0], query.measure
    if measure is None or measure.column is None or not measure.column.numeric or len(query.select) > 1:
        return
    if name.table != measure.column.table or name.distinct >= 0.9 * (name.rows - name.nulls):
        return
    functions = ("sum", "avg") if set(measure.column.words) & lexicon().added_up else ("avg",)
    for function in functions:
        yield replace(query, group=name, measure=Measure(function=function, column=measure.column)), doubt + 0.05
