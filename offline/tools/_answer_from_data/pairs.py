"""Queries about two things: the larger one, the difference, the ratio."""

from collections.abc import Iterator

from .nouns import Noun
from .patterns import Bound
from .query import Condition, Kind, Measure, Query
from .rankings import Extreme
from .reader import Reader
from .schema import Schema
from .span import Span

Built = Iterator[tuple[Query, float]]
_TURNED = {">": "<", "<": ">"}


def which(bound: Bound, schema: Schema) -> Built:
    """Yield the one of two things with more, or less."""
    yield from _pair("which", bound, schema)


def which_or_compare(bound: Bound, schema: Schema) -> Built:
    """Yield the larger of two groups joined by "or", else whether the first has more."""
    yield from _pair("which" if bound.get("either") else "compare", bound, schema)


def compare(bound: Bound, schema: Schema) -> Built:
    """Yield whether the first of two things has more, or less."""
    yield from _pair("compare", bound, schema)


def difference(bound: Bound, schema: Schema) -> Built:
    """Yield by how much two things differ."""
    yield from _pair("difference", bound, schema)


def difference_of_counts(bound: Bound, schema: Schema) -> Built:
    """Yield by how many rows two groups differ."""
    yield from _pair("difference", {**bound, "there": True}, schema)


def ratio(bound: Bound, schema: Schema) -> Built:
    """Yield one thing's multiple of another."""
    yield from _pair("ratio", bound, schema)


def _pair(kind: Kind, bound: Bound, schema: Schema) -> Built:
    one: Condition = bound["entity"]
    two: Condition = bound["second"]
    if one.column != two.column or one.values == two.values or not (_names_one(one) and _names_one(two)):
        return
    rest = bound["where"]
    for measure, sign, doubt in _measures(bound, schema):
        where, part = (one, *rest), (two, *rest)
        yield Query(kind=kind, measure=measure, where=where, part=part, operator=sign, select=(one.column,)), doubt


def _names_one(one: Condition) -> bool:
    return one.operator == "=" and len(one.values) == 1 and not one.negated


def _measures(bound: Bound, schema: Schema) -> Iterator[tuple[Measure, str, float]]:
    """Yield a measure for two things: a column, an aggregate, a count, or a comparative's own."""
    more: Span | None = bound.get("more")
    extreme: Extreme | None = bound.get("extreme")
    sign = more.sense.value if more else ""
    if extreme:
        sign = ">" if extreme.descending else "<"
    if bound.get("number"):
        function = bound["agg"].sense.value if bound.get("agg") else "value"
        yield Measure(function=function, column=bound["number"].column), sign, 0.0
    elif bound.get("np"):
        yield from ((measure, sign, 0.0) for measure in _counted(bound["np"]))
    elif bound.get("there"):
        yield Measure(function="count"), sign, 0.0
    elif more:
        yield from _implied(more, schema)


def _counted(noun: Noun) -> Iterator[Measure]:
    column = noun.column
    if column and column.numeric and not column.identifies:
        yield Measure(function="value", column=column)
    elif not noun.where and not noun.guessed and (column is None or column.unique or column.identifies):
        yield Measure(function="count", table=noun.table)


def _implied(more: Span, schema: Schema) -> Iterator[tuple[Measure, str, float]]:
    reader = Reader(spans=(), schema=schema)
    sense = more.sense
    for attributes, turned in ((sense.attributes, False), (sense.inverse, True)):
        for column in reader.implied(attributes):
            yield Measure(function="value", column=column), _TURNED[sense.value] if turned else sense.value, 0.1
