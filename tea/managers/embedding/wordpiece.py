"""Word pieces: a text as words, and a word as the longest pieces that a vocabulary knows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 64
_KEPT = 50_000


def words(text: str) -> list[str]:
    """Return the words of a text in lower case without accents; `camelCase` and `snake_case` are two words each."""
    plain = _INNER_CAPITAL.sub(" ", text)
    if not plain.isascii():
        plain = "".join(one for one in unicodedata.normalize("NFD", plain) if not unicodedata.combining(one))
    return _WORD.findall(plain.lower())


class WordPieces:
    """Cuts words into pieces.

    Args:
        vocabulary: Place of each piece; one that does not begin a word is marked with `##`.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._cut = lru_cache(_KEPT)(self._pieces)

    def __call__(self, text: str) -> list[int]:
        """Return the places of a text's pieces; a word that cannot be cut whole into known pieces has none."""
        return [piece for word in words(text) for piece in self._cut(word)]

    def _pieces(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        start, word = 0, word[:_LONGEST]
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get(f"##{word[start:end]}" if start else word[:end])
                if piece is not None:
                    found.append(piece)
                    start = end
                    break
            else:
                return ()
        return tuple(found)
