"""Tool calls in plain text, for models without function calling: told in words, written as JSON, read back."""

from __future__ import annotations

import json
from typing import Any, cast

from tea.models.fault import Fault
from tea.models.format import Wishes, braced, decoded, plain, sorted_tools
from tea.types import Message, ModelRequest, ModelResponse, TextPart

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


def in_words(request: ModelRequest) -> ModelRequest:
    """Return a question about a record as one without functions, which are listed in words where its own do not."""
    if request.shown or not request.messages:
        return request.model_copy(update={"tools": ()})
    told = _LISTED.format(tools=_listed(request))
    first = _said(request.messages[0].role, plain(request.messages[0]) + told)
    return request.model_copy(update={"messages": (first, *request.messages[1:]), "tools": ()})


def as_text(request: ModelRequest) -> ModelRequest:
    """Return a question about tools as one that needs no function calling."""
    choice = _CHOICE[request.tool_choice] + (" Call at most one." if not request.parallel else "")
    told = _PROTOCOL.format(tools=_listed(request), choice=choice)
    messages = _told(tuple(_spoken(message) for message in request.messages), told)
    return request.model_copy(update={"messages": messages, "tools": ()})


def formed(request: ModelRequest) -> ModelRequest:
    """Return a question about data as one that says in words what form the answer has."""
    told = _FORM.format(schema=json.dumps(request.output, ensure_ascii=False, sort_keys=True))
    return request.model_copy(update={"messages": _told(request.messages, told), "output": None})


def from_text(response: ModelResponse, request: ModelRequest) -> ModelResponse:
    """Return an answer with the calls that its text holds."""
    found = _calls(response.text)
    if found is None:
        unusable = "A tool had to be called, and none was." if request.tool_choice == "required" else ""
        return response.model_copy(update={"unusable": response.unusable or unusable})
    wishes = Wishes()
    for one in found:
        call = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
        wishes.add(None, call.get("name"), call.get("arguments"))
    update = {"text": "", "calls": tuple(wishes.calls), "unusable": wishes.unusable, "finish": "calls"}
    return response.model_copy(update=update)


def _calls(text: str) -> list[Any] | None:
    """Return the calls in a text: those of the JSON object that it is, or has words around."""
    try:
        found = decoded(braced(text).encode("utf-8", "replace")).get("calls")
    except Fault:
        return None
    return cast("list[Any]", found) if isinstance(found, list) and found else None


def _listed(request: ModelRequest) -> str:
    return "\n".join(json.dumps(one, ensure_ascii=False, sort_keys=True) for one in sorted_tools(request.tools))


def _spoken(message: Message) -> Message:
    """Return a message without calls or results of calls, as it reads in words."""
    if message.role == "tool":
        return _said("user", f"Result of {message.call_id}:\n{plain(message)}")
    if message.calls:
        calls = [{"name": one.name, "arguments": one.arguments} for one in message.calls]
        text = json.dumps({"calls": calls}, ensure_ascii=False, sort_keys=True)
        return _said("assistant", "\n\n".join(filter(None, (plain(message), text))))
    return message


def _told(messages: tuple[Message, ...], words: str) -> tuple[Message, ...]:
    """Return a conversation whose system text ends with these words."""
    if messages and messages[0].role == "system":
        return _said("system", plain(messages[0]) + words), *messages[1:]
    return _said("system", words.strip()), *messages


def _said(role: Any, text: str) -> Message:
    return Message(role=role, content=(TextPart(text=text),))
