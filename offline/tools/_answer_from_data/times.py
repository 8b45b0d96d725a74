"""The grammar of moments: in 1999, before March 2020, between 1990 and 2000."""

import re
from collections.abc import Iterator

from .query import Condition
from .reader import Reader, operator
from .schema import Column

_FAR = 300


class Times(Reader):
    """Reads conditions on moments from spans, by position."""

    def at(self, position: int, column: Column | None) -> Iterator[tuple[Condition, int, float]]:
        """Yield conditions on a column, or on the time columns if none is said."""
        columns = [column] if column else [other for other in self.schema.columns if other.dated]
        tag = self.tag(position)
        for dated in columns:
            doubt = 0.0 if column else 0.15 + 0.3 * (len(columns) > 1 and not self._tells_of_rows(dated))
            if self._is_moment(position):
                yield from self._one(position, dated, "=", doubt)
            if tag == "WHENCMP" and self._is_moment(position + 1):
                yield from self._one(position + 1, dated, self.spans[position].sense.value, doubt)
            if self._is_moment(position) and self.tag(position + 1) == "TO" and self._is_moment(position + 2):
                values = (self._moment(position), self._moment(position + 2))
                yield Condition(column=dated, operator="between", values=values), position + 3, doubt
            joint = tag == "BETWEEN" and self.tag(position + 2) in ("TO", "AND")
            if joint and self._is_moment(position + 1) and self._is_moment(position + 3):
                values = (self._moment(position + 1), self._moment(position + 3))
                yield Condition(column=dated, operator="between", values=values), position + 4, doubt

    def _one(self, position: int, column: Column, sign: str, doubt: float) -> Iterator[tuple[Condition, int, float]]:
        if not (column.year and self.tag(position) == "DATE") and not self._far_from(column, position):
            values = (self._moment(position),)
            yield Condition(column=column, operator=operator(sign), values=values), position + 1, doubt

    def _far_from(self, column: Column, position: int) -> bool:
        """Tell whether a year is too far from a column's years and is some other number."""
        years = [re.search(r"\d{4}", str(edge)) for edge in (column.low, column.high)]
        number = self.spans[position].number
        low, high = (int(found[0]) if found else None for found in years)
        return number is not None and low is not None and high is not None and not low - _FAR < number < high + _FAR

    def _tells_of_rows(self, column: Column) -> bool:
        """Tell whether a column holds the time of a row itself, among others for something else."""
        nouns = set(self.schema.table(column.table).nouns) | {"date", "year"}
        return set(column.words) <= nouns

    def _is_moment(self, position: int) -> bool:
        return self.tag(position) == "DATE" or (self.tag(position) == "NUM" and self.spans[position].year)

    def _moment(self, position: int) -> str | int | float:
        span = self.spans[position]
        return span.text if span.tag == "DATE" else (span.number or 0)
