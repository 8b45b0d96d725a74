"""Read numbers, dates, units and quoted words literally."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from .lexicon import lexicon
from .span import Span
from .tokens import MONTHS, Token, stem
from .vocabulary import Sense

_POWERS = {"square": ("area", "size"), "sq": ("area", "size"), "cubic": ("volume",)}
_RATES = "second minute hour day week month year person capita km kilometer kilometre litre liter"
_PER = frozenset(_RATES.split())


def literals(words: Sequence[Token]) -> list[Span]:
    """Return literal readings of numbers, dates, units and quoted words."""
    result = _dates(words)
    for index, word in enumerate(words):
        plain = Span(start=index, end=index + 1, tag="", text=word.text)
        if word.kind == "possessive":
            result.append(replace(plain, tag="POSS"))
        elif word.kind == "date":
            result.append(replace(plain, tag="DATE"))
        elif word.number is not None:
            tag, cost = ("ORD", 0.1) if word.kind == "ordinal" else ("NUM", 0.2 if word.norm == "one" else 0.1)
            result.append(replace(plain, tag=tag, number=word.number, year=word.year, cost=cost))
        if word.kind == "quoted" or (word.kind == "word" and len(word.text) == 1 and word.text.isupper()):
            result.append(replace(plain, tag="TEXT", cost=0.15))
        if index and (words[index - 1].number is not None or words[index - 1].norm in ("in", "many")):
            result += _unit(words, index)
    return result


def _unit(words: Sequence[Token], start: int) -> list[Span]:
    """Return the reading of a unit: metres, square kilometres, cubic metres per second."""
    power = _POWERS.get(words[start].norm, ())
    end = start + bool(power)
    if end >= len(words) or not _is_unit(words[end]):
        return []
    attributes = power or lexicon().units.get(stem(words[end].norm), (words[end].norm,))
    per = len(words) > end + 2 and words[end + 1].norm in ("per", "an", "a") and words[end + 2].norm in _PER
    if per:
        attributes = ("speed", "velocity")
    end += 3 if per else 1
    sense = Sense(tag="UNIT", attributes=attributes)
    text = " ".join(word.text for word in words[start:end])
    return [Span(start=start, end=end, tag="UNIT", text=text, sense=sense, cost=0.05)]


def _is_unit(word: Token) -> bool:
    parts = word.text.split("/")
    ratio = len(parts) == 2 and all(1 <= len(part) <= 4 for part in parts)
    return ratio or stem(word.norm) in lexicon().units or word.norm in lexicon().unit_words


def _dates(words: Sequence[Token]) -> list[Span]:
    """Return readings of month names with a year: March 2020, March 5, 2020, 5 March 2020."""
    result: list[Span] = []
    for index, word in enumerate(words):
        month = next((n for n, name in enumerate(MONTHS, 1) if word.norm in (name, name[:3])), None)
        if month is None or word.kind != "word":
            continue
        after = [token for token in words[index + 1 : index + 4] if token.text != ","]
        before = words[index - 1] if index else None
        numbers = [token.number for token in after if token.kind in ("number", "ordinal")]
        if before and before.kind in ("number", "ordinal") and not before.year and numbers[:1] and after[0].year:
            result += _date(index - 1, words.index(after[0], index) + 1, numbers[0], month, before.number)
        elif len(numbers) > 1 and after[1].year:
            result += _date(index, words.index(after[1], index) + 1, numbers[1], month, numbers[0])
        elif numbers and after[0].year:
            text = f"{numbers[0]}-{month:02d}"
            result.append(Span(start=index, end=words.index(after[0], index) + 1, tag="DATE", text=text))
    return result


def _date(start: int, end: int, year: Any, month: int, day: Any) -> list[Span]:
    try:
        return [Span(start=start, end=end, tag="DATE", text=date(int(year), month, int(day)).isoformat())]
    except ValueError:
        return []
