"""Results of calls, as an agent keeps them and as a model is shown them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from tea.errors import ErrorRecord, TeaError, ToolError
from tea.loop.paging import fitted
from tea.models.rendering import rendered
from tea.types import DataPart, JsonObject, JsonValue, Message, Result, TextPart, data_part, message

MOST_CHARACTERS = 20_000
MOST_IN_STEP = 60_000
MOST_IN_RECORD = 4_000
LEAST_CHARACTERS = 1_000
CUT = 'cut: {shown} of {all:,} characters are shown; read_result(id="{id}", start={shown}) reads on'


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The outcome of one call.

    Args:
        id: Ties it to the call.
        name: What was called.
        arguments: What it was called with.
        ok: Whether it did what was wanted.
        value: What it gave; an unsuccessful agent gives a value too.
        error: Why it is not ok.
        hint: What else the model is told of it.
        repeated: Whether it is the result of an earlier call, which was not made again.
        first: Id of that call, empty without one.
        made: Whether the call was made at all.
    """

    id: str
    name: str
    arguments: JsonObject
    ok: bool
    value: JsonValue = None
    error: ErrorRecord | None = None
    hint: str = ""
    repeated: bool = False
    first: str = ""
    made: bool = True

    @classmethod
    def refused(cls, id: str, name: str, arguments: JsonObject, error: TeaError) -> Observation:
        """Return the outcome of a refused call."""
        return cls(id=id, name=name, arguments=arguments, ok=False, error=error.record(), made=False)

    def refusal(self, problem: str, fix: str) -> Observation:
        """Return it as refused for a problem."""
        return self.refused(self.id, self.name, self.arguments, ToolError(problem, fix=fix))

    def told(self, note: str) -> Observation:
        """Return it with a further hint for the model, if there is one."""
        return replace(self, hint="; ".join(filter(None, (note, self.hint)))) if note else self

    @property
    def text(self) -> str:
        """All of its value, in a model's text form."""
        return rendered(self.value)

    @property
    def result(self) -> Result:
        """An agent's result, of a broken call its error."""
        if self.value is None and self.error is not None:
            return Result(ok=False, reason=self.error["problem"])
        return Result.model_validate(self.value)

    def message(self, limit: int, left: str) -> Message:
        """Return it as a message of the conversation.

        Args:
            limit: Most characters of its value; what is cut off can be read on.
            left: What is left of the budget, in words.
        """
        value, notes = self.value, [self.hint] if self.hint else []
        if (size := _quick_size(value)) is None or size > limit:
            text = self.text
            if len(text) > limit and (value := fitted(value, self.arguments, limit)) is None:
                value = text[:limit]
                notes.append(CUT.format(shown=limit, all=len(text), id=self.id))
        data: dict[str, Any] = {"ok": self.ok, "value": value, "error": self.error}
        if notes:
            data["note"] = f"[{'; '.join(notes)}]"
        words = (TextPart(text=left),) if left else ()
        return message("tool", (data_part(data), *words), call_id=self.id)

    def failure(self, most: int) -> str:
        """Return a failed call with its problem, each of at most so many characters, in one line."""
        problem = "" if self.error is None else str(self.error["problem"])
        return f"{self.name} {json.dumps(self.arguments, ensure_ascii=False)[:most]}: {problem[:most]}"

    def record(self) -> dict[str, Any]:
        """Return it in the form of the step's record."""
        return {
            "name": self.name,
            "arguments": shortened(self.arguments, MOST_IN_RECORD),
            "ok": self.ok,
            "value": shortened(self.value, MOST_IN_RECORD),
            "error": self.error,
        }


def is_cut(message: Message) -> bool:
    """Return whether a message shows only a part of its result, with a hint for reading on."""
    notes = [
        cast("Mapping[str, Any]", part.data).get("note", "") for part in message.content if isinstance(part, DataPart)
    ]
    return any("read_result(id=" in str(note) for note in notes)


def limit_of(calls: int) -> int:
    """Return the maximum characters of each result in a step with the given number of calls."""
    return max(LEAST_CHARACTERS, min(MOST_CHARACTERS, MOST_IN_STEP // max(1, calls)))


def clipped(text: str, most: int) -> str:
    """Return the beginning of a text, cut at the end of a line or else of a word, with a mark of the cut.

    Args:
        text: The text.
        most: Most characters that are kept; the mark comes behind them.
    """
    if len(text) <= most:
        return text
    kept = text[:most].rpartition("\n")[0] or text[:most].rpartition(" ")[0] or text[:most]
    return f"{kept} [cut: {len(text) - len(kept):,} more characters]"


def shortened(value: JsonValue, limit: int) -> JsonValue:
    """Return `value` cut to about `limit` characters of JSON, keeping its shape.

    Texts and lists lose their end; the largest values of an object are cut first.
    """
    if _size(value) <= limit:
        return value
    if isinstance(value, str):
        return value[: max(0, limit - 3)] + "..."
    if isinstance(value, list):
        return _shortened_list(cast("list[Any]", value), limit)
    if isinstance(value, Mapping):
        return _shortened_object(cast("Mapping[str, Any]", value), limit)
    return value


def _shortened_list(items: list[Any], limit: int) -> list[Any]:
    kept: list[Any] = []
    left = limit
    for item in items:
        part = shortened(item, max(limit // 4, left)) if not kept else item
        left -= _size(part) + 2
        if left < 0 and kept:
            break
        kept.append(part)
    return kept


def _shortened_object(value: Mapping[str, Any], limit: int) -> dict[str, Any]:
    left, cut = limit, dict[str, Any]()
    by_size = sorted(value, key=lambda key: (_size(value[key]), key))
    for position, key in enumerate(by_size):
        share = max(0, left) // (len(by_size) - position)
        cut[key] = shortened(value[key], max(16, share - len(key) - 4))
        left -= _size(cut[key]) + len(key) + 4
    return {key: cut[key] for key in value}


def _quick_size(value: JsonValue) -> int | None:
    """Return the size of a scalar or a text; None if it has to be encoded first."""
    if isinstance(value, str):
        return len(value)
    return 0 if value is None or isinstance(value, bool | int | float) else None


def _size(value: JsonValue) -> int:
    return len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))
