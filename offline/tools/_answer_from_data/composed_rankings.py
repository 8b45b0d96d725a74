"""Read rankings from the roles of a question's parts."""

from collections.abc import Iterator
from dataclasses import replace

from .counts import extreme_value
from .nouns import Noun
from .query import Measure, Query
from .rankings import MOST_PLACES, Extreme, Ranked, less_is_first
from .ranks import ranked
from .reader import Reader
from .roles import Roles
from .schema import Column, Schema, Table
from .span import Span
from .subjects import ASKING, asked_columns, group_of, measures, nouns_of
from .vocabulary import DATES

_SAID = "SUP MOST OFTEN MORE ORD NUM RANK AGG HOWADJ HOWMANY COUNT ROW COL UNIT"
_RANKING = tuple(_SAID.split())
Built = Iterator[tuple[Query, float]]


def rankings(roles: Roles, schema: Schema) -> Built:
    """Yield the holder of a place, or its value, from the parts of a question with a superlative."""
    extreme = _extreme(roles) if roles.only(*_RANKING, *ASKING, "PER") else None
    if extreme is None:
        return
    if roles.of("PER"):
        yield from _of_groups(roles, extreme, schema)
        return
    if roles.of("HOWADJ") and not roles.of("HOWMANY", "AGG", "COUNT") and not any(map(measures, roles.of("COL"))):
        yield from _how(roles, extreme, schema)
        return
    columns = asked_columns(roles)
    if roles.of("WHEN") and roles.of("MOST") and roles.of("ROW"):
        yield from _busiest(roles, columns, extreme, schema)
        return
    after = [span.tag for span in roles.items if span.tag == "ROW" or span in columns]
    value_first = bool(columns) and measures(columns[0]) and after[:1] == ["COL"]
    asks_number = roles.items[0].tag in ("HOWMUCH", "HOWMANY", "COUNT")
    for noun, rest in nouns_of(roles, schema) if not asks_number else ():
        for query, doubt in _ranked(roles, noun, rest, extreme, schema):
            yield query, doubt + 0.3 * value_first * (not _asks_thing(roles))
    numeric = [span for span in columns if span.column and (span.column.numeric or span.column.dated)]
    asks_thing = _asks_thing(roles)
    ordinal = not roles.of("SUP", "MOST", "MORE", "OFTEN")
    if (asks_thing or ordinal) and not asks_number and not roles.of("ROW") and len(columns) == len(numeric) == 1:
        yield from _ranked(roles, Noun(), columns, extreme, schema)
    most = roles.of("MOST") and columns and columns[0].column and columns[0].column.dated
    dated = len(columns) == 1 and columns[0].column is not None and columns[0].column.dated
    if ordinal and dated and roles.of("ROW") and not asks_thing:
        yield from extreme_value({"extreme": extreme, "col": columns[0], "where": roles.where}, schema)
    if ordinal or most:
        return
    if len(columns) == len(numeric) == 1 and not roles.of("AGG", "HOWMANY", "OFTEN") and not asks_thing:
        named = roles.of("ROW") and not roles.of("HOWADJ", "HOWMUCH") and not value_first
        yield from (
            (query, doubt + 0.3 * bool(named))
            for query, doubt in extreme_value({"extreme": extreme, "col": columns[0], "where": roles.where}, schema)
        )


def _of_groups(roles: Roles, extreme: Extreme, schema: Schema) -> Built:
    """Yield the first group of separately named groups: for each type, count the rows: the most?"""
    group, measured = group_of(roles), [span for span in asked_columns(roles) if measures(span)]
    if group is None or group.column is None or len(measured) > 1 or len(roles.of("AGG")) > 1:
        return
    if measured and roles.of("AGG"):
        measure = Measure(function=roles.of("AGG")[0].sense.value, column=measured[0].column)  # pyright: ignore[reportArgumentType]
    elif not measured and roles.of("COUNT", "HOWMANY", "MOST", "OFTEN"):
        measure = Measure(function="count", table=schema.table(group.column.table))
    else:
        return
    noun = Noun(table=schema.table(group.column.table), column=group.column)
    found = Ranked(noun=noun, measure=measure, extreme=extreme, grouped=True)
    yield from ranked({"where": roles.where, "ranked": found}, schema)


def _how(roles: Roles, extreme: Extreme, schema: Schema) -> Built:
    """Yield a value of the ranked first: how tall the oldest is, how old the oldest is."""
    asked = Reader(spans=(), schema=schema).implied(roles.of("HOWADJ")[0].sense.attributes)
    for measure, places, _ in _by([], [], extreme, schema, Noun()):
        down, where = places.descending, roles.where
        if not places.rank == places.count == 1 or measure.column is None:
            continue
        if measure.column in asked:
            most = Measure(function="max" if down else "min", column=measure.column)
            yield Query(kind="scalar", measure=most, where=where), 0.1
            continue
        for column in asked:
            yield Query(kind="top", select=(column,), measure=measure, where=where, descending=down), 0.1


def _busiest(roles: Roles, columns: list[Span], extreme: Extreme, schema: Schema) -> Built:
    """Yield the year or month with the most rows, by the date named, or the only one."""
    table, asked = roles.of("ROW")[0].table, roles.of("WHEN")[0].text.split()
    if table is None or len(columns) > 1 or any(not span.column or not span.column.dated for span in columns):
        return
    dates = [*table.parts, *(column for column in table.columns if column.year)]
    said = [column for column in dates if (column.part or "year") in asked]
    said = [column for column in said if not columns or column.name == getattr(columns[0].column, "name", "")]
    if len(said) == 1:
        noun = Noun(table=table, column=said[0])
        found = Ranked(noun=noun, measure=Measure(function="count", table=table), extreme=extreme, grouped=True)
        yield from ranked({"where": roles.where, "ranked": found}, schema)


def _asks_thing(roles: Roles) -> bool:
    return bool(roles.of("WHERE")) or any(span.sense.value in ("which", "who") for span in roles.of("WHAT"))


def _extreme(roles: Roles) -> Extreme | None:
    """Return the places asked for; None if the words for them disagree."""
    said = roles.of("SUP", "MOST", "OFTEN", "MORE")
    descending = {span.sense.value in ("max", ">") for span in said}
    ordinals, numbers = roles.of("ORD"), roles.of("NUM")
    if not said and len(ordinals) == 1 and not numbers:
        rank = min(MOST_PLACES, max(1, int(ordinals[0].number or 1)))
        return Extreme(descending=False, rank=rank, span=ordinals[0])
    if len(said) > 1 or len(descending) != 1 or len(ordinals) + len(numbers) > 1 or any(span.year for span in numbers):
        return None
    places = [min(MOST_PLACES, max(1, int(span.number or 1))) for span in (*ordinals, *numbers)]
    rank = places[0] if ordinals else 1
    count_ = places[0] if numbers else 1
    return Extreme(descending=descending.pop(), rank=rank, count=count_, span=said[0])


def _ranked(roles: Roles, noun: Noun, rest: list[Span], extreme: Extreme, schema: Schema) -> Built:
    """Yield rankings of a noun by the one measure left, or by the superlative's own."""
    measured = [span for span in rest if span.column and (span.column.numeric or span.column.dated)]
    shown = tuple(span for span in rest if span not in measured)
    aggregates = roles.of("AGG")
    bound = {"where": roles.where, **({"cols": shown} if shown else {})}
    counted = roles.of("HOWMANY", "COUNT") or (extreme.span is not None and extreme.span.tag == "MOST")
    dated = measured and measured[0].column and measured[0].column.dated
    if len(measured) > 1 or len(shown) > 1 or roles.of("HOWADJ") or (counted and dated):
        return
    if counted and roles.of("ROW") and noun.column and not rest and not aggregates:
        found = Ranked(
            noun=noun, measure=Measure(function="count", table=roles.of("ROW")[0].table), extreme=extreme, grouped=True
        )
        yield from ranked({**bound, "ranked": found}, schema)
    if roles.of("HOWMANY", "COUNT"):
        return
    if extreme.span and extreme.span.tag == "OFTEN":
        if noun.column and not rest and not aggregates:
            found = Ranked(noun=noun, measure=Measure(function="count"), extreme=extreme, grouped=True)
            yield from ranked({**bound, "ranked": found}, schema)
        return
    for measure, places, grouped in _by(measured, aggregates, extreme, schema, noun):
        found = Ranked(noun=noun, measure=measure, extreme=places, grouped=grouped)
        yield from ranked({**bound, "ranked": found}, schema)


def _places_of(table: Table) -> Column | None:
    """Return the column of row numbers from 1 on: number, of presidents."""
    return next((one for one in table.columns if one.identifies and one.low == 1 and len(one.words) == 1), None)


def _by(
    measured: list[Span], aggregates: list[Span], extreme: Extreme, schema: Schema, noun: Noun
) -> Iterator[tuple[Measure, Extreme, bool]]:
    if measured and measured[0].column:
        column = measured[0].column
        counted = extreme.span is not None and extreme.span.tag == "MOST" and not aggregates
        if counted and set(column.words) <= set(schema.table(column.table).nouns):
            return
        function = aggregates[0].sense.value if aggregates else "value"
        measure = Measure(function=function, column=column)  # pyright: ignore[reportArgumentType]
        ordinal = extreme.span is not None and extreme.span.tag == "ORD"
        places = replace(extreme, descending=not less_is_first(column)) if ordinal else extreme
        yield measure, places, bool(aggregates)
    elif extreme.span and extreme.span.tag == "ORD" and not aggregates and noun.table and _places_of(noun.table):
        yield Measure(function="value", column=_places_of(noun.table)), extreme, False
    elif extreme.span and extreme.span.tag == "ORD" and not aggregates:
        for column in Reader(spans=(), schema=schema).implied(DATES, noun.table.name if noun.table else ""):
            if column.dated:
                yield Measure(function="value", column=column), extreme, False
    elif extreme.span and len(aggregates) < 2:
        sense, reader = extreme.span.sense, Reader(spans=(), schema=schema)
        for attributes, turned in ((sense.attributes, False), (sense.inverse, True)):
            for column in reader.implied(attributes, noun.table.name if noun.table else ""):
                function = aggregates[0].sense.value if aggregates else "value"
                measure = Measure(function=function, column=column)  # pyright: ignore[reportArgumentType]
                yield measure, replace(extreme, descending=extreme.descending != turned, span=None), bool(aggregates)
