"""Words in the form in which they are compared."""

import re
import unicodedata
from functools import lru_cache

_LETTERS = str.maketrans({"ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


@lru_cache(maxsize=20_000)  # a join compares each cell with each of another table
def norm(text: str) -> str:
    """Return words without case, accents and punctuation, one space between them."""
    folded = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return re.sub(r"[\W_]+", " ", bare.replace("'", "").replace("\u2019", "")).strip()


def list_items(text: str) -> list[str]:
    """Return the normalised items of a cell that lists several, else nothing: English, French."""
    parts = [norm(part) for part in re.split(r"[,;|]", text)]
    return [part for part in dict.fromkeys(parts) if part] if len(parts) > 1 else []


def singular(text: str) -> str:
    """Return normalised words, each without its plural ending."""
    return " ".join(map(_singular, text.split()))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith(("se", "xe", "ze", "che", "she")) else word
