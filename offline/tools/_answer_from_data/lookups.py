"""Queries for the contents of cells: look-ups, lists, and yes or no."""

from collections.abc import Iterator
from dataclasses import replace

from .lexicon import lexicon
from .matching import sums
from .nouns import Noun
from .patterns import Bound
from .query import Condition, Measure, Query, Where, mentions, single
from .reader import Reader
from .schema import Column, Schema
from .span import Span

Built = Iterator[tuple[Query, float]]


def look_up(bound: Bound, schema: Schema) -> Built:
    """Yield columns of the fitting rows."""
    columns = tuple(span.column for span in bound["cols"])
    where = bound["where"] + ((bound["entity"],) if bound.get("entity") else ())
    tested = {one.column for one in where if isinstance(one, Condition)}
    if not where or tested & set(columns):
        return
    if len(columns) == 1 and sums(columns[0]) and not any(one.unique for one in tested):
        yield Query(kind="scalar", measure=Measure(function="sum", column=columns[0]), where=where), 0.1
        return
    plural = bound["cols"][-1].plural or bound.get("list") is not None
    marks = any(column.truths for column in columns) and not any(one.unique for one in tested)
    yield Query(kind="values", select=columns, where=where, plural=plural), 0.4 * marks + 0.1 * (not single(where))


def look_up_number(bound: Bound, schema: Schema) -> Built:
    """Yield one thing's number for "how many" or "how much"."""
    column: Column = bound["number"].column
    if single(bound["where"]) and not column.dated and not mentions(bound["where"], column):
        named = any(one.column.unique for one in bound["where"] if isinstance(one, Condition) and one.equality)
        doubt = 0.0 if named or not set(column.words) & lexicon().added_up else 0.3
        yield Query(kind="values", select=(column,), where=bound["where"]), doubt


def when(bound: Bound, schema: Schema) -> Built:
    """Yield the date of one thing."""
    column: Column = bound["col"].column
    if not column.dated or not single(bound["where"]):
        return
    if bound.get("when") and "year" in bound["when"].text and column.kind == "date":
        column = replace(column, kind="text", part="year")
    yield Query(kind="values", select=(column,), where=bound["where"]), 0.0


def when_extreme(bound: Bound, schema: Schema) -> Built:
    """Yield when a column was at its highest or lowest."""
    column: Column = bound["number"].column
    moment, extreme = schema.table(column.table).moment, bound["extreme"]
    if moment and extreme.rank == extreme.count == 1:
        measure = Measure(function="value", column=column)
        query = Query(kind="top", select=(moment,), measure=measure, where=bound["where"])
        yield replace(query, descending=extreme.descending), 0.0


def who(bound: Bound, schema: Schema) -> Built:
    """Yield a column of one thing, named by a verb."""
    column: Column = bound["col"].column
    if column.kind == "text" and single(bound["where"]):
        yield Query(kind="values", select=(column,), where=bound["where"]), 0.05


def how_adjective(bound: Bound, schema: Schema) -> Built:
    """Yield how tall, old or long one thing is."""
    span: Span = bound["how"]
    reader = Reader(spans=(), schema=schema)
    if single(bound["where"]):
        for column in reader.implied(span.sense.attributes):
            yield Query(kind="values", select=(column,), where=bound["where"]), 0.05


def how_average(bound: Bound, schema: Schema) -> Built:
    """Yield how long or heavy things are on average."""
    noun: Noun = bound["np"]
    reader = Reader(spans=(), schema=schema)
    for column in reader.implied(bound["how"].sense.attributes, noun.table.name if noun.table else ""):
        if column.numeric and not column.year and not noun.guessed:
            measure = Measure(function="avg", column=column)
            yield Query(kind="scalar", measure=measure, where=noun.where + bound["where"]), 0.05


def list_things(bound: Bound, schema: Schema) -> Built:
    """Yield the names of the fitting rows, or the different values of a column."""
    noun: Noun = bound["np"]
    where = noun.where + bound["where"]
    shown = noun.shown
    asked = noun.distinct or bound.get("there") is not None or bound.get("list") is not None
    if shown is None or not (where or (asked and (noun.plural or noun.distinct) and noun.column)):
        return
    if any(one.column == shown and one.equality and not one.negated for one in where if isinstance(one, Condition)):
        return
    plural = noun.plural or noun.distinct or bound.get("list") is not None
    yield Query(kind="values", table=noun.table, select=(shown,), where=where, plural=plural), 0.2 * noun.guessed + 0.05


def exists(bound: Bound, schema: Schema) -> Built:
    """Yield whether any row fits."""
    noun: Noun = bound["np"]
    where = noun.where + bound["where"]
    named = any(one.column.unique for one in where if isinstance(one, Condition) and one.equality)
    if noun.column and noun.column.truths and named:
        yield Query(kind="check", where=where, part=(Condition(column=noun.column, operator="true"),)), 0.0
        return
    if noun.column and named and not noun.column.unique:
        return
    if not where or noun.guessed or (not bound.get("there") and (named or (noun.column and not noun.column.unique))):
        return
    yield Query(kind="exists", table=noun.table, where=where), 0.05


def exceeds(bound: Bound, schema: Schema) -> Built:
    """Yield whether there are more rows, or different values, than a number."""
    noun: Noun = bound["np"]
    where = noun.where + bound["where"]
    if noun.guessed or (noun.column and noun.column.numeric and not noun.column.identifies):
        return
    distinct = noun.column and not noun.column.unique
    measure = Measure(function="distinct", column=noun.column) if distinct else Measure(function="count")
    sign, number = bound["cmp"].sense.value, bound["number_span"].number
    yield Query(kind="truth", table=noun.table, measure=measure, where=where, operator=sign, number=number), 0.0


def check(bound: Bound, schema: Schema) -> Built:
    """Yield whether something is true of one thing."""
    entity: Condition = bound["entity"]
    part: Where = bound.get("part", ())
    if entity.equality and part and len(part) == 1 and not mentions(part, entity.column):
        yield Query(kind="check", where=(entity,), part=part), 0.0


def check_column(bound: Bound, schema: Schema) -> Built:
    """Yield checks of a column of one thing: is the capital of France Paris, is its area over 5."""
    column: Column = bound["col"].column
    entity: Condition = bound["entity"]
    for one in bound["part"] if len(bound["part"]) == 1 else ():
        if isinstance(one, Condition) and one.column == column and entity.column != column:
            yield Query(kind="check", where=(entity,), part=(one,)), 0.0


def check_comparison(bound: Bound, schema: Schema) -> Built:
    """Yield is the population of Chad more than 5 million: the comparison says no column."""
    column: Column = bound["col"].column
    entity: Condition = bound["entity"]
    if column.numeric and entity.operator == "=" and (number := bound["number_span"].number) is not None:
        sign = bound["cmp"].sense.value
        one = Condition(column=column, operator=sign, values=(number,))
        yield Query(kind="check", where=(entity,), part=(one,)), 0.0
