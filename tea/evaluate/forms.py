"""Forms: texts, numbers and lists as scorers compare them."""

from __future__ import annotations

import json
import math
import re
import string
import unicodedata
from collections.abc import Mapping
from typing import Any, cast

from tea.errors import TeaError
from tea.store.files import parse_json_strict
from tea.types import JsonValue

MOST_TEXT = 200_000  # characters of an answer that are looked at
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+|\d|\.(?=\s|$))(?:[eE][-+]?\d+)?")
_UNITS = str.maketrans("", "", "$€£¥%,_ \u00a0\u202f")
_DROPPED = str.maketrans("", "", string.punctuation)
_FENCE = re.compile(r"```[A-Za-z0-9_+-]*[ \t]*\n(.*?)```", re.DOTALL)


def text_of(value: JsonValue) -> str:
    """Return a value as text: text itself, other data as JSON; None is empty."""
    if value is None:
        return ""
    return value[:MOST_TEXT] if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:MOST_TEXT]


def decoded(text: str) -> JsonValue:
    """Return the JSON list or object written as a text, else the text."""
    if not text.strip().startswith(("[", "{")):
        return text
    try:
        return parse_json_strict(text.encode(), "it")
    except TeaError:
        return text


def plain(value: JsonValue) -> str:
    """Return a text without capitals, punctuation, articles and surplus spaces, as SQuAD normalises answers.

    A text of nothing else keeps them, so that `+` is not `-`.
    """
    text = unicodedata.normalize("NFKC", text_of(value)).casefold()
    bare = " ".join(_ARTICLES.sub(" ", text.translate(_DROPPED)).split())
    return bare or " ".join(text.split())


def number_of(value: JsonValue) -> float | None:
    """Return the number in a value, with separators of thousands, currency or percent signs; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    text = unicodedata.normalize("NFKC", value).replace("\u2212", "-").strip().rstrip(".").translate(_UNITS)
    if not text or text[-1] not in "0123456789.":
        return None
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def only_number(text: str) -> float | None:
    """Return a text's number if it is one, or the only number in it; else None."""
    whole = number_of(text)
    if whole is not None:
        return whole
    found = {number_of(one[0]) for one in _NUMBER.finditer(text.replace("\u2212", "-"))}
    return found.pop() if len(found) == 1 else None


def items_of(value: JsonValue) -> list[JsonValue]:
    """Return the items of a list: of a JSON list, or of a text with commas, semicolons or lines between them."""
    if isinstance(value, str):
        value = decoded(value)
    if isinstance(value, list):
        return cast("list[Any]", value)
    if value is None or isinstance(value, Mapping):
        return [] if value is None else [value]
    if not isinstance(value, str):
        return [value]
    return [item for one in re.split(r"[,;\n]", value) if (item := one.strip().lstrip("-*• ").strip())]


def same(one: JsonValue, other: JsonValue) -> bool:
    """Tell whether two items are the same: equal as numbers if both are, else as normalised texts."""
    first, second = number_of(one), number_of(other)
    if first is not None and second is not None:
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, list | Mapping) or isinstance(other, list | Mapping):
        return equal(one, other)
    return plain(one) == plain(other)


def equal(one: JsonValue, other: JsonValue) -> bool:
    """Tell whether two JSON values are equal: numbers by value, truth values apart from numbers."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        left, right = cast("list[Any]", one), cast("list[Any]", other)
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        named, wanted = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        return named.keys() == wanted.keys() and all(equal(value, wanted[key]) for key, value in named.items())
    return one == other


def unfenced(text: str) -> str:
    """Return the last fenced block of a text, else the text."""
    blocks = _FENCE.findall(text)
    return blocks[-1] if blocks else text
