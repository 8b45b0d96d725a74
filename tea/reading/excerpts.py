"""The parts of a page for a question: BM25 over pieces of it, helped by meaning, each part saying something new.

Sources: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009); Carbonell and Goldstein,
The Use of MMR (1998).
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from tea.reading.windows import words_of

MOST_EXCERPTS, MOST_CHARACTERS, MOST_OF_ALL = 6, 1_200, 8_000
_SATURATION, _LENGTH = 1.2, 0.75
_MEANING = 0.5  # how much nearness in meaning counts beside all words of the question
_NEW = 0.7  # how much fitting counts beside saying something new
_CANDIDATES = 40
Embed = Callable[[Sequence[str]], Any]
_HEADING = re.compile(r"#{1,6} (.*)")


class Excerpt(TypedDict):
    """A part of a page: its first and last line, the headings above it, and its words."""

    start: int
    end: int
    heading: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Lines weighed together."""

    start: int
    end: int
    heading: str
    text: str
    words: Counter[str]


def best_excerpts(lines: Sequence[str], question: str, embed: Embed) -> list[Excerpt]:
    """Return the parts of a page with the best fit to a question, the best first; the first ones if none fits.

    Args:
        lines: The page.
        question: A question, or some words.
        embed: Gives a row of numbers for each text, of length 1, such as `StaticEmbedder().embed`.
    """
    pieces = _pieces(lines)
    chosen, left = list[Excerpt](), MOST_OF_ALL
    for piece in _diverse(pieces, _scores(pieces, question, embed)):
        if len(piece.text) > left or len(chosen) == MOST_EXCERPTS:
            break
        left -= len(piece.text)
        chosen.append(Excerpt(start=piece.start, end=piece.end, heading=piece.heading, text=piece.text))
    return chosen


def material(lines: Sequence[str], question: str, most: int, embed: Embed) -> str:
    """Return a model's view of a page: all of it, or the best parts for a question in the order of the page.

    Args:
        lines: The page.
        question: The question.
        most: Most characters.
        embed: As for `best_excerpts`.
    """
    if sum(len(line) + 1 for line in lines) <= most:
        return "\n".join(lines)
    pieces = _pieces(lines)
    scores = _scores(pieces, question, embed)
    ranked = sorted(range(len(pieces)), key=lambda index: (-scores[index], index))
    chosen, left = list[int](), most
    for index in ranked:
        size = len(pieces[index].text) + len(pieces[index].heading) + 40
        if size <= left:
            left -= size
            chosen.append(index)
    return "\n".join(_marked(pieces, sorted(chosen)))


def _marked(pieces: Sequence[_Piece], chosen: Sequence[int]) -> list[str]:
    """Return the texts of pieces, with a mark wherever some were left out."""
    found, before = list[str](), -1
    for index in chosen:
        if index != before + 1:
            piece = pieces[index]
            found.append(f"[... from line {piece.start}{f', under {piece.heading}' if piece.heading else ''}]")
        found.append(pieces[index].text)
        before = index
    return found


def _pieces(lines: Sequence[str]) -> list[_Piece]:
    """Return a page in pieces of whole lines, beginning with headings if there are some."""
    found, block, start, heading, own = list[_Piece](), list[str](), 1, "", ""
    for number, line in enumerate([*lines, ""], start=1):
        title = _HEADING.match(line)
        full = sum(map(len, block)) + len(block) + len(line) > MOST_CHARACTERS
        if block and (title or full or number > len(lines)):
            text = "\n".join(block).strip()
            if text:
                found.append(
                    _Piece(
                        start=start, end=number - 1, heading=own, text=text, words=Counter(words_of(f"{own} {text}"))
                    )
                )
            block = []
        if not block:
            start, own = number, heading
        if title:
            heading = title[1].strip()[:200]
        block.append(line)
    return found


def _scores(pieces: Sequence[_Piece], question: str, embed: Embed) -> list[float]:
    """Return how well each piece fits a question: by its words, and by its meaning."""
    wanted = list(dict.fromkeys(words_of(question)))
    average = sum(sum(piece.words.values()) for piece in pieces) / max(1, len(pieces)) or 1.0
    rarity = {word: _rarity(sum(word in piece.words for piece in pieces), len(pieces)) for word in wanted}
    told = sum(rarity.values()) or 1.0
    near = _near(pieces, question, embed)
    phrase = " ".join(question.casefold().split())
    scores = list[float]()
    for piece, meaning in zip(pieces, near, strict=True):
        long = _SATURATION * (1 - _LENGTH + _LENGTH * sum(piece.words.values()) / average)
        counts = ((rarity[word], piece.words[word]) for word in wanted)
        fits = sum(weight * count * (_SATURATION + 1) / (count + long) for weight, count in counts) / told
        literal = len(phrase) > 3 and phrase in " ".join(piece.text.casefold().split())
        scores.append(fits + _MEANING * meaning + literal)
    return scores


def _rarity(having: int, number: int) -> float:
    return math.log(1 + (number - having + 0.5) / (having + 0.5))


def _near(pieces: Sequence[_Piece], question: str, embed: Embed) -> list[float]:
    """Return how near each piece is to a question in meaning, from 0 to 1."""
    if not pieces:
        return []
    rows = embed([question, *(f"{piece.heading}. {piece.text}" for piece in pieces)])
    return [max(0.0, float(one)) for one in rows[1:] @ rows[0]]


def _diverse(pieces: Sequence[_Piece], scores: Sequence[float]) -> list[_Piece]:
    """Return the best pieces, ordered to let each add something new to those before it."""
    left = sorted(range(len(pieces)), key=lambda index: (-scores[index], index))[:_CANDIDATES]
    best = max(scores, default=0.0) or 1.0
    chosen = list[int]()
    while left:
        index = max(left, key=lambda one: _NEW * scores[one] / best - (1 - _NEW) * _alike(pieces, one, chosen))
        left.remove(index)
        chosen.append(index)
    return [pieces[index] for index in chosen]


def _alike(pieces: Sequence[_Piece], one: int, chosen: Sequence[int]) -> float:
    """Return the share of its words a piece has in common with the chosen piece most like it."""
    words = pieces[one].words.keys()
    return max((len(words & pieces[other].words.keys()) / max(1, len(words)) for other in chosen), default=0.0)
