"""The grammar of noun phrases: female passengers, the five tallest buildings, the country with the largest area."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .conditions import Conditions
from .query import Condition, Measure, Where
from .schema import Column, Table
from .spans import Span

_NUMBER = re.compile(r"\b(id|ids|number|numbers|code|codes|no|index|phone|zip)\b", re.IGNORECASE)
_PLAIN_NAMES = re.compile(
    r"(code|common|full|product|item)?[ _]?(name|title|label|model|description)|col_\d+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    """What a noun phrase stands for: the rows of a table, or the values of a column, under conditions."""

    table: Table | None = None
    column: Column | None = None
    where: Where = ()
    plural: bool = False
    distinct: bool = False
    guessed: bool = False

    @property
    def shown(self) -> Column | None:
        """The column that names what is meant."""
        return self.column or (self.table.label if self.table else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """Which places of a ranking a superlative wants."""

    descending: bool
    rank: int = 1
    count: int = 1
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A noun phrase with a superlative: what is ranked, by what, and which places are wanted."""

    noun: Noun
    measure: Measure
    extreme: Extreme
    where: Where = ()
    grouped: bool = False


@dataclass(frozen=True)
class Nouns(Conditions):
    """Reads noun phrases from spans, by position."""

    def noun(self, position: int) -> Iterator[tuple[Noun, int, float]]:
        """Yield every reading of a noun phrase: different, then cells and numbers, then the noun itself."""
        distinct = self.tag(position) == "DISTINCT"
        for where, start, cost in self._before(position + distinct):
            for noun, end, more in self._head(start):
                yield replace(noun, where=where, distinct=distinct), end, cost + more
            if where and self.tag(start) not in ("ROW", "COL"):
                first = where[0]
                table = self.schema.table(first.column.table) if isinstance(first, Condition) else None
                plural = self.spans[start - 1].plural
                yield Noun(table=table, where=where, distinct=distinct, plural=plural), start, cost + 0.1

    def _before(self, position: int, depth: int = 0) -> Iterator[tuple[Where, int, float]]:
        """Yield conditions that stand before a noun: female, non-smoking, 4 cylinder."""
        yield (), position, 0.0
        if depth == 3:
            return
        negated = self.tag(position) == "NOT"
        start = position + negated
        if self.tag(start) not in ("VAL", "NUM", "ORD", "COL", "MISSING"):
            return
        for one, end, cost in self._core(start):
            if one is None or end == start or (self.tag(start) == "COL" and not one.operator == "true"):
                continue
            after = end + (self.tag(end) == "COMMA")
            for rest, final, more in self._before(after, depth + 1):
                yield (replace(one, negated=one.negated != negated, predicate=False), *rest), final, cost + more

    def _head(self, position: int) -> Iterator[tuple[Noun, int, float]]:
        tag = self.tag(position)
        span = self.spans[position] if tag else None
        if span is None:
            return
        following = self.tag(position + 1)
        if tag == "ROW":
            yield Noun(table=span.table, plural=span.plural), position + 1, 0.0
            after = self.spans[position + 1] if following == "COL" else None
            if (
                after
                and after.column
                and span.table
                and after.column.table == span.table.name
                and not after.column.truths
            ):
                yield Noun(table=span.table, column=after.column, plural=after.plural), position + 2, 0.1
        if tag == "COL" and span.column:
            table = self.schema.table(span.column.table)
            doubt = 0.2 if span.column.numbers_things and table.label and not _NUMBER.search(span.text) else 0.0
            yield Noun(table=table, column=span.column, plural=span.plural), position + 1, doubt
            if following == "ROW" and self.spans[position + 1].table == table:
                yield Noun(table=table, column=span.column, plural=self.spans[position + 1].plural), position + 2, 0.02
        if tag == "UNK" and following not in ("ROW", "COL", "UNK", "VAL") and (table := self._unnamed()):
            yield Noun(table=table, plural=span.plural, guessed=True), position + 1, 0.0

    def _unnamed(self) -> Table | None:
        """Return the only table in question when nothing says what its rows are called."""
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

    def extreme(self, position: int) -> Iterator[tuple[Extreme, int, float]]:
        """Yield every reading of a superlative: highest, second highest, five highest, top 5."""
        tag = self.tag(position)
        if tag in ("ORD", "NUM") and self.tag(position + 1) in ("SUP", "MOST"):
            number = int(self.spans[position].number or 1)
            span = self.spans[position + 1]
            rank, count = (number, 1) if tag == "ORD" else (1, number)
            if 1 <= number <= 1000:
                descending = span.sense.value == "max"
                yield Extreme(descending=descending, rank=rank, count=count, span=span), position + 2, 0.0
        if tag == "MORE" and self.tag(position + 1) != "THAN":
            span = self.spans[position]
            yield Extreme(descending=span.sense.value == ">", span=span), position + 1, 0.3
        if tag in ("SUP", "MOST"):
            span = self.spans[position]
            descending = span.sense.value == "max"
            if self.tag(position + 1) == "NUM" and not self.spans[position + 1].year:
                number = int(self.spans[position + 1].number or 1)
                if 1 <= number <= 1000:
                    yield Extreme(descending=descending, count=number, span=span), position + 2, 0.0
            yield Extreme(descending=descending, span=span), position + 1, 0.0

    def measure(self, position: int) -> Iterator[tuple[Measure, bool, int, float]]:
        """Yield what things are ranked by: a column, or an aggregate of one, or a count; and whether of a group."""
        tag = self.tag(position)
        if tag == "COL":
            column = self.spans[position].column
            if column and (column.numeric or column.dated) and not column.numbers_things and not column.truths:
                yield Measure(function="value", column=column), False, position + 1, 0.0
        if tag == "AGG":
            function = self.spans[position].sense.value
            after = position + 1 + (self.tag(position + 1) == "IN")
            if self.tag(after) == "COL" and (column := self.spans[after].column) and column.numeric:
                yield Measure(function=function, column=column), True, after + 1, 0.0  # pyright: ignore[reportArgumentType]
            if function == "sum" and self.tag(after) in ("HOWMANY",):
                position, tag = after, "HOWMANY"
        if tag == "HOWMANY":
            for noun, end, cost in self.noun(position + 1):
                column = noun.column
                if column and self.spans[position].text.startswith("total") and column.numeric:
                    yield Measure(function="sum", column=column), True, end, cost
                elif not noun.where:
                    yield from self._counted(noun, end, cost)

    def _counted(self, noun: Noun, end: int, cost: float) -> Iterator[tuple[Measure, bool, int, float]]:
        """Yield the count of a noun as something to rank by, unless the noun is itself a number of the row."""
        if noun.guessed:
            return
        column = noun.column
        if column is None or column.identifies or (column.unique and not noun.distinct and not column.numeric):
            yield Measure(function="count", table=noun.table), True, end, cost
        elif column.truths:
            return
        elif column.numeric and not column.dated and not column.numbers_things:
            yield Measure(function="value", column=column), False, end, cost
        else:
            yield Measure(function="distinct", column=column), True, end, cost + (0.0 if noun.distinct else 0.1)
            if not noun.distinct:
                yield Measure(function="count", table=noun.table), True, end, cost + 0.1

    def ranked(self, position: int) -> Iterator[tuple[Ranked, int, float]]:
        """Yield every reading of a noun phrase with a superlative."""
        for noun, end, cost in self.noun(position):
            for where, after, more in self.filters(end):
                for ranked, final, extra in self._ranked_after(replace(noun, where=noun.where + where), after):
                    yield ranked, final, cost + more + extra
        for extreme, end, cost in self.extreme(position):
            for noun, after, more in self.noun(end):
                for ranked, final, extra in self._ranked_before(extreme, noun, after):
                    yield ranked, final, cost + more + extra
        if self.tag(position) == "NUM" and not self.spans[position].year:
            for noun, end, cost in self.noun(position + 1):
                for ranked, final, more in self._ranked_after(noun, end):
                    if ranked.extreme.count == 1 == ranked.extreme.rank:
                        extreme = replace(ranked.extreme, count=max(1, int(self.spans[position].number or 1)))
                        yield replace(ranked, extreme=extreme), final, cost + more
        yield from self._most_frequent(position)
        asks = position > 0 and self.spans[position - 1].sense.value in ("who", "which")
        if asks and self.tag(position) in ("BE", "HAVE", "DO"):
            yield from self._ranked_after(Noun(), position)

    def _skip(self, position: int, tags: tuple[str, ...], most: int = 3) -> Iterator[int]:
        yield position
        for _ in range(most):
            if self.tag(position) not in tags:
                return
            position += 1
            yield position

    def _ranked_after(self, noun: Noun, position: int) -> Iterator[tuple[Ranked, int, float]]:
        """Yield what follows the noun: has the highest price, is the oldest, has the most members."""
        for start in self._skip(position, ("BE", "HAVE", "DO", "REL", "IN", "THERE", "BY", "RANK", "APPEAR", "COMMA")):
            for extreme, end, cost in self.extreme(start):
                for middle in self._skip(end, ("IN", "BY"), 1):
                    for measure, grouped, after, more in self.measure(middle):
                        yield self._rank(noun, measure, extreme, grouped), after, cost + more
                yield from self._by_attribute(noun, extreme, end, cost)
                if extreme.span and extreme.span.tag == "MOST":
                    for counted, after, more in self.noun(end):
                        for measure, grouped, stop, extra in self._counted(counted, after, more):
                            narrowed = replace(noun, where=noun.where + counted.where)
                            yield self._rank(narrowed, measure, extreme, grouped), stop, cost + extra
            yield from self._dated(noun, start)
            yield from self._measure_first(noun, start)
            if self.tag(start) == "OFTEN":
                extreme = Extreme(descending=self.spans[start].sense.value == "max")
                ranked = self._rank(noun, Measure(function="count"), extreme, True)
                yield from ((ranked, end, 0.0) for end in self._skip(start + 1, ("APPEAR", "IN", "BE"), 1))

    def _measure_first(self, noun: Noun, position: int) -> Iterator[tuple[Ranked, int, float]]:
        """Yield on which day was the price highest: the superlative comes last."""
        for measure, grouped, end, cost in self.measure(position):
            for where, after, more in self.filters(end):
                for middle in self._skip(after, ("BE",), 1):
                    for extreme, final, extra in self.extreme(middle):
                        if final == len(self.spans) or self.tag(final) in ("IN", "COMMA", "REL"):
                            narrowed = replace(noun, where=noun.where + where)
                            yield self._rank(narrowed, measure, extreme, grouped), final, cost + more + extra + 0.05

    def _dated(self, noun: Noun, position: int) -> Iterator[tuple[Ranked, int, float]]:
        """Yield was founded first, joined most recently: the verb names the date."""
        column = self.spans[position].column if self.tag(position) == "COL" else None
        after = self.spans[position + 1] if self.tag(position + 1) in ("ORD", "SUP") else None
        if column is None or after is None or not column.dated:
            return
        if after.tag == "ORD" and after.number == 1:
            extreme = Extreme(descending=False, span=after)
        elif after.tag == "SUP" and "date" in after.sense.attributes:
            extreme = Extreme(descending=after.sense.value == "max", span=after)
        else:
            return
        yield self._rank(noun, Measure(function="value", column=column), extreme, False), position + 2, 0.0

    def _ranked_before(self, extreme: Extreme, noun: Noun, position: int) -> Iterator[tuple[Ranked, int, float]]:
        """Yield what follows a superlative and its noun: by population, in terms of price, or nothing."""
        for where, end, cost in self.filters(position):
            narrowed = replace(noun, where=noun.where + where)
            yield from self._by_attribute(narrowed, extreme, end, cost)
            for start in self._skip(end, ("RANK", "BY", "IN", "BE", "HAVE", "REL", "COMMA")):
                if start == end:
                    continue
                for middle in self._skip(start, ("SUP",), 1):
                    for measure, grouped, after, more in self.measure(middle):
                        yield self._rank(narrowed, measure, extreme, grouped), after, cost + more

    def _by_attribute(self, noun: Noun, extreme: Extreme, end: int, cost: float) -> Iterator[tuple[Ranked, int, float]]:
        """Yield rankings by the column that the superlative itself names: oldest, heaviest."""
        sense = extreme.span.sense if extreme.span else None
        if sense is None or (noun.column and noun.column.numeric):
            return
        for attributes, turned in ((sense.attributes, False), (sense.inverse, True)):
            for column in self.implied(attributes, noun.table.name if noun.table else ""):
                turned_extreme = replace(extreme, descending=extreme.descending != turned)
                yield (
                    self._rank(noun, Measure(function="value", column=column), turned_extreme, False),
                    end,
                    cost + 0.05,
                )

    def _most_frequent(self, position: int) -> Iterator[tuple[Ranked, int, float]]:
        """Yield the most common species, the mode of the species."""
        rank = int(self.spans[position].number or 1) if self.tag(position) == "ORD" else 1
        start = position + (self.tag(position) == "ORD")
        if self.tag(start) != "OFTEN":
            return
        descending = self.spans[start].sense.value == "max"
        for middle in self._skip(start + 1, ("IN",), 1):
            for noun, end, cost in self.noun(middle):
                if noun.column:
                    extreme = Extreme(descending=descending, rank=rank)
                    yield self._rank(noun, Measure(function="count"), extreme, True), end, cost

    @staticmethod
    def _rank(noun: Noun, measure: Measure, extreme: Extreme, grouped: bool) -> Ranked:
        return Ranked(noun=noun, measure=measure, extreme=extreme, where=noun.where, grouped=grouped)
