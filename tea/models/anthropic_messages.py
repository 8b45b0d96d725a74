"""Anthropic's Messages.

Source: https://docs.claude.com/en/api/messages, with messages-streaming, prompt-caching, structured-outputs and
extended-thinking beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tea.errors import ProviderError
from tea.models.config import ModelConfig
from tea.models.failure import CallFailure, repeatable
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
    woven,
)
from tea.models.manager import Delta
from tea.models.schema import ANTHROPIC, wanted
from tea.models.sse import Sent
from tea.types import (
    DataPart,
    Finish,
    JsonObject,
    MediaPart,
    Message,
    ModelRequest,
    ModelResponse,
    ReasoningPart,
    TextPart,
    Usage,
)

_FINISH: dict[Any, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "calls",
    "refusal": "refusal",
}
_UNUSABLE: dict[Any, str] = {"pause_turn": "The answer was interrupted by its provider before it ended."}
_CHOICE = {"auto": "auto", "required": "any", "none": "none"}
# What an error in the place of an answer would have been as a status: https://docs.claude.com/en/api/errors
_STATUS: Mapping[Any, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_CACHED = b',"cache_control":{"type":"ephemeral"}}'
_USER, _ASSISTANT = b'{"role":"user","content":[', b'{"role":"assistant","content":['
_TURNS_CACHED = 2
_MAX_TOKENS = 8192
_LEAST_THINKING = 1024


class AnthropicMessages:
    """The format of `POST /v1/messages`."""

    name = "anthropic_messages"
    sdk: Sdk = "anthropic"
    path = "/v1/messages"
    reach = ANTHROPIC
    relents: Mapping[str, JsonObject] = {}

    def body(
        self, request: ModelRequest, config: ModelConfig, encode: Encode, tools: Sequence[bytes], *, stream: bool
    ) -> bytes:
        """Return the question as bytes; the ends of tools, system text and the last two turns are cache breakpoints."""
        limit = request.max_output or config.max_output or _MAX_TOKENS
        members = {"model": encoded(config.model), "max_tokens": encoded(limit)}
        if tools:
            members["tools"] = joined([*tools[:-1], _breakpoint(tools[-1])])
            chosen = _CHOICE[request.tool_choice] if chooses(request, config) else "auto"
            single = {} if request.parallel or chosen == "none" else {"disable_parallel_tool_use": True}
            members |= {"tool_choice": encoded({"type": chosen, **single})} if single or chosen != "auto" else {}
        own: dict[str, Any] = {}
        if form := wanted(request, config, self.reach):
            own["output_config"] = {"format": {"type": "json_schema", "schema": form[0]}}
        members |= optional(_options(config, limit), own)
        system = [plain(message) for message in request.messages if message.role == "system"]
        if text := "\n\n".join(filter(None, system)):
            members["system"] = joined([_breakpoint(encoded({"type": "text", "text": text}))])
        said = tuple(one for one in request.messages if one.role != "system")
        members["messages"] = joined(_turns(encode(said, request.media)))
        if stream:
            members["stream"] = b"true"
        return assembled(members)

    def tool(self, function: JsonObject) -> bytes:
        """Return one function on offer."""
        schema = function.get("parameters") or {"type": "object"}
        described = {"description": function["description"]} if function.get("description") else {}
        return stable({"name": function["name"], **described, "input_schema": schema})

    def message(self, message: Message, media: Mapping[str, bytes]) -> bytes:
        """Return one message, as far as its content; `body` joins neighbours of one role and closes them."""
        blocks = _blocks(message, media)
        opening = _ASSISTANT if message.role == "assistant" else _USER
        return opening + b",".join(encoded(block) for block in blocks) if blocks else b""

    def response(self, document: JsonObject, config: ModelConfig) -> ModelResponse:
        """Return the answer."""
        if document.get("type") != "message":
            raise _failed(document)
        texts, made, thought = list[str](), AnswerCalls(), list[ReasoningPart]()
        for one in members(document, "content"):
            match one.get("type"):
                case "text":
                    texts.append(str(one.get("text", "")))
                case "tool_use":
                    made.add(one.get("id"), one.get("name"), one.get("input"))
                case "thinking" | "redacted_thinking":
                    at = 1 + len(made.calls) if texts or made.calls else 0
                    said = str(one.get("thinking", ""))
                    thought.append(ReasoningPart(text=said, origin=config.origin, data=one, at=at))
                case _:
                    pass
        return ModelResponse(
            text="".join(texts) or str(member(document, "stop_details").get("explanation") or ""),
            calls=tuple(made.calls),
            unusable=_UNUSABLE.get(document.get("stop_reason"), ""),
            reasoning=tuple(thought),
            usage=_usage(member(document, "usage")),
            finish=_FINISH.get(document.get("stop_reason"), "stop"),
            model=str(document.get("model") or config.model),
        )

    def assembly(self) -> MessageAssembly:
        """Return an assembly for one streamed answer."""
        return MessageAssembly()


class MessageAssembly:
    """An assembly of streamed events into a message."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self.done = False

    @property
    def ended(self) -> bool:
        """Whether the message has stated the reason for its end."""
        return bool(self._message.get("stop_reason"))

    def take(self, sent: Sent) -> list[Delta]:
        """Process one event; unknown ones are new and harmless."""
        event = decoded(sent.data, piece=True)
        match event.get("type"):
            case "message_start":
                self._message = dict(event["message"])
            case "content_block_start":
                return self._start(event["index"], dict(event["content_block"]))
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "message_delta":
                self._message |= event["delta"]
                known = {name: value for name, value in member(event, "usage").items() if value is not None}
                self._message["usage"] = member(self._message, "usage") | known
            case "message_stop":
                self.done = True
            case "error":
                raise _failed(event)
            case _:
                pass
        return []

    def document(self) -> JsonObject:
        """Return the message."""
        if not self.ended:
            raise CallFailure("the stream ended before the answer did", again=True)
        for index, pieces in self._inputs.items():
            self._blocks[index]["input"] = "".join(pieces) or self._blocks[index].get("input")
        return {**self._message, "content": [collected(self._blocks[index]) for index in sorted(self._blocks)]}

    def _start(self, index: int, block: dict[str, Any]) -> list[Delta]:
        self._blocks[index] = block
        if block.get("type") != "tool_use":
            return []
        self._inputs[index] = []
        return [Delta(type="call", text=str(block.get("name", "")))]

    def _delta(self, index: int, delta: dict[str, Any]) -> list[Delta]:
        block = self._blocks[index]
        match delta.get("type"):
            case "text_delta":
                block["text"] = extended(block["text"], delta["text"])
                return [Delta(type="text", text=delta["text"])]
            case "thinking_delta":
                block["thinking"] = extended(block["thinking"], delta["thinking"])
                return [Delta(type="reasoning", text=delta["thinking"])]
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "input_json_delta":
                self._inputs[index].append(delta["partial_json"])
                return [Delta(type="call", text=delta["partial_json"])]
            case _:
                pass
        return []


def _failed(document: JsonObject) -> CallFailure:
    """Return the failure described by an error document; a permanent error gets the status of a refused request."""
    status = _STATUS.get(member(document, "error").get("type"))
    return CallFailure(
        error_of(document) or "the answer is not a message", again=status is None or repeatable(status), status=status
    )


def _options(config: ModelConfig, limit: int) -> dict[str, Any]:
    """Return the additional members of a request; thinking must fit into the answer, possibly cut by a budget."""
    options = dict(config.options)
    budget = count(options, "thinking", "budget_tokens")
    if budget >= limit > _LEAST_THINKING:
        options["thinking"] = {**options["thinking"], "budget_tokens": limit - 1}
    elif budget >= limit:
        del options["thinking"]
    return options


def _turns(pieces: Sequence[bytes]) -> list[bytes]:
    """Join neighbours of one role to turns, and mark the ends of the last two of the user's."""
    turns: list[tuple[bytes, list[bytes]]] = []
    for piece in filter(None, pieces):
        opening = _USER if piece.startswith(_USER) else _ASSISTANT
        if not turns or turns[-1][0] is not opening:
            turns.append((opening, []))
        turns[-1][1].append(piece[len(opening) :])
    users = [index for index, (opening, _) in enumerate(turns) if opening is _USER][-_TURNS_CACHED:]
    closed: list[bytes] = []
    for index, (opening, contents) in enumerate(turns):
        content = b",".join(contents)
        closed.append(opening + (_breakpoint(content) if index in users else content) + b"]}")
    return closed


def _breakpoint(content: bytes) -> bytes:
    """Mark the last block of a content as the end of the prefix cacheable by the provider."""
    return content[:-1] + _CACHED


def _blocks(message: Message, media: Mapping[str, bytes]) -> list[JsonObject]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": plain(message)}
        return [result]
    said = [part for part in message.content if not isinstance(part, ReasoningPart)]
    blocks = [block for part in said if (block := _block(part, media))]
    calls = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments} for one in message.calls]
    return woven(thoughts(message), blocks, calls)


def _block(part: TextPart | MediaPart | DataPart, media: Mapping[str, bytes]) -> JsonObject | None:
    """Return a part as a block; empty words are refused by the provider, so they are left out."""
    if isinstance(part, TextPart | DataPart):
        text = words(part)
        return {"type": "text", "text": text} if text.strip() else None
    source = {"type": "base64", "media_type": part.media_type, "data": in_base64(part, media)}
    if part.type == "image":
        return {"type": "image", "source": source}
    if part.type == "file" and part.media_type == "application/pdf":
        return {"type": "document", "source": source}
    problem = f"The {part.type} of type {part.media_type!r} cannot be sent to this model."
    raise ProviderError(problem, fix="give it as text, an image or a PDF, or choose another model.")


def _usage(usage: JsonObject) -> Usage:
    """Return the usage; this provider counts cached tokens beside the input, not within it."""
    cached, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
    return Usage(
        input_tokens=count(usage, "input_tokens") + cached + written,
        cached_tokens=cached,
        written_tokens=written,
        output_tokens=count(usage, "output_tokens"),
        reasoning_tokens=count(usage, "output_tokens_details", "thinking_tokens"),
    )
