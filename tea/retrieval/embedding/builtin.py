"""The built-in embedder: one vector for each word piece, added up; no download, no further package.

The vectors (`words.npz`) are distilled from all-MiniLM-L6-v2 by `benchmarks/distil.py`; see NOTICE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tea.retrieval.embedding.embedder import Embedder
from tea.retrieval.embedding.wordpiece import WordPieces

if TYPE_CHECKING:
    from tea.retrieval.embedding.embedder import Vectors

WORDS = Path(__file__).with_name("words.npz")
_MIDDLE = 8  # four bits hold -8..7
_WAY = 2  # how vectors are added up; another way is another embedder
_LOADING = Lock()


class _Loaded(NamedTuple):
    name: str
    pieces: WordPieces
    codes: Vectors
    scales: Vectors


class StaticEmbedder:
    """A sum of the vectors of a text's significant word pieces; each vector's length is its piece's significance.

    Args:
        path: The file of vectors: `vocabulary`, `codes` (four bits a number) and `scales`.
    """

    def __init__(self, path: Path = WORDS) -> None:
        self._path = path

    @property
    def name(self) -> str:
        """Its name, with a digest of its vectors."""
        return self._loaded.name

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; see `Embedder.embed`."""
        _, pieces, codes, scales = self._loaded
        rows = np.zeros((len(texts), codes.shape[1]), np.float32)
        for row, text in zip(rows, texts, strict=True):
            if places := pieces(text):
                np.matmul(scales[places], codes[places], out=row, casting="unsafe")
        return unit(rows)

    @cached_property
    def _loaded(self) -> _Loaded:
        facts = self._path.stat()
        with _LOADING:
            return _load(self._path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=2)
def _load(path: Path, _changed: int, _size: int) -> _Loaded:
    """Load a file of vectors, once for all embedders of a process; its arrays are read-only."""
    data = path.read_bytes()
    with np.load(BytesIO(data), allow_pickle=False) as file:
        vocabulary = bytes(file["vocabulary"]).decode().split("\n")
        pieces = WordPieces({piece: place for place, piece in enumerate(vocabulary)})
        codes, scales = unpacked(file["codes"]), file["scales"].astype(np.float32)
    codes.flags.writeable = scales.flags.writeable = False
    return _Loaded(f"builtin-{_WAY}-{sha256(data).hexdigest()[:16]}", pieces, codes, scales)


def packed(codes: np.ndarray) -> np.ndarray:
    """Return whole numbers from -7 to 7, two in a byte."""
    shifted = (codes + _MIDDLE).astype(np.uint8)
    return shifted[:, ::2] << 4 | shifted[:, 1::2]


def unpacked(codes: np.ndarray) -> Vectors:
    """Return the numbers packed by `packed`."""
    found = np.empty((len(codes), codes.shape[1] * 2), np.float32)
    found[:, ::2] = codes >> 4
    found[:, 1::2] = codes & 15
    return found - np.float32(_MIDDLE)


def unit(rows: Vectors) -> Vectors:
    """Return rows of length 1; zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1).astype(np.float32)


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
