"""Words in their compared form."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_LETTERS = str.maketrans({"ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
_APART, _NO_WORDS = re.compile(r"[\W_]+"), re.compile(r"[^a-z0-9\n]+")
_MOST_KEPT = 1_000  # characters of a text whose words are kept


def norm(text: str) -> str:
    """Return words without case, accents and punctuation, one space between them."""
    if text.isascii():
        plain = text.lower()
        if plain.replace(" ", "").isalnum():
            return " ".join(plain.split())
        return _APART.sub(" ", plain.replace("'", "")).strip()
    return _kept(text) if len(text) <= _MOST_KEPT else _norm(text)


def _norm(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return _APART.sub(" ", bare.replace("'", "").replace("\u2019", "")).strip()


def norms(texts: Sequence[str]) -> list[str]:
    """Return texts as `norm` does, plain ones all in one go."""
    joined = "\n".join(texts)
    if not joined.isascii() or joined.count("\n") != len(texts) - 1:
        return list(map(norm, texts))
    return [line.strip() for line in _NO_WORDS.sub(" ", joined.lower().replace("'", "")).split("\n")]


@lru_cache(maxsize=20_000)  # a join compares each cell with each of another table
def _kept(text: str) -> str:
    return _norm(text)


def list_items(text: str) -> list[str]:
    """Return the normalised items of a listing cell, else nothing: English, French."""
    if "," not in text and ";" not in text and "|" not in text:
        return []
    parts = [norm(part) for part in re.split(r"[,;|]", text)]
    return [part for part in dict.fromkeys(parts) if part] if len(parts) > 1 else []


@lru_cache(maxsize=20_000)
def singular(text: str) -> str:
    """Return normalised words, each without its plural ending."""
    return " ".join(map(_singular, text.split()))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith(("se", "xe", "ze", "che", "she")) else word


def quoted(name: str) -> str:
    """Return a name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'
