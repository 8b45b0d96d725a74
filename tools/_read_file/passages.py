"""The best sentences of a text for a question: BM25 over stems and near words, helped by context."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from .units import Sentence, sentences
from .words import content_words, near, root, stem

_K, _B = 1.2, 0.6
_DERIVED, _NEAR, _AROUND = 0.85, 0.7, 0.5
_OF_ALL = 0.5
_OFTEN, _OFTEN_SHARE = 4, 0.08
_LONGEST = 600
_LEAST_SHARE = 0.4  # of the best score
_NAME = re.compile(r"\b[A-Z0-9]\w*")


class Passage(TypedDict):
    """A sentence with its place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of the question."""

    stem: str
    roots: frozenset[str]
    weight: float


def best_passages(lines: list[str], question: str, most: int = 8) -> tuple[list[Passage], int]:
    """Return the best sentences for a question, best first, and how many more fit.

    Neighbours among them are one passage. What fits much less than the best is left out.

    Args:
        lines: The text.
        question: A question or some words.
        most: How many to return.
    """
    units = list(sentences(lines))
    words = _weighed(units, dict.fromkeys(map(stem, content_words(question))), _about(units))
    if not units or not words:
        return [], 0
    length = max(1.0, sum(sum(unit.stems.values()) for unit in units) / len(units))
    scores = [_score(unit, words, length) for unit in units]
    least = max(scores) * _LEAST_SHARE
    groups = _groups(units, [number for number, score in enumerate(scores) if score > 0 and score >= least])
    groups.sort(key=lambda group: -max(scores[number] for number in group))
    return [_passage(units, group) for group in groups[:most]], max(0, len(groups) - most)


def _groups(units: Sequence[Sentence], found: Sequence[int]) -> list[list[int]]:
    """Return found sentences, each with the next ones sharing or continuing its lines, in the order of the text."""
    groups: list[list[int]] = []
    for number in found:
        last = groups[-1] if groups else []
        if last and _is_next(units, last[-1], number) and _characters(units, [*last, number]) <= _LONGEST:
            last.append(number)
        else:
            groups.append([number])
    return groups


def _is_next(units: Sequence[Sentence], one: int, other: int) -> bool:
    """Return whether a sentence begins in the last line of another, or continues it."""
    return units[other].start == units[one].end or (other == one + 1 and units[other].start == units[one].end + 1)


def _characters(units: Sequence[Sentence], group: Sequence[int]) -> int:
    return sum(len(units[number].text) for number in group)


def _passage(units: Sequence[Sentence], group: Sequence[int]) -> Passage:
    """Return some sentences as one passage; a gap between them is marked.

    Its heading is found by guessing, which is good enough to rank it, and not to tell it for a fact.
    """
    first, text = units[group[0]], ""
    for before, number in zip([group[0] - 1, *group], group, strict=False):
        text += ("" if not text else " " if number == before + 1 else " \u2026 ") + units[number].text
    cut = "\u2026" if len(text) > _LONGEST else ""
    return Passage(start=first.start, end=max(units[number].end for number in group), text=text[:_LONGEST] + cut)


def _about(units: Sequence[Sentence]) -> frozenset[str]:
    """Return the stems of the whole text's topic: its title, the names in its first sentence, its repetitions."""
    if not units:
        return frozenset()
    counts = Counter(word for unit in units for word in unit.stems)
    often = {word for word, count in counts.items() if count >= max(_OFTEN, _OFTEN_SHARE * len(units))}
    names = (stem(word) for name in _NAME.findall(units[0].text) for word in content_words(name))
    return units[0].context | frozenset(names) | often


def _weighed(units: Sequence[Sentence], said: Iterable[str], about: frozenset[str]) -> list[_Word]:
    """Return the words with their weights: rare ones more, those of the text's topic less."""
    total, words = len(units), list[_Word]()
    for stemmed in said:
        count = max(1, sum(stemmed in unit.stems for unit in units))
        weight = math.log(1 + (total - count + 0.5) / (count + 0.5)) * (_OF_ALL if stemmed in about else 1)
        words.append(_Word(stem=stemmed, roots=near(stemmed), weight=max(weight, 0.05)))
    return words


def _score(unit: Sentence, words: Sequence[_Word], length: float) -> float:
    size, score, hit = sum(unit.stems.values()), 0.0, False
    for word in words:
        count = float(unit.stems[word.stem])
        if not count:
            count = _likeness(word, unit)
        if count:
            hit = True
            score += word.weight * count * (_K + 1) / (count + _K * (1 - _B + _B * size / length))
        elif word.stem in unit.context:
            score += word.weight * _AROUND
    return score if hit else 0.0


def _likeness(word: _Word, unit: Sentence) -> float:
    """Return a word's weight in a sentence, for its root, a near word, or a heading."""
    if root(word.stem) in unit.roots:
        return _DERIVED
    said = root(word.stem) in map(root, unit.above) or not word.roots.isdisjoint(map(root, unit.asked))
    return _NEAR if said or word.roots & unit.roots else 0.0
