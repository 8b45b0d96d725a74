"""The subject of a question read by its parts: nouns, columns asked for, and the column to group by."""

from collections.abc import Iterator

from .nouns import Noun
from .query import Condition
from .roles import Roles
from .schema import Column, Schema
from .span import Span

ASKING = ("WHAT", "LIST", "WHEN", "WHERE", "HOWMUCH", "THERE")
CLOSED = ("BE", "DO", "HAVE")


def nouns_of(roles: Roles, schema: Schema) -> Iterator[tuple[Noun, list[Span]]]:
    """Yield possible subjects with the columns left: rows, or the values of a column of words."""
    rows, columns = roles.of("ROW"), asked_columns(roles)
    distinct = bool(roles.of("DISTINCT"))
    tables = {span.table.name for span in rows if span.table}
    if len(tables) == 1:
        table = rows[0].table
        yield Noun(table=table, plural=any(span.plural for span in rows), distinct=distinct and not columns), columns
    if tables and not distinct and not roles.of("AGG", "MOST", "OFTEN", "THERE", "COUNT"):
        return
    fixed = {one.column for one in roles.where if isinstance(one, Condition) and one.equality and not one.negated}
    for span in columns:
        column = span.column
        if column and not column.numeric and not column.dated and column not in fixed:
            table = schema.table(column.table)
            rest = [other for other in columns if other is not span]
            yield Noun(table=table, column=column, plural=span.plural, distinct=distinct), rest


def asked_columns(roles: Roles) -> list[Span]:
    """Return the columns without a grouping word before them, each once."""
    found: dict[Column | None, Span] = {}
    tested = [one.column for one in roles.where if isinstance(one, Condition)]
    said = [*tested, *(span.column for span in roles.of("COL") if span.column)]
    dates = {column.name for column in said if column.part}
    for index, span in enumerate(roles.items):
        column = span.column
        if span.tag == "COL" and column and column.name in dates and not column.part:
            continue
        if span.tag == "COL" and not (index and roles.items[index - 1].tag == "PER"):
            found.setdefault(span.column, span)
    return list(found.values())


def group_of(roles: Roles) -> Span | None:
    """Return the column after a grouping word, if it is one."""
    found = [
        two for one, two in zip(roles.items, roles.items[1:], strict=False) if (one.tag, two.tag) == ("PER", "COL")
    ]
    return found[0] if len(found) == 1 == len(roles.of("PER")) else None


def measures(span: Span) -> bool:
    """Tell whether a column measures something."""
    column = span.column
    return column is not None and column.numeric and not column.numbers_things
