"""Word pieces: a text as words, and a word as the longest pieces in a vocabulary."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile("[^\\W_]+|[\u2600-\u27bf\U0001f000-\U0001faff]")  # a pictogram is a word by itself
_LONGEST = 64
_KEPT = 50_000
_WORDS = """
a about again all also am an and any are as at be been but by can could did do does for find from get give had has
have he help her here him his how i if in into is it its just like may me more most my need no not of on or our
out over please she should so some tell than that the their them then there these they this those to us use used
using via want was we were what when where which who why will with would you your
"""
SILENT = frozenset(_WORDS.split())


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents and ligatures; `camelCase` and `snake_case` are two."""
    plain = _INNER_CAPITAL.sub(" ", text)
    if not plain.isascii():
        plain = "".join(one for one in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(one))
    return _WORD.findall(plain.lower())


def telling(text: str) -> list[str]:
    """Return the significant words of a text; all of them if none is."""
    every = words(text)
    return [word for word in every if word not in SILENT] or every


class WordPieces:
    """A splitter of the significant words of a text into pieces.

    Args:
        vocabulary: Place of each piece; one that does not begin a word is marked with `##`.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._cut = lru_cache(_KEPT)(self._pieces)

    def __call__(self, text: str) -> list[int]:
        """Return the indices of a text's pieces; a word not made only of known pieces has none."""
        return [piece for word in telling(text) for piece in self._cut(word)]

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
