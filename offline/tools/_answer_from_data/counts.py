"""Queries for numbers: counts, averages, totals, shares."""

from collections.abc import Iterator
from dataclasses import replace

from .lexicon import lexicon
from .nouns import Noun
from .patterns import Bound
from .query import AnyOf, Condition, Measure, Query, Where, mentions, single
from .rankings import facing
from .schema import Column, Schema

Built = Iterator[tuple[Query, float]]
_MOST_GROUPS = 100


def count(bound: Bound, schema: Schema) -> Built:
    """Yield the count of rows, or of values of a column, or the total of a counted column."""
    noun: Noun = bound["np"]
    where = noun.where + bound["where"]
    table = bound["file"].table if bound.get("file") else noun.table
    if noun.guessed and not where and not bound.get("file"):
        return
    for measure, test, doubt in _counted(noun, where):
        yield Query(kind="scalar", table=table, measure=measure, where=where + test), doubt


def _counted(noun: Noun, where: Where) -> Iterator[tuple[Measure, Where, float]]:
    """Yield the counted thing and its condition: rows, different values, or a sum."""
    column, rows = noun.column, Measure(function="count")
    if column is None or column.identifies:
        yield rows, (), 0.2 * noun.guessed
    elif column.truths and not noun.distinct:
        if not mentions(where, column):
            yield rows, (Condition(column=column, operator="true"),), 0.0
    elif mentions(where, column):
        if not noun.distinct and (not column.numeric or column.year):
            yield rows, (), 0.25
    elif column.listing and single(where):
        return
    elif noun.distinct or not (column.numeric or column.dated):
        yield Measure(function="distinct", column=column), (), 0.0
        if where and not noun.distinct and 0.5 * column.rows < column.distinct < column.rows - column.nulls:
            yield rows, (), 0.1
    elif column.numbers_things and column.words[-1] != "number":
        yield Measure(function="distinct", column=column), (), 0.1
    elif column.year or set(column.words) <= lexicon().times:
        yield Measure(function="distinct", column=column), (), 0.2
    elif column.dated or (column.unique and not set(column.words) & lexicon().added_up):
        yield rows, (), 0.25
        yield Measure(function="distinct", column=column), (), 0.25
    elif where and (single(where) or set(column.words) & lexicon().added_up):
        yield Measure(function="sum", column=column), (), 0.1


def count_things(bound: Bound, schema: Schema) -> Built:
    """Yield counts with a closing "in total"; sums of numeric columns have another pattern."""
    noun: Noun = bound["np"]
    if noun.column is None or not noun.column.numeric:
        yield from count(bound, schema)


def count_groups(bound: Bound, schema: Schema) -> Built:
    """Yield how many there are for each value of a column."""
    noun: Noun = bound["np"]
    group: Column = bound["group"].column
    where = noun.where + bound["where"]
    if group.unique or (group.numeric and group.distinct > _MOST_GROUPS):
        return
    if noun.column and noun.column.numeric and not noun.column.numbers_things:
        measure = Measure(function="sum", column=noun.column)
        if bound.get("agg"):
            return
    elif noun.column and not noun.column.identifies and not noun.column.unique:
        measure = Measure(function="distinct", column=noun.column)
    else:
        measure = Measure(function="count")
    if noun.column != group:
        yield Query(kind="groups", table=noun.table, measure=measure, group=group, where=where, plural=True), 0.0


def groups_with(bound: Bound, schema: Schema) -> Built:
    """Yield the values of a column with so many rows, or their number."""
    noun, rows = bound["np"], bound["rows"]
    sign, number = bound["cmp"].sense.value, bound["number_span"].number
    group = noun.column
    if group is None or group.unique or group.numeric or not isinstance(number, int):
        return
    query = Query(
        kind="having", measure=Measure(function="count", table=rows.table), group=group, operator=sign, number=number,
        where=noun.where + bound["where"], plural=True, per="count" if bound.get("how_many") else None
    )  # fmt: skip
    yield query, 0.0


def average_count(bound: Bound, schema: Schema) -> Built:
    """Yield how many there are for each value of a column, on average."""
    for query, cost in count_groups(bound, schema):
        yield replace(query, kind="scalar", per=bound["agg"].sense.value), cost


def aggregate(bound: Bound, schema: Schema) -> Built:
    """Yield an average, a sum, a median of a column."""
    column: Column = bound["number"].column
    function = bound["agg"].sense.value
    if not column.year or function in ("avg", "median", "range"):
        yield Query(kind="scalar", measure=Measure(function=function, column=column), where=bound["where"]), 0.0


def total(bound: Bound, schema: Schema) -> Built:
    """Yield the sum asked for by "how much"."""
    column: Column = bound["number"].column
    if not column.year:
        yield Query(kind="scalar", measure=Measure(function="sum", column=column), where=bound["where"]), 0.1


def aggregate_groups(bound: Bound, schema: Schema) -> Built:
    """Yield an aggregate for each value of a column."""
    column, group = bound["number"].column, bound["group"].column
    single_sum = bound.get("how_much") and set(group.words) & lexicon().times
    if single_sum and bound["agg"].sense.value == "avg" and set(column.words) & lexicon().added_up:
        measure = Measure(function="sum", column=column)
        yield Query(kind="scalar", measure=measure, group=group, where=bound["where"], per="avg"), 0.0
    elif column != group and not group.unique and not (group.numeric and group.distinct > _MOST_GROUPS):
        measure = Measure(function=bound["agg"].sense.value, column=column)
        yield Query(kind="groups", measure=measure, group=group, where=bound["where"], plural=True), 0.0


def extreme_value(bound: Bound, schema: Schema) -> Built:
    """Yield the highest or lowest value of a column itself."""
    column: Column = bound["col"].column
    extreme = facing(bound["extreme"], column)
    if (column.numeric or column.dated) and extreme.count == 1:
        if extreme.rank == 1:
            measure = Measure(function="max" if extreme.descending else "min", column=column)
            yield Query(kind="scalar", measure=measure, where=bound["where"]), 0.0
        else:
            measure = Measure(function="value", column=column)
            query = Query(
                kind="top", select=(column,), measure=measure, where=bound["where"], rank=extreme.rank,
                descending=extreme.descending
            )  # fmt: skip
            yield query, 0.0


def value_range(bound: Bound, schema: Schema) -> Built:
    """Yield how far the highest and the lowest value are apart."""
    first, second = bound["one"].sense.value, bound["two"].sense.value
    if {first, second} == {"max", "min"}:
        measure = Measure(function="range", column=bound["number"].column)
        yield Query(kind="scalar", measure=measure, where=bound["where"]), 0.0


def share(bound: Bound, schema: Schema) -> Built:
    """Yield the fitting part of the rows."""
    noun: Noun = bound["np"]
    conditions = bound["where"]
    said = [one for one in conditions if isinstance(one, Condition) and one.predicate]
    if not said and len(conditions) == 1:
        said = list(conditions)
    first = next((index for index, one in enumerate(conditions) if one in said), None)
    if first is None or (
        noun.column and not noun.column.identifies and (noun.column.numeric or not noun.column.unique)
    ):
        return
    part = conditions[first:]
    base = noun.where + conditions[:first]
    if any(isinstance(one, AnyOf) for one in base):
        return
    scale = int(bound["percent"].sense.value)
    measure = Measure(function="count")
    query = Query(kind="share", table=noun.table, measure=measure, where=base, part=part, scale=scale)
    yield query, 0.3 * noun.guessed


def share_of_total(bound: Bound, schema: Schema) -> Built:
    """Yield the fitting rows' part of a total."""
    column: Column = bound["number"].column
    if bound["where"] and (bound.get("agg") or set(column.words) & lexicon().added_up):
        scale = int(bound["percent"].sense.value)
        measure = Measure(function="sum", column=column)
        yield Query(kind="share", measure=measure, part=bound["where"], scale=scale), 0.05
