"""The queries for a reading of a question."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .completeness import completed
from .composing import composed
from .matching import sums
from .patterns import Matcher
from .query import Condition, Query, Reading, columns_of
from .rules import CLOSED, OPEN
from .schema import Schema
from .span import Span

_AUXILIARIES = frozenset(["is", "are", "was", "were", "do", "does", "did", "has", "have", "had"])
_OTHER_EXTREME = {"min": frozenset(["max", "maximum"]), "max": frozenset(["min", "minimum"])}
_ABOUT_TWO = ("difference", "ratio", "compare", "check", "which")
_ABOUT_THINGS = ("values", *_ABOUT_TWO)


def readings(path: Sequence[Span], cost: float, schema: Schema) -> Iterator[Reading]:
    """Yield every query for a path of spans."""
    matcher = Matcher(spans=path, schema=schema)
    for prefix, start, extra in matcher.filters(0):
        if start and (
            path[0].tag in ("BE", "DO", "HAVE") or any(span.tag in ("WHAT", "LIST") for span in path[:start])
        ):
            continue
        while start and matcher.tag(start) == "COMMA":
            start += 1
        closed = matcher.tag(start) in ("BE", "DO", "HAVE") and path[start].text in _AUXILIARIES
        rules = CLOSED if closed else OPEN
        for pattern, build in rules:
            for bound, more in matcher.matches(pattern, start):
                whole = {**bound, "where": (*prefix, *bound.get("where", ()))}
                for query, doubt in build(whole, schema):
                    yield from _reading(query, path, cost + extra + more + doubt, schema)


def free_readings(path: Sequence[Span], cost: float, schema: Schema) -> Iterator[Reading]:
    """Yield every query for a path of spans in any order of its parts."""
    for query, doubt in composed(path, schema):
        yield from _reading(query, path, cost + doubt, schema)


def _reading(query: Query, path: Sequence[Span], cost: float, schema: Schema) -> Iterator[Reading]:
    """Yield a query as a reading of a path of spans, if it is sound and complete."""
    whole = completed(query, path) if _sound(query, path, schema) else None
    if whole is not None:
        yield Reading(query=_several(whole, path), cost=cost, misplaced=_misplaced(query, path, schema))


def _several(query: Query, path: Sequence[Span]) -> Query:
    """Welcome several values if a list is asked for."""
    listed = any(span.tag == "LIST" and span.text in ("list", "enumerate") for span in path[:1])
    return replace(query, plural=True) if query.kind == "values" and listed else query


def _sound(query: Query, path: Sequence[Span], schema: Schema) -> bool:
    """Refuse one column equal to two values, numbers for persons, words for ages."""
    numbers = query.kind == "values" and any(column.numeric or column.dated for column in query.select)
    if numbers and any(span.tag == "WHAT" and span.sense.value == "who" for span in path):
        return False
    if query.kind == "values" and not numbers and any(span.tag == "HOWADJ" for span in path):
        return False
    if query.kind == "values" and any(span.tag in ("HOWMANY", "COUNT") for span in path) and _names(query, schema):
        return False
    if query.kind == "values" and (_repeats(query) or _lists_sums(query, path)):
        return False
    by_value = query.kind == "top" and query.measure is not None and query.measure.function == "value"
    if by_value and any(span.tag == "AGG" for span in path):
        return False
    if _forgets_rows(query, path):
        return False
    if query.kind in _ABOUT_TWO:
        return True
    column = query.measure.column if query.measure and query.kind == "scalar" else None
    other = _OTHER_EXTREME.get(query.measure.function, frozenset()) if query.measure and column else frozenset[str]()
    if column and other & set(column.words) and not any(other & set(span.text.lower().split()) for span in path):
        return False
    said = [one for one in (*query.where, *query.part) if isinstance(one, Condition) and not one.negated]
    equal = {one.column: one for one in said if one.operator == "="}
    return not any(one.column in equal and one.values != equal[one.column].values for one in said if one.values)


def _repeats(query: Query) -> bool:
    """Tell whether a query shows its own conditions: the maker of S125? S125."""
    said = [one for one in query.where if isinstance(one, Condition) and one.operator == "=" and not one.negated]
    return len(query.select) == 1 and any(one.column == query.select[0] and len(one.values) == 1 for one in said)


def _lists_sums(query: Query, path: Sequence[Span]) -> bool:
    """Tell whether a query lists a column called total for several rows without a wish for a list."""
    known = any(isinstance(one, Condition) and one.equality and one.column.unique for one in query.where)
    return sums(query.select[0]) and not known and not any(span.tag == "LIST" for span in path[:1])


def _names(query: Query, schema: Schema) -> bool:
    """Tell whether a query answers "how many" by names of rows."""
    column = query.select[0]
    first = column == schema.table(column.table).columns[0]
    return not column.numeric or column.numbers_things or (first and column.unique)


def _forgets_rows(query: Query, path: Sequence[Span]) -> bool:
    """Tell whether a query leaves out rows in the question: companies with any order."""
    said = {span.table.name for span in path if span.tag == "ROW" and span.table}
    measure = query.measure
    used = {column.table for column in (*query.select, *columns_of(query.where), *columns_of(query.part))}
    used |= {one.table for one in (query.group, measure.column if measure else None) if one}
    used |= {table.name for table in (query.table, measure.table if measure else None) if table} | {query.base}
    return not said <= used


def _misplaced(query: Query, path: Sequence[Span], schema: Schema) -> bool:
    """Tell whether an attribute is asked of the wrong rows: the population of Paris, among countries.

    A cell stands for its row where its column names the rows or holds their codes, or where the question says the
    column, or where the answer is the row's name.
    """
    if query.kind not in _ABOUT_THINGS:
        return False
    said = {span.column for span in path if span.tag == "COL"}
    if any(span.tag == "ROW" for span in path):
        return False
    for one in query.where:
        if not isinstance(one, Condition) or one.operator != "=" or one.column.numeric or one.column in said:
            continue
        label = schema.table(one.column.table).named_label
        several = one.column.distinct > 0.7 * (one.column.rows - one.column.nulls)
        if label not in (None, one.column, *query.select) and one.column.long and several:
            return True
    return False
