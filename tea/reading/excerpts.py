"""The parts of a page for a question: pieces with its words close together, each part saying something new.

Sources: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009); Carbonell and Goldstein,
The Use of MMR (1998).
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from tea.reading.nearness import NEAR_BEST, held, rarity_of, score_of
from tea.reading.windows import Window, window_of, words_of

MOST_EXCERPTS, MOST_CHARACTERS, MOST_OF_ALL = 6, 1_200, 8_000
MOST_MATERIAL = 400_000
UNFIT = "No word of the question stands in it; these parts are the nearest in meaning."
_MOST_UNFIT = 2
_PLAIN = 0.5  # the share of a question in one part above which parts without any word of it are noise
_SATURATION, _LENGTH = 1.2, 0.75
_NEW = 0.7  # how much fitting counts beside saying something new
_CANDIDATES = 40
_MOST_PARTED = 20_000  # pieces; behind them headings begin none, as a page may consist of headings
Embed = Callable[[Sequence[str]], Any]
_HEADING = re.compile(r"(#{1,6}) (.*)")


class Excerpt(TypedDict):
    """A part of a page: its first and last line, the headings above it, and its words."""

    start: int
    end: int
    heading: str
    text: str


class Part(TypedDict):
    """The wanted part of a page: lines from one on, or excerpts for a question.

    `excerpts` fit the question best, the best first; `material` is what a model is shown of the page, in its order;
    `unfit` says that no word of the question stands in the page.
    """

    window: NotRequired[Window]
    excerpts: NotRequired[list[Excerpt]]
    material: NotRequired[str]
    unfit: NotRequired[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Lines weighed together, with the words of the heading above them and their own."""

    start: int
    end: int
    heading: str
    text: str
    order: tuple[str, ...]
    words: Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """How well a piece fits a question, and the share of the question's words in it."""

    score: float
    whole: float


def part_of(lines: list[str], question: str, start: int, most: int, embed: Embed) -> Part:
    """Return the wanted part of a page.

    Args:
        lines: The page.
        question: Words that excerpts shall fit; without them a window of lines is given.
        start: First line of the window.
        most: Most characters of material for a model, 0 for none.
        embed: As for `best_excerpts`.

    Raises:
        ToolError: There is no such line.
    """
    if not question.strip():
        return Part(window=window_of(lines, start))
    part = Part(excerpts=best_excerpts(lines, question, embed))
    if not is_fit(lines, question):
        part["unfit"] = True
    if most:
        part["material"] = material(lines, question, min(most, MOST_MATERIAL), embed)
    return part


def is_fit(lines: Sequence[str], question: str) -> bool:
    """Return whether a page holds a word of a question, or is empty as the question is.

    Args:
        lines: The page.
        question: A question, or some words.
    """
    wanted = set(words_of(question))
    return not wanted or any(not wanted.isdisjoint(words_of(line)) for line in lines)


def best_excerpts(lines: Sequence[str], question: str, embed: Embed) -> list[Excerpt]:
    """Return the parts of a page with the best fit to a question, the best first, and none far below the best.

    Where no part holds a word of the question, the two nearest in meaning are given.

    Args:
        lines: The page.
        question: A question, or some words.
        embed: Gives a row of numbers for each text, of length 1, such as `StaticEmbedder().embed`.
    """
    pieces = _pieces(lines)
    fits = _fits(pieces, question, embed)
    best = max((fit.score for fit in fits), default=0.0)
    best_whole = max((fit.whole for fit in fits), default=0.0)
    near = [fit.score >= NEAR_BEST * best and (fit.whole > 0 or best_whole < _PLAIN) for fit in fits]
    pairs = [(piece, fit.score) for piece, fit, is_near in zip(pieces, fits, near, strict=True) if is_near]
    most = MOST_EXCERPTS if best_whole or not words_of(question) else _MOST_UNFIT
    chosen, left = list[Excerpt](), MOST_OF_ALL
    for piece in _diverse([piece for piece, _ in pairs], [score for _, score in pairs]):
        if len(piece.text) > left or len(chosen) == most:
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
    fits = _fits(pieces, question, embed)
    ranked = sorted(range(len(pieces)), key=lambda index: (-fits[index].score, index))
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
    found, block, size, start, own = list[_Piece](), list[str](), 0, 1, ""
    above = list[tuple[int, str]]()  # the levels and words of the headings over a line
    for number, line in enumerate([*lines, ""], start=1):
        title = _HEADING.match(line)
        full = size + len(line) > MOST_CHARACTERS
        parted = title is not None and len(found) < _MOST_PARTED
        if block and (parted or full or number > len(lines)):
            text = "\n".join(block).strip()
            if text:
                order = tuple(words_of(f"{own} {text}"))
                words = Counter(order)
                found.append(_Piece(start=start, end=number - 1, heading=own, text=text, order=order, words=words))
            block, size = [], 0
        if title:
            above = [one for one in above if one[0] < len(title[1])]
        if not block:
            start, own = number, above[-1][1] if above else ""
        if title:
            above.append((len(title[1]), title[2].strip()[:200]))
        block.append(line)
        size += len(line) + 1
    return found


def _fits(pieces: Sequence[_Piece], question: str, embed: Embed) -> list[_Fit]:
    """Return how well each piece fits a question: by its words, how close they stand together, and its meaning."""
    wanted = list(dict.fromkeys(words_of(question)))
    average = sum(len(piece.order) for piece in pieces) / max(1, len(pieces)) or 1.0
    rarity = {word: rarity_of(sum(word in piece.words for piece in pieces), len(pieces)) for word in wanted}
    phrase = " ".join(question.casefold().split())
    alone = [_bm25(piece, rarity, average) for piece in pieces]
    highest = max(alone, default=0.0) or 1.0
    fits = list[_Fit]()
    for piece, words_alone, meaning in zip(pieces, alone, _near(pieces, question, embed), strict=True):
        close, whole = held(rarity, piece.order)
        literal = len(phrase) > 3 and phrase in " ".join(piece.text.casefold().split())
        fits.append(_Fit(score=score_of(close, whole, meaning, words_alone / highest) + literal, whole=whole))
    return fits


def _bm25(piece: _Piece, rarity: Mapping[str, float], average: float) -> float:
    long = _SATURATION * (1 - _LENGTH + _LENGTH * len(piece.order) / average)
    counts = ((weight, piece.words[word]) for word, weight in rarity.items())
    return sum(weight * count * (_SATURATION + 1) / (count + long) for weight, count in counts)


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
