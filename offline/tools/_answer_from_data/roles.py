"""Roles of a question's parts at any place: conditions, and words of asking."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .conditions import Conditions
from .query import Condition, Where
from .reader import Reader
from .schema import Schema
from .span import Span

_SILENT = ("BE", "DO", "HAVE", "IN", "REL", "COMMA", "POSS", "BY", "APPEAR", "FILE", "CALC", "KINDS")
_SPOKEN = """
HOWMANY COUNT HOWMUCH HOWADJ WHAT WHEN WHERE LIST ROW COL AGG SUP MOST OFTEN MORE THAN PER DISTINCT PERCENT DIFF RATIO
ORD NUM BETWEEN WHENCMP RANK THERE UNIT CMP MISSING
"""
_SPEAKING = frozenset(_SPOKEN.split())
_MOST_READINGS = 12
_MOST_WORDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The parts of one reading of a question."""

    where: Where = ()
    items: tuple[Span, ...] = ()
    opening: str = ""
    either: bool = False
    cost: float = 0.0

    def of(self, *tags: str) -> list[Span]:
        """Return the items with one of these tags."""
        return [span for span in self.items if span.tag in tags]

    def only(self, *tags: str) -> bool:
        """Tell whether no item has any other tag."""
        return all(span.tag in tags for span in self.items)


class Splitter(Reader):
    """Split a path of spans into roles, in every way without a word left over."""

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions(self.spans, self.schema)

    @cached_property
    def _memory(self) -> dict[int, list[Roles]]:
        return {}

    def from_(self, position: int) -> list[Roles]:
        """Return the likeliest splits of the spans from a position on."""
        if position not in self._memory:
            best: dict[tuple[Where, tuple[Span, ...], bool], Roles] = {}
            for roles in sorted(self._from(position), key=lambda one: one.cost):
                best.setdefault((roles.where, roles.items, roles.either), roles)
            self._memory[position] = list(best.values())[:_MOST_READINGS]
        return self._memory[position]

    def _from(self, position: int) -> Iterator[Roles]:
        if position == len(self.spans):
            yield Roles()
            return
        for where, end, cost in self._conditions.filters(position):
            if where and end > position:
                for rest in self.from_(end):
                    yield _added(rest, where=where, cost=cost)
        span = self.spans[position]
        if span.tag in _SILENT:
            yield from self.from_(position + 1)
        elif span.tag in _SPEAKING and (span.tag != "LIST" or position < 2 or position == len(self.spans) - 1):
            for rest in self.from_(position + 1):
                yield _added(rest, items=(span,))
        elif span.tag in ("AND", "TO"):
            either = span.sense.value == "or"
            for rest in self.from_(position + 1):
                yield _added(rest, either=either)


def _added(
    rest: Roles, *, where: Where = (), items: tuple[Span, ...] = (), either: bool = False, cost: float = 0.0
) -> Roles:
    return Roles(
        where=(*where, *rest.where), items=(*items, *rest.items), either=either or rest.either, cost=rest.cost + cost
    )


def splits(path: Sequence[Span], schema: Schema) -> Iterator[Roles]:
    """Yield every split of a path of spans into roles."""
    for roles in Splitter(path, schema).from_(0):
        if len(roles.items) <= _MOST_WORDS:
            opening = path[0].tag if path else ""
            yield Roles(where=roles.where, items=roles.items, opening=opening, either=roles.either, cost=roles.cost)


def two_things(roles: Roles) -> tuple[Condition, Condition, Where] | None:
    """Return the two things compared by a question, and its other conditions."""
    named = [one for one in roles.where if isinstance(one, Condition) and one.operator == "=" and not one.negated]
    for index, one in enumerate(named):
        if len(one.values) == 2:
            rest = tuple(other for other in roles.where if other is not one)
            first, second = (Condition(column=one.column, operator="=", values=(value,)) for value in one.values)
            return first, second, rest
        for two in named[index + 1 :]:
            if one.column == two.column and len(one.values) == len(two.values) == 1 and one.values != two.values:
                return one, two, tuple(other for other in roles.where if other is not one and other is not two)
    return None
