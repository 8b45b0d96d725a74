"""Steps: requests answered by calls of the functions on offer, native or in a record, and their usable part."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, cast

from tea.characters import on_one_line
from tea.errors import BadOutput
from tea.models.format import member
from tea.models.written_calls import CALLS, Written, answered, attempted, calls_in, is_broken, object_in
from tea.types import JsonObject, JsonValue, ModelRequest, ModelResponse, changed

Read = Callable[[Any], JsonValue]
"""Makes the wanted value of an output or a text, or raises BadOutput."""
WANTED = "`calls` wants at least one object with `name` and `arguments`"
A_CALL = 'a call is {"name": "FUNCTION", "arguments": {...}}, with a function on offer and all its parameters inside'
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what all providers take as the name of a function
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_UNNAMED = "unnamed"


def by_record(request: ModelRequest) -> bool:
    """Return whether a request asks for calls of the functions on offer."""
    return bool(request.tools) and CALLS in (request.output or {}).get("properties", {})


def callable_by_name(tools: Iterable[JsonObject]) -> bool:
    """Return whether providers accept the names of all functions on offer."""
    return all(map(_NAME.fullmatch, [str(one["name"]) for one in tools]))


def usable_name(name: str) -> str:
    """Return the name of a call in a form accepted by providers."""
    return name if _NAME.fullmatch(name) else _ODD.sub("_", name)[:64] or _UNNAMED


def called(response: ModelResponse, functions: Collection[str]) -> ModelResponse:
    """Return an answer of a model with functions; calls written as text count if it made no others.

    Args:
        response: As it came.
        functions: Names of the functions on offer.
    """
    found = None if response.calls else calls_in(response.text, functions)
    if found is None:
        return response
    made = found.read()
    said = [found.words, *(value for value in found.record.values() if isinstance(value, str))]
    text = "\n\n".join(filter(None, said))
    return changed(response, text=text, calls=tuple(made.calls), finish="calls")


def settled(
    response: ModelResponse, schema: JsonObject, check: Read, parse: Read, functions: Collection[str] = ()
) -> ModelResponse:
    """Return the answer to a step with its usable part: calls, a record with calls, or text.

    Where nothing can, `unusable` says why; the words of the answer stay.

    Args:
        response: As it came.
        schema: What a record has to fit.
        check: Holds an output to it.
        parse: Reads a record from a text.
        functions: Names of the functions on offer.
    """
    if response.output is not None:
        return _recorded(response, schema, check)
    if response.calls:
        return changed(response, unusable="")
    try:
        return changed(response, output=parse(response.text), unusable="")
    except BadOutput as error:
        found = calls_in(response.text, functions)
        if found is None:
            return changed(response, unusable=_unusable_reason(response, schema, error.problem))
        return _usable_part(response, found, schema)


def _recorded(response: ModelResponse, schema: JsonObject, check: Read) -> ModelResponse:
    try:
        return changed(response, output=check(response.output), unusable="")
    except BadOutput as error:
        given = member({"": response.output}, "")
        calls = cast("list[Any]", given.get(CALLS))
        if isinstance(calls, list) and calls:  # pyright: ignore[reportUnnecessaryIsInstance]
            return _usable_part(response, Written(calls=calls, record=given, words=""), schema)
        if response.calls:
            return changed(response, output=None, unusable="")
        return changed(response, output=None, unusable=f"{error.problem.rstrip('. ')}: {WANTED}.")


def _usable_part(response: ModelResponse, found: Written, schema: JsonObject) -> ModelResponse:
    """Return an answer with the fitting part of its record; if one of its calls is unreadable, with all as calls."""
    calls = tuple(found.read().calls)
    if not found.record or any(call.unreadable for call in calls):
        return changed(response, output=None, calls=calls, unusable="")
    wanted = cast("dict[str, dict[str, Any]]", schema["properties"])
    texts = [name for name, one in wanted.items() if one.get("type") == "string"]
    words = {name: found.record[name] for name in texts if isinstance(found.record.get(name), str)}
    made = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return changed(response, output={**words, CALLS: made}, calls=(), unusable="")


def _unusable_reason(response: ModelResponse, schema: JsonObject, problem: str) -> str:
    """Return why an answer without calls is unusable, in one line; empty if its text may be the answer."""
    whole = answered(response.text)
    said = whole.strip()
    if response.finish == "refusal":
        return f"The model refused: {_line(whole).rstrip('. ') or 'it does not say why'}."
    if response.finish == "length":
        return "The answer was cut off at its greatest length: answer more briefly, or in several steps."
    if response.unusable:
        return response.unusable
    if not said:
        return "The answer is empty: it has neither words nor calls."
    if object_in(said).keys() & cast("JsonObject", schema["properties"]).keys():
        return f"The answer is a record without a call: {WANTED}."
    if attempted(said) and object_in(said):
        return f"The answer holds no call that can be read: {A_CALL}."
    if attempted(said):
        return f"The calls in the answer cannot be read: {_line(problem)}"
    return f"The JSON of the answer cannot be read: {_line(problem)}" if is_broken(said) else ""


def _line(text: str) -> str:
    return on_one_line(text)[:300]
