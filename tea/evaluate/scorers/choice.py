"""Choice: answers to multiple-choice questions, as GPQA asks them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from tea.components.equality import plain, text_of
from tea.evaluate.scoring import Grade, Helpers, Question

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MARKS = re.compile(r"\*\*|__|\\text|\\boxed|\\mathrm|[$*`{}()\[\]]")
# In the order of how sure they are: the wanted form, the words of a conclusion, a letter alone.
_FORMS = (
    re.compile(r"^[^\S\n]*(?:final\s+)?answer\s*(?::|is\b:?)\s*([A-Z])\b(?!\w)", re.IGNORECASE | re.MULTILINE),
    re.compile(r"\banswer\s*(?:is|:)\s*+(?::\s*+)?(?:(?:option|choice)\s*+)?([A-Z])\b(?![\w'])", re.IGNORECASE),
    re.compile(r"\b(?:option|choice)\s+([A-Z])\b", re.IGNORECASE),
    re.compile(r"\A\s*([A-Z])\s*+(?:[.):]\s*+)?\Z", re.IGNORECASE),
    re.compile(r"\A\s*([A-Z])\s*[.):]\s+\S", re.IGNORECASE),
)


async def gpqa(question: Question, helpers: Helpers) -> Grade:
    """Grade the letter chosen, the last one named; with the option `choices` the words of a choice count too."""
    choices = question.options.get("choices")
    words = [text_of(one) for one in cast("Sequence[Any]", choices)] if isinstance(choices, list | tuple) else []
    expected = letter_of(text_of(question.expected), words)
    found = letter_of(text_of(question.answer), words)
    return Grade(score=float(found != "" and found == expected), why=f"chose {found}" if found else "chose nothing")


def letter_of(text: str, choices: Sequence[str] = ()) -> str:
    r"""Return the letter chosen by a text, empty if it chooses none.

    Args:
        text: An answer, or the expected one.
        choices: The words of the choices, in order.

    Examples:
        >>> letter_of("I think so because of heat.\n**ANSWER: (c)**")
        'C'
    """
    bare = _MARKS.sub(" ", text)
    for form in _FORMS:
        found = [one.upper() for one in form.findall(bare) if not choices or one.upper() in LETTERS[: len(choices)]]
        if found:
            return found[-1]
    same = [place for place, words in enumerate(choices) if plain(words) == plain(text) and plain(text)]
    return LETTERS[same[0]] if len(same) == 1 else ""
