"""Nearness: the share of a query's words in a text, and the share standing close together there."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

SPAN = 40  # words that count as close together
# How much the words that stand close together count, those that stand there at all, and the meaning; the rest is BM25.
# Tuned on half of the questions of benchmarks/research.py; see design/020-search.md.
NEARNESS, HELD, MEANING = 0.6, 0.2, 0.1
NEAR_BEST = 0.2  # the least share of the best score of a part that is given


def rarity_of(having: int, number: int) -> float:
    """Return how much a word tells: one in few texts tells more.

    Args:
        having: How many texts hold it.
        number: How many texts there are.
    """
    return math.log(1 + (number - having + 0.5) / (having + 0.5))


def held(rarity: Mapping[str, float], words: Sequence[str]) -> tuple[float, float]:
    """Return the share of a query held by a text at most within one span, and in all.

    Args:
        rarity: How much each word of the query tells, by its stem.
        words: The stems of the text's words, in their order.
    """
    places = [(place, word) for place, word in enumerate(words) if word in rarity]
    told, best, first, inside = 0.0, 0.0, 0, Counter[str]()
    for place, term in places:
        told += rarity[term] if not inside[term] else 0.0
        inside[term] += 1
        while place - places[first][0] > SPAN:
            gone = places[first][1]
            inside[gone] -= 1
            told -= rarity[gone] if not inside[gone] else 0.0
            first += 1
        best = max(best, told)
    whole = sum(rarity.values()) or 1.0
    return best / whole, sum(rarity[term] for term in {term for _, term in places}) / whole


def score_of(close: float, whole: float, meaning: float, words_alone: float) -> float:
    """Return how well a text fits a query, from 0 to 1.

    Args:
        close: The share of the query within one span of it.
        whole: The share of the query in all of it.
        meaning: How near its meaning is, from 0 to 1.
        words_alone: Its BM25 as a share of the best one.
    """
    return (1 - NEARNESS - HELD - MEANING) * words_alone + NEARNESS * close + HELD * whole + MEANING * meaning
