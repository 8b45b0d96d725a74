"""Warnings of results, unheeded by an answer of nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from tea.loop.claims import gives_up
from tea.loop.observation import Observation, clipped
from tea.loop.offer import DONE
from tea.types import JsonValue

_MOST = 300  # characters of a warning
_LONGEST = 300  # characters of words that say there is nothing
_WARNING = "warning"
_NOTHING = re.compile(
    r"\A\W*0+(?:[.,]0+)?(?![\d.,]*\d)|\b(?:no|none|nobody|nothing|never|zero|not (?:any|found))\b"
    r"|n(?:'|\u2019)t any\b|\b(?:keine?[mnrs]?|nichts|aucune?s?|rien|ning\u00fan|ninguna?|nada)\b",
    re.IGNORECASE,
)


def unheeded(results: Iterable[Observation], answer: JsonValue = None) -> str:
    """Return the warning of the last result, empty without one, or for an answer of something.

    Args:
        results: Results of calls, in their order.
        answer: The answer, None if there is none.

    Examples:
        >>> warned = {"rows": [], "warning": "nothing in city is 'oslo': did you mean 'Oslo'?"}
        >>> result = Observation(id="1", name="table_query", arguments={}, ok=True, value=warned)
        >>> unheeded([result], "There are no rows of Oslo.")
        "nothing in city is 'oslo': did you mean 'Oslo'?"
        >>> unheeded([result], "17")
        ''
    """
    last = next((one for one in reversed(list(results)) if one.ok and one.name != DONE), None)
    given: Any = None if last is None else last.value
    warning = cast("Mapping[str, Any]", given).get(_WARNING) if isinstance(given, Mapping) else None
    return clipped(warning, _MOST) if isinstance(warning, str) and _is_nothing(answer) else ""


def _is_nothing(answer: JsonValue) -> bool:
    """Return whether an answer is zero, empty, or says there is nothing."""
    if not isinstance(answer, str):
        return not answer
    return gives_up(answer, "") or _NOTHING.search(answer[:_LONGEST]) is not None
