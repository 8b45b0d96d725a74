"""Test a query for completeness: the highest price and its city are two things, and one is not an answer."""

from collections.abc import Sequence
from dataclasses import replace

from .query import Query, columns_of
from .schema import Column
from .span import Span

_LIGHT = ("BE", "DO", "HAVE", "IN", "REL", "THERE", "WHAT", "WHEN", "WHERE", "LIST", "DISTINCT", "POSS")
_ASKING = ("WHAT", "WHEN", "WHERE", "HOWMUCH", "HOWADJ")
_COMPUTING = ("AGG", "SUP", "MOST", "OFTEN", "ORD", "COUNT", "HOWMANY", "LIST", "CALC")
_NAMING = ("WHAT", "LIST", "BE", "COL")
_BEGINNING = frozenset(["IN", "AGG", "SUP", "MOST", "BY", "PER", "HOWMANY", "WHAT"])
_WITHIN = ("IN", "PER", "BY")
_PAIRS = ("difference", "ratio", "compare", "which", "check")


def completed(query: Query, path: Sequence[Span]) -> Query | None:
    """Return a query with everything asked by a path of spans, or None if it leaves something out."""
    if _asks_again(query, path):
        return None
    for place, span in enumerate(path):
        column = span.column
        joint = "AND" if _is_listed(path, place) else _joint(path, place)
        if span.tag == "ROW" and query.kind not in _PAIRS and joint == "AND":
            return None
        if span.tag != "COL" or column is None:
            continue
        tested = _is_among(column, (*columns_of(query.where), *columns_of(query.part)))
        alone = _stands_alone(path, place) and not (column.truths and tested)
        if joint == "AND" and query.kind not in _PAIRS and alone:
            query = _with_its_measure(query) if query.kind == "top" else query
            if len(query.select) < 2 or not _is_among(column, query.select):
                return None
        used = tested or _is_among(column, _used(query))
        if not used and (joint or _is_followed(path, place) or not _says_rows(query, path, place)):
            return None
    return query


def _asks_again(query: Query, path: Sequence[Span]) -> bool:
    """Tell whether there is a second question: one more asking word, or something to compute after an "and"."""
    asking = [span for span in path if span.tag in _ASKING or (span.tag == "HOWMANY" and span.text.startswith("how"))]
    if len(asking) > 1 or any(_joins_nothing(path, place) for place in range(len(path))):
        return True
    paired = query.kind in _PAIRS or (query.measure is not None and query.measure.function == "range")
    return not paired and any(
        span.tag in _COMPUTING and _joint(path, place) == "AND" for place, span in enumerate(path)
    )


def _joins_nothing(path: Sequence[Span], place: int) -> bool:
    """Tell whether an "and" or a comma stands beside mere openings: the total of and, and the name of."""
    before, after = [span.tag for span in path[:place]], [span.tag for span in path[place + 1 :]]
    if _joining(path[place]) != "AND":
        return _joining(path[place]) == "COMMA" and before[-1:] == ["BE"] and all(tag in _LIGHT for tag in before)
    empty = any(all(tag in _LIGHT for tag in side) for side in (before, after)) or after[0] == "COMMA"
    return empty or (before[-1:] != after[:1] and not _BEGINNING.isdisjoint(before[-1:]))


def _joint(path: Sequence[Span], place: int) -> str:
    """Return the tag of the "and" or comma before a place, with light words between only, or none."""
    before = next((span for span in reversed(path[:place]) if span.tag not in _LIGHT), None)
    return _joining(before) if before else ""


def _joining(span: Span) -> str:
    """Return AND or COMMA for a joining span; "and" is read as the end of a range as well."""
    either = span.tag == "AND" and span.sense.value == "or"
    return "AND" if span.text == "and" else span.tag if span.tag in ("AND", "COMMA") and not either else ""


def _stands_alone(path: Sequence[Span], place: int) -> bool:
    """Tell whether a column is asked for rather than compared: nothing is said of it, or before it."""
    first = all(span.tag in _NAMING or _joining(span) for span in path[:place])
    after = next((span for span in path[place + 1 :] if span.tag not in _LIGHT), None)
    return first or after is None or _joining(after) != ""


def _is_listed(path: Sequence[Span], place: int) -> bool:
    """Tell whether a comma alone parts two columns: the highest price, the city."""
    opened = path[0].tag in ("WHAT", "LIST")
    return opened and [span.tag for span in path[max(0, place - 2) : place]] == ["COL", "COMMA"]


def _is_followed(path: Sequence[Span], place: int) -> bool:
    """Tell whether one more column is joined to the one at a place."""
    after = [_joining(span) or span.tag for span in path[place + 1 :] if span.tag not in _LIGHT]
    return after[:2] in (["AND", "COL"], ["COMMA", "COL"])


def _says_rows(query: Query, path: Sequence[Span], place: int) -> bool:
    """Tell whether a column only names the rows: the number of cities, the top price of any city."""
    counts = query.measure is not None and query.measure.column is None
    return counts or query.kind == "exists" or path[max(0, place - 1)].tag in _WITHIN


def _with_its_measure(query: Query) -> Query:
    """Return a ranking beside its measure, if the measure is a column."""
    column = query.measure.column if query.measure else None
    if column is None or query.group is not None or column in query.select:
        return query
    return replace(query, select=(column, *query.select))


def _used(query: Query) -> list[Column]:
    measured = query.measure.column if query.measure else None
    return [*query.select, *(one for one in (query.group, measured) if one)]


def _is_among(column: Column, others: Sequence[Column]) -> bool:
    return any((column.table, column.name) == (other.table, other.name) for other in others)
