"""OpenAI's Chat Completions, also supported by most other servers.

Source: https://platform.openai.com/docs/api-reference/chat, with the streaming events of chat-streaming;
`reasoning_content`, `reasoning` and `reasoning_details` are what DeepSeek, vLLM, llama.cpp and OpenRouter add, and
`extra_content` of a call what Gemini adds (https://ai.google.dev/gemini-api/docs/thought-signatures). Whoever adds one
wants it back under the same name, with the calls that it led to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from tea.errors import ProviderError
from tea.models.config import ModelConfig
from tea.models.failure import LASTING, CallFailure, repeatable
from tea.models.format import (
    AnswerCalls,
    Encode,
    Sdk,
    assembled,
    chooses,
    collected,
    count,
    decoded,
    encoded,
    error_of,
    extended,
    in_base64,
    joined,
    member,
    members,
    optional,
    plain,
    stable,
    thoughts,
    words,
)
from tea.models.manager import Delta
from tea.models.schema import OPENAI, wanted
from tea.models.sse import Sent
from tea.types import (
    DataPart,
    Finish,
    JsonObject,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    ReasoningPart,
    TextPart,
    Usage,
)

_FINISH: dict[Any, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "calls",
    "function_call": "calls",
    "content_filter": "refusal",
}
_NEWER = "max_completion_tokens"
_COUNTING = "stream_options"
_ANSWERS = frozenset({"content", "refusal"})
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


class OpenAIChat:
    """The format of `POST /chat/completions`."""

    name = "openai_chat"
    sdk: Sdk = "openai"
    path = "/chat/completions"
    reach = OPENAI
    relents: Mapping[str, JsonObject] = {f"use '{_NEWER}'": {_NEWER: None}, _COUNTING: {_COUNTING: None}}

    def body(
        self, request: ModelRequest, config: ModelConfig, encode: Encode, tools: Sequence[bytes], *, stream: bool
    ) -> bytes:
        """Return the question as bytes."""
        members = {"model": encoded(config.model)}
        limit = request.max_output or config.max_output
        if limit is not None:
            members[_limit(config)] = encoded(limit)
        if tools:
            members["tools"] = joined(tools)
            members |= {"tool_choice": encoded(request.tool_choice)} if chooses(request, config) else {}
            members |= {} if request.parallel else {"parallel_tool_calls": b"false"}
        own: dict[str, Any] = {}
        if form := wanted(request, config, self.reach):
            schema = {"name": "answer", "schema": form[0], "strict": form[1]}
            own["response_format"] = {"type": "json_schema", "json_schema": schema}
        marks = {_NEWER, *([_COUNTING] if config.options.get(_COUNTING) is None else ())}
        options = {name: value for name, value in config.options.items() if name not in marks}
        members |= optional(options, own)
        members["messages"] = joined([*filter(None, encode(request.messages, request.media))])
        if stream:
            members["stream"] = b"true"
            if _COUNTING not in config.options:
                members[_COUNTING] = b'{"include_usage":true}'
        return assembled(members)

    def tool(self, function: JsonObject) -> bytes:
        """Return one function on offer."""
        return stable({"type": "function", "function": function})

    def message(self, message: Message, media: Mapping[str, bytes]) -> bytes:
        """Return one message."""
        if message.role == "tool":
            return encoded({"role": "tool", "tool_call_id": message.call_id, "content": plain(message)})
        if message.role == "assistant":
            return _assistant(message)
        if all(isinstance(part, TextPart | DataPart) for part in message.content):
            return encoded({"role": message.role, "content": plain(message)})
        return encoded({"role": message.role, "content": [_part(part, media) for part in message.content]})

    def response(self, document: JsonObject, config: ModelConfig) -> ModelResponse:
        """Return the answer."""
        choice = next(iter(members(document, "choices")), None)
        if choice is None:
            raise _failed(document, "the answer has no choice")
        _check_ended(choice)
        said = member(choice, "message")
        made = AnswerCalls()
        for call in members(said, "tool_calls"):
            function = member(call, "function")
            made.add(call.get("id"), function.get("name"), function.get("arguments"))
        if not made.calls and (function := member(said, "function_call")):  # as older servers name the only call
            made.add(None, function.get("name"), function.get("arguments"))
        refusal = said.get("refusal") or ""
        finish = "refusal" if refusal else _FINISH.get(choice.get("finish_reason"), "stop")
        return ModelResponse(
            text=str(refusal or _text(said.get("content"))),
            calls=tuple(made.calls),
            reasoning=_reasoning(said, config.origin),
            usage=_usage(member(document, "usage")),
            finish="calls" if made.calls and finish == "stop" else finish,
            model=str(document.get("model") or config.model),
        )

    def assembly(self) -> ChatAssembly:
        """Return an assembly for one streamed answer."""
        return ChatAssembly()


class ChatAssembly:
    """An assembly of streamed chunks into a completion."""

    def __init__(self) -> None:
        self._document: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._details: dict[Any, dict[str, Any]] = {}
        self._calls: list[dict[str, Any]] = []
        self._places: dict[Any, dict[str, Any]] = {}
        self._finish: str | None = None
        self.done = False

    @property
    def ended(self) -> bool:
        """Whether the answer has stated the reason for its end; at the end of the stream it may do without one."""
        return self._finish is not None or (self.done and bool(self._calls or self._texts.keys() & _ANSWERS))

    def take(self, sent: Sent) -> list[Delta]:
        """Process one event."""
        if sent.data.strip() == b"[DONE]":
            self.done = True
            return []
        chunk = decoded(sent.data, piece=True)
        if chunk.get("error"):
            raise _failed(chunk)
        for name in ("model", "usage"):
            if chunk.get(name):
                self._document[name] = chunk[name]
        deltas: list[Delta] = []
        for choice in members(chunk, "choices"):
            _check_ended(choice)
            self._finish = choice.get("finish_reason") or self._finish
            deltas += self._delta(member(choice, "delta"))
        return deltas

    def document(self) -> JsonObject:
        """Return the completion."""
        if not self.ended:
            raise CallFailure("the stream ended before the answer did", again=True)
        message: dict[str, Any] = {name: "".join(pieces) for name, pieces in self._texts.items()}
        if self._details:
            message["reasoning_details"] = [*map(collected, self._details.values())]
        if self._calls:
            message["tool_calls"] = [{**call, "function": collected(call["function"])} for call in self._calls]
        return {**self._document, "choices": [{"message": message, "finish_reason": self._finish}]}

    def _delta(self, delta: dict[str, Any]) -> list[Delta]:
        deltas: list[Delta] = []
        for name in ("content", "refusal", "reasoning_content", "reasoning"):
            if text := _text(delta.get(name)):
                self._texts.setdefault(name, []).append(text)
                deltas.append(Delta(type="reasoning" if name.startswith("reasoning") else "text", text=text))
        for piece in members(delta, "reasoning_details"):
            one = self._details.setdefault(piece.get("index", len(self._details)), {})
            grown = {name: extended(one.get(name, ""), piece[name]) for name in ("text", "summary") if piece.get(name)}
            one |= {name: value for name, value in piece.items() if value is not None} | grown
        older = member(delta, "function_call")
        for piece in (*members(delta, "tool_calls"), *([{"index": 0, "function": older}] if older else ())):
            call = self._call(piece)
            call["id"] = piece.get("id") or call["id"]
            call |= {"extra_content": piece["extra_content"]} if piece.get("extra_content") else {}
            for name in ("name", "arguments"):
                text = member(piece, "function").get(name)
                text = encoded(text).decode() if isinstance(text, dict) else text  # as some servers send arguments
                if text and not (name == "name" and _is_whole(text, call["function"])):  # some servers repeat the name
                    call["function"][name] = extended(call["function"][name], text)
                    deltas.append(Delta(type="call", text=text))
        return deltas

    def _call(self, piece: dict[str, Any]) -> dict[str, Any]:
        """Return the call a piece belongs to; some servers number none, or all of them 0."""
        index, id, name = piece.get("index"), piece.get("id"), member(piece, "function").get("name")
        call = self._places.get(index)
        if call is None or (name and (index is None or (id and call["id"] not in (None, id)))):
            call = self._places[index] = {"id": id, "function": {"name": "", "arguments": ""}}
            self._calls.append(call)
        return call


def _is_whole(name: str, function: dict[str, Any]) -> bool:
    """Return whether a name is all of a function's name so far, comparing lengths first."""
    held = function["name"]
    return bool(held) and held.tell() == len(name) and held.getvalue() == name


def _check_ended(choice: JsonObject) -> None:
    """Raise CallFailure for an interrupted choice: routers report the error there if the answer had begun."""
    if choice.get("finish_reason") == "error" or choice.get("error"):
        raise _failed(choice, "the answer broke off with an error")


def _failed(document: JsonObject, otherwise: str = "") -> CallFailure:
    """Return the failure described by an error document; a router's error code is the upstream status.

    Source: https://openrouter.ai/docs/api-reference/errors.
    """
    code = str(member(document, "error").get("code") or "")
    status = int(code) if re.fullmatch("[45][0-9]{2}", code) else 402 if code in LASTING else None
    problem = error_of(document) or otherwise
    return CallFailure(problem, again=status is None or repeatable(status), status=status, code=code)


def _usage(usage: JsonObject) -> Usage:
    """Return the usage; reasoning counted beside the answer and within the total counts as output.

    Source: https://docs.x.ai/docs/key-information/consumption-and-rate-limits, and what Gemini's endpoint counts.
    """
    asked, answered = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    return Usage(
        input_tokens=asked,
        cached_tokens=count(usage, "prompt_tokens_details", "cached_tokens"),
        written_tokens=count(usage, "prompt_tokens_details", "cache_write_tokens"),
        output_tokens=max(answered, count(usage, "total_tokens") - asked) if asked else answered,
        reasoning_tokens=count(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _limit(config: ModelConfig) -> str:
    """Return the name of the answer limit: OpenAI's models refuse the name used by other servers.

    Where they are reached at another address, they say so to the first question, and it is asked again.
    """
    openai = config.base_url is None or "openai." in (urlsplit(config.base_url).hostname or "")
    return _NEWER if openai or _NEWER in config.options else "max_tokens"


def _reasoning(reply: JsonObject, origin: str) -> tuple[ReasoningPart, ...]:
    """Return the reasoning a server adds to an answer, to be sent back unchanged."""
    text = _text(reply.get("reasoning_content") or reply.get("reasoning"))
    given = next((name for name in ("reasoning_details", "reasoning_content", "reasoning") if reply.get(name)), "")
    data: dict[str, Any] = {given: reply[given]} if given else {}
    extra = [one.get("extra_content") for one in members(reply, "tool_calls")]
    data |= {"extra_content": extra} if any(extra) else {}
    return (ReasoningPart(text=text, origin=origin, data=data),) if data else ()


def _text(content: Any) -> str:
    """Return the text of a content, possibly given in parts."""
    if isinstance(content, list):
        return "".join(str(one.get("text") or "") for one in members({"content": content}, "content"))
    return content if isinstance(content, str) else ""


def _assistant(message: Message) -> bytes:
    text = plain(message)
    if not message.calls:
        return encoded({"role": "assistant", "content": text}) if text else b""
    calls: list[dict[str, Any]] = [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": stable(one.arguments).decode()}}
        for one in message.calls
    ]
    given = {name: value for part in thoughts(message) for name, value in part.data.items()}
    for call, extra in zip(calls, given.pop("extra_content", ()), strict=False):
        call |= {"extra_content": extra} if extra else {}
    return encoded({"role": "assistant", "content": text or None, **given, "tool_calls": calls})


def _part(part: Part, media: Mapping[str, bytes]) -> JsonObject:
    if isinstance(part, TextPart | DataPart):
        return {"type": "text", "text": words(part)}
    if isinstance(part, ReasoningPart):
        raise ProviderError("Reasoning stands in a question.", fix="put it into the assistant's messages.")
    data = in_base64(part, media)
    if part.type == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}
    if part.type == "audio":
        if part.media_type not in _SOUNDS:
            raise ProviderError(f"A sound of type {part.media_type!r} cannot be sent.", fix="convert it to wav or mp3.")
        return {"type": "input_audio", "input_audio": {"data": data, "format": _SOUNDS[part.media_type]}}
    name = f"file.{part.media_type.rpartition('/')[2]}"
    return {"type": "file", "file": {"filename": name, "file_data": f"data:{part.media_type};base64,{data}"}}
