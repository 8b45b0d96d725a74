"""Read a planner's earlier work from its conversation."""

import re
from dataclasses import dataclass
from typing import Any, TypedDict, cast


class Made(TypedDict):
    """One earlier call and its result."""

    name: str
    arguments: dict[str, Any]
    ok: bool
    value: Any
    error: dict[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call to make."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The next calls, and the reason."""

    thinking: str
    evaluation: str
    memory: str
    next_goal: str
    calls: list[Call]


_BETWEEN = re.compile(r"(?<=[.?!]) ")
_SENTENCE = re.compile(r"[^.?!]+[.?!]+")
_LEANING = re.compile(
    r"\b(it|its|they|them|their|those|these|that|this|he|she|his|her|there|the same|the other|which of|second|next)\b",
    re.IGNORECASE,
)
MOST_QUESTIONS = 4


class Past:
    """The calls of a conversation, in order.

    Args:
        history: The observations, each with the calls of one step.
    """

    def __init__(self, history: list[dict[str, Any]]) -> None:
        self._calls = [cast(Made, call) for step in history for call in step.get("calls", [])]

    def of(self, name: str) -> list[Made]:
        """Return the calls by name, oldest first."""
        return [call for call in self._calls if call["name"] == name]


def reason_of(call: Made) -> str:
    """Return why a call did not succeed, in one line."""
    value = call["value"]
    told = cast("dict[str, Any]", value).get("reason", "") if isinstance(value, dict) else ""
    return str(told or (call["error"] or {}).get("problem") or "no reason was given")


def broke_off(call: Made) -> bool:
    """Tell whether a call ended without a finding and is worth repeating."""
    return (
        not call["ok"] and (call["error"] or {}).get("code") in ("CallTimeout", "CallFailed") and call["value"] is None
    )


def questions_of(task: str) -> list[str]:
    """Return the independent questions of a task; the whole task if they cannot be told apart."""
    text = " ".join(task.split())
    sentences = _BETWEEN.split(text)
    whole = all(_SENTENCE.fullmatch(one) and one.endswith("?") for one in sentences)
    if not whole or not 2 <= len(sentences) <= MOST_QUESTIONS or any(_LEANING.search(one) for one in sentences[1:]):
        return [task]
    return sentences
