"""Answers: the recorded form of models' answers, including those not fully representable in the journal."""

from __future__ import annotations

from typing import Any, cast

from tea.errors import BadArguments, BadOutput, TeaError
from tea.kernel.entry import JsonText, encode
from tea.models.written_calls import CALLS, Written
from tea.types import ModelResponse, ReasoningPart, ToolCall, changed


def recorded(response: ModelResponse, error: TeaError | None = None) -> JsonText:
    """Return the journal's form of an answer.

    Raises:
        BadOutput: It cannot be recorded, as it holds NaN or half of a character (a lone surrogate), or is nested more
            deeply than the records of the steps that follow from it could be.
    """
    told = {"response": response.model_dump(), "error": None if error is None else error.record()}
    try:
        return JsonText(encode(told))
    except BadArguments as problem:
        reason = f"The answer cannot be recorded. {problem.problem}"
        raise BadOutput(reason, fix="answer more simply.") from problem


def recorded_step(response: ModelResponse) -> JsonText:
    """Return the journal's form of the answer to a step; calls it cannot represent are unreadable."""
    told = changed(response, text=printable(response.text), unusable=printable(response.unusable))
    try:
        return recorded(told)
    except BadOutput as error:
        calls = tuple(map(_held, response.calls or _calls(response.output)))
        reasoning = tuple(filter(_can_be_held, response.reasoning))
        why = "" if calls else printable(error.problem)
        return recorded(changed(told, output=None, calls=calls, reasoning=reasoning, unusable=why))


def check_usable(response: ModelResponse) -> None:
    """Raise BadOutput if a response is not a usable answer.

    Raises:
        BadOutput: It is refused; the reason is told to the model.
    """
    if response.unusable:
        raise BadOutput(response.unusable, fix="write the call again.")
    for call in response.calls:
        if call.unreadable:
            raise BadOutput(f"The call of {call.name[:60]!r}: {call.unreadable}.", fix="write the call again.")
    if response.finish == "refusal":
        said = response.text[:300] or "it does not say why."
        raise BadOutput(f"The model refused: {said}", fix="ask for something else, or another model.")


def printable(text: str) -> str:
    """Return a text without lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def _calls(output: Any) -> list[ToolCall]:
    """Return the calls of a record."""
    calls = cast("dict[str, Any]", output).get(CALLS) if isinstance(output, dict) else None
    return Written(calls=cast("list[Any]", calls), record={}, words="").read().calls if isinstance(calls, list) else []


def _held(call: ToolCall) -> ToolCall:
    if _can_be_held(call):
        return call
    why = "its arguments cannot be recorded: make them simpler"
    return changed(call, id=printable(call.id), name=printable(call.name), arguments={}, unreadable=why)


def _can_be_held(part: ToolCall | ReasoningPart) -> bool:
    try:
        recorded(ModelResponse(calls=(part,)) if isinstance(part, ToolCall) else ModelResponse(reasoning=(part,)))
    except BadOutput:
        return False
    return True
