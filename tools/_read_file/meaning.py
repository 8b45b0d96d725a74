"""How near texts are to a question in meaning, by the embedder that the platform brings along."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tea import StaticEmbedder

_AKIN = 0.2


def nearness(question: str, texts: Sequence[str]) -> list[float]:
    """Return the cosine of a question with each text, from -1 to 1, in order; it loads numpy."""
    rows = _embedder().embed([question, *texts])
    return [float(one) for one in rows[1:] @ rows[0]]


def akin(words: Sequence[str], others: Sequence[str]) -> list[bool]:
    """Tell of each word whether one of the others is near to it in meaning."""
    if not words or not others:
        return [False] * len(words)
    rows = _embedder().embed([*words, *others])
    return [bool(one) for one in (rows[: len(words)] @ rows[len(words) :].T).max(axis=1) >= _AKIN]


@cache
def _embedder() -> "StaticEmbedder":
    """Return the embedder, whose vectors are read once."""
    from tea import StaticEmbedder

    return StaticEmbedder()
