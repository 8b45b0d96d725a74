"""Export: a run's conversations with models, or its effects, in the formats of other programs.

Sources: for `openai-chat` the training examples of OpenAI's supervised fine-tuning, which take no members but
`messages` and `tools` (https://platform.openai.com/docs/api-reference/fine-tuning/chat-input); for `sharegpt` the
conversations that LLaMA-Factory reads, in which `human` and `observation` take turns with `gpt` and `function_call`
(https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tea.components.manifest import canonical
from tea.journal.record import TraceRecord, as_mapping
from tea.models.openai_chat import OpenAIChat
from tea.models.text_calls import in_words
from tea.types import (
    DataPart,
    JsonObject,
    MediaPart,
    Message,
    ModelResponse,
    ReasoningPart,
    TextPart,
)

ExportFormat = Literal["openai-chat", "sharegpt", "jsonl"]
Functions = Mapping[str, JsonObject]
"""Name, description and parameters of functions, by the name that models call them."""

_TURNS = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}
_ASKING, _ANSWERING = ("human", "observation"), ("gpt", "function_call")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The messages between one agent and one model, up to the last one.

    Args:
        key: Key of its last question.
        agent: Who asked.
        model: Who answered: the model's own id where it is known.
        messages: All of it, the last answer too; where the model has functions, its calls and their results.
    """

    key: str
    agent: str
    model: str
    messages: tuple[Message, ...]

    @property
    def ends_empty(self) -> bool:
        """Whether the last answer has neither text nor calls."""
        return not self.messages[-1].content and not self.messages[-1].calls

    @property
    def called(self) -> list[str]:
        """Names of the called functions, each once."""
        return list(dict.fromkeys(call.name for message in self.messages for call in message.calls))


def export(records: Sequence[TraceRecord], form: ExportFormat, functions: Functions | None = None) -> list[JsonObject]:
    """Return a run in another program's format, one object for each line.

    Args:
        records: Its journal.
        form: `openai-chat`: a conversation each, with `messages` as in Chat Completions, and `tools` where it calls
            any; `sharegpt`: a conversation each, with `conversations`; `jsonl`: an effect each, with what was asked
            and what it gave.
        functions: What may have been called.
    """
    return _FORMS[form](records, functions or {})


def conversations(records: Sequence[TraceRecord]) -> list[Conversation]:
    """Return the conversations of a run, each once and whole, in the order of their last answers.

    A question records its new messages, and by a digest those that were said before; see `tea.journal.conversation`.
    """
    said: dict[str, tuple[JsonObject, ...]] = {"": ()}
    asked: dict[str, tuple[TraceRecord, str]] = {}
    native = _native(records)
    links = _Links()
    found: list[tuple[str, Conversation]] = []
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "start" and data["kind"] == "model":
            question = as_mapping(data["data"])
            asked[record.key] = record, question["chain"]
            links.grow(said, question)
        elif record.kind == "done" and record.key in asked:
            start, chain = asked[record.key]
            answer = as_mapping(data["data"])
            if answer["error"] is None:
                response = ModelResponse.model_validate(answer["response"])
                calls = as_mapping(start.data)["target"] in native
                found.append((chain, _conversation(start, said[chain], response, native=calls)))
    last = {chain: one for chain, one in found if not links.went_on(chain, empty=one.ends_empty)}
    return list(last.values())


@dataclass(slots=True)
class _Links:
    """The requests continued by later requests.

    A question may end with a message that stands in it alone, such as what an agent has noted: others go on from it
    where its answer, or if that was empty anything else, follows on what stands before that message.
    """

    before: dict[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])
    followers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    answered: set[str] = field(default_factory=set[str])

    def grow(self, histories: dict[str, tuple[JsonObject, ...]], question: Mapping[str, Any]) -> None:
        """Add the messages up to each new message of a request, by its link."""
        link = question["parent"]
        for message in question["messages"]:
            digest = hashlib.sha256(canonical(message)).hexdigest()
            before, link = link, hashlib.sha256(f"{link}/{digest}".encode()).hexdigest()
            histories[link] = (*histories[before], message)
            self.before[link] = before, message["role"] == "user"
            self.followers.setdefault(before, set()).add(link)
            if message["role"] == "assistant":
                self.answered.add(before)

    def went_on(self, chain: str, *, empty: bool) -> bool:
        """Return whether another request continues a given one, possibly with an empty answer."""
        if chain in self.followers:
            return True
        before, user = self.before.get(chain, ("", False))
        return user and (before in self.answered or (empty and len(self.followers[before]) > 1))


def _native(records: Sequence[TraceRecord]) -> set[str]:
    """Return the refs of the model configurations with functions."""
    found = (as_mapping(as_mapping(one.data).get("data")) for one in records if one.kind == "done")
    return {f"model:{one['name']}" for one in found if "tools" in (one.get("capabilities") or ()) and "name" in one}


def _conversation(
    start: TraceRecord, history: tuple[JsonObject, ...], answer: ModelResponse, *, native: bool
) -> Conversation:
    messages = (*map(Message.model_validate, history), _answer(answer))
    if not native:
        messages = tuple(in_words(messages, position) for position in range(len(messages)))
    by = answer.model or answer.answered_by
    return Conversation(key=start.key, agent=start.agent, model=by, messages=messages)


def _answer(answer: ModelResponse) -> Message:
    """Return the last answer in the model's own form."""
    said = answer.text or answer.calls or answer.output is None
    return answer.message() if said else Message(role="assistant", content=(DataPart(data=answer.output),))


def _openai_chat(records: Sequence[TraceRecord], functions: Functions) -> list[JsonObject]:
    lines: list[JsonObject] = []
    for one in conversations(records):
        tools = [{"type": "function", "function": functions[name]} for name in one.called if name in functions]
        messages = [_chat(message) for message in one.messages]
        lines.append({"messages": messages, **({"tools": tools} if tools else {})})
    return lines


def _sharegpt(records: Sequence[TraceRecord], functions: Functions) -> list[JsonObject]:
    lines: list[JsonObject] = []
    for one in conversations(records):
        turns = _in_turns([turn for message in one.messages for turn in _turns(_chat(message))])
        tools = [functions[name] for name in one.called if name in functions]
        told = {"tools": json.dumps(tools, ensure_ascii=False, default=dict)} if tools else {}
        about = {"agent": one.agent, "model": one.model, "key": one.key}
        lines.append({"conversations": turns, **told, "metadata": about})
    return lines


def _effects(records: Sequence[TraceRecord], functions: Functions) -> list[JsonObject]:
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
    """Return a message of Chat Completions; media are named by their digests, reasoning is left out."""
    content = tuple(
        TextPart(text=f"[{part.type} {part.digest}]") if isinstance(part, MediaPart) else part
        for part in message.content
        if not isinstance(part, ReasoningPart)
    )
    told = OpenAIChat().message(message.model_copy(update={"content": content}), {})
    return json.loads(told) if told else {"role": message.role, "content": ""}


def _turns(chat: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    content, calls = chat.get("content"), chat.get("tool_calls")
    if not calls:
        yield {"from": _TURNS[chat["role"]], "value": content or ""}
        return
    called = [{"name": one["function"]["name"], "arguments": json.loads(one["function"]["arguments"])} for one in calls]
    thought = f"<think>\n{content}\n</think>\n\n" if content else ""
    told = json.dumps(called[0] if len(called) == 1 else called, ensure_ascii=False)
    yield {"from": "function_call", "value": thought + told}


def _in_turns(turns: Sequence[dict[str, str]]) -> list[JsonObject]:
    """Return alternating turns of two sides; consecutive pieces of one side become one turn."""
    found: list[dict[str, str]] = []
    for one in turns:
        last = found[-1] if found else {"from": ""}
        if any(one["from"] in side and last["from"] in side for side in (_ASKING, _ANSWERING)):
            both = {one["from"], last["from"]}
            word = next(word for word in ("function_call", "observation", one["from"]) if word in both)
            found[-1] = {"from": word, "value": f"{last['value']}\n\n{one['value']}"}
        else:
            found.append(one)
    return cast("list[JsonObject]", found)


_FORMS: Mapping[ExportFormat, Callable[[Sequence[TraceRecord], Functions], list[JsonObject]]] = {
    "openai-chat": _openai_chat,
    "sharegpt": _sharegpt,
    "jsonl": _effects,
}
