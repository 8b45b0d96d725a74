"""Terms: the words of a text as keywords, stemmed, without stop words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from tea.retrieval.embedding.wordpiece import SILENT, words

_ENDINGS = (
    ("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("iveness", "ive"), ("ousness", "ous"),
    ("ations", "at"), ("ation", "at"), ("ments", "ment"), ("ings", ""), ("edly", ""), ("ies", "y"), ("ied", "y"),
    ("sses", "ss"), ("ing", ""), ("ers", "er"), ("ed", ""), ("es", "e"), ("s", ""),
)  # fmt: skip
_LEAST = 3
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")


def terms(text: str) -> Counter[str]:
    """Return the count of each keyword in a text; in a script without spaces, two neighbours form a keyword."""
    return Counter(term for word in words(text) if word not in SILENT for term in _terms(word))


@lru_cache(50_000)
def stem(word: str) -> str:
    """Return a word without its English ending, so `forecasts` and `forecasting` are equal."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST and not _keeps_s(word, ending):
            word = word[: -len(ending)] + instead
            break
    if len(word) > _LEAST and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > _LEAST + 1 and word.endswith("e") else word


def _terms(word: str) -> tuple[str, ...]:
    if word.isascii() or len(word) == 1 or not _UNSPACED.search(word):
        return (stem(word),)
    return tuple(word[at : at + 2] for at in range(len(word) - 1))


def _keeps_s(word: str, ending: str) -> bool:
    """Return whether a final `s` belongs to the stem of a word, as in `class` and `bus`."""
    return ending == "s" and word[-2] in "su"
