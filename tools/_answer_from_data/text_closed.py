"""Yes or no out of a passage that speaks of all that is asked."""

import re
from collections.abc import Sequence

from .tokens import stem, tokens

_CLOSED = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|may|must|should|shall|will|would|has|have|had)(?:n['’]t)? ",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|no|never|nobody|none|nor|neither|cannot|nothing|without|hardly)\b|n['’]t\b", re.IGNORECASE)
_OPEN_ENDED = re.compile(r"\b(?:only|unless|except|if|until|but not|provided|sometimes|some|most)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;:,]\s+|\s+(?:but|while|whereas|although|though)\s+")
_OPPOSITES = """
open closed; opened closed; allowed forbidden; allowed prohibited; allowed banned; permitted forbidden;
permitted prohibited; included excluded; cover exclude; covered excluded; accept refuse; accepted rejected;
accepted refused; approved rejected; lock unlock; safe dangerous; possible impossible; legal illegal; required optional;
free charged; before after; above below; empty full; always never; alive dead
"""
_PAIRS = [pair.split() for pair in _OPPOSITES.split(";")]


def closed(question: str) -> bool:
    """Tell whether a question wants a yes or a no."""
    return _CLOSED.match(question) is not None and " or " not in question


def opposites(question: str) -> list[str]:
    """Return the opposites of a question's words."""
    said = {word.norm for word in tokens(question)}
    return [two if one in said else one for one, two in _PAIRS if (one in said) != (two in said)]


def verdict(question: str, text: str, words: Sequence[str]) -> bool | None:
    """Return whether a passage affirms what a question asks, or None when that cannot be told.

    Args:
        question: What is asked.
        text: A sentence that speaks of it.
        words: The question's words that stand in it.
    """
    if plain := re.match(r"\W*(yes|no)\b(?=[.,:;!])", text, re.IGNORECASE):
        return plain[1].casefold() == "yes"
    clause = max(_CLAUSE.split(text), key=lambda part: _told(part, words))
    if _OPEN_ENDED.search(text) or _told(clause, words) < len(words):
        return None
    flips = bool(_NOT.search(clause)) + bool(_NOT.search(question))
    stems = {stem(word.norm) for word in tokens(clause)}
    flips += any(stem(word) in stems for word in opposites(question))
    return flips % 2 == 0


def _told(clause: str, words: Sequence[str]) -> int:
    said = {stem(word.norm)[:4] for word in tokens(clause)}
    return sum(stem(word)[:4] in said for word in words)
