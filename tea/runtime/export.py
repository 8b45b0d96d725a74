"""Export: a run's conversations with models, or its effects, in forms that other programs read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tea.managers.tracer import TraceRecord, as_mapping
from tea.manifest import canonical
from tea.models.openai_chat import OpenAIChat
from tea.types import JsonObject, MediaPart, Message, ModelResponse, TextPart

ExportFormat = Literal["openai-chat", "sharegpt", "jsonl"]

_ROLES = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What one agent and one model said to each other, as far as it went.

    Args:
        key: Key of its last question.
        agent: Who asked.
        model: Who answered: the model's own id where it is known.
        messages: All of it, the last answer too.
    """

    key: str
    agent: str
    model: str
    messages: tuple[Message, ...]


def export(records: Sequence[TraceRecord], form: ExportFormat) -> list[JsonObject]:
    """Return a run in a form of others, one object for each line.

    Args:
        records: Its journal.
        form: `openai-chat`: a conversation each, with `messages` as in Chat Completions; `sharegpt`: a conversation
            each, with `conversations`; `jsonl`: an effect each, with what was asked and what it gave.
    """
    return _FORMS[form](records)


def conversations(records: Sequence[TraceRecord]) -> list[Conversation]:
    """Return the conversations of a run, each once and whole, in the order of their last answers.

    A question records its new messages, and by a digest those that were said before; see `tea.runtime.conversation`.
    """
    said: dict[str, tuple[JsonObject, ...]] = {"": ()}
    asked: dict[str, tuple[TraceRecord, str]] = {}
    went_on: set[str] = set()
    found: list[tuple[str, Conversation]] = []
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "start" and data["kind"] == "model":
            question = as_mapping(data["data"])
            asked[record.key] = record, question["chain"]
            went_on.add(question["parent"] if question["messages"] else "")
            went_on.update(_grow(said, question))
        elif record.kind == "done" and record.key in asked:
            start, chain = asked[record.key]
            answer = as_mapping(data["data"])
            if answer["error"] is None:
                found.append(
                    (chain, _conversation(start, said[chain], ModelResponse.model_validate(answer["response"])))
                )
    last = {chain: one for chain, one in found if chain not in went_on}
    return list(last.values())


def _grow(said: dict[str, tuple[JsonObject, ...]], question: Mapping[str, Any]) -> Iterator[str]:
    """Add what is said until each new message, by its link, and yield the links that others follow."""
    link = question["parent"]
    for index, message in enumerate(question["messages"]):
        digest = hashlib.sha256(canonical(message)).hexdigest()
        before, link = link, hashlib.sha256(f"{link}/{digest}".encode()).hexdigest()
        said[link] = (*said[before], message)
        if index:
            yield before


def _conversation(start: TraceRecord, said: tuple[JsonObject, ...], answer: ModelResponse) -> Conversation:
    messages = (*map(Message.model_validate, said), answer.message())
    return Conversation(key=start.key, agent=start.agent, model=answer.model or answer.answered_by, messages=messages)


def _openai_chat(records: Sequence[TraceRecord]) -> list[JsonObject]:
    return [{"messages": [_chat(message) for message in one.messages], **_about(one)} for one in conversations(records)]


def _sharegpt(records: Sequence[TraceRecord]) -> list[JsonObject]:
    return [
        {"conversations": [turn for message in one.messages for turn in _turns(_chat(message))], **_about(one)}
        for one in conversations(records)
    ]


def _effects(records: Sequence[TraceRecord]) -> list[JsonObject]:
    ends = {one.key: one for one in records if one.kind in ("done", "failed", "fired", "message")}
    return [_effect(one, ends.get(one.key)) for one in records if one.kind == "start"]


def _effect(start: TraceRecord, end: TraceRecord | None) -> JsonObject:
    data = as_mapping(start.data)
    return {
        "seq": start.seq,
        "time": start.time,
        "agent": start.agent,
        "key": start.key,
        "kind": data["kind"],
        "target": data["target"],
        "asked": data["data"],
        "ended": end.kind if end else None,
        "gave": as_mapping(end.data).get("data") if end else None,
    }


def _chat(message: Message) -> dict[str, Any]:
    """Return a message of Chat Completions; what is not text is named by its digest."""
    content = tuple(
        TextPart(text=f"[{part.type} {part.digest}]") if isinstance(part, MediaPart) else part
        for part in message.content
    )
    return json.loads(OpenAIChat().message(message.model_copy(update={"content": content}), {}))


def _turns(chat: Mapping[str, Any]) -> Iterator[JsonObject]:
    if chat.get("content"):
        yield {"from": _ROLES[chat["role"]], "value": chat["content"]}
    for call in chat.get("tool_calls", ()):
        wish = {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
        yield {"from": "function_call", "value": json.dumps(wish, ensure_ascii=False)}


def _about(one: Conversation) -> JsonObject:
    return {"metadata": {"agent": one.agent, "model": one.model, "key": one.key}}


_FORMS: Mapping[ExportFormat, Callable[[Sequence[TraceRecord]], list[JsonObject]]] = {
    "openai-chat": _openai_chat,
    "sharegpt": _sharegpt,
    "jsonl": _effects,
}
