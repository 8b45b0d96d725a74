"""Retrieval: ranking of the components of a kind by their match with a query text."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from tea.clock import utc_now
from tea.errors import BadInput
from tea.refs import Kind
from tea.registry.row import Row
from tea.retrieval.embedding.embedder import Embedder
from tea.retrieval.embedding.wordpiece import words
from tea.retrieval.routing import routed
from tea.retrieval.usage import UsageEvidence, weighed
from tea.store.usage import Use
from tea.store.vectors import VectorStore

if TYPE_CHECKING:
    from tea.retrieval.embedding.embedder import Vectors
    from tea.retrieval.index import Document, Index, Scores

MOST = 1_000
_Served = Mapping[str, tuple[tuple[str, float], ...]]
_BATCH, _RUNS = 256, 3
_LONGEST = 8_000  # characters of a query
_BYTES = 4  # of a number in a vector
_NEAR_BEST = 0.6  # of the best score, where only what fits is wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A component matching a query.

    Args:
        listing: Its line in the list.
        score: How well it fits; comparable within one answer.
        why: The parts of the score: `meaning`, `keywords` before their weight, and `served`, what the tasks that it
            served before add.
        runs: Newest runs in which it served, at most three.
    """

    listing: Row
    score: float
    why: Mapping[str, float]
    runs: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        """The exact version, as a ref."""
        return f"{self.listing.kind}:{self.listing.name}@{self.listing.version}"

    def to_json(self) -> dict[str, Any]:
        """Return the match as a JSON object."""
        one = self.listing
        return {
            "ref": self.ref,
            "name": one.name,
            "version": one.version,
            "description": one.description,
            "category": one.category,
            "toolkit": one.toolkit,
            "trusted": one.trusted,
            "score": self.score,
            "why": dict(self.why),
            "runs": list(self.runs),
        }


class Retrieval:
    """A finder of components; every method blocks, so call it in a thread. Any number of threads may ask at once.

    Args:
        embedder: Makes the embedder, with the first question.
        vectors: Keeps the vectors of texts.
        evidence: Knows what components served.
    """

    def __init__(self, embedder: Callable[[], Embedder], vectors: VectorStore, evidence: UsageEvidence) -> None:
        self._make, self._kept, self.evidence = embedder, vectors, evidence
        self._indexes: dict[tuple[Kind, int], Index] = {}
        self._asked: dict[Kind, _Asked] = {}
        self._weighed: dict[Kind, tuple[Sequence[Use], Mapping[str, str], date, _Served]] = {}
        self._lock = threading.Lock()

    def find(
        self,
        listings: Sequence[Row],
        query: str,
        k: int = 5,
        *,
        route: bool = False,
        among: Collection[str] | None = None,
    ) -> list[Match]:
        """Return the `k` best matches, the best first; inactive or damaged components never match.

        Args:
            listings: All components of one kind.
            query: What is wished for, in words; its first 8,000 characters count.
            k: How many at most, from 1 to 1,000.
            route: Decide first on categories, then on toolkits in them, then on components.
            among: Only these names.

        Raises:
            BadInput: The query holds no word, or `k` is out of range.
            ProviderError: The embedder cannot be reached.
        """
        check(query, k)
        query = query.strip()[:_LONGEST]
        asked = self._asked_of(listings)
        active = asked.active
        if not active:
            return []
        kind = next(iter(active.values())).kind
        uses = self.evidence.uses(kind)
        served = self._served(kind, uses, asked.digests)
        wanted = self._embedder.embed([query])[0]
        with self._lock:
            index = self._index(kind, len(wanted))
            index.update(asked.documents(served))
            scores = index.search(query, wanted)
            names = None if among is None else [name for name in dict.fromkeys(among) if name in active]
            best = scores.best(k, routed(active, scores, names)) if route else []
            if len(best) < k:
                best = [*best, *(name for name in scores.best(k, names) if name not in best)][:k]
            runs = _runs(uses, served)
            return [_match(active[name], scores, runs.get(name, ())) for name in best]

    def ranked(self, texts: Mapping[str, str], query: str, k: int, least: float = 0.0) -> list[str]:
        """Return the names of the `k` texts matching best, the best first; for things other than components.

        Args:
            texts: What each says of itself, by name.
            query: What is wished for, in words; its first 8,000 characters count.
            k: How many at most, from 1 to 1,000.
            least: The least score; then those far below the best are left out too. With 0 every text counts.

        Raises:
            BadInput: The query holds no word, or `k` is out of range.
            ProviderError: The embedder cannot be reached.
        """
        from tea.retrieval.index import Document, Index

        check(query, k)
        query = query.strip()[:_LONGEST]
        wanted = self._embedder.embed([query])[0]
        index = Index(partial(self.vectors, width=len(wanted)))
        with self._lock:
            index.update({name: Document(text=text) for name, text in texts.items()})
        scores = index.search(query, wanted)
        best = scores.best(k)
        if not least or not best:
            return best
        bar = max(least, _NEAR_BEST * scores.score(best[0]))
        return [name for name in best if scores.score(name) >= bar]

    def _asked_of(self, listings: Sequence[Row]) -> _Asked:
        """Return the listings prepared for queries; the last ones of a kind are cached."""
        kind = listings[0].kind if listings else "tool"
        asked = self._asked.get(kind)
        if asked is None or asked.listings is not listings:
            asked = self._asked[kind] = _Asked(listings)
        return asked

    def forget(self, kind: Kind | None = None, name: str | None = None) -> int:
        """Erase the uses of components, and the vectors of their tasks; return the number of uses erased."""
        erased = self.evidence.erase(kind, name)
        self._kept.drop(sorted({use.text for use in erased}))
        return len(erased)

    def vectors(self, texts: Sequence[str], width: int) -> Vectors:
        """Return one row of the given width for each text, from stored vectors if possible."""
        import numpy as np

        name = self._embedder.name
        kept = self._kept.get(name, texts).items()
        found = {text: np.frombuffer(data, np.float32) for text, data in kept if len(data) == width * _BYTES}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        for start in range(0, len(missing), _BATCH):
            some = missing[start : start + _BATCH]
            fresh = dict(zip(some, self._embedder.embed(some), strict=True))
            self._kept.add(name, {text: row.tobytes() for text, row in fresh.items()})
            found |= fresh
        return np.stack([found[text] for text in texts])

    def _served(self, kind: Kind, uses: Sequence[Use], digests: Mapping[str, str]) -> _Served:
        """Return the tasks served by each component, with weights; recomputed after a change, or after a day."""
        now = utc_now()
        before = self._weighed.get(kind)
        if before is None or before[0] is not uses or before[1:3] != (digests, now.date()):
            found = weighed(uses, digests, now)
            served = before[3] if before is not None and before[3] == found else found
            before = self._weighed[kind] = (uses, digests, now.date(), served)
        return before[3]

    @cached_property
    def _embedder(self) -> Embedder:
        return self._make()

    def _index(self, kind: Kind, width: int) -> Index:
        """Return the index of a kind; an embedder with vectors of another width has another."""
        from tea.retrieval.index import Index

        return self._indexes.setdefault((kind, width), Index(partial(self.vectors, width=width)))


class _Asked:
    """Immutable listings, prepared for queries."""

    def __init__(self, listings: Sequence[Row]) -> None:
        self.listings = listings
        self.active = {one.name: one for one in listings if one.state == "active" and one.version}
        self.digests = {name: one.digest for name, one in self.active.items() if one.trusted}
        self._documents: tuple[_Served, Mapping[str, Document]] | None = None

    def documents(self, served: _Served) -> Mapping[str, Document]:
        """Return the document of each component, the identical object if its served tasks are unchanged."""
        known = self._documents
        if known is None or known[0] is not served:
            known = self._documents = served, _documents(self.active, served)
        return known[1]


def check(query: str, k: int) -> None:
    """Refuse an invalid query.

    Raises:
        BadInput: The query holds no word, or `k` is not a number from 1 to 1,000.
    """
    if not isinstance(query, str) or not words(query):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput("The query does not contain a word.", fix="say in words what is wished for.")
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"{str(k)[:20]!r} is not a number of results.", fix=f"give a whole number from 1 to {MOST:,}.")


def _documents(active: Mapping[str, Row], served: _Served) -> dict[str, Document]:
    from tea.retrieval.index import Document

    return {name: Document(text=one.text or one.name, served=served.get(name, ())) for name, one in active.items()}


def _runs(uses: Sequence[Use], names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the newest runs with a use of each of the names."""
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for use in reversed(uses):
        if use.name in found and len(found[use.name]) < _RUNS:
            found[use.name][use.run] = None
    return {name: tuple(runs) for name, runs in found.items()}


def _match(listing: Row, scores: Scores, runs: tuple[str, ...]) -> Match:
    score, why = scores.score(listing.name), scores.why(listing.name)
    return Match(listing=listing, score=score, why=why, runs=runs)
