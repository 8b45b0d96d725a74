"""Step records by function calls: a model that has functions calls them, and the record is what it called.

An agent asks for one record in each step, whose member `calls` names tools. Here such a question becomes one with real
functions, earlier records become calls with their results, and the calls of the answer become a record again.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from tea.models.fault import Fault
from tea.models.format import decoded, plain
from tea.models.kept import Kept
from tea.types import DataPart, JsonObject, Message, ModelRequest, ModelResponse, TextPart, ToolCall

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


def callable_by_name(request: ModelRequest) -> bool:
    """Tell whether providers take the names of all that is on offer."""
    return all(_NAME.fullmatch(str(one["name"])) for one in request.tools)


class StepCalls:
    """Translates questions; what it made of a message is made once."""

    def __init__(self) -> None:
        self._systems: Kept[Message] = Kept()
        self._steps: Kept[tuple[Message, int, tuple[Message, ...]]] = Kept()

    def asked(self, request: ModelRequest) -> ModelRequest:
        """Return a question about a record as one about functions."""
        messages: list[Message] = []
        given, position = request.messages, 0
        while position < len(given):
            message = given[position]
            if message.role == "system" and position == 0:
                messages.append(self._systems.get(message) or self._systems.put(message, _told(message)))
            elif message.role == "assistant" and (step := self._step(given, position)):
                messages += step
                position += 1
            else:
                messages.append(message)
            position += 1
        return request.model_copy(update={"messages": tuple(messages), "output": None})

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
        said = {texts[0]: response.text or "\n\n".join(one.text for one in response.reasoning if one.text)}
    calls = [{"name": one.name, "arguments": one.arguments} for one in response.calls]
    record = {**dict.fromkeys(texts, ""), **said, CALLS: calls}
    return response.model_copy(update={"output": record, "calls": ()})


def _pair(record: Message, observation: Message, position: int) -> tuple[Message, ...]:
    said, seen = _data(record), _data(observation)
    calls, results = said.get(CALLS), seen.get(CALLS)
    if not isinstance(calls, list) or not isinstance(results, list):
        return ()
    wishes, found = cast("list[dict[str, Any]]", calls), cast("list[dict[str, Any]]", results)
    if len(wishes) != len(found) or not all(_NAME.fullmatch(str(one["name"])) for one in wishes):
        return ()
    words = json.dumps({name: value for name, value in said.items() if name != CALLS}, ensure_ascii=False)
    named = [
        ToolCall(id=f"call_{position}_{number}", name=one["name"], arguments=one["arguments"])
        for number, one in enumerate(wishes)
    ]
    spoken = Message(role="assistant", content=(TextPart(text=words),), calls=tuple(named))
    rest = {name: value for name, value in seen.items() if name not in (CALLS, "step")}
    return (
        spoken,
        *(_result(call.id, one) for call, one in zip(named, found, strict=True)),
        *((Message(role="user", content=(DataPart(data=rest),)),) if rest else ()),
    )


def _result(call: str, outcome: JsonObject) -> Message:
    told = {name: value for name, value in outcome.items() if name not in ("name", "arguments")}
    return Message(role="tool", content=(DataPart(data=told),), call_id=call)


def _data(message: Message) -> dict[str, Any]:
    """Return the data of a message that holds one object and nothing else."""
    part = message.content[0] if len(message.content) == 1 else None
    return cast("dict[str, Any]", part.data) if isinstance(part, DataPart) and isinstance(part.data, dict) else {}


def _told(system: Message) -> Message:
    return Message(role="system", content=(TextPart(text=plain(system) + _PROTOCOL),))


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in a text, an empty one if there is none."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        return decoded(text[begin : end + 1].encode("utf-8", "replace")) if 0 <= begin < end else {}
    except Fault:
        return {}
