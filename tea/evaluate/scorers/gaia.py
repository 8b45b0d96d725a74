"""GAIA: the leaderboard's rules for numbers, lists and texts (Mialon et al. 2023), case by case."""

from __future__ import annotations

import re
import string

from tea.components.equality import text_of
from tea.evaluate.scoring import Grade, Helpers, Question

_SEPARATORS = re.compile("[,;]")
_SPACES = re.compile(r"\s")
_SIGNS = str.maketrans("", "", "$%,")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


async def gaia(question: Question, helpers: Helpers) -> Grade:
    """Grade an answer as the leaderboard does: as number, list or text, depending on the expected answer."""
    answer = "None" if question.answer is None else text_of(question.answer)
    expected = text_of(question.expected)
    if _is_number(expected):
        return Grade(score=float(_number(answer) == float(expected)), why="compared as a number")
    if not _SEPARATORS.search(expected):
        return Grade(score=float(_text(answer) == _text(expected)), why="compared as a text")
    wanted, given = _SEPARATORS.split(expected), _SEPARATORS.split(answer)
    if len(wanted) != len(given):
        return Grade(score=0.0, why=f"a list of {len(given)}, not of {len(wanted)}")
    return Grade(score=float(all(map(_same_item, given, wanted))), why="compared as a list")


def _same_item(answer: str, wanted: str) -> bool:
    """Compare items of a list; their punctuation counts, in contrast to the punctuation of a single text."""
    if _is_number(wanted):
        return _number(answer) == float(wanted)
    return _SPACES.sub("", answer).lower() == _SPACES.sub("", wanted).lower()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> float:
    """Return a number without the signs of dollars, percent and thousands; infinity for other text."""
    bare = text.translate(_SIGNS)
    return float(bare) if _is_number(bare) else float("inf")


def _text(text: str) -> str:
    return _SPACES.sub("", text).lower().translate(_PUNCTUATION)
