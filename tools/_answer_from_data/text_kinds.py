"""What kind of thing a question about a text asks for."""

import re
from dataclasses import dataclass
from functools import cache

from .text_shapes import (
    CLOCK,
    CONDITION,
    COUNT,
    DATED,
    DAYS,
    LENGTHS,
    MASSES,
    MONEY,
    MONTHS,
    NAMED_THING,
    NONE,
    PERSON,
    PLACE,
    PROPER_NAME,
    REASON,
    SCALE,
    SURE_COUNT,
    TIMES,
    YEAR,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is asked for.

    Args:
        name: What it is called.
        pattern: How it is written.
        sure: Whether its writing alone says much: an amount, a date, but not a place.
        told: Words of the question that name nothing but the kind, so that no passage need say them.
        cues: Keys under which a record tells it.
    """

    name: str
    pattern: re.Pattern[str]
    sure: bool
    told: frozenset[str]
    cues: str


_EXACT = ("person", "name", "named")
_UNSURE = (*_EXACT, "place", "version")
_HOW = r"^(?:(?:for|at|in|within|from|by|about|to|up to) )?(?:about |approximately )?"
_WHAT = (
    r"^(?:(?:on|in|at|by|from|for|since|until|during|within|under|to) )?"
    r"(?:what|which)(?:'s| is| was| are| were)?(?: the)? "
)
_KINDS: tuple[tuple[str, str, str, str, str], ...] = (
    ("email",
     rf"{_WHAT}(?:\w+ )*e-?mail\b",
     r"\S@\S",
     "email mail address", ""),
    ("website",
     rf"{_WHAT}(?:\w+ )*(?:website|web site|url|homepage)\b",
     r"www\.|https?:|\w\.(?:org|com|net)\b",
     "website web site url homepage address", ""),
    ("phone",
     rf"{_WHAT}(?:\w+ )*(?:tele)?(?:phone|fax) number\b|^(?:what|which) number .*\b(?:call|ring|dial|phone)\b",
     r"\d[\d ()/-]*",
     "number", ""),
    ("frequency",
     rf"{_HOW}how (?:often|frequently|regularly)|{_WHAT}(?:frequency|(?:\w+ ){{0,2}}interval)\b",
     rf"\b(?:every|each|once|twice|thrice|daily|weekly|monthly|yearly|annual\w*|hourly|never|always|"
     rf"per (?:day|week|month|year|hour)|(?:a|an|\d+) (?:day|week|month|year)|times|interval|{COUNT} {TIMES})\b",
     "often frequently regularly frequency interval", ""),
    ("duration",
     rf"{_HOW}how (?:long|much time|many (?:seconds|minutes|hours|days|nights|weeks|months|years))\b"
     rf"|{_WHAT}(?:\w+ )?duration\b",
     rf"{COUNT}[ -](?:and a half |or \w+ |more |consecutive |calendar |working |business )?{TIMES}\b"
     rf"|\b(?:quarter of an hour|overnight|forever|indefinitely|until|for as long as|all day|for life)\b",
     "long time take takes last duration period much stay", "take"),
    ("distance",
     rf"{_HOW}how far\b",
     rf"{COUNT}[ -]?{SCALE}{LENGTHS}|{COUNT}[ -]{TIMES}",
     "far", ""),
    ("length",
     rf"{_HOW}how (?:tall|high|deep|wide|thick|broad)\b|{_WHAT}(?:\w+ )?(?:height|depth|width|distance|length"
     rf"|altitude"
     r"|elevation|thickness|diameter)\b",
     rf"{COUNT}[ -]?{SCALE}{LENGTHS}",
     "tall high deep wide thick broad", ""),
    ("age",
     rf"{_HOW}how old\b|{_WHAT}(?:\w+ )?age\b",
     rf"{COUNT}[ -](?:years?|(?:months?|weeks?|days?)[ -](?:old|of age))\b|\bage[sd]?\b.*{COUNT}|\bborn\b.* {YEAR}",
     "old age", ""),
    ("temperature",
     rf"{_HOW}how (?:hot|cold|warm|cool)\b|{_WHAT}(?:\w+ )?temperatures?\b",
     rf"{COUNT} ?(?:°|º|degrees?|celsius|fahrenheit|[CFK]\b)|\b(?:freezing|boiling) point",
     "hot cold warm cool", ""),
    ("speed",
     rf"{_HOW}how (?:fast|quick\w*)\b|{_WHAT}(?:\w+ )?speed\b",
     rf"{COUNT} ?(?:\w+ )?(?:[kc]?m/h|mph|kmh|km/h|m/s|knots?|kn\b|mach|[kmg]bit/s|[KMG]b(?:ps|it)|rpm|"
     rf"(?:per|an|a|each) (?:second|minute|hour|day))|{COUNT} {TIMES}",
     "fast quickly", ""),
    ("colour",
     rf"{_WHAT}colou?rs?\b|^what colou?r",
     r"\b(?:red|orange|yellow|green|blue|violet|purple|pink|brown|black|white|gr[ae]y|gold|silver"
     r"|beige|turquoise|crimson|scarlet|cream|bronze|transparent|colou?rless)\w*",
     "colour color colours colors", ""),
    ("mass",
     rf"{_HOW}how (?:much|heavy)\b.*\bweigh\w*|^how heavy\b|{_WHAT}(?:\w+ )?(?:weight|mass)\b"
     r"|^what (?:does|do|did) .* weigh\b",
     rf"{COUNT}[ -]?{SCALE}{MASSES}",
     "much heavy", ""),
    ("money",
     rf"^how much (?:is|are|was|were|will)\b|{_HOW}how much .*\b(?:costs?|pay|paid|charged?|worth|price|fee"
     rf"|fare|earn"
     r"|spent|spend|fined?|rent|donated?)\b"
     rf"|{_WHAT}(?:[\w-]+ ){{0,2}}(?:price|cost|fee|fare|charge|fine|rent|budget|salary|penalty|tuition"
     rf"|deposit)\b"
     r"|^what (?:does|do|did|would|will) .* cost\b|^how (?:expensive|cheap)\b"
     r"|^how (?:high|big|large) (?:is|was|are|were) .*\b(?:allowance|fee|price|rent|salary|fine|budget|deposit"
     r"|tax)s?\b",
     MONEY + r"|\d+\.\d\d\b",
     "much expensive cheap amount money cost costs price pay paid charge charged", ""),
    ("number",
     rf"{_HOW}how (?:many|much|big|large|small|strong|loud|powerful)\b"
     rf"|{_WHAT}(?:(?:minimum|maximum|total|exact|average|normal|recommended) )*(?:number|percentage|percent"
     rf"|amount"
     r"|size|capacity|quantity|voltage|share|proportion|population|rate|limit|score|balance)\b",
     rf"{SURE_COUNT}|{NONE}|\b(?:once|twice|all|fifth|half|thirds?|fourths?|quarters?)\b",
     "many much big large small strong loud powerful "
     "number amount quantity total size minimum maximum exact average", ""),
    ("time",
     rf"{_HOW}what time\b|{_WHAT}time\b",
     CLOCK,
     "time", ""),
    ("clock",
     rf"^when (?:does|do|did|is|are)\b(?=.*\b(?:leav|open|clos|depart|serv)\w*)|{_WHAT}(?:\w+ )?hours?\b",
     rf"{CLOCK}|{DATED}",
     "time hour hours", ""),
    ("day",
     rf"{_WHAT}(?:week)?days?\b(?! of)|^on (?:what|which) (?:week)?day\b",
     rf"{DAYS}|{DATED}",
     "day days weekday date", ""),
    ("year",
     rf"{_WHAT}years?\b",
     rf"{YEAR}|\b(?:\d+|[a-z]+) years ago",
     "year years", ""),
    ("month",
     rf"{_WHAT}(?:month|season)\b",
     rf"\b{MONTHS}\b|{DATED}",
     "month season", ""),
    ("date",
     rf"{_WHAT}(?:\w+ )?(?:date|deadline)\b|^since when\b|^by when\b|^until when\b",
     rf"{DATED}|{CLOCK}|{COUNT} {TIMES}",
     "date", ""),
    ("named",
     rf"{_WHAT}(?:\w+ )?(?:countr(?:y|ies)|cit(?:y|ies)|towns?|villages?|rivers?|mountains?|islands?|lakes?"
     rf"|firms?"
     r"|compan(?:y|ies)|organi[sz]ations?|languages?|brands?|ships?|airlines?|universit(?:y|ies)|newspapers?"
     r"|airports?"
     r"|streets?|persons?)\b(?! (?:is|was) (?:the )?(?:name|population|size|length|height))",
     PROPER_NAME,
     "", ""),
    ("version",
     rf"{_WHAT}(?:\w+ )*versions?\b",
     r"\d",
     "version", ""),
    ("when",
     r"^when\b",
     rf"{DATED}|{CLOCK}|{CONDITION}|{COUNT} {TIMES}",
     "", "date"),
    ("person",
     r"^(?:(?:to|by|from|for|with|of) )?(?:who|whom|whose)\b",
     PERSON,
     "person", ""),
    ("place",
     r"^(?:(?:to|from) )?where\b",
     PLACE,
     "", "place location"),
    ("reason",
     r"^(?:why\b|for (?:what|which) reason|what (?:is|was) the (?:reason|cause))",
     REASON,
     "reason cause", ""),
)  # fmt: skip
_NAMED = re.compile(
    rf"{_WHAT}(?:\w+ )*name\b|^what (?:is|was|are|were) .*(?:called|named)\??$|^what (?:is|was) .*'s? name",
    re.IGNORECASE,
)
_HELPING = r"(?:is|are|was|were|do|does|did|can|could|may|must|should|shall|will|would|have|has|had)"
_ASKED = re.compile(
    rf"{_HOW}(?:what|which) (?:(?:kind|type|sort)s? of )?(?!(?:{_HELPING}|happen\w*)\b)((?:[a-z-]+ ){{0,2}}?[a-z-]+)"
    rf"(?='s\b| (?:{_HELPING}|of|in|on|at|that|to|for|need\w*|goes?|[a-z]{{3,}}(?:ed|s)|led|ran|won|sank|made|took|held"
    r"|gave|began|became|came|brought|built|wrote|bought|sold|paid|left|went)\b|$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"(?:{SURE_COUNT})(?:-\w+)?$", re.IGNORECASE)
_COUNTED = re.compile(
    r"\bhow many (?:(?!(?:an?|per|of|the) )[\w-]+ ){0,3}?([\w-]+)"
    rf"(?= (?:an?|of|in|on|at|per|there|took|take|[a-z]+ed|{_HELPING})\b)",
    re.IGNORECASE,
)


def kind_of(question: str) -> Kind | None:
    """Return what kind of thing a question asks for, or None when its words do not tell."""
    found = next((kind for opening, kind in _kinds() if opening.search(question)), None)
    if found or not _NAMED.search(question):
        return found
    return _kind("name", NAMED_THING, "name called named", "")


def asked_noun(question: str) -> frozenset[str]:
    """Return the word that says which sort of thing is asked for: which *ship* recovered the crew."""
    found = _ASKED.match(question)
    return frozenset({found[1].casefold().split()[-1]}) if found else frozenset()


def is_number(text: str) -> bool:
    """Tell whether a word is a number or ends in one: 42, ninety-two."""
    return _NUMBER.match(text) is not None


def counted_noun(question: str) -> str:
    """Return the noun that `how many` counts, empty where nothing is counted."""
    found = _COUNTED.search(question) or re.search(r"\bhow many ([\w-]+)", question, re.IGNORECASE)
    return found[1].casefold() if found else ""


@cache
def _kinds() -> tuple[tuple[re.Pattern[str], Kind], ...]:
    """Return how questions open, with the kind of thing that each asks for; the first that fits counts."""
    return tuple(
        (re.compile(opening, re.IGNORECASE), _kind(name, pattern, told, cues))
        for name, opening, pattern, told, cues in _KINDS
    )


def _kind(name: str, pattern: str, told: str, cues: str) -> Kind:
    return Kind(
        name=name,
        pattern=re.compile(pattern, re.NOFLAG if name in _EXACT else re.IGNORECASE),
        sure=name not in _UNSURE,
        told=frozenset(told.split()),
        cues=cues,
    )
