"""Tool calls in plain text, for models without function calling: described in text, written as JSON, parsed back."""

from __future__ import annotations

import json

from tea.models.format import functions_of, plain, thoughts
from tea.models.memo import IncrementalMemo, Memo
from tea.models.written_calls import CALLS, calls_in
from tea.types import JsonObject, Message, ModelRequest, ModelResponse, TextPart, changed, message

_PROTOCOL = """

<tools>
{tools}
</tools>
To call tools, answer with one JSON object and no other text: {{"calls": [{{"name": "a tool", "arguments": {{}}}}]}}
{choice} The results come in the next message. Never invent a result."""
_LISTED = """

<tools>
{tools}
</tools>
These are the tools and agents that `calls` may name; there are no others."""
_FORM = """

<answer_form>
Answer with JSON that fits this JSON Schema, and no other text:
{schema}
</answer_form>"""
_CHOICE = {
    "auto": "Without a need for a tool, answer in plain words.",
    "required": "You must call at least one.",
    "none": "Call none of them now: answer in plain words.",
}


class StepWords:
    """A rewriter of steps as text for models without functions; results for a conversation are cached."""

    def __init__(self) -> None:
        self._firsts: Memo[tuple[tuple[JsonObject, ...], Message]] = Memo()
        self._rest: IncrementalMemo[Message] = IncrementalMemo()

    def asked(self, request: ModelRequest) -> ModelRequest:
        """Return a request for a record as one without functions, listing them unless its own text does."""
        given = request.messages
        if not given:
            return changed(request, tools=())
        first = given[0] if request.shown else self._first(given[0], request)
        rest = self._rest.parts(given, lambda position, _: in_words(given, position))
        return changed(request, messages=(first, *rest), tools=())

    def _first(self, system: Message, request: ModelRequest) -> Message:
        found = self._firsts.get(system)
        if found is None or found[0] is not request.tools:
            told = plain(system) + _LISTED.format(tools=_listed(request))
            found = self._firsts.put(system, (request.tools, _with_text(system, told)))
        return found[1]


def in_words(messages: tuple[Message, ...], position: int) -> Message:
    """Return a message without calls or results of calls, as a model without functions reads and writes it."""
    one = messages[position]
    if one.role == "tool":
        return _result(messages, position)
    if not one.calls:
        return one
    text = plain(one)
    if calls_in(text) is None:
        thinking = {"thinking": text} if text else {}
        text = json.dumps({**thinking, CALLS: _made(one)}, ensure_ascii=False)
    return _with_text(one, text)


def as_text(request: ModelRequest) -> ModelRequest:
    """Return a request with tools as one without function calling."""
    choice = _CHOICE[request.tool_choice] + (" Call at most one." if not request.parallel else "")
    told = _PROTOCOL.format(tools=_listed(request), choice=choice)
    given = request.messages
    messages = _with_system_text(tuple(_spoken(given, position) for position in range(len(given))), told)
    return request.model_copy(update={"messages": messages, "tools": ()})


def formed(request: ModelRequest) -> ModelRequest:
    """Return a request for data as one with the answer's form described in text."""
    told = _FORM.format(schema=json.dumps(request.output, ensure_ascii=False, sort_keys=True))
    return request.model_copy(update={"messages": _with_system_text(request.messages, told), "output": None})


def from_text(response: ModelResponse, request: ModelRequest) -> ModelResponse:
    """Return an answer with the calls contained in its text."""
    found = calls_in(response.text, [str(one["name"]) for one in request.tools])
    if found is None:
        unusable = "A tool had to be called, and none was." if request.tool_choice == "required" else ""
        return response.model_copy(update={"unusable": response.unusable or unusable})
    return response.model_copy(update={"text": "", "calls": tuple(found.read().calls), "finish": "calls"})


def _listed(request: ModelRequest) -> str:
    return "\n".join(json.dumps(one, ensure_ascii=False, sort_keys=True) for one in functions_of(request.tools))


def _spoken(messages: tuple[Message, ...], position: int) -> Message:
    """Return a message without calls or results of calls, as plain text."""
    one = messages[position]
    if one.role == "tool":
        return _result(messages, position)
    if one.calls:
        text = json.dumps({CALLS: _made(one)}, ensure_ascii=False, sort_keys=True)
        return _with_text(one, "\n\n".join(filter(None, (plain(one), text))))
    return one


def _result(messages: tuple[Message, ...], position: int) -> Message:
    """Return the result of a call as a user's message."""
    one = messages[position]
    called = (call.name for before in reversed(messages[:position]) for call in before.calls if call.id == one.call_id)
    name = next(called, "a call")
    return message("user", (TextPart(text=f"Result of {name} ({one.call_id}):\n{plain(one)}"),))


def _made(spoken: Message) -> list[JsonObject]:
    return [{"name": call.name, "arguments": call.arguments} for call in spoken.calls]


def _with_system_text(messages: tuple[Message, ...], words: str) -> tuple[Message, ...]:
    """Append a text to the system message of a conversation; add the message if it is missing."""
    if messages and messages[0].role == "system":
        return _with_text(messages[0], plain(messages[0]) + words), *messages[1:]
    return message("system", (TextPart(text=words.strip()),)), *messages


def _with_text(original: Message, text: str) -> Message:
    """Return a message with another text, keeping its reasoning."""
    return message(original.role, (*thoughts(original), TextPart(text=text)))
