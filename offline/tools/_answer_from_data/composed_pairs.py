"""Read two things side by side from the roles of a question's parts."""

from collections.abc import Iterator
from dataclasses import replace

from .pairs import compare, difference, ratio, which
from .query import Query, single
from .roles import Roles, two_things
from .schema import Schema
from .span import Span
from .subjects import CLOSED, asked_columns
from .tokens import stem

Built = Iterator[tuple[Query, float]]


def pairs(roles: Roles, schema: Schema) -> Built:
    """Yield differences, ratios and comparisons of the two things in a question."""
    yield from _between_columns(roles)
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
    elif more and (roles.either or any(span.sense.value == "which" for span in roles.of("WHAT")) or _either(roles)):
        yield from which(bound, schema)
    elif roles.opening in CLOSED and more:
        yield from compare(bound, schema)


def _either(roles: Roles) -> bool:
    """Tell whether a closed question names two things without setting one against the other: more A or B."""
    return roles.opening in CLOSED and not roles.of("THAN", "WHENCMP", "CMP")


def _between_columns(roles: Roles) -> Built:
    """Yield how far apart two columns of one thing are: the days from its start to its end."""
    columns = [span.column for span in asked_columns(roles) if span.column]
    if len(columns) != 2 or not roles.only(
        "COL", "DIFF", "BETWEEN", "HOWMANY", "HOWMUCH", "WHAT", "UNIT", "ROW", "THAN"
    ):
        return
    one, two = columns
    days = any(stem(span.text.lower()) == "day" for span in roles.of("UNIT"))
    alike = one.kind == two.kind == "date" if days else one.numeric and two.numeric and one.year == two.year
    if alike and one.table == two.table and single(roles.where):
        yield Query(kind="difference", select=(one, two), where=roles.where), 0.1


def _as_more(span: Span) -> Span:
    """Return the comparative for a superlative between two things."""
    value = {"max": ">", "min": "<"}.get(span.sense.value, span.sense.value)
    return replace(span, sense=replace(span.sense, value=value))
