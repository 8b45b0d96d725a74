"""How near a word is in meaning to others, by the embedder that the platform brings along."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tea import StaticEmbedder


def nearness(word: str, others: Sequence[str]) -> float:
    """Return the cosine of a word with the nearest of others, -1 where there are none; it loads numpy."""
    rows = _embedder().embed([word, *others])
    return float((rows[1:] @ rows[0]).max(initial=-1.0))


@cache
def _embedder() -> "StaticEmbedder":
    """Return the embedder, whose vectors are read once."""
    from tea import StaticEmbedder

    return StaticEmbedder()
