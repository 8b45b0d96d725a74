"""The best sentences of a text for a question: BM25 over stems and near words, helped by context."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NotRequired, TypedDict

from tea.reading import Title, heading_above

from .units import Sentence, sentences
from .words import content_words, near, root, stem

_K, _B = 1.2, 0.6
_DERIVED, _NEAR, _AROUND = 0.85, 0.7, 0.5
_OF_ALL = 0.5
_OF_HEADING = 0.8  # of the words of a question, with which a heading is a passage
_OFTEN, _OFTEN_SHARE = 4, 0.08
_LONGEST = 600
_MOST_RANKED = 100_000  # sentences of a text; about 4 s and 200 MB
_LEAST_SHARE = 0.4  # of the best score
_HEAD, _HEAD_LINES = 40, 3  # characters of a sentence that is the head of its lines, and how far it reaches
_NAME = re.compile(r"\b[A-Z0-9]\w*")


class Passage(TypedDict):
    """Sentences or a heading with their lines, the heading above them, and how often equal ones stand in the text."""

    start: int
    end: int
    text: str
    heading: NotRequired[str]
    place: NotRequired[str]
    times: NotRequired[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The passages for a question.

    Args:
        passages: The best.
        more: How many others hold the very words of the question; without any that does, how many fit.
        matches: How often the very words of the question stand in the text.
        nowhere: Words of the question that stand nowhere in it, in no form.
        ranked_to: The last line whose sentences were ranked, in a text of very many; 0 if all were.
    """

    passages: list[Passage]
    more: int
    matches: int
    nowhere: list[str]
    ranked_to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A passage, and its words without the head of its line, which decide whether it equals another."""

    passage: Passage
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of the question."""

    stem: str
    roots: frozenset[str]
    weight: float


def best_passages(lines: list[str], question: str, above: Sequence[Title], most: int = 8) -> Found:
    """Return the passages for a question.

    Those with its very words come first, in the order of the text, headings among them; then the best sentences.
    Neighbours are one passage, and so are equal ones. What fits much less than the best is left out. Of very many
    sentences the first 100,000 are ranked, and the others are passages only by the very words.

    Args:
        lines: The text.
        question: A question or some words.
        above: Its headings.
        most: How many passages to return.
    """
    waiting, phrase = sentences(lines), _plain(question)
    units = list(islice(waiting, _MOST_RANKED))
    ranked_to = units[-1].end if next(waiting, None) is not None else 0
    exact = [number for number, unit in enumerate(units) if _stands(phrase, unit.text)]
    groups = _groups(units, exact)
    held = {line for group in groups for line in _lines(units, group)}
    found = [_candidate(units, group) for group in groups]
    others = [number for number, line in enumerate(lines, 1) if number not in held and _stands(phrase, line)]
    found += [_heading(number, lines[number - 1].strip()[:_LONGEST]) for number in others]
    found.sort(key=lambda one: one.passage["start"])
    text = _plain(" ".join(lines))
    matches = len(re.findall(_bounded(phrase), text)) if found else 0
    very = len(_folded(found))
    found += [one for one in _asked(above, question) if one.passage["start"] not in held.union(others)]
    ranked = (group for group in _ranked(units, question) if held.isdisjoint(_lines(units, group)))
    passages = _folded([*found, *(_candidate(units, group) for group in ranked)])
    return Found(
        passages=[_under(above, one) for one in passages[:most]],
        more=max(0, (very or len(passages)) - most),
        matches=matches,
        nowhere=[] if ranked_to else _nowhere(units, text, question),
        ranked_to=ranked_to,
    )


def _asked(above: Sequence[Title], question: str) -> list[_Candidate]:
    """Return headings with nearly all words of a question."""
    wanted = set(map(stem, content_words(question)))
    shares = [(one, len(wanted.intersection(map(stem, content_words(one.text))))) for one in above if one.text]
    return [_heading(one.line, one.text) for one, count in shares if count > 1 and count >= _OF_HEADING * len(wanted)]


def _nowhere(units: Sequence[Sentence], text: str, question: str) -> list[str]:
    """Return the words of a question standing nowhere in a text, in no form."""
    absent = [word for word in dict.fromkeys(content_words(question)) if word not in text]
    if not absent:
        return []
    roots = frozenset[str]().union(*(unit.roots.union(map(root, unit.context)) for unit in units))
    return [word for word in absent if root(stem(word)) not in roots]


def _folded(found: Sequence[_Candidate]) -> list[Passage]:
    """Return passages with equal ones as the first of them and their number."""
    counts = Counter(one.words for one in found)
    firsts = {one.words: one.passage for one in reversed(found)}
    return [
        {**firsts[words], "times": counts[words]} if counts[words] > 1 else firsts[words]
        for words in dict.fromkeys(one.words for one in found)
    ]


def _ranked(units: Sequence[Sentence], question: str) -> list[list[int]]:
    """Return the sentences fitting a question, neighbours together, the best first."""
    words = _weighed(units, dict.fromkeys(map(stem, content_words(question))), _about(units))
    if not units or not words:
        return []
    length = max(1.0, sum(sum(unit.stems.values()) for unit in units) / len(units))
    scores = [_score(unit, words, length) for unit in units]
    least = max(scores) * _LEAST_SHARE
    groups = _groups(units, [number for number, score in enumerate(scores) if score > 0 and score >= least])
    return sorted(groups, key=lambda group: -max(scores[number] for number in group))


def _under(above: Sequence[Title], one: Passage) -> Passage:
    """Return a passage with the heading above it, if there is one."""
    heading = heading_above(above, one["start"])
    return {**one, "heading": heading} if heading else one


def _stands(phrase: str, text: str) -> bool:
    return bool(phrase) and re.search(_bounded(phrase), _plain(text)) is not None


def _bounded(phrase: str) -> str:
    """Return the pattern of a phrase as whole words."""
    return rf"(?<!\w){re.escape(phrase)}(?!\w)"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


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


def _heading(number: int, text: str) -> _Candidate:
    """Return a line outside of all sentences as a passage."""
    return _Candidate(passage=Passage(start=number, end=number, text=text), words=_plain(text))


def _candidate(units: Sequence[Sentence], group: Sequence[int]) -> _Candidate:
    """Return some sentences as one passage, behind the head of their line."""
    head = _head(units, group[0])
    whole = group if head is None else [head, *group]
    passage = Passage(start=units[whole[0]].start, end=_end(units, group), text=_text(units, whole))
    return _Candidate(passage=passage, words=_plain(_text(units, group)))


def _head(units: Sequence[Sentence], number: int) -> int | None:
    """Return the short sentence at the beginning of another's line, or near paragraph; None if there is none."""
    line = number
    while line and units[line - 1].end == units[number].start:
        line -= 1
    for one in (line, number - units[number].position):
        near = units[number].start - units[one].start
        if one < number and len(units[one].text) <= _HEAD and near <= (0 if one == line else _HEAD_LINES):
            return one
    return None


def _end(units: Sequence[Sentence], group: Sequence[int]) -> int:
    return max(units[number].end for number in group)


def _lines(units: Sequence[Sentence], group: Sequence[int]) -> range:
    return range(units[group[0]].start, _end(units, group) + 1)


def _text(units: Sequence[Sentence], group: Sequence[int]) -> str:
    """Return the words of some sentences; a gap between them is marked."""
    text = ""
    for before, number in zip([group[0] - 1, *group], group, strict=False):
        text += ("" if not text else " " if number == before + 1 else " \u2026 ") + units[number].text
    return text[:_LONGEST] + ("\u2026" if len(text) > _LONGEST else "")


def _about(units: Sequence[Sentence]) -> frozenset[str]:
    """Return the stems of the whole text's topic: its title, the names in its first sentence, its repetitions."""
    if not units:
        return frozenset()
    counts = Counter(word for unit in units for word in unit.stems)
    often = {word for word, count in counts.items() if count >= max(_OFTEN, _OFTEN_SHARE * len(units))}
    names = (stem(word) for name in _NAME.findall(units[0].text) for word in content_words(name))
    return units[0].context | frozenset(names) | often


def _weighed(units: Sequence[Sentence], question: Iterable[str], about: frozenset[str]) -> list[_Word]:
    """Return the words with their weights: rare ones more, those of the text's topic less."""
    total, words = len(units), list[_Word]()
    for stemmed in question:
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
