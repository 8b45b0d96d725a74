"""Shared parts of the grammar: look at a span, skip small words, find implied columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from .matching import attribute_score
from .query import Operator
from .schema import Column, Schema
from .span import Span

SURE = 0.85


@dataclass(frozen=True)
class Reader:
    """Spans of one reading of a question, and the tables it is about."""

    spans: Sequence[Span]
    schema: Schema

    def tag(self, position: int) -> str:
        """Return the tag at a position, empty before the start and after the end."""
        return self.spans[position].tag if 0 <= position < len(self.spans) else ""

    def column(self, position: int) -> Column | None:
        """Return the column named at a position, or None."""
        return self.spans[position].column if self.tag(position) == "COL" else None

    def skip(self, position: int, tags: Sequence[str], most: int = 3) -> Iterator[int]:
        """Yield the position, and those after each skippable word there."""
        yield position
        for _ in range(most):
            if self.tag(position) not in tags:
                return
            position += 1
            yield position

    def after_unit(self, position: int) -> int:
        """Return the position after a unit, if there is one."""
        return position + (self.tag(position) == "UNIT")

    def implied(self, attributes: Sequence[str], table: str = "") -> list[Column]:
        """Return the best columns for an attribute: of several for size, else of the first with any."""
        found: list[Column] = []
        columns = [column for column in self.schema.columns if not column.part and (column.numeric or column.dated)]
        for attribute in attributes:
            scored = [(attribute_score(attribute, column), column) for column in columns if table in ("", column.table)]
            best = max((score for score, _ in scored), default=0.0)
            found += [column for score, column in scored if score == best >= SURE and column not in found]
            if found and "size" not in attributes:
                break
        return found


def operator(value: str) -> Operator:
    """Return a comparison of the lexicon as an operator."""
    return cast(Operator, value)
