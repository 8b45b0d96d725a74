"""Likeness of tasks: the share of words in common to two of them."""

from __future__ import annotations

import re
from collections.abc import Set

ALIKE = 0.5  # share of words that two like tasks have in common
_WORD = re.compile(r"\w+")


def likeness(one: str, other: str) -> float:
    """Return the share of words common to two texts, from 0 to 1.

    Examples:
        >>> likeness("What is the rate?", "what IS the weight")
        0.6
    """
    return share_of(words_of(one), words_of(other))


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, in small letters."""
    return frozenset(_WORD.findall(text.casefold()))


def share_of(words: Set[str], others: Set[str]) -> float:
    """Return the share of words common to two sets of words, from 0 to 1."""
    common = len(words & others)
    return common / (len(words) + len(others) - common) if words or others else 0.0
