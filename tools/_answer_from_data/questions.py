"""What sentences ask: each pattern with the query that it stands for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from .nouns import Noun, Ranked
from .patterns import Bound, Matcher
from .query import AnyOf, Condition, Measure, Query, Reading, Where, columns_of
from .schema import Column, Schema
from .spans import Span

Built = Iterator[tuple[Query, float]]
Builder = Callable[[Bound, Schema], Built]
MOST_GROUPS = 100
_ADDITIVE = frozenset(
    """sale amount revenu quantity qty cost profit total count point goal pay payment number spend incom budget score
    population visitor passenger medal win order unit expens export import""".split()
)


def readings(path: Sequence[Span], cost: float, schema: Schema) -> Iterator[Reading]:
    """Yield every query that a path of spans may stand for."""
    matcher = Matcher(spans=path, schema=schema)
    for prefix, start, extra in matcher.filters(0):
        if any(span.tag in ("WHAT", "LIST") for span in path[:start]):
            continue
        while start and matcher.tag(start) == "COMMA":
            start += 1
        for pattern, build in _RULES:
            for bound, more in matcher.matches(pattern, start):
                whole = {**bound, "where": (*prefix, *bound.get("where", ()))}
                for query, doubt in build(whole, schema):
                    if _sound(query):
                        misplaced = _misplaced(query, path, schema)
                        yield Reading(query=query, cost=cost + extra + more + doubt, misplaced=misplaced)


def _sound(query: Query) -> bool:
    """Refuse a query that tests one column for two different values at once."""
    seen: dict[Column, Condition] = {}
    for one in (*query.where, *query.part):
        if (
            isinstance(one, Condition)
            and one.operator == "="
            and not one.negated
            and query.kind not in ("difference", "ratio", "compare", "check", "which")
        ):
            if one.column in seen and seen[one.column].values != one.values:
                return False
            seen[one.column] = one
    return True


def _misplaced(query: Query, path: Sequence[Span], schema: Schema) -> bool:
    """Tell what is asked of a thing that the rows are not about: the population of Paris, among countries.

    A cell stands for its row where its column names the rows or holds their codes, or where the question says the
    column, or where the answer is the row's name.
    """
    if query.kind not in ("values", "check", "which", "compare", "difference", "ratio"):
        return False
    said = {span.column for span in path if span.tag == "COL"}
    if any(span.tag == "ROW" for span in path):
        return False
    for one in query.where:
        if not isinstance(one, Condition) or one.operator != "=" or one.column.numeric or one.column in said:
            continue
        label = schema.table(one.column.table).label
        texts = [value for value in one.column.examples if isinstance(value, str)]
        long = sum(map(len, texts)) > 4 * len(texts)
        several = one.column.distinct > 0.7 * (one.column.rows - one.column.nulls)
        if label not in (None, one.column, *query.select) and long and several:
            return True
    return False


def _single(where: Where) -> bool:
    """Tell whether conditions name one thing: some column equals one cell."""
    return any(isinstance(one, Condition) and one.operator == "=" and not one.negated for one in where)


# counting


def _count(bound: Bound, schema: Schema) -> Built:
    noun: Noun = bound["np"]
    where = noun.where + bound["where"]
    column = noun.column
    table = bound["file"].table if bound.get("file") else noun.table
    if noun.guessed and not where and not bound.get("file"):
        return
    if column is None or column.identifies:
        yield Query(kind="scalar", table=table, measure=Measure(function="count"), where=where), 0.2 * noun.guessed
    elif column.truths and not noun.distinct:
        true = Condition(column=column, operator="true")
        if column not in columns_of(where):
            yield Query(kind="scalar", table=table, measure=Measure(function="count"), where=(*where, true)), 0.0
    elif column in columns_of(where):
        if not noun.distinct and not column.numeric:
            yield Query(kind="scalar", table=table, measure=Measure(function="count"), where=where), 0.25
    elif noun.distinct or not (column.numeric or column.dated):
        measure = Measure(function="distinct", column=column)
        yield Query(kind="scalar", table=table, measure=measure, where=where), 0.0
    elif column.year:
        measure = Measure(function="distinct", column=column)
        yield Query(kind="scalar", table=table, measure=measure, where=where), 0.2
    elif column.dated or (column.unique and not set(column.words) & _ADDITIVE):
        for measure in (Measure(function="count"), Measure(function="distinct", column=column)):
            yield Query(kind="scalar", table=table, measure=measure, where=where), 0.25
    elif column.numeric and where and (_single(where) or set(column.words) & _ADDITIVE):
        measure = Measure(function="sum", column=column)
        yield Query(kind="scalar", table=table, measure=measure, where=where), 0.1


def _count_things(bound: Bound, schema: Schema) -> Built:
    """Yield counts with a closing "in total"; of a numeric column that asks for its sum, which is another pattern."""
    noun: Noun = bound["np"]
    if noun.column is None or not noun.column.numeric:
        yield from _count(bound, schema)


def _count_groups(bound: Bound, schema: Schema) -> Built:
    noun: Noun = bound["np"]
    group: Column = bound["group"].column
    where = noun.where + bound["where"]
    if group.unique or group.numeric and group.distinct > MOST_GROUPS:
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


def _average_count(bound: Bound, schema: Schema) -> Built:
    for query, cost in _count_groups(bound, schema):
        yield replace(query, kind="scalar", per=bound["agg"].sense.value), cost


# aggregates


def _aggregate(bound: Bound, schema: Schema) -> Built:
    column: Column = bound["number"].column
    function = bound["agg"].sense.value
    if not column.year or function in ("avg", "median", "range"):
        yield Query(kind="scalar", measure=Measure(function=function, column=column), where=bound["where"]), 0.0


def _total(bound: Bound, schema: Schema) -> Built:
    column: Column = bound["number"].column
    if not column.year:
        yield Query(kind="scalar", measure=Measure(function="sum", column=column), where=bound["where"]), 0.1


def _aggregate_groups(bound: Bound, schema: Schema) -> Built:
    column, group = bound["number"].column, bound["group"].column
    if column != group and not group.unique and not (group.numeric and group.distinct > MOST_GROUPS):
        measure = Measure(function=bound["agg"].sense.value, column=column)
        yield Query(kind="groups", measure=measure, group=group, where=bound["where"], plural=True), 0.0


def _extreme_value(bound: Bound, schema: Schema) -> Built:
    column: Column = bound["col"].column
    extreme = bound["extreme"]
    if (column.numeric or column.dated) and extreme.count == 1:
        if extreme.rank == 1:
            measure = Measure(function="max" if extreme.descending else "min", column=column)
            yield Query(kind="scalar", measure=measure, where=bound["where"]), 0.0
        else:
            measure = Measure(function="value", column=column)
            query = Query(
                kind="top", select=(column,), measure=measure, where=bound["where"], rank=extreme.rank,
                descending=extreme.descending,
            )  # fmt: skip
            yield query, 0.0


def _range(bound: Bound, schema: Schema) -> Built:
    first, second = bound["one"].sense.value, bound["two"].sense.value
    if {first, second} == {"max", "min"}:
        measure = Measure(function="range", column=bound["number"].column)
        yield Query(kind="scalar", measure=measure, where=bound["where"]), 0.0


# rankings


def _ranked(bound: Bound, schema: Schema) -> Built:
    ranked: Ranked = bound["ranked"]
    wanted = tuple(span.column for span in bound["cols"]) if "cols" in bound else ()
    shown = ranked.noun.shown
    if ranked.noun == Noun() and ranked.measure.column:
        shown = schema.table(ranked.measure.column.table).label
    if ranked.noun.guessed and not wanted and shown is None:
        return
    select = wanted or ((shown,) if shown else ())
    if not select or (ranked.measure.column in select and not wanted):
        return
    query = Query(
        kind="top",
        table=ranked.noun.table,
        select=select,
        measure=ranked.measure,
        where=ranked.where + bound["where"],
        descending=ranked.extreme.descending,
        rank=ranked.extreme.rank,
        count=ranked.extreme.count,
        plural=ranked.extreme.count > 1 or ranked.noun.plural,
        group=shown if ranked.grouped else None,
    )
    doubt = 0.2 * ranked.noun.guessed
    if ranked.grouped:
        if (
            shown
            and ranked.measure.column != shown
            and not wanted
            and not (
                shown.unique
                and ranked.measure.function == "count"
                and ranked.measure.table in (None, ranked.noun.table)
            )
        ):
            yield query, doubt
        return
    yield query, doubt
    yield from _group_readings(query, doubt)


def _group_readings(query: Query, doubt: float) -> Built:
    """Yield what a ranking of repeated names may mean instead: by their totals or averages."""
    name, measure = query.select[0], query.measure
    if measure is None or measure.column is None or not measure.column.numeric or len(query.select) > 1:
        return
    if name.table != measure.column.table or name.distinct >= 0.9 * (name.rows - name.nulls):
        return
    functions = ("sum", "avg") if set(measure.column.words) & _ADDITIVE else ("avg",)
    for function in functions:
        yield replace(query, group=name, measure=Measure(function=function, column=measure.column)), doubt + 0.05


# looking up and listing


def _look_up(bound: Bound, schema: Schema) -> Built:
    columns = tuple(span.column for span in bound["cols"])
    where = bound["where"] + ((bound["entity"],) if bound.get("entity") else ())
    tested = {one.column for one in where if isinstance(one, Condition)}
    if not where or tested & set(columns):
        return
    plural = bound["cols"][-1].plural or bound.get("list") is not None
    yield Query(kind="values", select=columns, where=where, plural=plural), 0.0 if _single(where) else 0.1


def _look_up_number(bound: Bound, schema: Schema) -> Built:
    column: Column = bound["number"].column
    if _single(bound["where"]) and not column.dated and not _mentions(bound["where"], column):
        yield Query(kind="values", select=(column,), where=bound["where"]), 0.0


def _when(bound: Bound, schema: Schema) -> Built:
    if bound["col"].column.dated and _single(bound["where"]):
        yield Query(kind="values", select=(bound["col"].column,), where=bound["where"]), 0.0


def _who(bound: Bound, schema: Schema) -> Built:
    column: Column = bound["col"].column
    if column.kind == "text" and _single(bound["where"]):
        yield Query(kind="values", select=(column,), where=bound["where"]), 0.05


def _how_adjective(bound: Bound, schema: Schema) -> Built:
    span: Span = bound["how"]
    matcher = Matcher(spans=(), schema=schema)
    if _single(bound["where"]):
        for column in matcher.implied(span.sense.attributes):
            yield Query(kind="values", select=(column,), where=bound["where"]), 0.05


def _list(bound: Bound, schema: Schema) -> Built:
    noun: Noun = bound["np"]
    where = noun.where + bound["where"]
    shown = noun.shown
    asked = noun.distinct or bound.get("there") is not None or bound.get("list") is not None
    if shown is None or not (where or (asked and noun.plural and noun.column)):
        return
    if any(
        one.column == shown and one.operator == "=" and not one.negated for one in where if isinstance(one, Condition)
    ):
        return
    plural = noun.plural or bound.get("list") is not None
    yield Query(kind="values", table=noun.table, select=(shown,), where=where, plural=plural), 0.2 * noun.guessed + 0.05


# yes or no


def _exists(bound: Bound, schema: Schema) -> Built:
    noun: Noun = bound["np"]
    where = noun.where + bound["where"]
    named = any(one.column.unique for one in where if isinstance(one, Condition) and one.operator == "=")
    if not where or noun.guessed or (not bound.get("there") and (named or (noun.column and not noun.column.unique))):
        return
    yield Query(kind="exists", table=noun.table, where=where), 0.05


def _check(bound: Bound, schema: Schema) -> Built:
    entity: Condition = bound["entity"]
    part: Where = bound["part"] if "part" in bound else ()
    if entity.operator == "=" and part and len(part) == 1 and not _mentions(part, entity.column):
        yield Query(kind="check", where=(entity,), part=part), 0.0


def _check_column(bound: Bound, schema: Schema) -> Built:
    """Yield checks of a column of one thing: is the capital of France Paris, is its area over 5."""
    column: Column = bound["col"].column
    entity: Condition = bound["entity"]
    for one in bound["part"] if len(bound["part"]) == 1 else ():
        if isinstance(one, Condition) and one.column == column and entity.column != column:
            yield Query(kind="check", where=(entity,), part=(one,)), 0.0


def _check_comparison(bound: Bound, schema: Schema) -> Built:
    """Yield is the population of Chad more than 5 million: the comparison says no column."""
    column: Column = bound["col"].column
    entity: Condition = bound["entity"]
    if column.numeric and entity.operator == "=" and (number := bound["number_span"].number) is not None:
        sign = bound["cmp"].sense.value
        one = Condition(column=column, operator=sign, values=(number,))
        yield Query(kind="check", where=(entity,), part=(one,)), 0.0


def _mentions(where: Where, column: Column) -> bool:
    return column in columns_of(where)


# two things


def _pair(kind: Any) -> Builder:
    def build(bound: Bound, schema: Schema) -> Built:
        one: Condition = bound["entity"]
        two: Condition = bound["second"]
        if one.column != two.column or one.values == two.values or one.negated or two.negated:
            return
        if one.operator != "=" or two.operator != "=" or len(one.values) > 1 or len(two.values) > 1:
            return
        for measure, operator, doubt in _pair_measures(bound, schema):
            rest = bound["where"]
            query = Query(
                kind=kind,
                measure=measure,
                where=(one, *rest),
                part=(two, *rest),
                operator=operator,
                select=(one.column,),
            )
            yield query, doubt

    return build


def _pair_measures(bound: Bound, schema: Schema) -> Iterator[tuple[Measure, str, float]]:
    """Yield what two things are compared by: a column, an aggregate of one, a count, or what a comparative implies."""
    more: Span | None = bound.get("more")
    operator = more.sense.value if more else ""
    if bound.get("number"):
        column = bound["number"].column
        aggregate = bound.get("agg")
        yield Measure(function=aggregate.sense.value if aggregate else "value", column=column), operator, 0.0
    elif bound.get("np"):
        noun: Noun = bound["np"]
        if noun.column and noun.column.numeric and not noun.column.identifies:
            yield Measure(function="value", column=noun.column), operator, 0.0
        elif (
            not noun.where
            and not noun.guessed
            and (noun.column is None or noun.column.unique or noun.column.identifies)
        ):
            yield Measure(function="count"), operator, 0.0
    elif bound.get("there"):
        yield Measure(function="count"), operator, 0.0
    elif more:
        matcher = Matcher(spans=(), schema=schema)
        for attributes, turned in ((more.sense.attributes, False), (more.sense.inverse, True)):
            for column in matcher.implied(attributes):
                sign = {">": "<", "<": ">"}[operator] if turned else operator
                yield Measure(function="value", column=column), sign, 0.1


# shares


def _share(bound: Bound, schema: Schema) -> Built:
    noun: Noun = bound["np"]
    conditions = bound["where"]
    said = [one for one in conditions if isinstance(one, Condition) and one.predicate]
    if not said and len(conditions) == 1:
        said = list(conditions)
    first = next((index for index, one in enumerate(conditions) if one in said), None)
    if first is None or (noun.column and not noun.column.unique and not noun.column.identifies):
        return
    part = conditions[first:]
    base = noun.where + conditions[:first]
    if any(isinstance(one, AnyOf) for one in base):
        return
    scale = int(bound["percent"].sense.value)
    measure = Measure(function="count")
    query = Query(kind="share", table=noun.table, measure=measure, where=base, part=part, scale=scale)
    yield query, 0.3 * noun.guessed


def _share_of_total(bound: Bound, schema: Schema) -> Built:
    column: Column = bound["number"].column
    if bound["where"] and not column.dated:
        scale = int(bound["percent"].sense.value)
        measure = Measure(function="sum", column=column)
        yield Query(kind="share", measure=measure, part=bound["where"], scale=scale), 0.05


_RULES: tuple[tuple[str, Builder], ...] = (
    ("LEAD* HOWMANY np F", _count),
    ("LEAD* HOWMANY np F BE|THERE* AGG=sum", _count_things),
    ("LEAD* HOWMANY np F BE|HAVE|THERE|IN* FILE@file F", _count),
    ("LEAD* COUNT IN? np F", _count),
    ("LEAD* HOWMANY np F PER col@group F", _count_groups),
    ("LEAD* HOWMANY np BY col@group F", _count_groups),
    ("LEAD* PER col@group F COMMA? HOWMANY np F", _count_groups),
    ("LEAD* AGG@agg HOWMANY np F PER col@group F", _average_count),
    ("LEAD* AGG@agg IN? number F", _aggregate),
    ("LEAD* HOWMUCH BE? AGG@agg IN? number F", _aggregate),
    ("LEAD* number F AGG@agg F", _aggregate),
    ("LEAD* HOWMUCH number F AGG@agg F", _aggregate),
    ("LEAD* HOWMANY number F BE|THERE|DO* AGG@agg F", _aggregate),
    ("LEAD* HOWMUCH number F", _total),
    ("LEAD* AGG@agg IN? number F PER col@group F", _aggregate_groups),
    ("LEAD* AGG@agg IN? number BY col@group F", _aggregate_groups),
    ("LEAD* PER col@group F COMMA? LEAD* AGG@agg IN? number F", _aggregate_groups),
    ("LIST|CALC|BE|IN* extreme IN? col F", _extreme_value),
    ("WHAT=what BE|DO|IN* extreme IN? col F", _extreme_value),
    ("LEAD* IN? SUP@one AND SUP@two number F", _range),
    ("LEAD* DIFF BETWEEN|IN SUP@one AND|TO SUP@two number F", _range),
    ("LEAD* DIFF BETWEEN|IN SUP@one number AND|TO SUP@two number F", _range),
    ("LEAD* ranked F", _ranked),
    ("WHAT|IN* ranked F", _ranked),
    ("LEAD* cols IN|POSS* ranked F", _ranked),
    ("LEAD* cols DO|BE ranked F", _ranked),
    ("LEAD* cols IN F", _look_up),
    ("LIST@list LEAD* cols IN? F", _look_up),
    ("WHAT BE* cols BE|DO? F", _look_up),
    ("IN? WHAT cols BE|DO? F", _look_up),
    ("LEAD* entity POSS cols F", _look_up),
    ("HOWMUCH|HOWMANY number F", _look_up_number),
    ("HOWMUCH BE|DO? F number F", _look_up_number),
    ("WHEN BE|DO F col F", _when),
    ("WHEN BE|DO F HAVE? col", _when),
    ("WHAT=who BE? col F", _who),
    ("HOWADJ@how BE F", _how_adjective),
    ("LIST@list LEAD* np F", _list),
    ("WHAT BE? THERE@there? np F", _list),
    ("WHAT np BE? THERE@there F", _list),
    ("IN? WHAT np F", _list),
    ("WHAT BE np F", _list),
    ("BE THERE@there np F", _exists),
    ("DO|HAVE|BE THERE? np F", _exists),
    ("BE|DO|HAVE entity F@part", _check),
    ("BE|DO|HAVE col IN entity BE? F@part", _check_column),
    ("BE|DO|HAVE entity POSS col BE? F@part", _check_column),
    ("BE col IN entity CMP@cmp NUM@number_span UNIT?", _check_comparison),
    ("BE entity POSS col CMP@cmp NUM@number_span UNIT?", _check_comparison),
    (
        "LEAD* IN? np@head? F BE|HAVE|DO? MORE@more IN|BY? number? COMMA|IN|BETWEEN|THAN|BE* entity AND=or entity@second F",
        _pair("which"),
    ),
    ("LEAD* IN? np@head? F HAVE MORE@more np COMMA|IN|BETWEEN|THAN|BE* entity AND=or entity@second F", _pair("which")),
    ("LEAD* BE|HAVE|DO* extreme number COMMA|IN|BETWEEN* entity AND=or entity@second F", _pair("which")),
    ("BE|DO|HAVE entity HAVE|BE? IN? MORE@more number? THAN entity@second F", _pair("compare")),
    ("BE|DO|HAVE entity HAVE|BE? CMP@more entity@second F", _pair("compare")),
    ("BE|DO|HAVE entity HAVE|BE? IN? MORE@more np THAN entity@second F", _pair("compare")),
    ("BE number IN entity MORE@more THAN REL|IN|number* entity@second F", _pair("compare")),
    ("BE number IN entity CMP@more REL|IN|COL* entity@second F", _pair("compare")),
    ("BE THERE@there MORE@more IN? entity THAN entity@second F", _pair("compare")),
    ("LEAD* DIFF IN? AGG@agg? number BETWEEN|IN entity AND|TO entity@second F", _pair("difference")),
    ("LEAD* DIFF BETWEEN|IN AGG@agg? number IN entity AND|TO|THAN REL|IN|COL* entity@second F", _pair("difference")),
    ("LEAD* DIFF BETWEEN|IN entity AND|TO entity@second IN|BY AGG@agg? number F", _pair("difference")),
    ("LEAD* DIFF IN HOWMANY np BETWEEN entity AND|TO entity@second F", _pair("difference")),
    ("LEAD* DIFF BETWEEN entity POSS? AND|TO entity@second POSS number F", _pair("difference")),
    ("IN? HOWMUCH MORE@more BE|DO number IN? entity THAN REL|IN|COL* entity@second F", _pair("difference")),
    ("IN|BY|WHENCMP? HOWMUCH DO number IN entity CMP|MORE@more REL|IN|COL* entity@second F", _pair("difference")),
    ("IN? HOWMUCH MORE@more number? BE|DO? entity HAVE? THAN entity@second F", _pair("difference")),
    ("IN? HOWMANY MORE@more np DO|BE|HAVE* THERE? IN? entity HAVE? THAN IN? entity@second F", _pair("difference")),
    ("LEAD* RATIO IN? AGG@agg? number IN|BETWEEN? entity AND|TO|IN entity@second F", _pair("ratio")),
    ("LEAD* RATIO IN? AGG@agg? number IN|BETWEEN? entity AND|TO|IN REL|IN* entity@second F", _pair("ratio")),
    ("LEAD* PERCENT@percent IN? np F", _share),
    ("LEAD* PERCENT@percent IN? AGG number F", _share_of_total),
    ("LEAD* PERCENT@percent IN? number F", _share_of_total),
)
