"""Step records by function calls: a model that has functions calls them, and the record is what it called.

An agent asks for one record in each step, whose member `calls` names tools. Here such a question becomes one with real
functions, earlier records become calls with their results, and the calls of the answer become a record again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple, cast

from tea.models.fault import Fault
from tea.models.format import braced, decoded, plain, thoughts
from tea.models.kept import Grown, Kept
from tea.types import (
    DataPart,
    JsonObject,
    Message,
    ModelRequest,
    ModelResponse,
    ReasoningPart,
    TextPart,
    ToolCall,
    changed,
    data_part,
    message,
)

CALLS = "calls"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what all providers take as the name of a function
_PROTOCOL = """

<function_calling>
The tools and agents are functions here. Call them as functions, at least one in each answer, and leave `calls` out of \
the JSON object, which stands before them as text. Their results come as results of functions.
</function_calling>"""


def by_record(request: ModelRequest) -> bool:
    """Tell whether a question wants a record whose calls name what is on offer."""
    return bool(request.tools) and CALLS in (request.output or {}).get("properties", {})


def callable_by_name(tools: Iterable[JsonObject]) -> bool:
    """Tell whether providers take the names of all that is on offer."""
    return all(map(_NAME.fullmatch, [str(one["name"]) for one in tools]))


class _Part(NamedTuple):
    messages: tuple[Message, ...]
    pair: bool = False


_SAID = _Part(())  # an observation, which the part before it holds


class StepCalls:
    """Translates questions; what it made of a message is made once."""

    def __init__(self) -> None:
        self._systems: Kept[Message] = Kept()
        self._steps: Kept[tuple[Message, int, tuple[Message, ...]]] = Kept()
        self._rest: Grown[_Part] = Grown()

    def asked(self, request: ModelRequest) -> ModelRequest:
        """Return a question about a record as one about functions."""
        given = request.messages
        if not given:
            return changed(request, output=None)
        first = self._part(given, 0)
        if given[0].role == "system" and request.shown:
            first = _Part((self._systems.get(given[0]) or self._systems.put(given[0], _told(given[0])),))

        def part(position: int, before: _Part | None) -> _Part:
            return _SAID if (before or first).pair else self._part(given, position)

        rest = self._rest.parts(given, part)
        messages = (*first.messages, *chain.from_iterable([one.messages for one in rest]))
        return changed(request, messages=messages, output=None)

    def _part(self, given: tuple[Message, ...], position: int) -> _Part:
        """Return what stands in place of a message, and whether of the one behind it, too."""
        step = self._step(given, position) if given[position].role == "assistant" else ()
        return _Part(step, pair=True) if step else _Part((given[position],))

    def _step(self, given: tuple[Message, ...], position: int) -> tuple[Message, ...]:
        """Return a record and the observation behind it as calls and results; nothing if they are no such pair."""
        record, observation = given[position], given[min(position + 1, len(given) - 1)]
        found = self._steps.get(record)
        if found is None or found[0] is not observation or found[1] != position:
            found = self._steps.put(record, (observation, position, _pair(record, observation, position)))
        return found[2]


def answered(response: ModelResponse, request: ModelRequest) -> ModelResponse:
    """Return an answer with functions called as one with a record; one without is read as it was written."""
    if not response.calls:
        return response
    wanted = cast("dict[str, dict[str, Any]]", (request.output or {})["properties"])
    texts = [name for name, schema in wanted.items() if schema.get("type") == "string"]
    said = {name: value for name, value in _object(response.text).items() if name in texts and isinstance(value, str)}
    if not said and texts:
        said = {texts[0]: response.text or _thought(response.reasoning)}
    calls = [{"name": one.name, "arguments": one.arguments} for one in response.calls]
    record = {**dict.fromkeys(texts, ""), **said, CALLS: calls}
    return changed(response, output=record, calls=())


def _pair(record: Message, observation: Message, position: int) -> tuple[Message, ...]:
    said, seen = _data(record), _data(observation)
    calls, results = said.get(CALLS), seen.get(CALLS)
    if not isinstance(calls, list) or not isinstance(results, list):
        return ()
    wishes, found = cast("list[dict[str, Any]]", calls), cast("list[dict[str, Any]]", results)
    if len(wishes) != len(found) or not all(_NAME.fullmatch(str(one["name"])) for one in wishes):
        return ()
    given = thoughts(record)
    known = ("", _thought(given))  # what is given back as reasoning is not said twice
    words = {name: "" if value in known else value for name, value in said.items() if name != CALLS}
    text = (TextPart(text=json.dumps(words, ensure_ascii=False)),) if any(words.values()) else ()
    named = [
        ToolCall(id=f"call_{position}_{number}", name=one["name"], arguments=one["arguments"])
        for number, one in enumerate(wishes)
    ]
    spoken = message("assistant", (*given, *text), tuple(named))
    rest = {name: value for name, value in seen.items() if name not in (CALLS, "step")}
    return (
        spoken,
        *(_result(call.id, one) for call, one in zip(named, found, strict=True)),
        *((message("user", (data_part(rest),)),) if rest else ()),
    )


def _result(call: str, outcome: JsonObject) -> Message:
    told = {name: value for name, value in outcome.items() if name not in ("name", "arguments")}
    return message("tool", (data_part(told),), call_id=call)


def _data(message: Message) -> dict[str, Any]:
    """Return the data of a message that holds one object and nothing else, but for reasoning."""
    parts = [part for part in message.content if not isinstance(part, ReasoningPart)]
    part = parts[0] if len(parts) == 1 else None
    return cast("dict[str, Any]", part.data) if isinstance(part, DataPart) and isinstance(part.data, dict) else {}


def _thought(reasoning: Iterable[ReasoningPart]) -> str:
    return "\n\n".join(part.text for part in reasoning if part.text)


def _told(system: Message) -> Message:
    return Message(role="system", content=(TextPart(text=plain(system) + _PROTOCOL),))


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in a text, an empty one if there is none."""
    try:
        return decoded(found.encode("utf-8", "replace")) if (found := braced(text)) else {}
    except Fault:
        return {}
