"""The vocabulary of the grammar: meanings of "how many" and "at least", in any table."""

from dataclasses import dataclass
from functools import cache

from .tokens import stem


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """Hold a phrase's meaning in the grammar.

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


DATES = (
    "year", "date", "release", "create", "found", "establish", "start", "open", "built", "build", "construct", "appear",
    "introduce", "launch", "publish", "debut", "inception"
)  # fmt: skip
_BIRTH = ("birth", "born", "dob")

# plain form, (comparative, superlative, opposite comparative, opposite superlative, columns implied, columns reversed)
_ADJECTIVES: tuple[tuple[str, str, str, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("tall", "taller", "tallest", "", "", ("height", "elevation"), ()),
    ("short", "", "", "shorter", "shortest", ("height", "length", "distance", "duration", "runtime", "minute",
     "time"), ()),
    ("high", "higher", "highest", "lower", "lowest", ("height", "elevation", "altitude"), ()),
    ("long", "longer", "longest", "", "", ("length", "duration", "runtime", "minute", "distance"), ("since",)),
    ("heavy", "heavier", "heaviest", "lighter", "lightest", ("weight", "mass"), ()),
    ("old", "older", "oldest", "younger", "youngest", ("age",), _BIRTH + DATES),
    ("new", "newer", "newest", "older", "oldest", DATES, ()),
    ("late", "later", "latest", "earlier", "earliest", DATES + _BIRTH, ()),
    ("recent", "more recent", "most recent", "less recent", "least recent", DATES + _BIRTH, ()),
    ("recently", "more recently", "most recently", "less recently", "least recently", DATES + _BIRTH, ()),
    ("last", "", "last", "", "", DATES, ()),
    ("fast", "faster", "fastest", "slower", "slowest", ("speed", "velocity"), ("time", "second", "minute",
     "duration")),
    ("quick", "quicker", "quickest", "", "", ("speed", "velocity"), ("time", "second", "minute", "duration")),
    ("deadly", "deadlier", "deadliest", "", "", ("death", "fatality", "casualty", "victim"), ()),
    ("wet", "wetter", "wettest", "drier", "driest", ("precipitation", "rainfall", "rain"), ()),
    ("rainy", "rainier", "rainiest", "", "", ("precipitation", "rainfall", "rain"), ()),
    ("windy", "windier", "windiest", "", "", ("wind",), ()),
    ("snowy", "snowier", "snowiest", "", "", ("snow", "snowfall"), ()),
    ("sunny", "sunnier", "sunniest", "", "", ("sunshine", "sun"), ()),
    ("profitable", "more profitable", "most profitable", "less profitable", "least profitable", ("profit",
     "margin"), ()),
    ("expensive", "more expensive", "most expensive", "less expensive", "least expensive", ("price", "cost",
     "fare", "rent"), ()),
    ("costly", "costlier", "costliest", "", "", ("price", "cost", "fare", "rent"), ()),
    ("cheap", "", "", "cheaper", "cheapest", ("price", "cost", "fare", "rent"), ()),
    ("large", "larger", "largest", "smaller", "smallest", ("area", "size", "population", "diameter"), ()),
    ("big", "bigger", "biggest", "smaller", "smallest", ("area", "size", "population", "diameter"), ()),
    ("populous", "more populous", "most populous", "less populous", "least populous", ("population", "pop"), ()),
    ("populated", "more populated", "most populated", "less populated", "least populated", ("population", "pop"),
     ()),
    ("hot", "hotter", "hottest", "cooler", "coolest", ("temperature", "temp"), ()),
    ("warm", "warmer", "warmest", "colder", "coldest", ("temperature", "temp"), ()),
    ("deep", "deeper", "deepest", "shallower", "shallowest", ("depth",), ()),
    ("wide", "wider", "widest", "narrower", "narrowest", ("width",), ()),
    ("rich", "richer", "richest", "poorer", "poorest", ("gdp", "income", "wealth", "net worth"), ()),
    ("popular", "", "", "", "", ("popularity", "view", "vote"), ()),
    ("powerful", "more powerful", "most powerful", "less powerful", "least powerful", ("horsepower", "hp",
     "power"), ()),
    ("northern", "more northern", "northernmost", "more southern", "southernmost", ("latitude", "lat"), ()),
    ("eastern", "more eastern", "easternmost", "more western", "westernmost", ("longitude", "lon", "lng"), ()),
    ("massive", "more massive", "most massive", "less massive", "least massive", ("mass", "weight"), ()),
    ("bright", "brighter", "brightest", "dimmer", "dimmest", ("brightness",), ("magnitude",)),
    ("good", "", "best", "", "worst", ("rating", "score", "grade"), ("rank", "place", "position")),
    ("dense", "denser", "densest", "less dense", "least dense", ("density",), ()),
    ("distant", "more distant", "most distant", "", "", ("distance",), ()),
    ("fare", "farther", "farthest", "closer", "closest", ("distance",), ()),
    ("fare", "further", "furthest", "nearer", "nearest", ("distance",), ()),
    ("strong", "stronger", "strongest", "weaker", "weakest", ("strength", "magnitude"), ()),
)  # fmt: skip


_OPPOSITES = {
    "shallow": "deep", "light": "heavy", "young": "old", "cheap": "expensive", "small": "large", "slow": "fast",
    "low": "high", "narrow": "wide", "cold": "hot", "early": "late", "far": "distant", "near": "distant",
    "close": "distant"
}  # fmt: skip


def _adjectives() -> dict[str, list[Sense]]:
    found: dict[str, list[Sense]] = {}
    for plain, more, most, less, least, implied, reversed_ in _ADJECTIVES:
        columns, inverse = _stemmed(implied), _stemmed(reversed_)
        for word in (plain, *(low for low, high in _OPPOSITES.items() if high == plain)):
            found.setdefault(f"how {word}", []).append(Sense(tag="HOWADJ", attributes=columns))
        found.setdefault(plain, []).append(Sense(tag="ADJ", attributes=columns))
        for phrase, tag, value in (
            (f"{more} than" if more else "", "CMP", ">"),
            (f"{less} than" if less else "", "CMP", "<"),
            (more, "MORE", ">"),
            (less, "MORE", "<"),
            (most, "SUP", "max"),
            (least, "SUP", "min"),
        ):
            if phrase:
                found.setdefault(phrase, []).append(Sense(tag=tag, value=value, attributes=columns, inverse=inverse))
    return found


def _stemmed(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(map(stem, name.split())) for name in names)


# part of speech and value : phrases
_PHRASES = """
HOWMANY : how many | how many of | quantity of | number of | count of | total number of | total count of
HOWMANY : the count of
COUNT : count | tally
HOWMUCH : how much
WHAT what : what | whats
WHAT which : which | which one | which ones
WHAT who : who | whom
WHEN : when | on what date | on which date | what date | in what year | in which year | what year | which year
WHERE : where
LIST : list | show | name | give | return | print | display | enumerate | identify | find | report | provide | get
LIST : determine | state | look up | fetch | retrieve | check | tell
CALC : compute | calculate | work out
BE : is | are | was | were | be | been | being | equals | equal | equal to | equals to | == | =
DO : do | does | did
HAVE : has | have | had | having | contain | contains | containing | show | shows | include | includes | possess
HAVE : counts | carry | recorded | record | carries | boasts | boast | feature | features
THERE : there | exist | exists
IN : in | of | from | for | at | on | within | among | by | inside | amongst | across | out of | belonging to
IN : through
IN : for which | located in | based in | living in | situated in | found in | coming from | which is in | to | into
IN : considering | considering only | regarding | concerning | looking at | restricted to | limited to | as | during
REL : that | who | whose | where | with | when | such that | which | if | for which | in which | given that | given
AND and : and | & | plus | but | also
AND or : or | either | or else
COMMA : , | ; | :
NOT : neither | nor | not | no | non | never | isnt | without being | do not | does not | did not
OTHER : other than | except | except for | excluding | besides | apart from | not including | outside | outside of
PER : per | for each | for every | by each | in each | grouped by | group by | broken down by | each | every
PER : of each | from each | in every | split by | across each | depending on | with each | within each | at each
PER : on each
AGG avg : average | mean | avg | arithmetic mean | average value of | mean value of | on average
AGG sum : add up | sum up | summed | summed up | added up | totalled | totaled | adds up to | sums to
AGG sum : total | sum | combined | overall | total sum | sum total | aggregate | altogether | total amount of
AGG sum : cumulative | in total
AGG median : median | median value of
AGG stddev : standard deviation | std dev | stddev | sample standard deviation | std
AGG variance : variance
AGG range : range | spread
SUP max : peak | top-most | highest | greatest | maximum | max | maximal | highest value of | maximum value of
SUP max : largest value of
SUP max : top | tops | leads | leading | dominates | record | maximises | maximizes | maximise | maximize
SUP min : minimises | minimizes | minimise | minimize
SUP min : lowest | minimum | min | minimal | fewest | lowest value of | minimum value of | smallest value of
SUP min : bottom
MOST max : majority of | the majority of | bulk of | the bulk of | most of | most of the | most of all
MOST max : biggest number of | greatest number of | highest number of | largest number of
MOST max : highest count of | largest group of | biggest group of | the largest group of | the biggest group of
MOST max : largest count of | most | the most | the largest number of | the highest number of
MOST max : the greatest number of
MOST min : lowest count of | smallest count of | smallest number of | lowest number of | least number of
MOST min : least | fewest | the fewest | the least | the smallest number of | the lowest number of
OFTEN max : best represented | best-represented | most represented | predominant | dominant | most common
OFTEN max : predominates | most heavily represented | most frequent | most often | most frequently
OFTEN max : the most times | most times | modal | dominating | prevailing | dominates | most commonly | commonest
OFTEN max : most popular | busiest
OFTEN max : mode | mode of | most prevalent | most widespread | most typical | most numerous
OFTEN min : the fewest times | fewest times | least represented | least common | least frequent | least often
OFTEN min : least frequently | rarest
OFTEN min : least popular | least commonly
APPEAR : show up | shows up | appear | appears | appeared | occur | occurs | occurring | occurred | represented
APPEAR : mentioned | used | seen
RANK : rank | ranks | ranked | ranking | sort | sorted | order | ordered
BY : by | in terms of | according to | with respect to | in order of | based on | measured by | when it comes to
CMP > : more than | greater than | over | above | exceeding | exceed | exceeds | exceeded | larger than
CMP > : higher than | bigger than | upwards of | in excess of | strictly more than | strictly greater than | beyond
CMP > : > | longer than
CMP < : less than | fewer than | under | below | lower than | smaller than | strictly less than | < | shorter than
CMP >= : at least | no less than | no fewer than | not less than | minimum of | a minimum of | >= | ≥ | not below
CMP >= : not under | greater than or equal to | more than or equal to | or more than | from at least
CMP >= : not fewer than | equal to or above | equal to or greater than
CMP <= : at most | no more than | not more than | up to | maximum of | a maximum of | <= | ≤ | not above | not over
CMP <= : not exceeding | less than or equal to | fewer than or equal to | equal to or below | equal to or less than
CMP >= : reach | reaches | reached | reaching | hit | hits
CMP > : north of | past | top | topping | surpass | surpasses | surpassing | go beyond | rise above | stay above
CMP > : lie above | are above | beat
CMP > : beats
CMP < : fall below | falls below | stay below | lie below | drop below | remain below | stay under
CMP = : exactly | precisely | equal to exactly
CMP != : not equal to | different from | != | <> | does not equal
AFTERNUM >= : or more | or above | or higher | or greater | or over | or larger | or older | or later | and above
AFTERNUM >= : and over | and up | and later | and older | or longer | or heavier | and higher | onwards | onward
AFTERNUM <= : or less | or fewer | or below | or lower | or under | or smaller | or younger | or earlier | and below
AFTERNUM <= : and under | or shorter
WHENCMP > : after | later than
WHENCMP < : before | earlier than | prior to
WHENCMP >= : since | starting in | from
WHENCMP <= : until | up to | through | by
BETWEEN : between | in the range | ranging from | from | in the range of | anywhere between
TO : to | and | through | until | - | –
MORE > : more | greater | higher | larger | bigger | better
MORE < : less | fewer | lower | smaller
THAN : than | compared to | compared with | versus | vs | relative to | over
KINDS : type of | kind of | sort of | types of | kinds of | sorts of | categories of
DISTINCT : unique values of | distinct values of | different values of | unique values in | distinct values in
DISTINCT : possible | different | distinct | unique | separate | various | individual
PERCENT 100 : percentage of | percent of | what percent | percentage | percent | share of | share | % of
PERCENT 100 : proportion in percent
PERCENT 1 : portion of | portion | proportion of | fraction of | proportion | fraction
DIFF : minus | differs | apart | distance between | difference | gap | difference in | gap in | differ
DIFF : differ in | absolute difference
RATIO : ratio | ratio of | how many times
MISSING : missing values | empty cells | blank cells | null values | blanks | nulls | missing cells | missing
MISSING : lacking | not given | not known | not recorded | not available | not stated | empty | blank | null
MISSING : unknown | unspecified | undefined | absent | nan | unavailable
MISSING : unrecorded
PRESENT : known | available | non-missing | non-null | specified | filled in | not missing | not null | not empty
PRESENT : not blank | non missing | non null | nonempty | non-empty
WITHOUT : without | lacking | lack | lacks | missing | with no | have no | has no | had no | not have | without any
STARTS starts : start with | starts with | starting with | begin with | begins with | beginning with | starting in
STARTS starts : start with the letter | starts with the letter | begins with the letter | begin with the letter
STARTS starts : starting with the letter | beginning with the letter | start with letter
STARTS ends : end with | ends with | ending with | ends in | end in | ending in | end with the letter
STARTS ends : ends with the letter | ending with the letter
STARTS contains : contain | contains | containing | include | includes | including | contain the word
STARTS contains : contains the word | containing the word | contain the text | contains the text
STARTS contains : contain the letter
AVGREL > : above average | above-average | higher than average | greater than average | more than average
AVGREL > : above the average | above the mean | higher than the average | greater than the average
AVGREL > : greater than the mean | more than the average | higher than the mean | larger than the average
AVGREL > : over average
AVGREL < : below average | below-average | lower than average | less than average | below the average
AVGREL < : below the mean | lower than the average | less than the average | lower than the mean
AVGREL < : less than the mean | smaller than the average
TRUE : true | yes
FALSE : false
"""


@cache
def keywords() -> dict[str, list[Sense]]:
    """Return every phrase of the vocabulary with its senses."""
    found = _adjectives()
    for line in _PHRASES.strip().splitlines():
        head, _, phrases = line.partition(" : ")
        tag, _, value = head.partition(" ")
        for phrase in phrases.split(" | "):
            found.setdefault(phrase, []).append(Sense(tag=tag, value=value))
    return found


@cache
def grammar_words() -> frozenset[str]:
    """Return the ruling phrases of the vocabulary; plain adjectives may as well be part of a name."""
    return frozenset(phrase for phrase, senses in keywords().items() if any(sense.tag != "ADJ" for sense in senses))
