"""Meanings of words outside of the grammar: light words, verbs, units, synonyms; of no table in particular."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from .tokens import stem

_FILLERS = """
the a an all any please tell me can could you would i we us know want to so then just only its their it they them
these those this data dataset table file csv spreadsheet sheet recorded listed value values entry result results
column field ones one some actually actual respectively ever also whole entire corresponding associated together
yet inclusive nautical pls plz kindly thanks thx out overall currently means meant still already responsible so far
single
? ! . " ( ) 's
"""
_VERBS = """
live work come belong locate base make produce play stand use get go lie situate find fall happen take place occur
serve assign call name list record register include cover hold correspond associate originate hail reside station
mention see show measure observe collect classify categorize categorise label mark offer provide report share match
fit represent travel fly stay found score earn receive spend run account pay charge speak build operate manufacture
develop design introduce post boast enjoy experience display exhibit achieve attain document describe know end flow
strike struck hit ran wear wore worn lend lent borrow finish compete participate attend cook prepare visit teach study
gather give gave took treat saw handle bring brought claim contribute pass elapse sit check up present constitute
comprise occupy signify denote stand reach hit become remain host house sport divide turn crop
"""
_DATING = """
year yr birth born founded released established date discovered discovery launched built constructed completed
created started ended opened closed published introduced since elected debut premiere won season edition vintage
independence joined invented inaugurated hired died death when appeared begun beginning end start
"""
_ADDED_UP = """
sales amount revenue quantity qty cost profit total count points goals pay payment number spending income budget
score fine fee death casualty fatality loss donation budget expenditure attendance tax spent
population visitors passengers medals wins orders units expenses exports imports
"""
_TIME_VERBS = """
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
_IMPLIED = """
weigh : weight mass
cost : price cost fare fee
earn : salary earn income wage pay
spend spent : spend amount total price cost
last : duration length
rated : rating score rate
inhabitants people : population
"""
_UNITS = """
year years : age year
kg kilogram kilo : kg weight mass
g gram : g weight mass
tonne ton : t weight mass
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
_UNIT_WORDS = "g kg mg mm cm km m mi ft in lb lbs usd eur gbp pct percent sq km2 m2 kmh mph c f hr sec ms"
_LONG_UNITS = """
minutes hours seconds meters metres kilometers kilometres miles feet inches grams kilograms pounds dollars euros degrees
centimeters centimetres millimeters millimetres days weeks months
"""
_GENERIC = "name value code number rate level column field id percentage"
_WHEN = "date day year time"
_HOW_MUCH = """
amount figure score size speed temperature count reading measurement share index percentage cause causes
"""
_KINDS = "type kind category sort"
_TIMES = "day date week month quarter year decade hour"
_ROWS = "cell row record entry line item observation instance case sample datum member thing result example measurement"
_PERSONS = "person people individual passenger employee student customer player"
_DEMOGRAPHIC = """
men male : male m man
boys : male m boy
women female : female f woman
girls : female f girl
"""
_SYNONYMS = """
recipe dish meal; river stream waterway; quake earthquake; runner athlete participant competitor racer; mountain peak
summit; marathon race; building skyscraper; employee worker staff colleague; appointment visit consultation; doctor
physician; song track; game match; store shop; painting artwork; restaurant eatery; trip ride journey; bike bicycle;
sale transaction; accident crash collision; volcano crater; stadium arena venue; death fatality casualty; country
nation; sex gender; weight mass; price cost; salary wage pay income earnings; population inhabitants pop; city town
municipality; job occupation profession position; elevation altitude; surname lastname; forename firstname; film
movie; car vehicle automobile; author writer write; director direct; company firm; currency money; phone telephone;
description comment comments remark note; type kind category sort; date day; revenue turnover; quantity qty unit;
department dept; address location; airport aerodrome; runtime duration; length duration; team club side; teacher
instructor; pupil student; kid child; boss manager; customer client; product item; goods product; state province;
language tongue; symbol abbreviation; mileage mpg; horsepower hp; displacement disp; temperature temp; latitude lat;
longitude lon lng long; abbreviation abbr; maximum max high highest; minimum min low lowest; airline carrier;
precipitation rainfall rain; average avg; number num no nr count; percentage pct percent; identifier id; rating score;
score points; points pts; amount amt; year yr; month mo; winner win won; founder founded; tip gratuity; bill check;
size area; fare ticket price; passenger traveller; ship vessel; timezone tz; magnitude mag; code abbreviation;
manufacturer maker make brand; colour color; january jan; february feb; march mar; april apr; june jun; july jul;
august aug; september sep sept; october oct; november nov; december dec; monday mon; tuesday tue; wednesday wed;
thursday thu; friday fri; saturday sat; sunday sun
"""

Implications = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Sets of words, most of them as stems.

    Args:
        fillers: Words as written that may be passed over.
        verbs: Verbs that add nothing to the nouns beside them.
        dating: Words in names of columns that tell when.
        added_up: Words in names of columns whose sum means something.
        time_verbs: Columns that a verb implies, where they tell when.
        implied: Columns that a word implies.
        units: Columns that a unit implies.
        unit_words: Words at the end of a column's name that only tell its unit.
        generic: Words that say little in a column's name.
        when: Words that say little of a column that tells when.
        how_much: Words that say little of a numeric column.
        kinds: Words that say little of a column of words.
        times: Words for stretches of time.
        rows: Words for the rows of any table.
        persons: Words for the rows of a table about people.
        demographic: Cells, as written, by which groups of people go.
        groups: Words near in meaning.
    """

    fillers: frozenset[str]
    verbs: frozenset[str]
    dating: frozenset[str]
    added_up: frozenset[str]
    time_verbs: Implications
    implied: Implications
    units: Implications
    unit_words: frozenset[str]
    generic: frozenset[str]
    when: frozenset[str]
    how_much: frozenset[str]
    kinds: frozenset[str]
    times: frozenset[str]
    rows: frozenset[str]
    persons: frozenset[str]
    demographic: Implications
    near: Mapping[str, frozenset[str]]


@cache
def lexicon() -> Lexicon:
    """Return the one lexicon."""
    return Lexicon(
        fillers=frozenset(_FILLERS.split()),
        verbs=_stems(_VERBS),
        dating=_stems(_DATING),
        added_up=_stems(_ADDED_UP),
        time_verbs=_by_stem(_TIME_VERBS),
        implied=_by_stem(_IMPLIED),
        units=_by_stem(_UNITS),
        unit_words=frozenset(_UNIT_WORDS.split()) | _stems(_LONG_UNITS),
        generic=_stems(_GENERIC),
        when=_stems(_WHEN),
        how_much=_stems(_HOW_MUCH),
        kinds=_stems(_KINDS),
        times=_stems(_TIMES),
        rows=_stems(_ROWS),
        persons=_stems(_PERSONS),
        demographic=_lines(_DEMOGRAPHIC),
        near=_near(_stems(group) for group in _SYNONYMS.split(";")),
    )


def synonyms(one: str, two: str) -> bool:
    """Tell whether two stems are near in meaning."""
    return one == two or two in lexicon().near.get(one, ())


def _near(groups: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return each stem's companions in its groups."""
    found: dict[str, frozenset[str]] = {}
    for group in groups:
        for word in group:
            found[word] = found.get(word, group) | group
    return found


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _lines(text: str) -> Implications:
    """Return, for the stem of each word on the left of a line, the words on its right."""
    pairs = (line.split(" : ") for line in text.strip().splitlines())
    return {stem(word): tuple(right.split()) for left, right in pairs for word in left.split()}


def _by_stem(text: str) -> Implications:
    return {word: tuple(map(stem, right)) for word, right in _lines(text).items()}
