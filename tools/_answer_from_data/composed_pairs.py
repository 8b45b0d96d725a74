"""Two things side by side, read by what the parts of a question do."""

from collections.abc import Iterator
from dataclasses import replace

from .pairs import compare, difference, ratio, which
from .query import Query
from .roles import Roles, two_things
from .schema import Schema
from .span import Span
from .subjects import CLOSED, asked_columns
from .tokens import stem

Built = Iterator[tuple[Query, float]]


def pairs(roles: Roles, schema: Schema) -> Built:
    """Yield differences, ratios and comparisons of the two things that a question names."""
    things = two_things(roles)
    if things is None or roles.of("PER", "PERCENT", "ORD", "NUM", "DISTINCT", "OFTEN"):
        return
    first, second, rest = things
    columns = asked_columns(roles)
    more = roles.of("MORE", "WHENCMP", "SUP", "CMP")
    if len(more) > 1 or len(columns) > 1 or len(roles.of("AGG")) > 1:
        return
    bound: dict[str, object] = {"entity": first, "second": second, "where": rest}
    if more:
        bound["more"] = _as_more(more[0])
    moments = any(span.tag == "WHENCMP" for span in more)
    if moments and not (columns and columns[0].column and columns[0].column.dated):
        return
    if len(columns) == 1 and columns[0].column and (columns[0].column.numeric or columns[0].column.dated):
        bound["number"] = columns[0]
        if roles.of("AGG"):
            bound["agg"] = roles.of("AGG")[0]
        days = any(stem(span.text.lower()) == "day" for span in roles.of("UNIT"))
        if columns[0].column.kind == "date" and roles.of("DIFF", "HOWMANY", "HOWMUCH") and not days:
            return
    elif columns or roles.of("AGG"):
        return
    elif roles.of("ROW") and more and not more[0].sense.attributes:
        bound["there"] = True
    if roles.of("RATIO"):
        yield from ratio(bound, schema)
    elif roles.of("DIFF") or roles.of("HOWMUCH", "HOWMANY"):
        yield from difference(bound, schema)
    elif (roles.either or any(span.sense.value == "which" for span in roles.of("WHAT"))) and more:
        yield from which(bound, schema)
    elif roles.opening in CLOSED and more:
        yield from compare(bound, schema)


def _as_more(span: Span) -> Span:
    """Return a superlative between two things as the comparative that it means."""
    value = {"max": ">", "min": "<"}.get(span.sense.value, span.sense.value)
    return replace(span, sense=replace(span.sense, value=value))
