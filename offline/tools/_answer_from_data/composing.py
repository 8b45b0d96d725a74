"""Read questions by the roles of their parts instead of by their order."""

from collections.abc import Iterator, Sequence

from .composed_pairs import pairs
from .composed_rankings import rankings
from .counts import aggregate, aggregate_groups, count, count_groups, share
from .lookups import how_adjective, how_average, list_things, look_up, look_up_number, when
from .nouns import Noun
from .query import Condition, Measure, Query, Where
from .roles import Roles, splits
from .schema import Schema, Table
from .span import Span
from .subjects import ASKING, CLOSED, asked_columns, group_of, measures, nouns_of

Built = Iterator[tuple[Query, float]]
_PAIRING = ("THAN", "DIFF", "RATIO", "BETWEEN", "CMP")


def composed(path: Sequence[Span], schema: Schema) -> Built:
    """Yield the queries for a path of spans, in any order of its parts."""
    for roles in splits(path, schema):
        for query, doubt in _queries(roles, schema):
            yield query, roles.cost + doubt


def _queries(roles: Roles, schema: Schema) -> Built:
    closed = roles.opening in CLOSED and roles.of("WHENCMP", "MORE")
    if roles.of(*_PAIRING) or roles.either or closed:
        yield from pairs(roles, schema)
    elif roles.opening in CLOSED:
        yield from _checks(roles)
    elif roles.of("WHENCMP"):
        return
    elif roles.of("PERCENT"):
        yield from _shares(roles, schema)
    elif roles.of("SUP", "MOST", "OFTEN", "MORE", "ORD"):
        yield from rankings(roles, schema)
    elif roles.of("NUM", "RANK"):
        return
    elif roles.of("AGG"):
        yield from _aggregates(roles, schema)
    elif roles.of("HOWMANY", "COUNT", "PER"):
        yield from _counts(roles, schema)
    else:
        yield from _look_ups(roles, schema)


def _counts(roles: Roles, schema: Schema) -> Built:
    columns = [span.column for span in asked_columns(roles) if span.column]
    if roles.of("MISSING") and len(columns) == 1 and not roles.where:
        if roles.only("HOWMANY", "COUNT", "MISSING", "COL", "ROW", "THERE"):
            empty = Condition(column=columns[0], operator="missing")
            yield Query(kind="scalar", measure=Measure(function="count"), where=(empty,)), 0.1
        return
    if not roles.only("HOWMANY", "COUNT", "WHAT", "LIST", "ROW", "COL", "DISTINCT", "PER", "THERE"):
        return
    group = group_of(roles)
    if bool(roles.of("PER")) != (group is not None):
        return
    for noun, rest in nouns_of(roles, schema):
        if not rest and group:
            yield from count_groups({"np": noun, "where": roles.where, "group": group}, schema)
        elif not rest:
            yield from count({"np": noun, "where": roles.where}, schema)
    table = _only_table(roles, schema)
    if table and not roles.of("ROW", "COL", "PER") and roles.where:
        yield from count({"np": Noun(table=table), "where": roles.where}, schema)


def _aggregates(roles: Roles, schema: Schema) -> Built:
    if not roles.only("AGG", "WHAT", "LIST", "HOWMUCH", "HOWMANY", "HOWADJ", "ROW", "COL", "PER", "UNIT"):
        return
    columns, group, how = asked_columns(roles), group_of(roles), roles.of("HOWADJ")
    functions = {span.sense.value for span in roles.of("AGG")}
    if len(functions) > 1 or bool(roles.of("PER")) != (group is not None):
        return
    bound = {"agg": roles.of("AGG")[0], "where": roles.where, "how_much": roles.of("HOWMUCH")}
    if not columns and len(how) == 1 and functions == {"avg"}:
        for noun, _ in nouns_of(roles, schema):
            yield from how_average({**bound, "np": noun, "how": how[0]}, schema)
    if len(columns) == 1 and measures(columns[0]):
        bound["number"] = columns[0]
        yield from aggregate_groups({**bound, "group": group}, schema) if group else aggregate(bound, schema)


def _shares(roles: Roles, schema: Schema) -> Built:
    conditions = [one for one in roles.where if isinstance(one, Condition)]
    if not roles.only("PERCENT", "WHAT", "ROW", "HOWMANY", "LIST") or len(conditions) != 1 != len(roles.where):
        return
    for noun, rest in nouns_of(roles, schema):
        if not rest:
            yield from share({"np": noun, "where": roles.where, "percent": roles.of("PERCENT")[0]}, schema)


def _look_ups(roles: Roles, schema: Schema) -> Built:
    if not roles.only(*ASKING, "HOWADJ", "ROW", "COL", "DISTINCT", "UNIT"):
        return
    columns, how = asked_columns(roles), roles.of("HOWADJ")
    bound = {"where": roles.where, **({"list": True} if roles.of("LIST") or not roles.of("WHAT") else {})}
    if not roles.where:
        before = len(columns) == 1 and bool(roles.of("ROW")) and _before_rows(roles) and columns[0].plural
        if before and columns[0].column and columns[0].column.kind == "text" and not columns[0].column.unique:
            noun = Noun(
                table=schema.table(columns[0].column.table), column=columns[0].column, plural=True, distinct=True
            )
            yield from list_things({**bound, "np": noun, "list": True}, schema)
        elif len(columns) == 1 and roles.only("WHAT", "LIST", "THERE", "ROW", "COL", "DISTINCT"):
            said = roles.of("THERE", "LIST", "DISTINCT") or (roles.of("WHAT") and columns[0].plural)
            for noun, rest in nouns_of(roles, schema):
                if noun.column and not rest and said:
                    yield from list_things({**bound, "np": noun, "list": True}, schema)
        return
    if roles.items and not columns and roles.only("WHAT") and len(roles.items) == 1:
        yield from _named_by(roles.where, schema)
    if len(how) == 1 and not columns:
        yield from how_adjective({**bound, "how": how[0]}, schema)
    elif len(how) == 1 == len(columns):
        yield from look_up_number({**bound, "number": columns[0]}, schema)
    elif how:
        return
    elif roles.of("WHEN"):
        if len(columns) == 1:
            yield from when({**bound, "col": columns[0], "when": roles.of("WHEN")[0]}, schema)
    elif roles.of("WHERE"):
        if len(columns) == 1 and columns[0].column and columns[0].column.kind == "text":
            yield from look_up({**bound, "cols": tuple(columns)}, schema)
    elif len(columns) == 1 and (_before_rows(roles) or _one_thing(roles.where)):
        yield from look_up({**bound, "cols": tuple(columns)}, schema)
    if not columns and not how and not roles.of("WHEN", "WHERE", "HOWMUCH"):
        for noun, _ in nouns_of(roles, schema):
            if noun.plural or roles.of("WHAT", "LIST"):
                yield from list_things({**bound, "np": noun}, schema)


def _named_by(where: Where, schema: Schema) -> Built:
    """Yield the meaning of UA: the row's name for a code."""
    one = where[0]
    if len(where) == 1 and isinstance(one, Condition) and one.operator == "=" and one.column.unique:
        label = schema.table(one.column.table).named_label
        if label and label != one.column:
            yield Query(kind="values", select=(label,), where=where), 0.2


def _before_rows(roles: Roles) -> bool:
    """Tell whether a column comes before the noun of the rows: the height of the peaks, not peaks by height."""
    return next((span.tag for span in roles.items if span.tag in ("COL", "ROW")), "") == "COL"


def _one_thing(where: Where) -> bool:
    return any(isinstance(one, Condition) and one.equality and one.column.unique for one in where)


def _checks(roles: Roles) -> Built:
    """Yield yes-or-no questions about one thing, told by a cell of its own."""
    conditions = [one for one in roles.where if isinstance(one, Condition)]
    named = [one for one in conditions if one.column.unique and one.operator == "=" and not one.negated]
    if len(roles.where) == 2 == len(conditions) and len(named) == 1 and roles.only("ROW"):
        part = tuple(one for one in conditions if one is not named[0])
        yield Query(kind="check", where=(named[0],), part=part), 0.1


def _only_table(roles: Roles, schema: Schema) -> Table | None:
    """Return the table of all conditions or columns, if it is one."""
    names = {one.column.table for one in roles.where if isinstance(one, Condition)}
    names |= {span.column.table for span in roles.of("COL") if span.column}
    return schema.table(names.pop()) if len(names) == 1 else None
