"""Words of a question to the columns they name."""

from .lexicon import lexicon, synonyms
from .schema import Column
from .tokens import name_words, norm, stem

ENOUGH = 0.6
_SMALL = frozenset(["of", "the", "a", "an", "in", "and", "per", "by", "to", "for"])


def column_score(phrase: str, column: Column) -> float:
    """Return how well a phrase names a column, from 0 to 1."""
    said = [stem(word) for word in norm(phrase).split()]
    named = name_words(column.name.split(",")[0]) or column.words
    if not said or not named:
        return 0.0
    if norm(phrase) == norm(column.name):
        return 1.0
    if said == named or "".join(said) == "".join(named):
        return 0.98
    core = _core(named)
    said_core = [word for word in said if word not in _SMALL] or said
    generic = lexicon().generic | (
        lexicon().when if column.dated else lexicon().how_much if column.numeric else set[str]()
    )
    return max(_by_words(said_core, named, core, generic), _by_letters(said_core, named), _by_letters(said, named))


def attribute_score(attribute: str, column: Column) -> float:
    """Return how well a column carries an attribute that a word only implies."""
    core, wanted = _core(column.words), attribute.split()
    if wanted == core or wanted == column.words:
        return 1.0
    if all(word in column.words for word in wanted):
        return 0.9
    if len(core) == 1 and len(attribute) > 3 and (core[0].startswith(attribute) or _by_letters(wanted, core)):
        return 0.85
    return 0.0


def _core(named: list[str]) -> list[str]:
    """Return a column's words without units and small words, in the order of its name."""
    kept = [word for word in named if word not in _SMALL]
    while len(kept) > 1 and kept[-1] in lexicon().unit_words:
        kept.pop()
    return kept


def _by_words(said: list[str], named: list[str], core: list[str], generic: frozenset[str]) -> float:
    """Score by whole words: same, reordered, synonymous, a part of the name, or the name and a generic word."""
    if said == core:
        return 0.95
    if sorted(said) == sorted(core):
        return 0.9
    if len(said) == len(core) > 1 and all(any(synonyms(word, other) for other in core) for word in said):
        return 0.9
    if len(said) == len(core) and all(_near(a, b) for a, b in zip(said, core, strict=True)):
        same = all(a == b or synonyms(a, b) or min(len(a), len(b)) >= 5 for a, b in zip(said, core, strict=True))
        return 0.85 if same else 0.75
    if len(said) < len(named) and all(any(_near(word, other) for other in named) for word in said):
        return _part(said, core)
    extra = [word for word in said if not any(_near(word, other) for other in named)]
    covered = all(any(_near(word, other) for word in said) for other in core)
    if covered and extra and all(word in generic for word in extra):
        return 0.9 if extra == ["name"] else 0.8
    return 0.0


def _part(said: list[str], core: list[str]) -> float:
    """Score a phrase that is part of a column's name; the head of the name counts most."""
    share = len(said) / len(core)
    head = _near(said[-1], core[-1]) or _near(said[-1], core[0])
    rest = [word for word in core if not any(_near(word, other) for other in said)]
    if rest == ["name"]:
        return 0.92
    if all(word in lexicon().generic for word in rest):
        return 0.8
    if len(said) == 1 and said[0] in lexicon().generic and said[0] != core[0]:
        return 0.6
    return 0.62 + 0.2 * share + (0.03 if head else 0.0)


def _near(one: str, two: str) -> bool:
    if one == two or synonyms(one, two):
        return True
    shorter, longer = sorted((one, two), key=len)
    if len(shorter) >= 3 and longer.startswith(shorter) and len(longer) - len(shorter) >= 3:
        return shorter == two  # a column abbreviates what is said, not the other way round
    return len(shorter) >= 5 and longer.startswith(shorter) and len(longer) - len(shorter) <= 3


def _by_letters(said: list[str], named: list[str]) -> float:
    """Score abbreviations: gdpPercap for GDP per capita, mpg for miles per gallon, wt for weight."""
    short, words = "".join(named), said
    if len(words) > 1 and len(short) == len(words) and short == "".join(word[0] for word in words):
        return 0.85
    if len(short) >= 4 and _prefixes(short, words):
        return 0.85
    if len(words) == 1 and len(named) == 1 and 2 <= len(short) < len(words[0]) and len(words[0]) >= 4:
        if words[0].startswith(short) and len(short) >= 3:
            return 0.78
        if _skeleton(short, words[0]):
            return 0.75
    if (
        len(words) == 1
        and len(named) == 1
        and len(words[0]) >= 4
        and short.endswith(words[0])
        and len(short) <= len(words[0]) + 2
    ):
        return 0.8
    return 0.0


def _prefixes(short: str, words: list[str]) -> bool:
    """Tell whether a name is made of beginnings of the words, in order, each at least two letters."""
    if not words:
        return not short
    word = words[0]
    for size in range(min(len(word), len(short)), 1, -1):
        if short[:size] == word[:size] and _prefixes(short[size:], words[1:]):
            return True
    return False


def _skeleton(short: str, word: str) -> bool:
    """Tell whether a name keeps a word's first letter, then consonants in order: wt, qty, amt, dept."""
    if short[0] != word[0] or any(letter in "aeiou" for letter in short[1:-1]) or len(short) > 5:
        return False
    position = 0
    for letter in short:
        position = word.find(letter, position) + 1
        if not position:
            return False
    return short[-1] == word[-1] or len(short) >= 3
