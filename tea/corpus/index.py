"""Index: passages of documents in one SQLite file, found by words (FTS5) and by meaning (vectors)."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from tea.corpus.passages import Passage
from tea.errors import BadInput, Damaged, words_of
from tea.reading.nearness import held, rarity_of, score_of
from tea.retrieval.embedding.wordpiece import SILENT, words
from tea.retrieval.terms import stem
from tea.store.database import database
from tea.store.files import shown
from tea.store.scratch import make_folders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tea.retrieval.embedding.embedder import Embedder, Vectors

MOST_PASSAGES = 100_000
Ways = Literal["both", "words", "meaning"]

CANDIDATES = 200
_BY_WORDS, _BY_MEANING = 100, 30  # candidates of each way that are weighed
_TITLE, _HEADING, _TEXT = 1.0, 2.0, 1.0  # weights of the columns
_BATCH = 256
_LONGEST = 2_000  # characters of a query
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources (id INTEGER PRIMARY KEY, root TEXT UNIQUE, document TEXT);
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, source INTEGER, url TEXT, state TEXT, title TEXT, date TEXT, UNIQUE (source, url));
CREATE TABLE IF NOT EXISTS passages (
    id INTEGER PRIMARY KEY, document INTEGER, line INTEGER, page INTEGER, heading TEXT, vector BLOB);
CREATE INDEX IF NOT EXISTS passages_of ON passages (document);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(title, heading, body, tokenize = 'porter unicode61');
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A passage found for a query.

    Args:
        url: The address of its document, `file://` and a path for a file.
        title: The title of its document.
        date: The day that its document states, `YYYY-MM-DD`, or the year alone; empty if unknown.
        passage: Its words and its place.
        score: How well it fits; comparable within one answer.
    """

    url: str
    title: str
    date: str
    passage: Passage
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """A document in the index.

    Args:
        id: Its number.
        url: Its address.
        state: What tells whether it has changed.
    """

    id: int
    url: str
    state: str


class Index:
    """The passages of a corpus; every method blocks, so call it in a thread.

    Args:
        path: The file.
        embedder: Turns texts into vectors; another one empties the index.
        most: Most passages.
    """

    def __init__(self, path: Path, embedder: Embedder, most: int = MOST_PASSAGES) -> None:
        self._path, self.embedder, self._most = path, embedder, most
        self._lock = Lock()
        self._vectors: tuple[str, NDArray[np.int64], Vectors] = (
            "",
            np.zeros(0, np.int64),
            np.zeros((0, 0), np.float32),
        )

    def is_empty(self) -> bool:
        """Return whether there is nothing to search."""
        if not self._path.is_file():
            return True
        with database(self._path, _SCHEMA, private=True) as connection:
            return connection.execute("SELECT 1 FROM passages LIMIT 1").fetchone() is None

    @contextmanager
    def changing(self) -> Generator[Change]:
        """Yield a change of the index, in one transaction."""
        make_folders(self._path.parent.parent)  # nothing has been written to this home yet
        with database(self._path, _SCHEMA, private=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._clear_of_others(connection)
            change = Change(connection, self.embedder, self._most)
            yield change
            change.finish()

    def sources(self) -> dict[str, dict[str, Any]]:
        """Return the facts about each source, by its root."""
        if not self._path.is_file():
            return {}
        with database(self._path, _SCHEMA, private=True) as connection, _reading_rows(self._path):
            rows = connection.execute(
                "SELECT root, document, (SELECT count(*) FROM documents WHERE source = sources.id),"
                " (SELECT count(*) FROM passages JOIN documents ON documents.id = document WHERE source = sources.id)"
                " FROM sources ORDER BY root"
            )
            return {
                _root(root): {**_document(text), "documents": some, "passages": more} for root, text, some, more in rows
            }

    def search(self, query: str, k: int = 10, ways: Ways = "both") -> list[Match]:
        """Return the `k` best passages, the best first.

        Args:
            query: What is looked for, in words.
            k: How many at most.
            ways: Whether they are found by words, by meaning, or by both.

        Raises:
            BadInput: The query holds no word.
        """
        query = query.strip()[:_LONGEST]
        if not words(query):
            raise BadInput("The query does not contain a word.", fix="say in words what is looked for.")
        if not self._path.is_file():
            return []
        with database(self._path, _SCHEMA, private=True) as connection, _reading_rows(self._path):
            said = _by_words(connection, query) if ways != "meaning" else {}
            near = self._by_meaning(connection, query, said) if ways != "words" else {}
            scores = _joined(connection, query, said, near) if ways == "both" else said or near
            chosen = sorted(scores, key=lambda one: (-scores[one], one))[:k]
            return [_match(connection, one, scores[one]) for one in chosen]

    def document(self, url: str) -> list[Match]:
        """Return all passages of a document in order, none for an unknown address."""
        if not self._path.is_file():
            return []
        with database(self._path, _SCHEMA, private=True) as connection, _reading_rows(self._path):
            rows = connection.execute(
                "SELECT passages.id FROM passages WHERE document ="
                " (SELECT id FROM documents WHERE url = ? ORDER BY id LIMIT 1) ORDER BY passages.id",
                (url,),
            ).fetchall()
            return [_match(connection, number, 1.0) for (number,) in rows]

    def _by_meaning(self, connection: Connection, query: str, also: Iterable[int]) -> dict[int, float]:
        """Return the similarity of passages to a query: the nearest ones, and those in `also`."""
        numbers, vectors = self._all_vectors(connection)
        if not len(numbers):
            return {}
        near = vectors @ self.embedder.embed([query])[0]
        first = np.argpartition(-near, min(CANDIDATES, len(near)) - 1)[:CANDIDATES]
        places = {int(one): place for place, one in enumerate(numbers)} if also else {}
        chosen = {*map(int, first), *(places[one] for one in also if one in places)}
        return {int(numbers[place]): max(0.0, float(near[place])) for place in chosen}

    def _all_vectors(self, connection: Connection) -> tuple[NDArray[np.int64], Vectors]:
        """Return the numbers and vectors of all passages; read again after a change."""
        stamp = _fact(connection, "stamp")
        with self._lock:
            if self._vectors[0] != stamp:
                rows = connection.execute("SELECT id, vector FROM passages ORDER BY id").fetchall()
                numbers = np.fromiter((row[0] for row in rows), np.int64, len(rows))
                flat = np.frombuffer(b"".join(row[1] for row in rows), np.float16)
                vectors = flat.reshape(len(rows), -1).astype(np.float32) if rows else np.zeros((0, 0), np.float32)
                self._vectors = stamp, numbers, vectors
            return self._vectors[1:]

    def _clear_of_others(self, connection: Connection) -> None:
        """Clear the index if its vectors are of another embedder; the sources stay and are updated later."""
        name = self.embedder.name
        if _fact(connection, "embedder") not in ("", name):
            for table in ("documents", "passages", "texts"):
                connection.execute(f"DELETE FROM {table}")
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('embedder', ?)", (name,))


class Change:
    """A change of an index, in one transaction.

    Args:
        connection: The transaction.
        embedder: Turns texts into vectors.
        most: Most passages.
    """

    def __init__(self, connection: Connection, embedder: Embedder, most: int) -> None:
        self._connection, self._embedder, self._most = connection, embedder, most
        self._waiting: list[tuple[int, str]] = []
        self._count = int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])

    def source(self, root: str, document: Mapping[str, Any]) -> int:
        """Set the facts about a source, and return its number."""
        text = json.dumps(document)
        self._connection.execute(
            "INSERT INTO sources (root, document) VALUES (?, ?)"
            " ON CONFLICT (root) DO UPDATE SET document = excluded.document",
            (root, text),
        )
        return int(self._connection.execute("SELECT id FROM sources WHERE root = ?", (root,)).fetchone()[0])

    def documents(self, source: int) -> dict[str, Indexed]:
        """Return the documents of a source, by address."""
        rows = self._connection.execute("SELECT id, url, state FROM documents WHERE source = ?", (source,))
        return {url: Indexed(id=id, url=url, state=state) for id, url, state in rows}

    def put(self, source: int, url: str, state: str, title: str, date: str, parts: Sequence[Passage]) -> None:
        """Set a document and its passages.

        Raises:
            BadInput: The index would hold too many passages.
        """
        self.remove(source, url)
        self._count += len(parts)
        if self._count > self._most:
            problem = f"The corpus would hold more than {self._most:,} passages."
            raise BadInput(problem, fix="add fewer documents, or remove others with `tea corpus rm`.")
        row = (source, url, state, title, date)
        document = self._connection.execute(
            "INSERT INTO documents (source, url, state, title, date) VALUES (?, ?, ?, ?, ?)", row
        ).lastrowid
        for one in parts:
            place = (document, one.line, one.page, one.heading, b"")
            number = self._connection.execute(
                "INSERT INTO passages (document, line, page, heading, vector) VALUES (?, ?, ?, ?, ?)", place
            ).lastrowid
            self._connection.execute(
                "INSERT INTO texts (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
                (number, title, one.heading, one.text),
            )
            self._waiting.append((int(number or 0), f"{title}\n{one.heading}\n{one.text}"))
        if len(self._waiting) >= _BATCH:
            self._embed()

    def mark(self, source: int, url: str, state: str) -> None:
        """Note the new state of a document with unchanged words."""
        self._connection.execute("UPDATE documents SET state = ? WHERE source = ? AND url = ?", (state, source, url))

    def remove(self, source: int, url: str) -> None:
        """Remove a document, if it is there."""
        found = self._connection.execute("SELECT id FROM documents WHERE source = ? AND url = ?", (source, url))
        for (document,) in found.fetchall():
            numbers = self._connection.execute("SELECT id FROM passages WHERE document = ?", (document,)).fetchall()
            self._embed()
            self._connection.executemany("DELETE FROM texts WHERE rowid = ?", numbers)
            self._connection.execute("DELETE FROM passages WHERE document = ?", (document,))
            self._connection.execute("DELETE FROM documents WHERE id = ?", (document,))
            self._count -= len(numbers)

    def drop(self, root: str) -> bool:
        """Remove a source with its documents; return whether it was there."""
        found = self._connection.execute("SELECT id FROM sources WHERE root = ?", (root,)).fetchone()
        if found is None:
            return False
        for url in self.documents(found[0]):
            self.remove(found[0], url)
        self._connection.execute("DELETE FROM sources WHERE id = ?", found)
        return True

    def finish(self) -> None:
        """Add the missing vectors, and tell readers of the change."""
        self._embed()
        stamp = int(_fact(self._connection, "stamp") or "0") + 1
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES ('stamp', ?)", (str(stamp),))

    def _embed(self) -> None:
        for start in range(0, len(self._waiting), _BATCH):
            some = self._waiting[start : start + _BATCH]
            rows = self._embedder.embed([text for _, text in some]).astype(np.float16)
            pairs = [(row.tobytes(), number) for row, (number, _) in zip(rows, some, strict=True)]
            self._connection.executemany("UPDATE passages SET vector = ? WHERE id = ?", pairs)
        self._waiting = []


@contextmanager
def _reading_rows(path: Path) -> Generator[None]:
    """Turn an error in reading rows into Damaged, as the index may have been written by others."""
    try:
        yield
    except (TypeError, ValueError) as error:
        problem = f"{shown(path)} holds no corpus that tea wrote: {words_of(error)[:100]}."
        raise Damaged(problem, fix="remove it, and add its sources again with `tea corpus add`.") from error


def _by_words(connection: Connection, query: str) -> dict[int, float]:
    """Return how well passages fit the words of a query (BM25), of the best ones."""
    wanted = " OR ".join(map(_quoted, _terms(query)))
    rows = connection.execute(
        "SELECT rowid, bm25(texts, ?, ?, ?) AS score FROM texts WHERE texts MATCH ? ORDER BY score LIMIT ?",
        (_TITLE, _HEADING, _TEXT, wanted, CANDIDATES),
    )
    return {int(number): -score for number, score in rows if score is not None and math.isfinite(score)}


def _joined(
    connection: Connection, query: str, bm25: Mapping[int, float], nearness: Mapping[int, float]
) -> dict[int, float]:
    """Return the scores of candidates from both searches, by BM25, meaning, and the proximity of their words."""
    number = int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])
    count = "SELECT count(*) FROM texts WHERE texts MATCH ?"
    having = {term: int(connection.execute(count, (_quoted(term),)).fetchone()[0]) for term in _terms(query)}
    rarity = {stem(term): rarity_of(some, number) for term, some in having.items()}
    scores = dict[int, float]()
    most = max(bm25.values(), default=0.0) or 1.0
    first = [
        *sorted(bm25, key=lambda one: -bm25[one])[:_BY_WORDS],
        *sorted(nearness, key=lambda one: -nearness[one])[:_BY_MEANING],
    ]
    for one in dict.fromkeys(first):
        heading, body = connection.execute("SELECT heading, body FROM texts WHERE rowid = ?", (one,)).fetchone()
        close, whole = held(rarity, [stem(word) for word in words(f"{heading}\n{body}")])
        scores[one] = score_of(close, whole, nearness.get(one, 0.0), bm25.get(one, 0.0) / most)
    return scores


def _terms(query: str) -> list[str]:
    """Return the informative words of a query, at most 64; all of its words if none is informative."""
    found = list(dict.fromkeys(words(query)))
    return ([word for word in found if word not in SILENT] or found)[:64]


def _quoted(term: str) -> str:
    return '"{}"'.format(term.replace('"', '""'))


def _match(connection: Connection, number: int, score: float) -> Match:
    row = connection.execute(
        "SELECT url, documents.title, date, line, page, texts.heading, body FROM passages"
        " JOIN documents ON documents.id = passages.document JOIN texts ON texts.rowid = passages.id"
        " WHERE passages.id = ?",
        (number,),
    ).fetchone()
    url, title, date, line, page, heading, body = row
    texts, places = (url, title, date, heading, body), (line, page)
    if not (all(isinstance(one, str) for one in texts) and all(isinstance(one, int) for one in places)):
        raise TypeError("a passage is not a text at a place")
    passage = Passage(text=body, line=line, page=page, heading=heading)
    return Match(url=url, title=title, date=date, passage=passage, score=round(score, 5))


def _document(text: object) -> dict[str, Any]:
    """Return the record of a source; empty if it is not a JSON object, as others may have written it."""
    with suppress(TypeError, ValueError, RecursionError):
        found: object = json.loads(cast("str", text))
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {}


def _root(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("the name of a source is not text")
    return value


def _fact(connection: Connection, name: str) -> str:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""
