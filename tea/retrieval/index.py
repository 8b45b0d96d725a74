"""Index: documents by name, and their scores for a query by meaning, keywords, and tasks served before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tea.retrieval.keywords import Keywords
from tea.retrieval.terms import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tea.retrieval.embedding.embedder import Vectors

# Tuned on descriptions of packages and functions, a sentence of each being the query; see design/004-retrieval.md.
KEYWORDS = 0.6
SERVED = 2.0  # weight of served tasks at most, relative to the description
_HALF = 2.0  # number of uses with half of that weight
_DIGITS = 5  # two sums of the same numbers in another order may differ behind these
_NOISE = 1e-4
_ROOM = 64


class Document(NamedTuple):
    """The known facts of one component; a tuple, since each query makes and compares one for every component.

    Args:
        text: What it says of itself.
        served: Tasks that it served, each with its weight in (0, 1].
    """

    text: str
    served: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The scores of documents, by slot: the sum, and its parts; valid until the index changes.

    Args:
        names: Names by slot, empty where a slot is free.
        slots: Slots by name.
        filled: The slots that are not free.
    """

    names: Sequence[str]
    slots: Mapping[str, int]
    filled: NDArray[np.int64]
    total: Vectors
    meaning: Vectors
    keywords: Vectors
    served: Vectors

    def best(self, k: int, among: Iterable[str] | None = None) -> list[str]:
        """Return the `k` best names, the best first, equal ones by name.

        Args:
            k: How many.
            among: Only of these; of all by default.
        """
        at = self.filled
        if among is not None:
            at = np.fromiter((self.slots[name] for name in among if name in self.slots), np.int64)
        if len(at) > k:
            values = self.total[at]
            at = at[values >= np.partition(values, len(at) - k)[len(at) - k] - _NOISE]
        near = [self.names[slot] for slot in map(int, at)]
        return sorted(near, key=lambda name: (-self.score(name), name))[:k]

    def score(self, name: str) -> float:
        """Return the score of a name."""
        return round(float(self.total[self.slots[name]]), _DIGITS)

    def why(self, name: str) -> dict[str, float]:
        """Return the parts of the score of a name."""
        slot = self.slots[name]
        return {part: round(float(getattr(self, part)[slot]), _DIGITS) for part in ("meaning", "keywords", "served")}


class Index:
    """Documents in slots; a change touches its own slot only.

    Args:
        vectors: Gives one row for each text, of length 1.
    """

    def __init__(self, vectors: Callable[[Sequence[str]], Vectors]) -> None:
        self._vectors = vectors
        self._given: Mapping[str, Document] | None = None
        self._documents: dict[str, Document] = {}
        self._slots: dict[str, int] = {}
        self._names: list[str] = []
        self._free: list[int] = []
        self._serving: set[int] = set()
        self._filled = np.zeros(0, np.int64)
        self._keywords = Keywords()
        self._meaning = np.zeros((0, 0), np.float32)
        self._served = np.zeros((0, 0), np.float32)

    def update(self, documents: Mapping[str, Document]) -> None:
        """Set exactly these documents, computing only the changed ones; they must not be modified afterwards.

        Raises:
            ProviderError: The embedder cannot be reached; what the index held stays.
        """
        if documents is self._given:
            return
        changed = {name: one for name, one in documents.items() if self._documents.get(name) != one}
        texts = list(
            dict.fromkeys(text for one in changed.values() for text in (one.text, *(t for t, _ in one.served)))
        )
        rows = dict(zip(texts, self._vectors(texts), strict=True)) if texts else {}
        for name in [name for name in self._documents if name not in documents]:
            self._remove(name)
        for name in sorted(changed):
            self._put(name, changed[name], rows)
        if len(self._filled) != len(self._slots) or changed:
            self._filled = np.fromiter(self._slots.values(), np.int64)
        self._given = documents

    def search(self, query: str, wanted: Vectors) -> Scores:
        """Return the scores of the documents.

        Args:
            query: What is wished for, in words.
            wanted: Its vector.
        """
        number = len(self._names)
        meaning = self._meaning[:number] @ wanted if number else np.zeros(0, np.float32)
        served = np.maximum(self._served[:number] @ wanted, 0) if self._serving else np.zeros_like(meaning)
        keywords = self._keywords.scores(terms(query), number)
        return Scores(
            names=self._names,
            slots=self._slots,
            filled=self._filled,
            total=np.asarray(meaning + KEYWORDS * keywords + served, np.float32),
            meaning=meaning,
            keywords=keywords,
            served=served,
        )

    def _put(self, name: str, document: Document, rows: Mapping[str, Vectors]) -> None:
        slot = self._slots.get(name)
        if slot is None:
            slot = self._slots[name] = self._free.pop() if self._free else len(self._names)
        self._make_room(slot, len(rows[document.text]))
        self._names[slot] = name
        self._documents[name] = document
        self._meaning[slot] = rows[document.text]
        self._served[slot] = _moved(rows[document.text], [(rows[text], weight) for text, weight in document.served])
        (self._serving.add if document.served else self._serving.discard)(slot)
        self._keywords.put(slot, _counted(document))

    def _remove(self, name: str) -> None:
        slot = self._slots.pop(name)
        del self._documents[name]
        self._names[slot] = ""
        self._free.append(slot)
        self._keywords.remove(slot)
        self._serving.discard(slot)
        self._meaning[slot] = self._served[slot] = 0

    def _make_room(self, slot: int, width: int) -> None:
        if slot == len(self._names):
            self._names.append("")
        if slot >= len(self._meaning):
            more = np.zeros((max(len(self._meaning), _ROOM), width), np.float32)
            self._meaning = np.concatenate([self._meaning.reshape(-1, width), more])
            self._served = np.concatenate([self._served.reshape(-1, width), more])


def _counted(document: Document) -> dict[str, float]:
    """Return the keywords of a document's text and served tasks, each task by its weight."""
    found: dict[str, float] = {}
    for text, weight in ((document.text, 1.0), *document.served):
        for term, count in terms(text).items():
            found[term] = found.get(term, 0.0) + count * weight
    return found


def _moved(vector: Vectors, served: Sequence[tuple[Vectors, float]]) -> Vectors:
    """Return the shift of a component's vector from its text towards its served tasks.

    Source: Rocchio, Relevance Feedback in Information Retrieval (1971), with a bound for the feedback.
    """
    middle = sum((row * np.float32(weight) for row, weight in served), np.zeros_like(vector))
    length, uses = float(np.linalg.norm(middle)), sum(weight for _, weight in served)
    if length == 0:
        return middle
    found = vector + middle * np.float32(SERVED * uses / (uses + _HALF) / length)
    return np.asarray(found / (np.linalg.norm(found) or 1) - vector, np.float32)
