"""Keywords: BM25 over texts added, changed and removed one by one.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tea.retrieval.embedding.embedder import Vectors

_SATURATION, _LENGTH = 1.2, 0.75


class Keywords:
    """The keywords of the text in each slot, with their counts."""

    def __init__(self) -> None:
        self._texts: dict[int, Mapping[str, float]] = {}
        self._having: dict[str, dict[int, float]] = {}
        self._arrays: dict[str, tuple[NDArray[np.int32], Vectors]] = {}
        self._lengths = np.zeros(0, np.float32)

    def put(self, slot: int, counts: Mapping[str, float]) -> None:
        """Set the keywords of the text in a slot."""
        self.remove(slot)
        self._texts[slot] = counts
        if slot >= len(self._lengths):
            self._lengths = np.concatenate([self._lengths, np.zeros(slot + 1, np.float32)])
        self._lengths[slot] = sum(counts.values())
        for term, count in counts.items():
            self._having.setdefault(term, {})[slot] = count
            self._arrays.pop(term, None)

    def remove(self, slot: int) -> None:
        """Remove the text of a slot."""
        for term in self._texts.pop(slot, ()):
            having = self._having[term]
            del having[slot]
            self._arrays.pop(term, None)
            if not having:
                del self._having[term]
        if slot < len(self._lengths):
            self._lengths[slot] = 0

    def scores(self, query: Iterable[str], slots: int) -> Vectors:
        """Return each slot's share of the query's information: about 1 for all, up to 2.2 for all of it often.

        A rare keyword tells more than a common one; one that no text has tells most, and none earns it. So a query
        that is met in passing counts for little, whoever meets it best.

        Args:
            query: Keywords, each counted once.
            slots: How many slots there are.
        """
        found = np.zeros(slots, np.float32)
        number, told = len(self._texts), 0.0
        average = float(self._lengths.sum()) / max(number, 1) or 1.0
        for term in sorted(set(query)):
            having = len(self._having.get(term, ()))
            rarity = math.log(1 + (number - having + 0.5) / (having + 0.5))
            told += rarity
            if having:
                at, counts = self._array(term)
                long = _SATURATION * (1 - _LENGTH + _LENGTH * self._lengths[at] / average)
                found[at] += rarity * counts * (_SATURATION + 1) / (counts + long)
        return found / np.float32(told) if told > 0 else found

    def _array(self, term: str) -> tuple[NDArray[np.int32], Vectors]:
        if term not in self._arrays:
            having = self._having[term]
            self._arrays[term] = (np.fromiter(having, np.int32), np.fromiter(having.values(), np.float32))
        return self._arrays[term]
