"""Results beside an end: of calls in the same reply, not yet seen by the model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from tea.loop.checks import ANSWER, numbers_stand_in
from tea.loop.observation import Observation, clipped
from tea.models.rendering import rendered
from tea.types import Evidence, JsonValue

_MOST_SHOWN = 300
_TOO_EARLY = "it was given before results of calls beside it were seen: {}"
_AROUND = " \n.!*_`'\""
_LABEL = re.compile(r"\A(?:STDOUT|RESULT):\n")
_NUMBER = re.compile(r"[-+]?\d[\d.,' \u00a0\u202f]*%?")


def is_told(answer: JsonValue, results: Sequence[Observation]) -> bool:
    """Return whether an answer is one value, and the only one of the only result.

    In a result of several values a right one stands as well as a guessed one.

    Args:
        answer: The answer.
        results: The results.
    """
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or [one.ok for one in results] != [True]:
        return False
    value, said = _only_value(results[0].value), str(answer).strip(_AROUND)
    if _NUMBER.fullmatch(said):
        return _NUMBER.fullmatch(value) is not None and numbers_stand_in(said, value)
    return said != "" and said.casefold() == value.casefold()


def _only_value(value: JsonValue) -> str:
    """Return the only value of a result as text, empty if it holds none or several."""
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        value = members.get("answer", members.get("text", members.get("rows")))
    while isinstance(value, list):
        items = cast("list[Any]", value)
        value = items[0] if len(items) == 1 else None
    text = "" if value is None or isinstance(value, Mapping) else _LABEL.sub("", rendered(value)).strip(_AROUND)
    return "" if "\n" in text else text


def early_doubts(unseen: Sequence[Observation]) -> list[Evidence]:
    """Return the doubt about an answer given before these results of calls beside it; none without any."""
    gave = [f"{one.name} gave {clipped(one.text, _MOST_SHOWN)!r}" for one in unseen if one.ok]
    return [Evidence(source=ANSWER, doubt=_TOO_EARLY.format("; ".join(gave)))] if gave else []
