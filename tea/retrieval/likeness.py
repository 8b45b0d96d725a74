"""Likeness of tasks: the share of words in common to two of them."""

from __future__ import annotations

import re

ALIKE = 0.5  # share of words that two like tasks have in common
_WORD = re.compile(r"\w+")


def likeness(one: str, other: str) -> float:
    """Return the share of words common to two texts, from 0 to 1.

    Examples:
        >>> likeness("What is the rate?", "what IS the weight")
        0.6
    """
    words, others = (set(_WORD.findall(text.casefold())) for text in (one, other))
    return len(words & others) / len(words | others) if words or others else 0.0
