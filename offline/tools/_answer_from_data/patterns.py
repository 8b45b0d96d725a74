"""Sentence patterns: tags and phrases in a row, matched against spans in every possible way."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from .query import Where
from .rankings import Rankings
from .reader import Reader
from .span import Span

Bound = Mapping[str, Any]
_PHRASES = {"np", "F", "col", "number", "ranked", "extreme", "cols", "entity", "one"}
_TRAILING = ("BE", "HAVE", "DO", "THERE", "IN", "COMMA", "APPEAR", "LIST")
_MOST_TRAILING = 2
_LEAD = ("WHAT", "LIST", "CALC", "BE", "THERE", "DO", "IN")


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One element of a pattern: tags to choose from, or a phrase; perhaps optional, repeated, named."""

    tags: tuple[str, ...]
    phrase: str = ""
    name: str = ""
    least: int = 1
    most: int = 1
    value: str = ""


@cache
def compiled(pattern: str) -> tuple[Element, ...]:
    """Return a pattern's elements.

    A pattern is words in a row. Upper case stands for tags: `BE`, `BE|DO`, `SUP=max`. Lower case and F stand for
    phrases. `?` is optional, `*` is up to three times, `@name`, before
    the mark, gives what was read a name of its own.
    """
    elements: list[Element] = []
    for word in pattern.split():
        marks = word[-1] if word[-1] in "?*" else ""
        body, _, name = word.rstrip("?*").partition("@")
        body, _, value = body.partition("=")
        least, most = {"": (1, 1), "?": (0, 1), "*": (0, 3)}[marks]
        if body in _PHRASES:
            elements.append(Element(tags=(), phrase=body, name=name or body, least=least, most=most))
        else:
            tags = _LEAD if body == "LEAD" else tuple(body.split("|"))
            elements.append(Element(tags=tags, name=name, least=least, most=most, value=value))
    return tuple(elements)


class Matcher(Reader):
    """Matches patterns against spans."""

    @cached_property
    def _rankings(self) -> Rankings:
        return Rankings(self.spans, self.schema)

    def filters(self, position: int) -> list[tuple[Where, int, float]]:
        """Return every reading of zero or more conditions from a position on."""
        return self._rankings.nouns.conditions.filters(position)

    def matches(self, pattern: str, position: int = 0) -> Iterator[tuple[Bound, float]]:
        """Yield the bindings of each complete match of a pattern, with its doubt."""
        for bound, end, cost in self._match(compiled(pattern), 0, position):
            rest = self.spans[end:]
            if len(rest) <= _MOST_TRAILING and all(span.tag in _TRAILING for span in rest):
                yield bound, cost + 0.05 * len(rest)

    def _match(
        self, elements: tuple[Element, ...], index: int, position: int
    ) -> Iterator[tuple[dict[str, Any], int, float]]:
        if index == len(elements):
            yield {}, position, 0.0
            return
        element = elements[index]
        for found, end, cost in self._element(element, position):
            for bound, final, more in self._match(elements, index + 1, end):
                yield _bind(element, found, bound), final, cost + more

    def _element(self, element: Element, position: int) -> Iterator[tuple[Any, int, float]]:
        if element.least == 0:
            yield None, position, 0.0
        if element.phrase:
            yield from self._phrase(element.phrase, position)
            return
        for taken in range(element.most):
            if self.tag(position + taken) not in element.tags:
                return
            span = self.spans[position + taken]
            if element.value and span.sense.value != element.value:
                return
            yield span, position + taken + 1, 0.0

    def _phrase(self, phrase: str, position: int) -> Iterator[tuple[Any, int, float]]:
        nouns = self._rankings.nouns
        readers: dict[str, Callable[[int], Iterable[tuple[Any, int, float]]]] = {
            "F": nouns.conditions.filters,
            "np": nouns.noun,
            "ranked": self._rankings.ranked,
            "extreme": self._rankings.extreme,
            "cols": self._columns,
            "col": self._column,
            "number": self._number,
            "entity": self._entity,
            "one": self._one,
        }
        yield from readers[phrase](position)

    def _entity(self, position: int) -> Iterator[tuple[Any, int, float]]:
        """Yield meanings of one row or group: a cell, or a moment for rows in time."""
        tag = self.tag(position)
        for one, end, cost in self._rankings.nouns.conditions.core(position) if tag in ("VAL", "DATE", "NUM") else ():
            if one and (tag == "VAL" or one.column == self.schema.table(one.column.table).moment):
                yield one, end, cost

    def _one(self, position: int) -> Iterator[tuple[Any, int, float]]:
        """Yield one condition with the small words before it."""
        yield from (found for found in self._rankings.nouns.conditions.condition(position) if found[0])

    def _column(self, position: int) -> Iterator[tuple[Any, int, float]]:
        if self.column(position):
            yield self.spans[position], position + 1, 0.0

    def _number(self, position: int) -> Iterator[tuple[Any, int, float]]:
        start = position + (self.tag(position) == "ROW")
        column = self.column(start)
        if column and column.numeric and not column.numbers_things:
            yield self.spans[start], start + 1, 0.0

    def _columns(self, position: int) -> Iterator[tuple[Any, int, float]]:
        """Yield one column or several joined by commas and "and"."""
        found: list[Span] = []
        position += self.tag(position) == "KINDS"
        while self.column(position):
            found.append(self.spans[position])
            yield tuple(found), position + 1, 0.0
            *_, after = self.skip(position + 1, ("COMMA", "AND"))
            if after == position + 1:
                return
            position = after


def _bind(element: Element, found: Any, bound: dict[str, Any]) -> dict[str, Any]:
    if not element.name or found is None:
        return bound
    if element.phrase != "F":
        return {**bound, element.name: found}
    name = "where" if element.name == "F" else element.name
    return {**bound, name: (*found, *bound.get(name, ()))}
