"""What words mean outside of the grammar: light words, verbs, units, synonyms; of no table in particular."""

from .tokens import stem


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _lines(text: str) -> dict[str, tuple[str, ...]]:
    """Return, for the stem of each word on the left of a line, the words on its right."""
    pairs = (line.split(" : ") for line in text.strip().splitlines())
    return {stem(word): tuple(right.split()) for left, right in pairs for word in left.split()}


def _by_stem(text: str) -> dict[str, tuple[str, ...]]:
    return {word: tuple(map(stem, implied)) for word, implied in _lines(text).items()}


FILLERS = frozenset(["?", "!", ".", '"', "(", ")", "'s"]) | frozenset(
    word
    for line in (
        "the a an all any please tell me can could you would i we us know want to so then just only its their it they",
        "them these those this data dataset table file csv spreadsheet sheet recorded listed value values entry result",
        "results column field ones one some actually actual respectively ever also whole entire corresponding",
        "associated together",
    )
    for word in line.split()
)
"""Words that may be passed over."""

VERBS = _stems(
    """live work come belong locate base make produce play stand use get go lie situate find fall happen take place
    occur serve assign call name list record register include cover hold correspond associate originate hail reside
    station mention see show measure observe collect classify categorize categorise label mark offer provide report
    share match fit represent travel fly stay found score earn receive spend run account pay charge speak"""
)
"""Stems of verbs that add nothing to the nouns beside them."""

TIME_VERBS = _by_stem(
    """
    born birth : birth born dob
    founded : found establish create inception
    established : found establish create
    released : release publish premiere
    published : publish publication release
    built : build built construct complete
    hired : hire join start employ
    joined : join hire start signup
    discovered : discover discovery
    launched : launch
    died : death died
    ordered : order
    sold : sold sale
    """
)
"""Columns that a verb implies where they tell when."""

IMPLIED = _by_stem(
    """
    weigh : weight mass
    cost : price cost fare
    earn : salary earn income wage pay
    last : duration length
    inhabitants people : population
    """
)
"""Columns that a word implies."""

UNITS = _by_stem(
    """
    year years : age year
    kg kilogram kilo : kg weight mass
    g gram : g weight mass
    lb pound : lb weight
    cm centimeter centimetre : cm height length
    mm millimeter millimetre : mm
    m meter metre : m height elevation length
    km kilometer kilometre : km distance length
    mile : mi mile distance
    foot ft : ft elevation height
    inch : in inch
    minute min : min minute duration runtime length
    hour : hour hr h duration
    second : sec second time
    day : day
    month : month
    dollar usd : usd price cost salary amount
    euro : eur price cost amount
    degree : temperature temp latitude longitude
    percent % : percent pct rate
    person inhabitants : population pop
    point : point score pt
    mph : mph speed
    mpg : mpg
    hp horsepower : hp horsepower
    """
)
"""Columns that a unit implies."""

UNIT_WORDS = frozenset(
    word
    for line in ("g kg mg mm cm km m mi ft in lb lbs usd eur gbp pct percent sq km2 m2 kmh mph c f hr sec ms",)
    for word in line.split()
)
"""Words at the end of a column's name that only tell its unit."""

GENERIC = _stems("name value code number rate level column field id percentage")
ROW_WORDS = _stems(
    "row record entry line item observation instance case sample datum member thing result example measurement"
)
PERSON_WORDS = _stems("person people individual passenger employee student customer player")
DEMOGRAPHIC = _lines(
    """
    men male : male m man
    boys : male m boy
    women female : female f woman
    girls : female f girl
    """
)
"""Cells by which groups of people go."""

_SYNONYMS = """
country nation; sex gender; weight mass; price cost; salary wage pay income earnings; population inhabitants pop;
city town municipality; job occupation profession position; elevation altitude; surname lastname; forename firstname;
film movie; car vehicle automobile; author writer write; director direct; company firm; currency money;
phone telephone; description comment comments remark note; type kind category sort; date day; revenue turnover;
quantity qty; department dept; address location; airport aerodrome; runtime duration; length duration; team club side;
teacher instructor; pupil student; kid child; boss manager; customer client; product item; goods product;
state province; language tongue; symbol abbreviation; mileage mpg; horsepower hp; displacement disp; temperature temp;
latitude lat; longitude lon lng long; abbreviation abbr; maximum max; minimum min; average avg; number num no nr count;
percentage pct percent; identifier id; rating score; score points; points pts; amount amt; year yr; month mo;
winner win won; founder founded; tip gratuity; bill check; size area; fare ticket price; passenger traveller;
ship vessel; timezone tz; magnitude mag; code abbreviation; manufacturer maker make brand; colour color
"""
_GROUPS = [_stems(group) for group in _SYNONYMS.split(";")]


def synonyms(one: str, two: str) -> bool:
    """Tell whether two stems are near in meaning."""
    return one == two or any(one in group and two in group for group in _GROUPS)
