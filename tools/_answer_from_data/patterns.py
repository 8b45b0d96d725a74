"""Sentence patterns: tags and phrases in a row, matched against spans in every possible way."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from .nouns import Nouns

Bound = Mapping[str, Any]
_PHRASES = {"np", "F", "col", "number", "any", "ranked", "extreme", "cols", "value", "entity"}
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


@dataclass(frozen=True)
class Matcher(Nouns):
    """Matches patterns against spans."""

    def matches(self, pattern: str, position: int = 0) -> Iterator[tuple[Bound, float]]:
        """Yield what each complete match of a pattern binds, and how doubtful it is."""
        for bound, end, cost in self._match(compiled(pattern), 0, position):
            rest = self.spans[end:]
            if len(rest) <= 2 and all(
                span.tag in ("BE", "HAVE", "DO", "THERE", "IN", "COMMA", "APPEAR") for span in rest
            ):
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
                yield self._bind(element, found, bound), final, cost + more

    @staticmethod
    def _bind(element: Element, found: object, bound: dict[str, Any]) -> dict[str, Any]:
        if not element.name or found is None:
            return bound
        if element.phrase == "F":
            name = "where" if element.name == "F" else element.name
            return {**bound, name: (*found, *bound.get(name, ()))}  # pyright: ignore[reportGeneralTypeIssues]
        return {**bound, element.name: found}

    def _element(self, element: Element, position: int) -> Iterator[tuple[Any, int, float]]:
        if element.phrase:
            if element.least == 0:
                yield None, position, 0.0
            yield from self._phrase(element.phrase, position)
            return
        if element.least == 0:
            yield None, position, 0.0
        for taken in range(1, element.most + 1):
            if self.tag(position + taken - 1) not in element.tags:
                return
            span = self.spans[position + taken - 1]
            if element.value and span.sense.value != element.value:
                return
            yield span, position + taken, 0.0

    def _phrase(self, phrase: str, position: int) -> Iterator[tuple[Any, int, float]]:
        if phrase == "F":
            yield from self.filters(position)
        elif phrase == "np":
            yield from self.noun(position)
        elif phrase == "ranked":
            yield from self.ranked(position)
        elif phrase == "extreme":
            yield from self.extreme(position)
        elif phrase == "cols":
            yield from self._columns(position)
        elif phrase == "entity":
            if self.tag(position) == "VAL":
                yield from ((one, end, cost) for one, end, cost in self._core(position) if one)
        elif self.tag(position) == "COL" and (column := self.spans[position].column):
            if phrase != "number" or (column.numeric and not column.numbers_things):
                yield self.spans[position], position + 1, 0.0

    def _columns(self, position: int) -> Iterator[tuple[Any, int, float]]:
        """Yield one column or several joined by commas and "and"."""
        found = []
        while self.tag(position) == "COL":
            found.append(self.spans[position])
            position += 1
            yield tuple(found), position, 0.0
            if self.tag(position) not in ("COMMA", "AND"):
                return
            while self.tag(position) in ("COMMA", "AND"):
                position += 1
