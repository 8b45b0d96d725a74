"""The grammar of conditions: in Asia, with more than 4 cylinders, whose name starts with M, founded after 1900."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .matching import attribute_score
from .query import AnyOf, Condition, Operator, Where
from .schema import Column, Schema
from .spans import Span

_GLUE = {"IN", "REL", "BE", "HAVE", "THERE", "DO"}
_ASSERTING = {"BE", "HAVE", "DO"}
_OPPOSITE: dict[str, str] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_MOST_GLUE = 4

Parsed = Iterator[tuple[Condition | None, int, float]]


@dataclass(frozen=True)
class Conditions:
    """Reads conditions from spans, by position; every reading is tried."""

    spans: Sequence[Span]
    schema: Schema

    def tag(self, position: int) -> str:
        """Return the tag at a position, empty after the end."""
        return self.spans[position].tag if position < len(self.spans) else ""

    @cached_property
    def _memory(self) -> dict[int, list[tuple[Where, int, float]]]:
        return {}

    def filters(self, position: int) -> list[tuple[Where, int, float]]:
        """Return every reading of zero or more conditions from a position on."""
        if position not in self._memory:
            self._memory[position] = []
            found = [((), position, 0.0), *self._filters(position)]
            self._memory[position] = _cheapest(found)
        return self._memory[position]

    def _filters(self, position: int) -> Iterator[tuple[Where, int, float]]:
        for start in self._joints(position):
            for one, end, cost in self.condition(start):
                for rest, final, more in self.filters(end):
                    if one is None:
                        yield rest, final, cost + more
                    elif self._joined_by_or(end) and rest:
                        first, *others = rest
                        options = first.conditions if isinstance(first, AnyOf) else (first,)
                        if len(rest) == 1:
                            yield (AnyOf(conditions=(one, *options)), *others), final, cost + more
                    else:
                        yield (one, *rest), final, cost + more

    def _joints(self, position: int) -> Iterator[int]:
        """Yield where a condition may start: here, or after a comma, "and" or "or"."""
        yield position
        while self.tag(position) in ("COMMA", "AND"):
            position += 1
            yield position

    def _joined_by_or(self, position: int) -> bool:
        while self.tag(position) in ("COMMA", "AND"):
            if self.spans[position].sense.value == "or":
                return True
            position += 1
        return False

    def condition(self, position: int) -> Parsed:
        """Yield every reading of one condition, with the small words before it."""
        start, asserting, negated = position, False, False
        while start - position <= _MOST_GLUE:
            for one, end, cost in self._core(start):
                if one is None:
                    if not negated:
                        yield one, end, cost
                    continue
                yield replace(one, negated=one.negated != negated, predicate=asserting or one.predicate), end, cost
            if start > position and not negated:
                yield from self._possessed(start, asserting)
            tag = self.tag(start)
            if tag in _GLUE:
                asserting = asserting or tag in _ASSERTING
            elif tag in ("NOT", "OTHER"):
                negated = not negated
            else:
                return
            start += 1

    def _possessed(self, position: int, asserting: bool) -> Parsed:
        """Yield has an end date: a column that is filled in for some rows only."""
        before, span = self.spans[position - 1], self.spans[position] if self.tag(position) else None
        if span and span.tag == "COL" and span.column and (before.tag == "HAVE" or before.text == "with"):
            if not span.column.numeric and span.column.nulls and not span.column.truths:
                yield Condition(column=span.column, operator="present", predicate=asserting), position + 1, 0.15

    def _core(self, position: int) -> Parsed:
        tag = self.tag(position)
        if tag == "COL":
            yield from self._about_column(position)
        if tag in ("CMP", "NUM", "BETWEEN", "WHENCMP", "AVGREL", "ORD", "HAVE", "STARTS"):
            yield from self._number_first(position)
        if tag in ("NUM", "DATE", "WHENCMP", "BETWEEN"):
            yield from self._time(position, None)
        if tag == "VAL":
            yield from self._value_first(position)
        if tag in ("WITHOUT", "NOT", "MISSING", "PRESENT"):
            yield from self._missing_first(position)
        if tag == "ROW":
            yield None, position + 1, 0.02
            yield from self._numbered(position)
        if tag == "UNIT" and self.tag(position - 1) == "IN":
            yield None, position + 1, 0.0
        if tag == "STARTS":
            yield from self._letters(position)
        if tag == "UNK" and self.tag(position - 1) in ("IN", "REL") and any(
            span.tag == "VAL" and span.column and span.column.unique for span in self.spans[position + 1 : position + 4]
        ):
            yield None, position + 1, 0.1
        if tag == "FILE":
            yield None, position + 1, 0.0

    def _numbered(self, position: int) -> Parsed:
        """Yield order 5010: a row by the number that identifies it."""
        table = self.spans[position].table
        if self.tag(position + 1) == "NUM" and table:
            for column in table.columns:
                if column.identifies:
                    number = self.spans[position + 1].number or 0
                    yield Condition(column=column, operator="=", values=(number,)), position + 2, 0.05

    # a column, then what is said of it

    def _about_column(self, position: int) -> Parsed:
        span = self.spans[position]
        column = span.column
        assert column is not None
        yield from self._truth(position, column)
        if self._noun_of_rows(column) and not (position and self.spans[position - 1].text == "by"):
            yield None, position + 1, 0.15
        if self.tag(position - 1) == "COL" and self.spans[position - 1].column == column:
            yield None, position + 1, 0.1
        after, negated = position + 1, False
        for _ in range(3):
            for one, end, cost in self._predicate(after, column):
                yield replace(one, negated=one.negated != negated), end, cost
            if self.tag(after) in ("BE", "IN", "HAVE", "THERE", "REL"):
                after += 1
            elif self.tag(after) == "NOT":
                negated, after = not negated, after + 1
            else:
                return

    def _predicate(self, position: int, column: Column) -> Iterator[tuple[Condition, int, float]]:
        tag = self.tag(position)
        span = self.spans[position] if tag else None
        if span is None:
            return
        if column.numeric:
            yield from self._comparison(position, column)
        if tag == "NUM" and column.numeric and span.number is not None:
            yield from self._numbers(position, column)
        if tag == "VAL" and span.column == column:
            yield self._values(position, column)
        if tag in ("MISSING", "PRESENT"):
            yield Condition(column=column, operator="missing" if tag == "MISSING" else "present"), position + 1, 0.05
        if tag in ("TRUE", "FALSE") and column.truths:
            yield Condition(column=column, operator="true" if tag == "TRUE" else "false"), position + 1, 0.05
        if column.dated:
            for one, end, cost in self._time(position, column):
                if one:
                    yield one, end, cost

    def _letters(self, position: int) -> Parsed:
        """Yield starts with M, of the column said before, else of the column that names the rows."""
        if position + 1 >= len(self.spans):
            return
        text, operator = self.spans[position + 1].text, self.spans[position].sense.value
        for before in reversed(self.spans[:position]):
            column = before.column or (before.table.label if before.table else None)
            if column and column.kind == "text" and before.tag in ("COL", "ROW"):
                yield Condition(column=column, operator=operator, values=(text,)), position + 2, 0.05  # pyright: ignore[reportArgumentType]
                return

    def _comparison(self, position: int, column: Column) -> Iterator[tuple[Condition, int, float]]:
        """Yield what a comparison with a number, another column or an average may follow: over 30."""
        span = self.spans[position]
        if span.tag == "AVGREL":
            operator: Operator = span.sense.value  # pyright: ignore[reportAssignmentType]
            yield Condition(column=column, operator=operator, other=column, mean=True), position + 1, 0.05
        if span.tag == "NUM" and self.tag(self._after_unit(position + 1)) == "AFTERNUM":
            end = self._after_unit(position + 1)
            yield self._compare(column, self.spans[end].sense.value, span.number), end + 1, 0.02
        if span.tag in ("CMP", "WHENCMP") and (span.tag == "CMP" or column.year):
            yield from self._compared(position, column, span.sense.value)
        if span.tag == "BETWEEN":
            yield from self._between(position, column)

    def _compared(self, position: int, column: Column, sign: str) -> Iterator[tuple[Condition, int, float]]:
        after = position + 1
        following = self.spans[after] if after < len(self.spans) else None
        said = (*self.spans[position].sense.attributes, *self.spans[position].sense.inverse)
        other = said and "size" not in said and not any(attribute_score(word, column) >= 0.85 for word in said)
        if following is None or other:
            return
        if following.tag == "NUM":
            end = self._after_unit(after + 1)
            one = self._compare(column, sign, following.number)
            yield one, end, 0.0
        if following.tag == "COL" and following.column and following.column.numeric and following.column != column:
            one = Condition(column=column, operator=sign, other=following.column)  # pyright: ignore[reportArgumentType]
            yield one, after + 1, 0.05
        if following.tag == "AGG" and following.sense.value == "avg":
            end = after + 1
            if self.tag(end) == "COL" and self.spans[end].column == column:
                end += 1
            one = Condition(column=column, operator=sign, other=column, mean=True)  # pyright: ignore[reportArgumentType]
            yield one, end, 0.05

    @staticmethod
    def _compare(column: Column, sign: str, number: int | float | None) -> Condition:
        return Condition(column=column, operator=sign, values=(number or 0,))  # pyright: ignore[reportArgumentType]

    def _between(self, position: int, column: Column) -> Iterator[tuple[Condition, int, float]]:
        after = self._after_unit(position + 2)
        if self.tag(position + 1) != "NUM" or self.tag(after) not in ("TO", "AND") or self.tag(after + 1) != "NUM":
            return
        low, high = self.spans[position + 1].number, self.spans[after + 1].number
        if low is not None and high is not None:
            one = Condition(column=column, operator="between", values=(min(low, high), max(low, high)))
            yield one, self._after_unit(after + 2), 0.0

    def _numbers(self, position: int, column: Column) -> Iterator[tuple[Condition, int, float]]:
        """Yield equality with one number or one of several."""
        values = [self.spans[position].number or 0]
        end = self._after_unit(position + 1)
        if self.tag(end) == "AFTERNUM":
            return
        yield Condition(column=column, operator="=", values=tuple(values)), end, 0.05
        while self.tag(end) in ("AND", "COMMA"):
            after = end + 1
            while self.tag(after) in ("AND", "COMMA"):
                after += 1
            if self.tag(after) != "NUM":
                return
            values.append(self.spans[after].number or 0)
            end = self._after_unit(after + 1)
            yield Condition(column=column, operator="=", values=tuple(values)), end, 0.05

    def _after_unit(self, position: int) -> int:
        return position + 1 if self.tag(position) == "UNIT" else position

    def _truth(self, position: int, column: Column) -> Parsed:
        """Yield a yes-or-no column standing for its yes: who survived."""
        if column.truths:
            yield Condition(column=column, operator="true", predicate=True), position + 1, 0.1

    def _noun_of_rows(self, column: Column) -> bool:
        table = self.schema.table(column.table)
        texts = [other for other in table.columns if other.kind == "text"]
        return column == table.label or (column.kind == "text" and column.distinct == max(c.distinct for c in texts))

    # a number, a comparison or a value, then perhaps the column

    def _number_first(self, position: int) -> Parsed:
        span = self.spans[position]
        if span.tag in ("NUM", "ORD"):
            yield from self._number_then_column(position)
        if span.tag in ("CMP", "BETWEEN", "AVGREL"):
            yield from self._comparison_then_column(position)
        if span.tag in ("CMP", "WHENCMP"):
            yield from self._comparison_with_implied(position)

    def _number_then_column(self, position: int) -> Parsed:
        span = self.spans[position]
        after = position + 1
        if self.tag(after) == "AFTERNUM":
            after += 1
        column = self.spans[after].column if self.tag(after) == "COL" else None
        if column is None or not column.numeric or span.number is None or column.year:
            return
        sign = self.spans[after - 1].sense.value if after > position + 1 else "="
        small = span.tag == "NUM" or (column.distinct <= 12 and column.kind == "integer")
        if small:
            yield self._compare(column, sign, span.number), after + 1, 0.05

    def _comparison_then_column(self, position: int) -> Parsed:
        """Yield more than 4 cylinders, between 3 and 5 gears, above average price."""
        probe = [column for column in self.schema.columns if column.numeric]
        ends = {end for column in probe[:1] for _, end, _ in self._comparison(position, column)}
        for end in ends:
            after = end + 1 if self.tag(end) in ("IN",) else end
            span = self.spans[after] if self.tag(after) == "COL" else None
            if span and span.column and span.column.numeric:
                for one, stop, cost in self._comparison(position, span.column):
                    if stop == end:
                        yield one, after + 1, cost + span.cost - 0.1
            unit = self.spans[end - 1] if self.tag(end - 1) == "UNIT" else None
            if unit:
                for column in self.implied(unit.sense.attributes):
                    for one, stop, cost in self._comparison(position, column):
                        if stop == end:
                            yield one, end, cost + 0.2

    def _comparison_with_implied(self, position: int) -> Parsed:
        """Yield older than 30, heavier than 2 tons: the comparative names the column."""
        span = self.spans[position]
        for attributes, turned in ((span.sense.attributes, False), (span.sense.inverse, True)):
            for column in self.implied(attributes):
                if not column.numeric:
                    continue
                sign = _OPPOSITE[span.sense.value] if turned else span.sense.value
                for one, end, cost in self._compared(position, column, sign):
                    yield one, end, cost + 0.1

    def implied(self, attributes: Sequence[str], table: str = "") -> list[Column]:
        """Return the columns that best carry one of the attributes; size may be several, else the first attribute counts."""
        found: list[Column] = []
        for attribute in attributes:
            scored = [(attribute_score(attribute, column), column) for column in self.schema.columns]
            scored = [(score, column) for score, column in scored if column.numeric or column.dated]
            scored = [(score, column) for score, column in scored if table in ("", column.table)]
            best = max((score for score, _ in scored), default=0.0)
            found += [column for score, column in scored if score == best >= 0.85 and column not in found]
            if found and "size" not in attributes:
                break
        return found

    def _value_first(self, position: int) -> Parsed:
        span = self.spans[position]
        assert span.column is not None
        one, end, cost = self._values(position, span.column)
        yield one, end, cost
        if end > position + 1:
            single = Condition(column=span.column, operator="=", values=span.values)
            yield single, position + 1, 0.05
        if self.tag(end) == "COL" and self.spans[end].column == span.column:
            yield one, end + 1, cost - 0.05

    def _values(self, position: int, column: Column) -> tuple[Condition, int, float]:
        """Return equality with one cell, or with one of several joined by commas, and, or."""
        values = list(self.spans[position].values)
        end = position + 1
        while self.tag(end) in ("AND", "COMMA"):
            after = end + 1
            while self.tag(after) in ("AND", "COMMA"):
                after += 1
            if self.tag(after) != "VAL" or self.spans[after].column != column:
                break
            values += self.spans[after].values
            end = after + 1
        return Condition(column=column, operator="=", values=tuple(dict.fromkeys(values))), end, 0.0

    def _missing_first(self, position: int) -> Parsed:
        """Yield without a comment, missing age, known birth date."""
        span = self.spans[position]
        after = position + 1
        while self.tag(after) in ("MISSING", "IN", "PRESENT") and after < position + 3:
            after += 1
        column = (
            self.spans[after].column
            if self.tag(after) == "COL" and self.tag(after + 1) not in ("VAL", "NUM", "CMP")
            else None
        )
        if column is None or span.tag == "NOT":
            if (
                span.tag == "NOT"
                and self.tag(position + 1) == "COL"
                and self.tag(position + 2) not in ("VAL", "NUM", "CMP")
            ):
                column = self.spans[position + 1].column
                if column and not column.truths:
                    yield from self._none_of(column, position + 2)
            return
        if span.tag == "WITHOUT" and column.numeric and not column.dated:
            yield from self._none_of(column, after + 1)
            return
        operator: Operator = "present" if span.tag == "PRESENT" else "missing"
        if span.tag == "WITHOUT" and column.truths:
            operator = "false"
        yield Condition(column=column, operator=operator), after + 1, 0.05

    def _none_of(self, column: Column, end: int) -> Parsed:
        """Yield has no moons: zero of what is counted, else nothing in the cell; not when it may be either."""
        counted = column.numeric and not column.dated and column.low == 0
        if not (counted and column.nulls):
            one = (
                Condition(column=column, operator="=", values=(0,))
                if counted
                else Condition(column=column, operator="missing")
            )
            yield one, end, 0.1

    # when

    def _time(self, position: int, column: Column | None) -> Parsed:
        """Yield in 1999, before March 2020, between 1990 and 2000, of a column said or the only one that tells when."""
        columns = [column] if column else self._time_columns()
        span = self.spans[position]
        extra = 0.0 if column else 0.15 + 0.3 * (len(columns) > 1)
        for dated in columns:
            if self._is_time(position):
                yield from self._at(position, dated, "=", extra)
            if span.tag == "WHENCMP" and self._is_time(position + 1):
                yield from self._at(position + 1, dated, span.sense.value, extra)
            if span.tag == "BETWEEN" and self._is_time(position + 1) and self.tag(position + 2) in ("TO", "AND"):
                if self._is_time(position + 3):
                    low, high = self._moment(position + 1), self._moment(position + 3)
                    yield Condition(column=dated, operator="between", values=(low, high)), position + 4, extra

    def _time_columns(self) -> list[Column]:
        return [column for column in self.schema.columns if column.dated]

    def _is_time(self, position: int) -> bool:
        return self.tag(position) == "DATE" or (self.tag(position) == "NUM" and self.spans[position].year)

    def _moment(self, position: int) -> str | int | float:
        span = self.spans[position]
        return span.text if span.tag == "DATE" else (span.number or 0)

    def _at(self, position: int, column: Column, sign: str, extra: float) -> Parsed:
        operator: Operator = sign  # pyright: ignore[reportAssignmentType]
        if column.year and self.tag(position) == "DATE":
            return
        yield Condition(column=column, operator=operator, values=(self._moment(position),)), position + 1, extra


def _cheapest(found: list[tuple[Where, int, float]]) -> list[tuple[Where, int, float]]:
    best: dict[tuple[Where, int], float] = {}
    for where, end, cost in found:
        best[where, end] = min(cost, best.get((where, end), cost))
    ranked = sorted(best.items(), key=lambda item: item[1])[:60]
    return [(where, end, cost) for (where, end), cost in ranked]
