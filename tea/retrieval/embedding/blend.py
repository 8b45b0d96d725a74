"""A blend of two embedders: near means near for both; words unknown to a large model still count as words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tea.retrieval.embedding.embedder import Embedder

if TYPE_CHECKING:
    from tea.retrieval.embedding.embedder import Vectors


class Blend:
    """A join of the rows of two embedders: the product of two rows is the weighted mean of their products.

    Args:
        first: One of them.
        second: The other.
        share: How much the second counts, from 0 to 1.
    """

    def __init__(self, first: Embedder, second: Embedder, share: float) -> None:
        self._parts = ((first, math.sqrt(1 - share)), (second, math.sqrt(share)))
        self._share = share

    @property
    def name(self) -> str:
        """Both names, and the share."""
        return "+".join(one.name for one, _ in self._parts) + f"-{self._share:g}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; see `Embedder.embed`."""
        rows = [one.embed(texts) * np.float32(weight) for one, weight in self._parts]
        return np.concatenate([part.reshape(len(texts), -1) for part in rows], axis=1)
