"""Words of a question to the columns they name."""

from collections.abc import Sequence
from functools import lru_cache

from .lexicon import lexicon, synonyms
from .schema import Column
from .tokens import name_words, norm, stem

ENOUGH = 0.6
SMALL_WORDS = frozenset(
    ["of", "the", "a", "an", "in", "and", "per", "by", "to", "for", "from", "on", "at", "with", "between"]
)
_SUMS = frozenset(["total", "amount", "sum"])
_TOTALLED = frozenset(["revenue", "turnover", "sal", "sale", "payment", "amount", "valu", "value", "spend", "bill"])
_SAME, _SYNONYM, _INFLECTED, _ABBREVIATED, _SKELETON = 1.0, 0.95, 0.9, 0.8, 0.7


@lru_cache(maxsize=10_000)  # each step reads the question again
def column_score(phrase: str, column: Column) -> float:
    """Return how well a phrase names a column, from 0 to 1."""
    said = [stem(word) for word in norm(phrase).split()]
    named = column.words if column.part else name_words(column.name.split(",")[0]) or column.words
    if not said or not named:
        return 0.0
    if norm(phrase) == norm(column.told):
        return 1.0
    if said == named or "".join(said) == "".join(named):
        return 0.98
    bare = [word for word in said if word not in SMALL_WORDS] or said
    core = _core(named)
    related = len({"per", "by", "for", "with", "between", "and"} & set(said) - set(named)) > 0
    whole = (bare, said) if len(said) > len(bare) else (bare,)
    of = "of" in said and "of" not in named
    fits = [_aligned(words, core, column, of) for words in whole]
    aligned = 0.0 if related and len(bare) > len(core) else max(fits)
    prefixes = max(_whole_prefixes(bare, named), _whole_prefixes(said, named))
    return max(aligned, prefixes, _initials(said, named), _inside(bare, named))


def attribute_score(attribute: str, column: Column) -> float:
    """Return the fit of a column to an attribute only implied by a word."""
    core, wanted = _core(column.words), attribute.split()
    if wanted in (core, column.words):
        return 1.0
    if all(word in column.words for word in wanted):
        return 0.9
    if len(core) == 1 and len(wanted) == 1 and len(attribute) > 3:
        return 0.85 if core[0].startswith(attribute) or _link(attribute, core[0]) >= _SKELETON else 0.0
    return 0.0


def _core(named: list[str]) -> list[str]:
    """Return a column's words without units and small words, in the order of its name."""
    kept = [word for word in named if word not in SMALL_WORDS]
    while len(kept) > 1 and kept[-1] in lexicon().unit_words:
        kept.pop()
    return kept


def _aligned(phrase: list[str], core: list[str], column: Column, of: bool) -> float:
    """Score by pairing words: all of the name and words beside it; or a part of the name."""
    links, used = _pair(phrase, core)
    extra = [word for index, word in enumerate(phrase) if index not in used]
    missing = [word for word, link in zip(core, links, strict=True) if not link]
    if not missing:
        score = 0.95 - (1 - min(links)) - (0.05 if sorted(used) != used else 0.0)
        return score - _cost_of_extra(extra, column, of) if score >= ENOUGH else 0.0
    if extra or any(link < _INFLECTED for link in links if link):
        return 0.0
    return _part(phrase, core, missing)


def _pair(phrase: list[str], core: list[str]) -> tuple[list[float], list[int]]:
    """Return, for each word of the name, how well something said stands for it, and the positions used, in order."""
    links: list[float] = []
    used: list[int] = []
    for word in core:
        free = [index for index in range(len(phrase)) if index not in used]
        best = max(free, key=lambda index: _link(phrase[index], word), default=None)
        link = _link(phrase[best], word) if best is not None else 0.0
        window = next(
            (index for index in free if len(word) > 1 and _is_acronym(phrase[index : index + len(word)], word)), None
        )
        if window is not None and link < _ABBREVIATED:
            links.append(_ABBREVIATED)
            used += range(window, window + len(word))
            continue
        links.append(link)
        used += [best] if best is not None and link else []
    return links, used


def _is_acronym(words: Sequence[str], short: str) -> bool:
    return len(words) == len(short) and all(word[0] == letter for word, letter in zip(words, short, strict=True))


def _cost_of_extra(extra: list[str], column: Column, of: bool) -> float:
    """Return the cost of words beside the name: little for fewer words, everything for more."""
    words = lexicon()
    if not extra:
        return 0.0
    if extra == ["name"]:
        return 0.05 if column.kind == "text" and column.long else 0.3
    if "number" in extra and of and (column.dated or not column.numeric):
        return 1.0
    generic = words.generic | (words.when if column.dated else words.how_much if column.numeric else words.kinds)
    allowed = {"name", "number"} if of and not column.numeric else generic
    if set(extra) <= _measured_in(column) or (sums(column) and set(extra) <= _TOTALLED):
        return 0.15
    rows = name_words(column.table)
    told = [word for word in extra if not of and any(noun.endswith(word) and len(word) > 3 for noun in rows)]
    return 0.15 if all(word in allowed or (word in told and len(told) < len(extra)) for word in extra) else 1.0


def sums(column: Column) -> bool:
    """Tell whether a column's name says nothing but sums: total, amount."""
    return column.numeric and set(column.words) <= _SUMS


def _measured_in(column: Column) -> set[str]:
    """Return the quantity of the units in a column's name: a wind in km/h is a speed."""
    units = [word for word in column.words[1:] if word in lexicon().units]
    speed = (
        {"speed", "velocity"} if {"km", "h"} <= set(column.words) or {"kmh", "mph"} & set(column.words) else set[str]()
    )
    return {word for unit in units for word in lexicon().units[unit]} | speed


def _part(phrase: list[str], core: list[str], missing: list[str]) -> float:
    """Score a phrase inside a column's name; the head of the name counts most."""
    if missing == ["name"]:
        return 0.92
    if all(word in lexicon().generic for word in missing):
        return 0.8
    if len(phrase) == 1 and phrase[0] in lexicon().generic and phrase[0] != core[0]:
        return 0.6
    head = any(_link(phrase[-1], word) >= _INFLECTED for word in (core[0], core[-1]))
    return 0.62 + 0.2 * len(phrase) / len(core) + (0.03 if head else 0.0)


@lru_cache(maxsize=20_000)  # the words of a question and of names, again and again
def _link(phrase: str, named: str) -> float:
    """Return the fit of a word to a word of a column's name; a name may abbreviate it."""
    if phrase == named:
        return _SAME
    if synonyms(phrase, named):
        return _SYNONYM
    shorter, longer = sorted((phrase, named), key=len)
    if len(shorter) >= 5 and longer.startswith(shorter) and len(longer) - len(shorter) <= 3:
        return _INFLECTED
    alike = next((index for index, (a, b) in enumerate(zip(phrase, named, strict=False)) if a != b), len(shorter))
    if alike >= max(5, 0.6 * len(longer)):
        return _ABBREVIATED
    if len(named) >= 3 and phrase.startswith(named) and len(phrase) - len(named) >= 2:
        return _ABBREVIATED
    return _SKELETON if len(phrase) >= 4 and 2 <= len(named) < len(phrase) and _skeleton(named, phrase) else 0.0


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


def _initials(phrase: list[str], named: list[str]) -> float:
    """Score mpg for miles per gallon, TZ for time zone."""
    return 0.85 if len(phrase) > 1 and _is_acronym(phrase, "".join(named)) else 0.0


def _whole_prefixes(phrase: list[str], named: list[str]) -> float:
    """Score a name composed of beginnings of the words in order: gdpPercap, realgdp, tbilrate."""
    short = "".join(named)
    return 0.85 if len(phrase) > 1 and len(short) >= 4 and _prefixes(short, phrase) else 0.0


def _prefixes(short: str, words: list[str]) -> bool:
    if not words:
        return not short
    word = words[0]
    least = min(2, len(word))
    sizes = range(min(len(word), len(short)), least - 1, -1)
    return any(short[:size] == word[:size] and _prefixes(short[size:], words[1:]) for size in sizes)


def _inside(phrase: list[str], named: list[str]) -> float:
    """Score class for Pclass."""
    if len(phrase) == 1 and len(named) == 1 and len(phrase[0]) >= 4 and named[0].endswith(phrase[0]):
        return 0.8 if len(named[0]) <= len(phrase[0]) + 2 else 0.0
    return 0.0
