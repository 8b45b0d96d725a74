"""Terms: the words of a text as keywords, stemmed, without those that say nothing."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from tea.managers.embedding.wordpiece import words

_WORDS = """
a about again all also am an and any are as at be been but by can could did do does for find from get give had has
have he help her here him his how i if in into is it its just like may me more most my need no not of on or our
out over please she should so some tell than that the their them then there these they this those to us use used
using via want was we were what when where which who why will with would you your
"""
_SILENT = frozenset(_WORDS.split())
_ENDINGS = (
    ("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("iveness", "ive"), ("ousness", "ous"),
    ("ations", "at"), ("ation", "at"), ("ments", "ment"), ("ings", ""), ("edly", ""), ("ies", "y"), ("ied", "y"),
    ("sses", "ss"), ("ing", ""), ("ers", "er"), ("ed", ""), ("es", "e"), ("s", ""),
)  # fmt: skip
_LEAST = 3


def terms(text: str) -> Counter[str]:
    """Return how often each keyword stands in a text."""
    return Counter(stem(word) for word in words(text) if word not in _SILENT)


@lru_cache(50_000)
def stem(word: str) -> str:
    """Return a word without its English ending, so that `forecasts` and `forecasting` are one."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST and not _kept(word, ending):
            word = word[: -len(ending)] + instead
            break
    if len(word) > _LEAST and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > _LEAST + 1 and word.endswith("e") else word


def _kept(word: str, ending: str) -> bool:
    """Tell whether an `s` belongs to the word, as in `class` and `bus`."""
    return ending == "s" and word[-2] in "su"
