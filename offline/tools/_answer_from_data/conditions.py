"""The grammar of conditions: in Asia, with more than 4 cylinders, starting with M, without a comment."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from .comparisons import Comparisons
from .query import AnyOf, Condition, Where
from .reader import Reader, operator
from .schema import Column
from .times import Times
from .tokens import stem

GLUE = ("IN", "REL", "BE", "HAVE", "THERE", "DO")
_ASSERTING = ("BE", "HAVE", "DO")
_BEFORE_NOUN = ("IN", "REL", "AND", "COMMA", "BE", "VAL")
_CONTINUED = ("VAL", "NUM", "CMP")
_MOST_GLUE = 4
_KINDS_OF_THINGS = frozenset(["city", "stat", "state", "country", "town", "county", "island", "person", "company"])
_MOST_READINGS = 60

Parsed = Iterator[tuple[Condition | None, int, float]]
Read = list[tuple[Where, int, float]]


class Conditions(Reader):
    """Read conditions from spans, by position; every reading is tried. None restricts nothing."""

    @cached_property
    def _memory(self) -> dict[int, Read]:
        return {}

    @cached_property
    def _comparisons(self) -> Comparisons:
        return Comparisons(self.spans, self.schema)

    @cached_property
    def _times(self) -> Times:
        return Times(self.spans, self.schema)

    def filters(self, position: int) -> Read:
        """Return every reading of zero or more conditions from a position on."""
        if position not in self._memory:
            self._memory[position] = _cheapest([((), position, 0.0), *self._filters(position)])
        return self._memory[position]

    def _filters(self, position: int) -> Iterator[tuple[Where, int, float]]:
        for start in self.skip(position, ("COMMA", "AND")):
            for one, end, cost in self.condition(start):
                for rest, final, more in self._after(one, end):
                    if one is None:
                        yield rest, final, cost + more
                    elif not rest or not self._joined_by_or(end):
                        yield (one, *rest), final, cost + more
                    elif len(rest) == 1:
                        options = rest[0].conditions if isinstance(rest[0], AnyOf) else (rest[0],)
                        yield (AnyOf(conditions=(one, *options)),), final, cost + more

    def _after(self, one: Condition | None, end: int) -> Iterator[tuple[Where, int, float]]:
        """Yield conditions after a condition; the column is not said again: 5 or more but less than 9."""
        yield from self.filters(end)
        if one and one.column.numeric and self.tag(end) == "AND" and self.tag(end + 1) == "CMP":
            for two, stop, cost in self._comparisons.of_column(end + 1, one.column):
                for rest, final, more in self.filters(stop):
                    yield (two, *rest), final, cost + more

    def _joined_by_or(self, position: int) -> bool:
        *_, end = self.skip(position, ("COMMA", "AND"))
        return any(span.sense.value == "or" for span in self.spans[position:end])

    def condition(self, position: int) -> Parsed:
        """Yield every reading of one condition, with the small words before it."""
        asserting, negated = False, False
        for start in range(position, position + _MOST_GLUE + 1):
            for one, end, cost in self.core(start):
                if one is not None:
                    predicate = asserting or one.predicate
                    yield replace(one, negated=one.negated != negated, predicate=predicate), end, cost
                elif not negated:
                    yield None, end, cost
            if start > position and not negated:
                yield from self._possessed(start, asserting)
            tag = self.tag(start)
            if tag not in GLUE and tag not in ("NOT", "OTHER"):
                return
            asserting = asserting or tag in _ASSERTING
            negated = negated != (tag in ("NOT", "OTHER"))

    def _possessed(self, position: int, asserting: bool) -> Parsed:
        """Yield has an end date: a column with values in some rows only."""
        column, before = self.column(position), self.spans[position - 1]
        has = before.tag == "HAVE" or before.text == "with"
        if column and has and not column.numeric and column.nulls and not column.truths:
            yield Condition(column=column, operator="present", predicate=asserting), position + 1, 0.15

    def core(self, position: int) -> Parsed:
        """Yield every reading of one condition starting right here."""
        tag = self.tag(position)
        if tag == "COL":
            yield from self._about_column(position)
        elif tag == "VAL":
            yield from self._value_first(position)
        elif tag in ("WITHOUT", "NOT", "MISSING", "PRESENT"):
            yield from self._missing_first(position)
        elif tag == "STARTS":
            yield from self._letters(position)
        elif tag in ("ROW", "UNIT", "UNK", "FILE"):
            yield from self._restricting_nothing(position)
        else:
            yield from self._comparisons.first(position)
            if tag == "NUM":
                yield from self._known_by_number(position)
            if tag in ("NUM", "DATE", "WHENCMP", "BETWEEN"):
                yield from self._times.at(position, None)
            if tag == "WHENCMP":
                yield from self._before_row(position)

    def _before_row(self, position: int) -> Parsed:
        """Yield before Everest, if one column alone tells time."""
        dated = [column for column in self.schema.columns if column.dated and not column.part]
        for column in dated if len(dated) == 1 else ():
            for one, end, cost in self._comparisons.with_row(position + 1, column, self.spans[position].sense.value):
                yield one, end, cost + 0.2

    def _restricting_nothing(self, position: int) -> Parsed:
        """Yield mere repetitions of the rows' name; and order 5010, a row by its number."""
        tag, before = self.tag(position), self.tag(position - 1)
        if tag == "ROW":
            yield None, position + 1, 0.02
            yield from self._numbered(position)
            if self.tag(position + 1) == "VAL":
                yield from self._value_first(position + 1)
        elif tag == "FILE" or (tag == "UNIT" and before == "IN"):
            yield None, position + 1, 0.0
        elif tag == "UNK" and before in ("IN", "REL"):
            named = stem(self.spans[position].text.lower()) in _KINDS_OF_THINGS
            following = self.spans[position + 1 : position + (4 if named else 2)]
            if any(span.tag == "VAL" and span.column and span.column.unique for span in following):
                yield None, position + 1, 0.1

    def _numbered(self, position: int) -> Parsed:
        table = self.spans[position].table
        if self.tag(position + 1) == "NUM" and table:
            values = (self.spans[position + 1].number or 0,)
            for column in table.columns:
                if column.identifies:
                    yield Condition(column=column, operator="=", values=values), position + 2, 0.05

    def _known_by_number(self, position: int) -> Parsed:
        """Yield 404, if one column alone holds numbers of rows."""
        number = self.spans[position].number or 0
        unique = [column for column in self.schema.columns if column.numeric and column.unique and not column.year]
        keys = [column for column in unique if column.numbers_things] or [
            table.columns[0] for table in self.schema.tables if table.columns[0] in unique
        ]
        for column in keys if len(keys) == 1 else ():
            low, high = column.low, column.high
            if isinstance(low, int | float) and isinstance(high, int | float) and low <= number <= high:
                yield Condition(column=column, operator="=", values=(number,)), position + 1, 0.25

    # a column, then what is said of it

    def _about_column(self, position: int) -> Parsed:
        column = self.column(position)
        assert column is not None
        if column.truths:
            yield Condition(column=column, operator="true", predicate=True), position + 1, 0.1
        before = self.tag(position - 1)
        if self._noun_of_rows(column) and before in _BEFORE_NOUN and self.spans[position - 1].text != "by":
            yield None, position + 1, 0.15
        if self.column(position - 1) == column:
            yield None, position + 1, 0.1
        negated = False
        for after in self.skip(position + 1, ("BE", "IN", "HAVE", "THERE", "REL", "NOT")):
            negated = negated != (after > position + 1 and self.tag(after - 1) == "NOT")
            for one, end, cost in self._predicate(after, column):
                yield replace(one, negated=one.negated != negated), end, cost

    def _noun_of_rows(self, column: Column) -> bool:
        table = self.schema.table(column.table)
        most = max((other.distinct for other in table.columns if other.kind == "text"), default=0)
        return (
            column == table.label
            or (column.numbers_things and column.unique)
            or (column.kind == "text" and not column.part and column.distinct == most)
        )

    def _predicate(self, position: int, column: Column) -> Iterator[tuple[Condition, int, float]]:
        tag = self.tag(position)
        if column.numeric and tag:
            yield from self._comparisons.of_column(position, column)
        if tag == "NUM" and column.numeric:
            yield from self._comparisons.numbers(position, column)
        if tag == "VAL" and self.spans[position].column == column:
            yield self._values(position, column)
        if tag in ("MISSING", "PRESENT"):
            yield Condition(column=column, operator="missing" if tag == "MISSING" else "present"), position + 1, 0.05
        if tag in ("TRUE", "FALSE") and column.truths:
            yield Condition(column=column, operator="true" if tag == "TRUE" else "false"), position + 1, 0.05
        if column.dated and tag:
            yield from self._times.at(position, column)
        if tag in ("CMP", "WHENCMP") and (column.numeric or column.dated):
            yield from self._comparisons.with_row(position + 1, column, self.spans[position].sense.value)

    # a cell, or letters of one

    def _value_first(self, position: int) -> Parsed:
        span = self.spans[position]
        assert span.column is not None
        one, end, cost = self._values(position, span.column)
        yield one, end, cost
        if end > position + 1:
            values = (span.text,) if span.listed else span.values
            sign = operator("holds" if span.listed else "=")
            yield Condition(column=span.column, operator=sign, values=values), position + 1, 0.05
        for after in self.skip(end, ("IN", "REL"), 1):
            if self.column(after) == span.column:
                yield one, after + 1, cost - 0.05

    def _values(self, position: int, column: Column) -> tuple[Condition, int, float]:
        """Return equality with one cell, or with one of several joined by commas, and, or."""
        said = [self.spans[position]]
        end = position + 1
        while self.tag(end) in ("AND", "COMMA"):
            *_, after = self.skip(end, ("AND", "COMMA"))
            either = any(span.sense.value == "or" for span in self.spans[end:after])
            if self.tag(after) != "VAL" or self.spans[after].column != column or (said[0].listed and not either):
                break
            said.append(self.spans[after])
            end = after + 1
        if any(span.listed for span in said):
            return Condition(column=column, operator="holds", values=tuple(span.text for span in said)), end, 0.0
        values = dict.fromkeys(value for span in said for value in span.values)
        return Condition(column=column, operator="=", values=tuple(values)), end, 0.0

    def _letters(self, position: int) -> Parsed:
        """Yield starts with M, of the column said before, else of the naming column."""
        if position + 1 >= len(self.spans):
            return
        said = self.spans[position + 1]
        values, sign = (said.text,), operator(self.spans[position].sense.value)
        for before in reversed(self.spans[:position]):
            column = before.column or (before.table.label if before.table else None)
            elsewhere = said.tag == "VAL" and said.column != column
            if column and column.kind == "text" and before.tag in ("COL", "ROW") and not elsewhere:
                yield Condition(column=column, operator=sign, values=values), position + 2, 0.05
                return

    # nothing in the cell

    def _missing_first(self, position: int) -> Parsed:
        """Yield without a comment, missing age, known birth date, no goals."""
        tag = self.tag(position)
        *_, after = self.skip(position + 1, ("BE",) if tag == "NOT" else ("MISSING", "IN", "PRESENT", "HAVE", "ROW"), 2)
        column = self.column(after)
        told = [
            self.spans[end].column for end in self.skip(after + 1, ("IN", "BY", "REL"), 2) if self.tag(end) == "VAL"
        ]
        if column is None or self.tag(after + 1) in _CONTINUED or (tag == "NOT" and column.truths) or column in told:
            return
        if tag == "NOT" or (tag == "WITHOUT" and column.numeric and not column.dated and not column.truths):
            yield from self._none_of(column, after + 1)
        elif tag == "WITHOUT" and column.truths:
            yield Condition(column=column, operator="false"), after + 1, 0.05
        else:
            yield Condition(column=column, operator="present" if tag == "PRESENT" else "missing"), after + 1, 0.05

    @staticmethod
    def _none_of(column: Column, end: int) -> Parsed:
        """Yield has no moons: a count of zero, else an empty cell; nothing if both are possible."""
        if not column.numeric or column.dated or column.low != 0:
            yield Condition(column=column, operator="missing"), end, 0.1
        elif not column.nulls:
            yield Condition(column=column, operator="=", values=(0,)), end, 0.1


def _cheapest(found: Read) -> Read:
    best: dict[tuple[Where, int], float] = {}
    for where, end, cost in found:
        best[where, end] = min(cost, best.get((where, end), cost))
    ranked = sorted(best.items(), key=lambda item: item[1])[:_MOST_READINGS]
    return [(where, end, cost) for (where, end), cost in ranked]
