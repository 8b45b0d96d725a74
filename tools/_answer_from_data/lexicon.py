"""What words mean in questions about tables: a general vocabulary, of no table in particular."""

from dataclasses import dataclass

from .tokens import stem


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """What a phrase means to the grammar.

    Args:
        tag: Its part of speech.
        value: Which one of that part of speech, for example `avg` or `>`.
        attributes: Stems of columns that the phrase implies: tall implies height.
        inverse: Stems of columns along which the meaning turns around: old, by year of birth.
        cost: How much a reading suffers from it.
    """

    tag: str
    value: str = ""
    attributes: tuple[str, ...] = ()
    inverse: tuple[str, ...] = ()
    cost: float = 0.1


def _senses(tag: str, table: dict[str, str]) -> list[tuple[str, Sense]]:
    return [(phrase, Sense(tag=tag, value=value)) for value, phrases in table.items() for phrase in phrases.split("|")]


_DATES_UP = ("year", "date", "release", "create", "found", "establish", "start", "open", "built", "build", "construct")
_BIRTH = ("birth", "born", "dob")

# adjective: (comparative, superlative, opposite comparative, opposite superlative, columns implied, columns reversed)
_ADJECTIVES: tuple[tuple[str, str, str, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("tall", "taller", "tallest", "", "", ("height", "elevation"), ()),
    ("short", "", "", "shorter", "shortest", ("height", "length", "duration", "runtim", "minute", "time"), ()),
    ("high", "higher", "highest", "lower", "lowest", (), ()),
    ("long", "longer", "longest", "", "", ("length", "duration", "runtim", "minute", "distanc"), ()),
    ("heavy", "heavier", "heaviest", "lighter", "lightest", ("weight", "mass"), ()),
    ("old", "older", "oldest", "younger", "youngest", ("age",), _BIRTH + _DATES_UP),
    ("new", "newer", "newest", "older", "oldest", _DATES_UP, ()),
    ("late", "later", "latest", "earlier", "earliest", _DATES_UP + _BIRTH, ()),
    ("recent", "more recent", "most recent", "less recent", "least recent", _DATES_UP + _BIRTH, ()),
    ("recently", "more recently", "most recently", "less recently", "least recently", _DATES_UP + _BIRTH, ()),
    ("last", "", "last", "", "", _DATES_UP, ()),
    ("fast", "faster", "fastest", "slower", "slowest", ("speed", "velocity"), ("time", "second")),
    (
        "expensive",
        "more expensive",
        "most expensive",
        "less expensive",
        "least expensive",
        ("price", "cost", "far"),
        (),
    ),
    ("costly", "costlier", "costliest", "", "", ("price", "cost", "far"), ()),
    ("cheap", "", "", "cheaper", "cheapest", ("price", "cost", "far"), ()),
    ("large", "larger", "largest", "smaller", "smallest", ("area", "size", "population", "diameter"), ()),
    ("big", "bigger", "biggest", "smaller", "smallest", ("area", "size", "population", "diameter"), ()),
    ("populous", "more populous", "most populous", "less populous", "least populous", ("population", "pop"), ()),
    ("populated", "more populated", "most populated", "less populated", "least populated", ("population", "pop"), ()),
    ("hot", "hotter", "hottest", "cooler", "coolest", ("temperatur", "temp"), ()),
    ("warm", "warmer", "warmest", "colder", "coldest", ("temperatur", "temp"), ()),
    ("deep", "deeper", "deepest", "shallower", "shallowest", ("depth",), ()),
    ("wide", "wider", "widest", "narrower", "narrowest", ("width",), ()),
    ("rich", "richer", "richest", "poorer", "poorest", ("gdp", "incom", "wealth", "net worth"), ()),
    ("popular", "", "", "", "", ("popularity", "view", "vote"), ()),
    (
        "powerful",
        "more powerful",
        "most powerful",
        "less powerful",
        "least powerful",
        ("horsepower", "hp", "power"),
        (),
    ),
    ("northern", "more northern", "northernmost", "more southern", "southernmost", ("latitud", "lat"), ()),
    ("eastern", "more eastern", "easternmost", "more western", "westernmost", ("longitud", "lon", "lng"), ()),
    ("massive", "more massive", "most massive", "less massive", "least massive", ("mass", "weight"), ()),
    ("bright", "brighter", "brightest", "dimmer", "dimmest", ("brightness",), ("magnitud",)),
    ("dense", "denser", "densest", "less dense", "least dense", ("density",), ()),
    ("distant", "more distant", "most distant", "", "", ("distanc",), ()),
    ("far", "farther", "farthest", "closer", "closest", ("distanc",), ()),
    ("far", "further", "furthest", "nearer", "nearest", ("distanc",), ()),
    ("strong", "stronger", "strongest", "weaker", "weakest", ("strength", "magnitud"), ()),
)


def _adjectives() -> dict[str, list[Sense]]:
    found: dict[str, list[Sense]] = {}
    for plain, more, most, less, least, columns, reverse in _ADJECTIVES:
        found.setdefault(f"how {plain}", []).append(Sense(tag="HOWADJ", attributes=columns))
        for form, tag, value in ((more, "CMP", ">"), (less, "CMP", "<"), (most, "SUP", "max"), (least, "SUP", "min")):
            if form:
                phrase = f"{form} than" if tag == "CMP" else form
                sense = Sense(tag=tag, value=value, attributes=columns, inverse=reverse)
                found.setdefault(phrase, []).append(sense)
                if tag == "CMP":
                    bare = Sense(tag="MORE", value=value, attributes=columns, inverse=reverse)
                    found.setdefault(form, []).append(bare)
    return found


_KEYWORDS: tuple[tuple[str, Sense], ...] = (
    *_senses("HOWMANY", {"": "how many|number of|count of|total number of|total count of|the count of"}),
    *_senses("COUNT", {"": "count|tally"}),
    *_senses("HOWMUCH", {"": "how much"}),
    *_senses("WHAT", {"what": "what|whats", "which": "which|which one|which ones", "who": "who|whom"}),
    *_senses("WHEN", {"": "when|on what date|on which date|what date|in what year|in which year|what year|which year"}),
    *_senses("WHERE", {"": "where"}),
    *_senses("LIST", {"": "list|show|name|give|return|print|display|enumerate|identify|find|report|provide|get|determine"}),
    *_senses("CALC", {"": "compute|calculate|work out|add up|sum up"}),
    *_senses("BE", {"": "is|are|was|were|be|been|being|equals|equal|equal to|equals to|==|="}),
    *_senses("DO", {"": "do|does|did"}),
    *_senses("HAVE", {"": "has|have|had|having|contain|contains|containing|show|shows|include|includes|possess|carry"}),
    *_senses("HAVE", {"": "recorded|record|reach|reaches|reached|carries|boasts|boast|feature|features"}),
    *_senses("THERE", {"": "there|exist|exists"}),
    *_senses("IN", {"": "in|of|from|for|at|on|within|among|by|inside|amongst|across|out of|belonging to|for which"}),
    *_senses("IN", {"": "located in|based in|living in|situated in|found in|coming from|which is in|to|into"}),
    *_senses("IN", {"": "considering|considering only|regarding|concerning|looking at|restricted to|limited to|as|during"}),
    *_senses("REL", {"": "that|who|whose|where|with|when|such that|which|if|for which|in which|given that|given"}),
    *_senses("AND", {"and": "and|&|as well as|but|also", "or": "or|either|or else"}),
    *_senses("COMMA", {"": ",|;|:"}),
    *_senses("NOT", {"": "not|no|non|never|isnt|without being|do not|does not|did not"}),
    *_senses("OTHER", {"": "other than|except|except for|excluding|besides|apart from|not including|outside|outside of"}),
    *_senses("PER", {"": "per|for each|for every|by each|in each|grouped by|group by|broken down by|each|every|of each"}),
    *_senses("PER", {"": "from each|in every|split by|across each|depending on|with each|within each|at each|on each"}),
    *_senses(
        "AGG",
        {
            "avg": "average|mean|avg|arithmetic mean|average value of|mean value of|on average",
            "sum": "total|sum|combined|overall|total sum|sum total|aggregate|altogether|total amount of|cumulative|in total",
            "median": "median|median value of",
            "stddev": "standard deviation|std dev|stddev|sample standard deviation|std",
            "variance": "variance",
            "range": "range|spread",
        },
    ),
    *_senses(
        "SUP",
        {
            "max": "highest|greatest|maximum|max|maximal|highest value of|maximum value of|largest value of|top",
            "min": "lowest|minimum|min|minimal|fewest|lowest value of|minimum value of|smallest value of|bottom",
        },
    ),
    *_senses("MOST", {"max": "most|the most|the largest number of|the highest number of|the greatest number of",
                       "min": "least|fewest|the fewest|the least|the smallest number of|the lowest number of"}),
    *_senses("OFTEN", {
        "max": "most common|most frequent|most often|most frequently|most commonly|commonest|most popular|mode|mode of"
        "|most prevalent|most widespread|most typical|most numerous",
        "min": "least common|least frequent|least often|least frequently|rarest|least popular|least commonly",
    }),
    *_senses("APPEAR", {"": "appear|appears|appeared|occur|occurs|occurring|occurred|represented|mentioned|used|seen"}),
    *_senses("RANK", {"": "rank|ranks|ranked|ranking|sort|sorted|order|ordered"}),
    *_senses("BY", {"": "by|in terms of|according to|with respect to|in order of|based on|measured by|when it comes to"}),
    *_senses(
        "CMP",
        {
            ">": "more than|greater than|over|above|exceeding|exceed|exceeds|exceeded|larger than|higher than|bigger than"
            "|upwards of|in excess of|strictly more than|strictly greater than|beyond|>|longer than",
            "<": "less than|fewer than|under|below|lower than|smaller than|strictly less than|<|shorter than",
            ">=": "at least|no less than|no fewer than|not less than|minimum of|a minimum of|>=|≥|not below|not under"
            "|greater than or equal to|more than or equal to|or more than|from at least|not fewer than|equal to or above"
            "|equal to or greater than",
            "<=": "at most|no more than|not more than|up to|maximum of|a maximum of|<=|≤|not above|not over|not exceeding"
            "|less than or equal to|fewer than or equal to|equal to or below|equal to or less than",
            "=": "exactly|precisely|equal to exactly",
            "!=": "not equal to|different from|!=|<>|does not equal",
        },
    ),
    *_senses("AFTERNUM", {">=": "or more|or above|or higher|or greater|or over|or larger|or older|or later|and above|and over"
                                 "|and up|and later|and older|or longer|or heavier|and higher|onwards|onward",
                           "<=": "or less|or fewer|or below|or lower|or under|or smaller|or younger|or earlier|and below"
                                 "|and under|or shorter"}),
    *_senses("WHENCMP", {">": "after|later than", "<": "before|earlier than|prior to", ">=": "since|starting in|from",
                          "<=": "until|up to|through|by"}),
    *_senses("BETWEEN", {"": "between|in the range|ranging from|from|in the range of|anywhere between"}),
    *_senses("TO", {"": "to|and|through|until|-|–"}),
    *_senses("MORE", {">": "more|greater|higher|larger|bigger|better", "<": "less|fewer|lower|smaller"}),
    *_senses("THAN", {"": "than|compared to|compared with|versus|vs|relative to|over"}),
    *_senses("DISTINCT", {"": "different|distinct|unique|separate|various|individual"}),
    *_senses("PERCENT", {"100": "percentage of|percent of|what percent|percentage|percent|share of|share|% of|proportion in percent",
                          "1": "proportion of|fraction of|proportion|fraction"}),
    *_senses("DIFF", {"": "difference|gap|difference in|gap in|differ|differ in|absolute difference"}),
    *_senses("RATIO", {"": "ratio|ratio of|how many times"}),
    *_senses("MISSING", {"": "missing|empty|blank|null|unknown|unspecified|undefined|absent|nan|unavailable|unrecorded"}),
    *_senses("PRESENT", {"": "known|available|non-missing|non-null|specified|filled in|not missing|not null|not empty"
                              "|not blank|non missing|non null|nonempty|non-empty"}),
    *_senses("WITHOUT", {"": "without|lacking|lack|lacks|missing|with no|have no|has no|had no|not have|without any"}),
    *_senses("STARTS", {"starts": "start with|starts with|starting with|begin with|begins with|beginning with|starting in"
                                   "|start with the letter|starts with the letter|begins with the letter|begin with the letter"
                                   "|starting with the letter|beginning with the letter|start with letter",
                         "ends": "end with|ends with|ending with|ends in|end in|ending in|end with the letter|ends with the letter"
                                 "|ending with the letter",
                         "contains": "contain|contains|containing|include|includes|including|contain the word|contains the word"
                                     "|containing the word|contain the text|contains the text|contain the letter"}),
    *_senses("AVGREL", {">": "above average|above-average|higher than average|greater than average|more than average"
                              "|above the average|above the mean|higher than the average|greater than the average"
                              "|greater than the mean|more than the average|higher than the mean|larger than the average|over average",
                         "<": "below average|below-average|lower than average|less than average|below the average|below the mean"
                              "|lower than the average|less than the average|lower than the mean|less than the mean|smaller than the average",
                         }),
    *_senses("TRUE", {"": "true|yes"}),
    *_senses("FALSE", {"": "false"}),
)  # fmt: skip

FILLERS = frozenset(
    """the a an all any please tell me can could you would i we us know want to data dataset table file csv spreadsheet
    recorded listed so then just only its their it they them these those this sheet
    value values entry result results column field please. ? ! . " ( ) 's
    ones one some actually actual respectively ever also whole
    entire corresponding associated together""".split()
)
VERBS = frozenset(
    stem(word)
    for word in """live work come belong locate base make produce play stand use get go lie situate find fall happen
    take place occur serve assign call name list record register include cover hold correspond associate
    originate hail reside station mention see show measure observe collect classify categorize categorise label mark
    offer provide report share match fit represent travel fly stay found score earn receive spend run account pay charge speak""".split()
)
TIME_VERBS: dict[str, tuple[str, ...]] = {
    "birth": _BIRTH,
    "found": ("found", "establish", "create", "inception"),
    "establish": ("found", "establish", "create"),
    "releas": ("releas", "publish", "premier"),
    "publish": ("publish", "publication", "releas"),
    "build": ("build", "built", "construct", "complet"),
    "hire": ("hire", "hir", "join", "start", "employ"),
    "join": ("join", "hire", "start", "signup"),
    "discover": ("discover", "discovery"),
    "launch": ("launch",),
    "death": ("death", "died"),
    "order": ("order",),
    "sell": ("sold", "sale"),
}
IMPLIED: dict[str, tuple[str, ...]] = {
    "weigh": ("weight", "mass"),
    "cost": ("price", "cost", "far"),
    "earn": ("salary", "earn", "incom", "wag", "pay"),
    "last": ("duration", "length"),
    "liv": ("population",),
    "inhabitant": ("population",),
    "person": ("population",),
}
_SYNONYMS = """
country nation; sex gender; weight mass; price cost; salary wage pay income earnings; population inhabitants pop;
city town municipality; job occupation profession position; elevation altitude; surname lastname; forename firstname;
film movie; car vehicle automobile; author writer writ; director direct; company firm; currency money;
phone telephone; description comment comments remark note; type kind category sort; date day; revenue turnover;
quantity qty; department dept; address location; airport aerodrome; runtime duration; length duration; team club side;
teacher instructor; pupil student; kid child; boss manager; customer client; product item; goods product; state province;
language tongue; symbol abbreviation; mileage mpg; horsepower hp; displacement disp; temperature temp; latitude lat;
longitude lon lng long; abbreviation abbr; maximum max; minimum min; average avg; number num no nr count; percentage pct percent;
identifier id; rating score; score points; points pts; amount amt; year yr; month mo; transmission gear; winner win won;
founder founded; tip gratuity; bill check; size area; fare ticket price; passenger traveller; ship vessel;
timezone tz; magnitude mag; code abbreviation; manufacturer maker make brand; model name; title name; capital capital;
"""
_GROUPS = [frozenset(stem(word) for word in group.split()) for group in _SYNONYMS.split(";") if group.strip()]
UNITS: dict[str, tuple[str, ...]] = {
    "year": ("age", "year"),
    "kg": ("kg", "weight", "mass"), "kilogram": ("kg", "weight", "mass"), "kilo": ("kg", "weight"),
    "g": ("g", "weight", "mass"), "gram": ("g", "weight", "mass"), "pound": ("lb", "weight"), "lb": ("lb", "weight"),
    "cm": ("cm", "height", "length"), "centimeter": ("cm",), "centimetre": ("cm",),
    "mm": ("mm",), "millimeter": ("mm",), "millimetre": ("mm",), "millimetr": ("mm",), "millimet": ("mm",),
    "m": ("m", "height", "elevation", "length"), "meter": ("m", "height", "elevation", "length"),
    "metre": ("m", "height", "elevation", "length"), "metr": ("m", "height", "elevation", "length"),
    "km": ("km", "distanc", "length", "diameter"), "kilometer": ("km", "distanc", "length"),
    "kilometr": ("km", "distanc", "length"), "mile": ("mi", "mile", "distanc"),
    "foot": ("ft", "elevation", "height"), "ft": ("ft", "elevation"), "inch": ("in", "inch"),
    "minut": ("min", "minut", "duration", "runtim", "length"), "min": ("min", "minut", "duration"),
    "hour": ("hour", "hr", "h", "duration"), "second": ("sec", "second", "time"), "day": ("day",), "month": ("month",),
    "dollar": ("usd", "price", "cost", "salary", "amount", "revenu", "sale", "far", "tip", "bill"),
    "usd": ("usd", "price", "cost", "salary", "amount"), "euro": ("eur", "price", "cost", "amount"),
    "degre": ("temperatur", "temp", "latitud", "longitud"), "percent": ("percent", "pct", "rat"), "%": ("percent", "pct", "rat"),
    "person": ("population", "pop"), "inhabitant": ("population", "pop"), "point": ("point", "score", "pt"),
    "mph": ("mph", "speed"), "mpg": ("mpg",), "hp": ("hp", "horsepower"), "horsepower": ("hp", "horsepower"),
}  # fmt: skip
UNIT_WORDS = frozenset(
    "g kg mg mm cm km m mi ft in lb lbs usd eur gbp pct percent sq km2 m2 kmh mph c f hr sec ms".split()
)
GENERIC = frozenset(stem(word) for word in "name value code number rate level column field id percentage".split())
ROW_WORDS = frozenset(
    stem(word)
    for word in "row record entry line item observation instance case sample datum member thing result example".split()
)
DEMOGRAPHIC: dict[str, tuple[str, ...]] = {
    "man": ("male", "m", "man"), "male": ("male", "m", "man"), "boy": ("male", "m", "boy"),
    "woman": ("female", "f", "woman"), "female": ("female", "f", "woman"), "girl": ("female", "f", "girl"),
}  # fmt: skip
PERSON_WORDS = frozenset(stem(w) for w in "person people individual passenger employee student customer player".split())


def _keywords() -> dict[str, list[Sense]]:
    table: dict[str, list[Sense]] = {phrase: list(senses) for phrase, senses in _adjectives().items()}
    for phrase, sense in _KEYWORDS:
        table.setdefault(phrase, []).append(sense)
    return table


KEYWORDS = _keywords()
"""Every phrase of the grammar's own vocabulary with its senses."""


def synonyms(one: str, two: str) -> bool:
    """Tell whether two stems are near in meaning."""
    return one == two or any(one in group and two in group for group in _GROUPS)
