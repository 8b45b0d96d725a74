"""The sentences of a text that fit a question best: BM25 over stems and words near in meaning, helped by context."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from .units import Sentence, sentences
from .words import content_words, near, root, stem

_K, _B = 1.2, 0.6
_DERIVED, _NEAR, _AROUND = 0.85, 0.7, 0.5
_OF_ALL = 0.5
_OFTEN, _OFTEN_SHARE = 4, 0.08
_MOST_CHARACTERS = 600
_NAME = re.compile(r"\b[A-Z0-9]\w*")
_SAYING_LITTLE = frozenset(("number", "total", "amount", "dat", "tim", "no", "count"))


class Passage(TypedDict):
    """A sentence with its place, the heading above it, and for programs what stands around it and how it fits.

    Of the question's words, `matched` stand in it, for `akin` there is one of the same root, for `related` one near in
    meaning, `above` stand in its heading, `nearby` before it or in the title;
    `keyed` tells whether it is a line such as "Telephone: 555 0173" whose key the question says.
    """

    start: int
    end: int
    text: str
    heading: NotRequired[str]
    after: NotRequired[str]
    context: NotRequired[str]
    score: NotRequired[float]
    matched: NotRequired[list[str]]
    akin: NotRequired[list[str]]
    related: NotRequired[list[str]]
    above: NotRequired[list[str]]
    nearby: NotRequired[list[str]]
    missing: NotRequired[list[str]]
    keyed: NotRequired[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of the question."""

    text: str
    stem: str
    roots: frozenset[str]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The passages, best first, and how telling each word of the question is in this text."""

    passages: list[Passage]
    weights: dict[str, float]


def best_passages(lines: list[str], question: str, most: int = 12) -> Found:
    """Return the sentences that fit a question best.

    Args:
        lines: The text.
        question: A question or some words.
        most: How many to return.
    """
    units = list(sentences(lines))
    about = _about(units)
    words = _weighed(units, {stem(word): word for word in reversed(content_words(question))}, about)
    if not units or not words:
        return Found(passages=[], weights={})
    length = max(1.0, sum(sum(unit.stems.values()) for unit in units) / len(units))
    scored = [(_score(unit, words, length), unit) for unit in units]
    scored = [(score, unit) for score, unit in scored if score > 0]
    scored.sort(key=lambda pair: (-pair[0], pair[1].start))
    passages = [_passage(score, unit, words, about, lines) for score, unit in scored[:most]]
    return Found(passages=passages, weights={word.text: round(word.weight, 3) for word in words})


def brief(passage: Passage) -> Passage:
    """Return what a reader needs of a passage: where it stands, and what it says.

    Its heading is found by guessing, which is good enough to rank it, and not to tell it for a fact.
    """
    text = passage["text"] + ("\u2026" if len(passage["text"]) == _MOST_CHARACTERS else "")
    return Passage(start=passage["start"], end=passage["end"], text=text)


def _about(units: Sequence[Sentence]) -> frozenset[str]:
    """Return the stems of what the whole text is about: its title, the names in its first sentence, what it repeats."""
    if not units:
        return frozenset()
    counts = Counter(word for unit in units for word in unit.stems)
    often = {word for word, count in counts.items() if count >= max(_OFTEN, _OFTEN_SHARE * len(units))}
    names = (stem(word) for name in _NAME.findall(units[0].text) for word in content_words(name))
    return units[0].context | frozenset(names) | often


def _weighed(units: Sequence[Sentence], said: Mapping[str, str], about: frozenset[str]) -> list[_Word]:
    """Return the words with how telling each is: rare ones more, those that the whole text is about less."""
    total, words = len(units), list[_Word]()
    for stemmed, text in reversed(list(said.items())):
        count = max(1, sum(stemmed in unit.stems for unit in units))
        weight = math.log(1 + (total - count + 0.5) / (count + 0.5)) * (_OF_ALL if stemmed in about else 1)
        words.append(_Word(text=text, stem=stemmed, roots=near(stemmed), weight=max(weight, 0.05)))
    return words


def _score(unit: Sentence, words: Sequence[_Word], length: float) -> float:
    size, score, hit = sum(unit.stems.values()), 0.0, False
    for word in words:
        count = float(unit.stems[word.stem])
        if not count:
            count = {"akin": _DERIVED, "related": _NEAR, "above": _NEAR}.get(_inside(word, unit), 0.0)
        if count:
            hit = True
            score += word.weight * count * (_K + 1) / (count + _K * (1 - _B + _B * size / length))
        elif word.stem in unit.context:
            score += word.weight * _AROUND
    return score if hit else 0.0


def _passage(
    score: float, unit: Sentence, words: Sequence[_Word], about: frozenset[str], lines: Sequence[str]
) -> Passage:
    found: dict[str, list[str]] = {name: [] for name in ("matched", "akin", "related", "above", "nearby", "missing")}
    for word in words:
        found[_inside(word, unit) or _around(word, unit.context | about)].append(word.text)
    context = " ".join(line.strip() for line in lines[max(0, unit.start - 2) : unit.end + 1])
    return Passage(
        start=unit.start,
        end=unit.end,
        text=unit.text[:_MOST_CHARACTERS],
        heading=unit.heading,
        after=unit.after[:_MOST_CHARACTERS],
        context=context[:_MOST_CHARACTERS],
        score=round(score, 3),
        matched=found["matched"],
        akin=found["akin"],
        related=found["related"],
        above=found["above"],
        nearby=found["nearby"],
        missing=found["missing"],
        keyed=_keyed(unit, words),
    )


def _inside(word: _Word, unit: Sentence) -> str:
    """Return how a word stands in a sentence or its heading, empty when it does not."""
    if unit.stems[word.stem]:
        return "matched"
    if root(word.stem) in unit.roots:
        return "akin"
    if word.roots & unit.roots:
        return "related"
    said = root(word.stem) in map(root, unit.above) or not word.roots.isdisjoint(map(root, unit.asked))
    return "above" if said else ""


def _around(word: _Word, stems: frozenset[str]) -> str:
    return "nearby" if word.stem in stems or not word.roots.isdisjoint(map(root, stems)) else "missing"


def _keyed(unit: Sentence, words: Sequence[_Word]) -> bool:
    """Tell whether the words say the key of a line, where it has one; "Number of lifts" is said by "lifts"."""
    telling = unit.key - _SAYING_LITTLE or unit.key
    return bool(telling) and all(any(root(key) in word.roots for word in words) for key in telling)
