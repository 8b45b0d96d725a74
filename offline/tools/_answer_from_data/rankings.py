"""The grammar of superlatives: the five tallest buildings, the country with the most airports, was founded first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from .matching import attribute_score
from .nouns import Noun, Nouns
from .query import Function, Measure, Where
from .reader import SURE, Reader
from .schema import Column
from .span import Span

MOST_PLACES = 1000
_LESS_IS_MORE = frozenset(["time", "second", "duration", "rank", "place", "position"])
_BEFORE_SUPERLATIVE = ("BE", "HAVE", "DO", "REL", "IN", "THERE", "BY", "RANK", "APPEAR", "COMMA")
_BEFORE_MEASURE = ("RANK", "BY", "BE", "HAVE", "REL", "COMMA")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """Hold a superlative's places in a ranking."""

    descending: bool
    rank: int = 1
    count: int = 1
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A noun phrase with a superlative: the ranked, the measure, the places, and whether by groups of rows."""

    noun: Noun
    measure: Measure
    extreme: Extreme
    grouped: bool = False

    @property
    def where(self) -> Where:
        """Return the conditions on the ranked things."""
        return self.noun.where


def less_is_first(column: Column) -> bool:
    """Tell whether the least of a column comes first: the earliest date, the shortest time."""
    return column.dated or bool(_LESS_IS_MORE & set(column.words))


def facing(extreme: Extreme, column: Column) -> Extreme:
    """Return the places in the direction of a column: the fastest time is the lowest, the oldest year the first."""
    sense = extreme.span.sense if extreme.span else None
    if sense is None or carries(sense.attributes, column) or not carries(sense.inverse, column):
        return extreme
    return replace(extreme, descending=not extreme.descending, span=None)


def carries(attributes: tuple[str, ...], column: Column) -> bool:
    """Tell whether a column surely carries one of the attributes."""
    return any(attribute_score(attribute, column) >= SURE for attribute in attributes)


Found = Iterator[tuple[Ranked, int, float]]
Measured = Iterator[tuple[Measure, bool, int, float]]


class Rankings(Reader):
    """Reads noun phrases with superlatives from spans, by position."""

    @cached_property
    def nouns(self) -> Nouns:
        """The grammar of the nouns among the same spans."""
        return Nouns(self.spans, self.schema)

    def ranked(self, position: int) -> Found:
        """Yield every reading of a noun phrase with a superlative."""
        for noun, end, cost in self.nouns.noun(position):
            for where, after, more in self.nouns.conditions.filters(end):
                found = self._after_noun(replace(noun, where=noun.where + where), after)
                yield from ((ranked, final, cost + more + extra) for ranked, final, extra in found)
        for extreme, end, cost in self.extreme(position):
            for noun, after, more in self.nouns.noun(end):
                found = self._before_noun(extreme, noun, after)
                yield from ((ranked, final, cost + more + extra) for ranked, final, extra in found)
            for measure, grouped, middle, more in self.measure(end):
                for noun, after, extra in self.nouns.noun(middle):
                    ranked = Ranked(noun=noun, measure=measure, extreme=extreme, grouped=grouped)
                    yield ranked, after, cost + more + extra
        yield from self._several(position)
        yield from self._most_frequent(position)
        asks = position > 0 and self.spans[position - 1].sense.value in ("who", "which")
        if asks and self.tag(position) in ("BE", "HAVE", "DO"):
            yield from self._after_noun(Noun(), position)

    # which places

    def extreme(self, position: int) -> Iterator[tuple[Extreme, int, float]]:
        """Yield every reading of a superlative: highest, second highest, five highest, top 5."""
        tag = self.tag(position)
        if tag in ("ORD", "NUM") and self.tag(position + 1) in ("SUP", "MOST"):
            number, span = self._places(position), self.spans[position + 1]
            rank, count = (number, 1) if tag == "ORD" else (1, number)
            yield Extreme(descending=span.sense.value == "max", rank=rank, count=count, span=span), position + 2, 0.0
        if tag == "MORE" and self.tag(position + 1) != "THAN":
            span = self.spans[position]
            yield Extreme(descending=span.sense.value == ">", span=span), position + 1, 0.3
        if tag in ("SUP", "MOST"):
            span = self.spans[position]
            descending = span.sense.value == "max"
            if self.tag(position + 1) == "NUM" and not self.spans[position + 1].year:
                yield Extreme(descending=descending, count=self._places(position + 1), span=span), position + 2, 0.0
            yield Extreme(descending=descending, span=span), position + 1, 0.0

    def _places(self, position: int) -> int:
        return min(MOST_PLACES, max(1, int(self.spans[position].number or 1)))

    # by what

    def measure(self, position: int) -> Measured:
        """Yield measures of a ranking: a column, an aggregate of one, or a count; and whether of a group."""
        tag, column = self.tag(position), self.column(position)
        if column and (column.numeric or column.dated) and not column.numbers_things and not column.truths:
            yield Measure(function="value", column=column), False, position + 1, 0.0
        if tag == "AGG":
            yield from self._aggregate(position)
        if tag == "HOWMANY":
            yield from self._count(position)

    def _aggregate(self, position: int) -> Measured:
        function: Function = self.spans[position].sense.value  # pyright: ignore[reportAssignmentType]
        after = position + 1 + (self.tag(position + 1) == "IN")
        column = self.column(after)
        if column and column.numeric:
            yield Measure(function=function, column=column), True, after + 1, 0.0
        if function == "sum" and self.tag(after) == "HOWMANY":
            yield from self._count(after)

    def _count(self, position: int) -> Measured:
        total = self.spans[position].text.startswith("total")
        for noun, end, cost in self.nouns.noun(position + 1):
            if noun.column and total and noun.column.numeric:
                yield Measure(function="sum", column=noun.column), True, end, cost
            elif not noun.where:
                yield from self._counted(noun, end, cost)

    @staticmethod
    def _counted(noun: Noun, end: int, cost: float) -> Measured:
        """Yield the count of a noun as something to rank by, unless the noun is itself a number of the row."""
        column = noun.column
        if noun.guessed or (column and column.truths):
            return
        if column is None or column.identifies or (column.unique and not noun.distinct and not column.numeric):
            yield Measure(function="count", table=noun.table), True, end, cost
        elif column.numeric and not column.dated and not column.numbers_things:
            yield Measure(function="value", column=column), False, end, cost
        else:
            yield Measure(function="distinct", column=column), True, end, cost + (0.0 if noun.distinct else 0.1)
            if not noun.distinct:
                yield Measure(function="count", table=noun.table), True, end, cost + 0.1

    # the noun first

    def _after_noun(self, noun: Noun, position: int) -> Found:
        """Yield rankings from words after the noun: has the highest price, is the oldest, has the most members."""
        for start in self.skip(position, _BEFORE_SUPERLATIVE):
            for extreme, end, cost in self.extreme(start):
                for ranked, final, more in self._by(noun, extreme, end):
                    yield ranked, final, cost + more
            yield from self._dated(noun, start)
            yield from self._placed(noun, start)
            yield from self._measure_first(noun, start)
            if self.tag(start) == "OFTEN":
                extreme = Extreme(descending=self.spans[start].sense.value == "max")
                ranked = Ranked(noun=noun, measure=Measure(function="count"), extreme=extreme, grouped=True)
                yield from ((ranked, end, 0.0) for end in self.skip(start + 1, ("APPEAR", "IN", "BE"), 1))

    def _by(self, noun: Noun, extreme: Extreme, position: int) -> Found:
        """Yield measures after the superlative: named, implied by it, or counted."""
        for start in self.skip(position, ("IN", "BY"), 1):
            for measure, grouped, end, cost in self.measure(start):
                yield Ranked(noun=noun, measure=measure, extreme=extreme, grouped=grouped), end, cost
        yield from self._by_attribute(noun, extreme, position)
        if extreme.span and extreme.span.tag == "MOST":
            for counted, after, cost in self.nouns.noun(position):
                narrowed = replace(noun, where=noun.where + counted.where)
                for measure, grouped, end, more in self._counted(counted, after, cost):
                    yield Ranked(noun=narrowed, measure=measure, extreme=extreme, grouped=grouped), end, more

    def _measure_first(self, noun: Noun, position: int) -> Found:
        """Yield rankings with the superlative last: on the day of the highest price."""
        for measure, grouped, end, cost in self.measure(position):
            for where, after, more in self.nouns.conditions.filters(end):
                for start in self.skip(after, ("BE",), 1):
                    for extreme, final, extra in self.extreme(start):
                        if self.tag(final) in ("", "IN", "COMMA", "REL"):
                            narrowed = replace(noun, where=noun.where + where)
                            ranked = Ranked(noun=narrowed, measure=measure, extreme=extreme, grouped=grouped)
                            yield ranked, final, cost + more + extra + 0.05

    def _dated(self, noun: Noun, position: int) -> Found:
        """Yield was founded first, joined most recently: the verb names the date."""
        column = self.column(position)
        if column is None or not column.dated or self.tag(position + 1) not in ("ORD", "SUP"):
            return
        after = self.spans[position + 1]
        first = after.tag == "ORD" and after.number == 1
        if first or (after.tag == "SUP" and "date" in after.sense.attributes):
            extreme = Extreme(descending=not first and after.sense.value == "max", span=after)
            yield (
                Ranked(noun=noun, measure=Measure(function="value", column=column), extreme=extreme),
                position + 2,
                0.0,
            )

    def _placed(self, noun: Noun, position: int) -> Found:
        """Yield ranks third by population, comes first in terms of price."""
        if self.tag(position) != "ORD":
            return
        extreme = Extreme(descending=True, rank=self._places(position))
        for start in self.skip(position + 1, ("BY", "IN", "RANK"), 2):
            if start > position + 1:
                for measure, grouped, end, cost in self.measure(start):
                    places = replace(extreme, descending=not (measure.column and less_is_first(measure.column)))
                    yield Ranked(noun=noun, measure=measure, extreme=places, grouped=grouped), end, cost

    # the superlative first

    def _before_noun(self, extreme: Extreme, noun: Noun, position: int) -> Found:
        """Yield measures after a superlative and its noun: by population, in terms of price, or nothing."""
        for where, end, cost in self.nouns.conditions.filters(position):
            narrowed = replace(noun, where=noun.where + where)
            for ranked, final, more in self._by_attribute(narrowed, extreme, end):
                yield ranked, final, cost + more
            starts = list(self.skip(end, _BEFORE_MEASURE))
            column = self.column(end + 1) if self.tag(end) == "IN" else None
            if column and column.numeric and not column.dated:
                starts.append(end + 1)
            for start in starts:
                for middle in self.skip(start, ("SUP",), 1) if start > end else ():
                    for measure, grouped, after, more in self.measure(middle):
                        ranked = Ranked(noun=narrowed, measure=measure, extreme=extreme, grouped=grouped)
                        yield ranked, after, cost + more

    def _by_attribute(self, noun: Noun, extreme: Extreme, end: int) -> Found:
        """Yield rankings by the superlative's own column: oldest, heaviest."""
        if extreme.span is None or (noun.column and noun.column.numeric):
            return
        sense, table = extreme.span.sense, noun.table.name if noun.table else ""
        for attributes, turned in ((sense.attributes, False), (sense.inverse, True)):
            for column in self.implied(attributes, table):
                places = replace(extreme, descending=extreme.descending != turned, span=None)
                yield Ranked(noun=noun, measure=Measure(function="value", column=column), extreme=places), end, 0.05

    def _several(self, position: int) -> Found:
        """Yield the 3 airports with the highest elevation: the number comes with the noun."""
        if self.tag(position) != "NUM" or self.spans[position].year:
            return
        for noun, end, cost in self.nouns.noun(position + 1):
            for ranked, final, more in self._after_noun(noun, end):
                if ranked.extreme.count == 1 == ranked.extreme.rank:
                    extreme = replace(ranked.extreme, count=self._places(position))
                    yield replace(ranked, extreme=extreme), final, cost + more

    def _most_frequent(self, position: int) -> Found:
        """Yield the most common species, the second most common species, the mode of the species."""
        number = self.tag(position) in ("ORD", "NUM")
        start = position + number
        if self.tag(start) != "OFTEN":
            return
        places = self._places(position) if number else 1
        rank, count = (1, places) if self.tag(position) == "NUM" else (places, 1)
        extreme = Extreme(descending=self.spans[start].sense.value == "max", rank=rank, count=count)
        for middle in self.skip(start + 1, ("IN",), 1):
            for noun, end, cost in self.nouns.noun(middle):
                if noun.column:
                    yield Ranked(noun=noun, measure=Measure(function="count"), extreme=extreme, grouped=True), end, cost
