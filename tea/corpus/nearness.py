"""Nearness: how much of a query a text holds, and how close together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from tea.retrieval.embedding.wordpiece import words
from tea.retrieval.terms import stem

SPAN = 40  # words that count as close together


def rarities(having: Mapping[str, int], number: int) -> dict[str, float]:
    """Return how much each term tells, by its stem: one in few passages tells more.

    Args:
        having: In how many passages each term stands.
        number: How many passages there are.
    """
    return {stem(term): math.log(1 + (number - some + 0.5) / (some + 0.5)) for term, some in having.items()}


def held(rarity: Mapping[str, float], text: str) -> tuple[float, float]:
    """Return the share of a query held by a text at most within one span, and in all.

    Args:
        rarity: How much each term of the query tells, by its stem.
        text: The text.
    """
    places = [(place, found) for place, word in enumerate(words(text)) if (found := stem(word)) in rarity]
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
