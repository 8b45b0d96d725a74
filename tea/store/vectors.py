"""Vectors computed before, by the embedder and the digest of the text; a disposable cache.

On disk, `<root>/.vectors/vectors.sqlite`, which git ignores. It is written only where the registry's folder is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from tea.errors import Damaged, StorageError
from tea.store.database import database, discard

_SCHEMA = """CREATE TABLE IF NOT EXISTS vectors (
    embedder TEXT, digest BLOB, vector BLOB, PRIMARY KEY (embedder, digest)) WITHOUT ROWID"""
_AT_ONCE = 500


class VectorStore(Protocol):
    """A store of vectors as bytes; every method blocks, so call it in a thread, and none fails."""

    def get(self, embedder: str, texts: Sequence[str]) -> dict[str, bytes]:
        """Return the stored vectors, by text."""
        ...

    def add(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors, by text."""
        ...

    def drop(self, texts: Sequence[str]) -> None:
        """Remove the vectors of texts, of all embedders."""
        ...


class FileVectors:
    """A `VectorStore` beside a registry in a folder.

    Args:
        root: The registry's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = root / ".vectors" / "vectors.sqlite"

    def get(self, embedder: str, texts: Sequence[str]) -> dict[str, bytes]:
        """Return the stored vectors; see `VectorStore.get`."""
        if not self._path.exists():
            return {}
        found: dict[bytes, bytes] = {}
        digests = [_digest(text) for text in texts]
        try:
            with database(self._path, _SCHEMA) as connection:
                for some in _parts(digests):
                    marks = ", ".join("?" * len(some))
                    query = f"SELECT digest, vector FROM vectors WHERE embedder = ? AND digest IN ({marks})"
                    found.update(connection.execute(query, (embedder, *some)))
        except Damaged:
            discard(self._path)
        except StorageError:
            return {}
        return {text: found[digest] for text, digest in zip(texts, digests, strict=True) if digest in found}

    def add(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors if possible; see `VectorStore.add`."""
        rows = [(embedder, _digest(text), vector) for text, vector in vectors.items()]
        if rows and self._root.is_dir():
            self._change("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def drop(self, texts: Sequence[str]) -> None:
        """Remove vectors; see `VectorStore.drop`."""
        if texts and self._path.exists():
            self._change("DELETE FROM vectors WHERE digest = ?", [(_digest(text),) for text in texts])

    def _change(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        try:
            with database(self._path, _SCHEMA) as connection:
                connection.executemany(statement, rows)
        except Damaged:
            discard(self._path)
        except StorageError:
            return


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _parts(digests: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(digests), _AT_ONCE):
        yield digests[start : start + _AT_ONCE]
