"""AIME: whole numbers from 0 to 999, as mathematics competitions ask for them."""

from __future__ import annotations

import re

from tea.components.equality import text_of
from tea.evaluate.scoring import Grade, Helpers, Question

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_NAMED = re.compile(r"answer\s*(?::|is|=)\s*(.*)", re.IGNORECASE)
_NOISE = re.compile(r"\\(?:text|mathrm|mathbf|left|right)\b|\\[,;!() \[\]]|[$*`{}()\[\]'\"!?:;]|(?<=\d),(?=\d{3}\b)")
_NUMBER = re.compile(r"(?<![\w.+<>=~≈≤≥-])[-+]?\d{1,100}(?:\.0+)?(?![\w]|\.\d)")
_EMPTY = re.compile(r"[\s$*#\\\[\]()-]*")


async def aime(question: Question, helpers: Helpers) -> Grade:
    """Grade a whole number: the last one boxed or named as the answer, else the last number of the last line."""
    found, expected = _answer(text_of(question.answer)), _answer(text_of(question.expected))
    return Grade(
        score=float(found is not None and found == expected), why="no number" if found is None else f"said {found}"
    )


def _answer(text: str) -> int | None:
    lines = [line for line in text.strip().splitlines() if not _EMPTY.fullmatch(line)]
    if not lines:
        return None
    boxed, named = _BOXED.findall(lines[-1]) or _BOXED.findall(text), _NAMED.findall(text)
    for words in (*(boxed[-1:] or ()), *(named[-1:] or ()), lines[-1]):
        numbers = _NUMBER.findall(_NOISE.sub(" " if "," not in words else "", words).replace("\u2212", "-"))
        if numbers:
            return int(numbers[-1].partition(".")[0])
    return None
