"""The grammar of noun phrases: female passengers, different species, 4-cylinder cars, airport names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from .conditions import Conditions
from .query import Condition, Where
from .reader import Reader
from .schema import Column, Table

_NUMBER = re.compile(r"\b(id|ids|number|numbers|code|codes|no|index|phone|zip)\b", re.IGNORECASE)
_PLAIN_NAMES = re.compile(
    r"(code|common|full|product|item)?[ _]?(name|title|label|model|description)|col_\d+", re.IGNORECASE
)
_MOST_BEFORE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    """Hold a noun phrase's meaning: the rows of a table, or the values of a column, under conditions.

    Args:
        table: Whose rows.
        column: Which values, where not the rows themselves are meant.
        where: Conditions said before the noun.
        plural: Whether it is written as a plural.
        distinct: Whether different ones are asked for.
        guessed: Whether nothing but the sentence tells that rows are meant.
    """

    table: Table | None = None
    column: Column | None = None
    where: Where = ()
    plural: bool = False
    distinct: bool = False
    guessed: bool = False

    @property
    def shown(self) -> Column | None:
        """Return the naming column."""
        return self.column or (self.table.label if self.table else None)


class Nouns(Reader):
    """Reads noun phrases from spans, by position."""

    @cached_property
    def conditions(self) -> Conditions:
        """The grammar of the conditions among the same spans."""
        return Conditions(self.spans, self.schema)

    def noun(self, position: int) -> Iterator[tuple[Noun, int, float]]:
        """Yield every reading of a noun phrase: different, then cells and numbers, then the noun itself."""
        distinct = self.tag(position) == "DISTINCT"
        kinds = self.column(position + distinct + 1) if self.tag(position + distinct) == "KINDS" else None
        if kinds and kinds.kind == "text" and not kinds.unique:
            table = self.schema.table(kinds.table)
            yield Noun(table=table, column=kinds, plural=True, distinct=True), position + distinct + 2, 0.0
        for where, start, cost in self._before(position + distinct):
            for noun, end, more in self._head(start):
                yield replace(noun, where=where, distinct=distinct), end, cost + more
            if where and self.tag(start) not in ("ROW", "COL"):
                first = where[0]
                table = self.schema.table(first.column.table) if isinstance(first, Condition) else None
                plural = self.spans[start - 1].plural
                yield Noun(table=table, where=where, distinct=distinct, plural=plural), start, cost + 0.1

    def _before(self, position: int, depth: int = 0) -> Iterator[tuple[Where, int, float]]:
        """Yield conditions before a noun: female, non-smoking, 4 cylinder."""
        yield (), position, 0.0
        negated = self.tag(position) == "NOT"
        start = position + negated
        if depth == _MOST_BEFORE or self.tag(start) not in ("VAL", "NUM", "ORD", "COL", "MISSING"):
            return
        for one, end, cost in self.conditions.core(start):
            if one is None or end == start or (self.tag(start) == "COL" and one.operator != "true"):
                continue
            after = end + (self.tag(end) == "COMMA")
            for rest, final, more in self._before(after, depth + 1):
                yield (replace(one, negated=one.negated != negated, predicate=False), *rest), final, cost + more

    def _head(self, position: int) -> Iterator[tuple[Noun, int, float]]:
        tag = self.tag(position)
        if tag == "ROW":
            yield from self._rows(position)
        elif tag == "COL":
            yield from self._values(position)
        elif tag == "UNK" and self.tag(position + 1) not in ("ROW", "COL", "UNK", "VAL"):
            table = self._unnamed()
            if table:
                yield Noun(table=table, plural=self.spans[position].plural, guessed=True), position + 1, 0.0

    def _rows(self, position: int) -> Iterator[tuple[Noun, int, float]]:
        """Yield airports, and airport names."""
        span, column = self.spans[position], self.column(position + 1)
        yield Noun(table=span.table, plural=span.plural), position + 1, 0.0
        said = self.spans[position + 1].text if column else ""
        names = column and span.table and column.table == span.table.name and not column.truths
        if names and not (span.plural and said.endswith("ed")):
            yield Noun(table=span.table, column=column, plural=self.spans[position + 1].plural), position + 2, 0.1

    def _values(self, position: int) -> Iterator[tuple[Noun, int, float]]:
        """Yield species, and model cars."""
        span, column = self.spans[position], self.column(position)
        assert column is not None
        table = self.schema.table(column.table)
        if column.truths and self.tag(position + 1) == "ROW":
            return
        doubt = 0.2 if column.numbers_things and table.label and not _NUMBER.search(span.text) else 0.0
        yield Noun(table=table, column=column, plural=span.plural), position + 1, doubt
        if self.tag(position + 1) == "ROW" and self.spans[position + 1].table == table:
            yield Noun(table=table, column=column, plural=self.spans[position + 1].plural), position + 2, 0.02

    def _unnamed(self) -> Table | None:
        """Return the only table in question if nothing names its rows."""
        named = [span.table for span in self.spans if span.tag == "FILE" and span.table]
        tables = named[:1] or list(self.schema.tables if len(self.schema.tables) == 1 else ())
        if not tables:
            return None
        table = tables[0]
        last = re.split(r"[\W_]+", re.sub(r"[\W_\d]+$", "", table.name))[-1].lower()
        tells = len(last) > 3 and last.endswith("s") and not last.endswith(("ss", "us", "is"))
        label = table.label
        names = label is None or _PLAIN_NAMES.fullmatch(label.name) is not None
        return table if names and not tells else None
