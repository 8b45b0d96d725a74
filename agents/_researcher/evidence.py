"""Evidence: claims with words found in their source, and the contradictions among them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tea import Evidence

from .sources import Source, normal, tokens, unsaid

MOST_CLAIM = 600
MOST_QUOTE = 1_200
_STEM = 4  # first letters that forms of a word share
_LEAST_MENDED, _MENDED = 4, 0.8  # words of a wrong quotation, and their share in the right one
UNRANKED = "None is ranked first, as date, number and kind of the sources are alike"
TOGETHER = "the best by recency, agreement and source together"
RESULT = "search result"  # the position of what stands in one, and not on a page


@dataclass(slots=True, kw_only=True)
class Claim:
    """A claim and its support.

    Args:
        number: Its number, from 1.
        about: What it says something about, in a few words.
        claim: What it says.
        quote: Words of the source, which were found in what was recorded of it.
        source: Number of the source.
        url: Its address.
        title: Its title.
        position: Where the quote stands in it.
        date: The day of the source.
        host: Its host.
        tier: Its tier.
        dates: The dates beside the quote, in its lines and in the headings above them.
        doubt: Why other sources count for more, or which of its numbers its own quote lacks; empty where neither is so.
    """

    number: int
    about: str
    claim: str
    quote: str
    source: int
    url: str
    title: str
    position: str
    date: str
    host: str
    tier: int
    dates: str = ""
    doubt: str = ""

    @property
    def unsaid(self) -> str:
        """The problem of its numbers missing from its quote, title, place and dates, in words; empty for none."""
        lacking = unsaid(self.claim, " ".join([self.quote, self.title, self.position, self.date, self.dates]))
        return f"its quote does not say {' and '.join(lacking)}" if lacking else ""

    @property
    def said(self) -> str:
        """Its words, with its subject first if they lack the name, or begin in the middle of a sentence."""
        words = [one[:_STEM] for one in tokens(self.claim)]
        named = (
            self.about.split() if self.claim[:1].islower() else [one for one in self.about.split() if one[0].isupper()]
        )
        lacks = [one for one in tokens(" ".join(named)) if len(one) >= _STEM and one[:_STEM] not in words]
        return f"{self.about}: {self.claim}" if lacks else self.claim

    def evidence(self) -> Evidence:
        """Return it as a source of an answer."""
        where = "; ".join(filter(None, [self.said, self.position, self.date]))
        return Evidence(source=self.url, detail=where, quote=self.quote, doubt=self.doubt)

    def shown(self) -> dict[str, Any]:
        """Return it as a model is shown it."""
        where = ", ".join(filter(None, [self.position, self.date]))
        return {
            "number": self.number, "about": self.about, "claim": self.said, "quote": self.quote, "url": self.url,
            "where": where, "doubt": self.doubt,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Sources in disagreement.

    Args:
        about: What they disagree about.
        sides: Numbers of the claims that agree with each other; the side that counts most is the first.
        why: Why the first side is ranked first; empty where nothing tells the first two apart.
    """

    about: str
    sides: tuple[tuple[int, ...], ...]
    why: str


@dataclass(slots=True)
class Store:
    """All accepted claims, the rejected ones, and the contradictions among them."""

    claims: list[Claim] = field(default_factory=list[Claim])
    rejected: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    conflicts: list[Conflict] = field(default_factory=list[Conflict])

    def of(self, number: object) -> Claim | None:
        """Return the claim with a number, None for an unknown one."""
        return next((one for one in self.claims if one.number == number), None)

    def known(self, source: Source, claim: str, quote: str) -> Claim | None:
        """Return the same claim from the same page, None for a new one."""
        key = (normal(source.url), tokens(quote))
        for one in self.claims:
            same = tokens(one.claim) == tokens(claim)
            if normal(one.url) == key[0] and (tokens(one.quote) == key[1] or same):
                return one
        return None

    def add(self, source: Source, about: str, claim: str, quote: str, line: int) -> Claim:
        """Add a claim whose quote was found in its source; the same one counts once, in words that its quote says."""
        self._forgive(claim, about, quote, source.url)
        known = self.known(source, claim, quote)
        if known is not None and not known.unsaid:
            return known
        place = source.place or (f"line {line}" if line else "")
        if source.state == "found":
            place = RESULT
        number = len(self.claims) + 1 if known is None else known.number
        made = Claim(
            number=number, about=_line(about), claim=_line(claim)[:MOST_CLAIM], quote=quote[:MOST_QUOTE],
            source=source.number, url=source.url, title=source.title, position=place, date=source.date,
            host=source.host, tier=source.tier, dates=source.dated(quote),
        )  # fmt: skip
        made.doubt = made.unsaid
        if known is None:
            self.claims.append(made)
        elif not made.unsaid:
            self.claims[self.claims.index(known)] = made
        return made if known is None or not made.unsaid else known

    def reject(self, url: str, claim: str, quote: str, why: str, stands_in: str = "") -> None:
        """Keep a claim as rejected, once, with the reason and the address of another source with its quotation."""
        self._forgive(claim)
        said = {"claim": _line(claim)[:MOST_CLAIM], "quote": quote[:MOST_QUOTE]}
        self.rejected.append({"url": url, **said, "why": why, "stands_in": stands_in})

    def _forgive(self, claim: str, about: str = "", quote: str = "", url: str | None = None) -> None:
        """Drop a claim from the rejected ones: given again in the same words, with its numbers, or quoted rightly.

        Args:
            claim: It, as it is given now.
            about: What it is about.
            quote: Its quotation, if that holds.
            url: The source of that.
        """
        given = tokens(_line(claim)[:MOST_CLAIM])
        held = f"{claim} {about} {quote}"
        words, own = dict.fromkeys(tokens(held)), dict.fromkeys(tokens(f"{claim} {about}"))

        def is_given(one: Mapping[str, str]) -> bool:
            said = tokens(one["claim"])
            if said == given or url not in (one["url"] or url, one["stands_in"]):
                return said == given
            named = [each for each in said if len(each) >= _STEM and each.isalpha()]
            among = words if any(map(str.isdecimal, one["claim"])) else own if _is_mended(one["quote"], quote) else ()
            alike = bool(among) and 2 * sum(each in among for each in named) >= len(named)
            return (alike and not unsaid(one["claim"], held)) or all(each in words for each in said)

        self.rejected = [one for one in self.rejected if not is_given(one)]

    def disagree(self, about: str, sides: Sequence[Sequence[int]]) -> None:
        """Rank the sides of a contradiction, and mark the claims of the weaker ones."""
        held = [side for given in sides if (side := [one for n in given if (one := self.of(n)) is not None])]
        numbers = [one.number for side in held for one in side]
        if len(held) < 2 or len({*numbers}) != len(numbers):
            return
        held, why = _ranked(held)
        found = Conflict(about=_line(about), sides=tuple(tuple(one.number for one in side) for side in held), why=why)
        self.conflicts = [one for one in self.conflicts if one.about.casefold() != found.about.casefold()] + [found]
        for side in held:
            other = held[0] if side is not held[0] else held[1]
            for one in side:
                is_first = side is held[0] and bool(why)
                one.doubt = one.unsaid if is_first else f"contradicted by {other[0].url}: {other[0].claim}"

    @property
    def doubtful(self) -> list[str]:
        """The claims with numbers that their own quotes lack, one line each."""
        return [f"{one.url}: {one.claim.rstrip('.')}: {one.unsaid}." for one in self.claims if one.unsaid]

    def told(self, conflict: Conflict) -> str:
        """Return a contradiction in one line: every side with its sources, and why one is ranked first, if one is."""
        sides = [[one for n in side if (one := self.of(n)) is not None] for side in conflict.sides]
        words = [f"{side[0].claim.rstrip('.')} ({_where(side)})" for side in sides]
        order = f"Ranked first: {conflict.why}" if conflict.why else UNRANKED
        return f"Sources disagree about {conflict.about}: {'; but: '.join(words)}. {order}."

    def record(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return {
            "claims": [asdict(one) for one in self.claims],
            "rejected": list(self.rejected),
            "conflicts": [{**asdict(one), "sides": [list(side) for side in one.sides]} for one in self.conflicts],
        }


def _is_mended(wrong: str, quote: str) -> bool:
    """Return whether a quotation holds nearly all words of a wrong one, which has some."""
    words, held = tokens(wrong), dict.fromkeys(tokens(quote))
    return len(words) >= _LEAST_MENDED and sum(one in held for one in words) >= _MENDED * len(words)


def ranked(criteria: Sequence[Sequence[Any]]) -> list[int]:
    """Return an order by several criteria, the greatest value of each being the best: the least sum of places first.

    Of equal sums the first criterion decides, then the order in which they were found.
    """
    places = [[sorted(one, reverse=True).index(value) for value in one] for one in criteria]
    sums = [sum(one) for one in zip(*places, strict=True)]
    return sorted(range(len(sums)), key=lambda number: (sums[number], places[0][number], number))


def _ranked(sides: list[list[Claim]]) -> tuple[list[list[Claim]], str]:
    """Return sides ordered by recency, agreement and source, and why the first is so; empty for no reason."""
    criteria: Mapping[str, list[Any]] = {
        "the most recent": [max(one.date for one in side) for side in sides],
        "the most sources": [len({one.host for one in side}) for side in sides],
        "the best source": [-min(one.tier + (one.position == RESULT) for one in side) for side in sides],
    }
    order = ranked([*criteria.values()])
    first, others = order[0], order[1:]
    why = [name for name, one in criteria.items() if all(one[first] > one[other] for other in others)]
    if all(one[first] == one[others[0]] for one in criteria.values()):
        return [sides[number] for number in order], ""
    return [sides[number] for number in order], " and ".join(why) or TOGETHER


def _where(side: Sequence[Claim]) -> str:
    return ", ".join(dict.fromkeys(" of ".join(filter(None, [one.url, one.date])) for one in side))


def _line(text: str) -> str:
    return " ".join(text.split())
