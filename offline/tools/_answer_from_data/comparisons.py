"""The grammar of comparisons: over 30, between 3 and 5, more than 4 cylinders, older than 40, above average."""

from collections.abc import Iterator

from .matching import attribute_score
from .query import Condition
from .reader import SURE, Reader, operator
from .schema import Column
from .units import converted

Found = Iterator[tuple[Condition, int, float]]
OPPOSITE = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_FEW = 12


class Comparisons(Reader):
    """Reads comparisons with numbers from spans, by position."""

    # what may follow a column

    def of_column(self, position: int, column: Column) -> Found:
        """Yield the right sides of a comparison: a number, another column, its average."""
        span = self.spans[position]
        after = self.after_unit(position + 1)
        if span.tag == "AVGREL":
            sign = operator(span.sense.value)
            yield Condition(column=column, operator=sign, other=column, mean=True), position + 1, 0.05
        if span.tag == "NUM" and self.tag(after) == "AFTERNUM":
            yield self._compared(column, self.spans[after].sense.value, position), after + 1, 0.02
        if span.tag == "CMP" or (span.tag == "WHENCMP" and column.year):
            yield from self._with_sign(position, column, span.sense.value)
        if span.tag == "BETWEEN":
            yield from self._between(position, column)

    def numbers(self, position: int, column: Column) -> Found:
        """Yield equality with one number or one of several."""
        values = [self._amount(column, position)]
        end = self.after_unit(position + 1)
        if self.tag(end) == "AFTERNUM":
            return
        yield Condition(column=column, operator="=", values=tuple(values)), end, 0.05
        while self.tag(end) in ("AND", "COMMA"):
            *_, after = self.skip(end, ("AND", "COMMA"))
            if self.tag(after) != "NUM":
                return
            values.append(self._amount(column, after))
            end = self.after_unit(after + 1)
            yield Condition(column=column, operator="=", values=tuple(values)), end, 0.05

    def _with_sign(self, position: int, column: Column, sign: str) -> Found:
        sense, after = self.spans[position].sense, position + 1
        said = (*sense.attributes, *sense.inverse)
        fits = any(attribute_score(word, column) >= SURE for word in said)
        if said and "size" not in said and not fits and self.implied(said):
            return
        if self.tag(after) == "NUM":
            yield self._compared(column, sign, after), self.after_unit(after + 1), 0.0
        reached = after + 1 + (self.tag(after + 1) == "IN")
        if self.column(after) == column and self.tag(reached) == "NUM":
            yield self._compared(column, sign, reached), self.after_unit(reached + 1), 0.02
        other = self.column(after)
        if other and other.numeric and other != column:
            yield Condition(column=column, operator=operator(sign), other=other), after + 1, 0.05
        average = self.tag(after) == "AGG" and self.spans[after].sense.value == "avg"
        if average and self.column(after + 1) in (None, column):
            end = after + 1 + (self.column(after + 1) == column)
            yield Condition(column=column, operator=operator(sign), other=column, mean=True), end, 0.05

    def with_row(self, position: int, column: Column, sign: str) -> Found:
        """Yield comparisons with the same column of a named row: taller than K2, before K2's."""
        for start in self.skip(position, ("REL", "IN", "COL"), 3):
            if self.column(start - 1) not in (None, column) and start > position:
                return
            span = self.spans[start] if self.tag(start) == "VAL" else None
            named = span.column if span else None
            if span and named and named.table == column.table and named.unique and len(span.values) == 1:
                row = Condition(column=named, operator="=", values=span.values)
                yield Condition(column=column, operator=operator(sign), other=column, row=row), start + 1, 0.05

    def _between(self, position: int, column: Column) -> Found:
        after = self.after_unit(position + 2)
        if self.tag(position + 1) != "NUM" or self.tag(after) not in ("TO", "AND") or self.tag(after + 1) != "NUM":
            return
        low, high = sorted((self._amount(column, position + 1), self._amount(column, after + 1)))
        yield Condition(column=column, operator="between", values=(low, high)), self.after_unit(after + 2), 0.0

    # a number or a comparison, then perhaps the column

    def first(self, position: int) -> Found:
        """Yield conditions with a number or a comparison at their beginning."""
        tag = self.tag(position)
        if tag in ("NUM", "ORD"):
            yield from self._number_then_column(position)
        end = self.after_unit(position + 1)
        if tag == "NUM" and self.tag(end) == "ADJ":
            for column in self.implied(self.spans[end].sense.attributes):
                yield self._compared(column, "=", position), end + 1, 0.0
        if tag in ("CMP", "BETWEEN", "AVGREL"):
            yield from self._then_column(position)
        if tag in ("CMP", "WHENCMP"):
            yield from self._naming_column(position)
        column = self.column(position + 1)
        if tag == "MORE" and column and (column.numeric or column.dated) and self.tag(position + 2) == "THAN":
            yield from self.with_row(position + 3, column, self.spans[position].sense.value)
        if tag == "CMP" and column and column.numeric:
            yield from self._with_sign(position, column, self.spans[position].sense.value)

    def _number_then_column(self, position: int) -> Found:
        """Yield 4 cylinders, 10 or more goals, third class."""
        span = self.spans[position]
        after = position + 1 + (self.tag(position + 1) == "AFTERNUM")
        column = self.column(after)
        if column is None or not column.numeric or span.number is None or column.year:
            return
        sign = self.spans[after - 1].sense.value if after > position + 1 else "="
        if span.tag == "NUM" or (column.distinct <= _FEW and column.kind == "integer"):
            yield self._compared(column, sign, position), after + 1, 0.05

    def _then_column(self, position: int) -> Found:
        """Yield more than 4 cylinders, between 3 and 5 gears, above average price, over 20 kg."""
        numeric = [column for column in self.schema.columns if column.numeric]
        for end in {end for column in numeric[:1] for _, end, _ in self.of_column(position, column)}:
            after = end + (self.tag(end) == "IN")
            column = self.column(after)
            if column and column.numeric:
                doubt = self.spans[after].cost - 0.1
                found = self.of_column(position, column)
                yield from ((one, after + 1, cost + doubt) for one, stop, cost in found if stop == end)
            if self.tag(end) == "ADJ":
                for implied in self.implied(self.spans[end].sense.attributes):
                    found = self.of_column(position, implied)
                    yield from ((one, end + 1, cost) for one, stop, cost in found if stop == end)
            if self.tag(end - 1) == "UNIT":
                for implied in self.implied(self.spans[end - 1].sense.attributes):
                    found = self.of_column(position, implied)
                    yield from ((one, end, cost + 0.2) for one, stop, cost in found if stop == end)

    def _naming_column(self, position: int) -> Found:
        """Yield older than 30, heavier than 2 tons: the comparative names the column."""
        sense = self.spans[position].sense
        for attributes, turned in ((sense.attributes, False), (sense.inverse, True)):
            sign = OPPOSITE.get(sense.value, sense.value) if turned else sense.value
            for column in self.implied(attributes):
                yield from self.with_row(position + 1, column, sign)
                if column.numeric:
                    yield from ((one, end, cost + 0.1) for one, end, cost in self._with_sign(position, column, sign))

    def _compared(self, column: Column, sign: str, position: int) -> Condition:
        return Condition(column=column, operator=operator(sign), values=(self._amount(column, position),))

    def _amount(self, column: Column, position: int) -> int | float:
        """Return the number at a position, in the unit of a column."""
        number = self.spans[position].number or 0
        return converted(number, self.spans[position + 1].text, column.words) if self._measured(position) else number

    def _measured(self, position: int) -> bool:
        return self.tag(position + 1) == "UNIT"
