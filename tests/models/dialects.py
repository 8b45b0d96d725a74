"""The three wire formats as their providers speak them; everything said and heard is held to the SDKs' own types.

Sources, for documents and events: platform.openai.com/docs/api-reference/chat and chat-streaming, .../responses and
responses-streaming; docs.claude.com/en/api/messages and messages-streaming.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from functools import cache
from typing import Any, cast, get_type_hints
from zlib import crc32

from loopback import Asked, Reply, document, sse
from pydantic import BaseModel, TypeAdapter


@dataclass(frozen=True, kw_only=True)
class Say:
    """A fake model's words, in any format."""

    text: str = ""
    calls: tuple[tuple[str, str, Any], ...] = ()
    reasoning: str = ""
    refusal: str = ""
    finish: str = "stop"
    model: str = "fake-1"
    tokens: Mapping[str, int] = field(default_factory=lambda: {"input": 100, "cached": 40, "output": 20, "thought": 5})


class Chat:
    """OpenAI's Chat Completions."""

    name = "openai_chat"
    path = "/chat/completions"
    base = "/v1"
    error_path = ("error", "message")

    def whole(self, say: Say) -> Any:
        from openai.types.chat import ChatCompletion

        calls = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
            for id, name, arguments in say.calls
        ]
        message: dict[str, Any] = {"role": "assistant", "content": say.text or None, "refusal": say.refusal or None}
        message |= {"tool_calls": calls} if calls else {}
        message |= {"reasoning_content": say.reasoning} if say.reasoning else {}
        finish = {"stop": "tool_calls" if calls else "stop", "length": "length", "refusal": "content_filter"}[
            say.finish
        ]
        return checked(
            ChatCompletion,
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": say.model,
                "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
                "usage": self._usage(say),
            },
        )

    def events(self, say: Say) -> list[tuple[str, Any]]:
        from openai.types.chat import ChatCompletionChunk

        whole = self.whole(say)
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": piece} for piece in _pieces(say.reasoning)]
        deltas += [{"content": piece} for piece in _pieces(say.text)]
        deltas += [{"refusal": piece} for piece in _pieces(say.refusal)]
        for index, (id, name, arguments) in enumerate(say.calls):
            function = {"name": name, "arguments": ""}
            deltas.append({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                for piece in _pieces(_text(arguments))
            ]
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": say.model}
        finish = whole["choices"][0]["finish_reason"]
        chunks = [
            *({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {**head, "choices": [], "usage": whole["usage"]},
        ]
        return [*(("", checked(ChatCompletionChunk, chunk)) for chunk in chunks), ("", "[DONE]")]

    def error_event(self) -> tuple[str, Any]:
        from openai.types.shared import ErrorObject

        error = {"message": "overloaded in the middle", "type": "server_error", "code": None, "param": None}
        return "", {"error": checked(ErrorObject, error)}

    def check(self, body: Any) -> None:
        from openai.types.chat import completion_create_params as params

        kind = (
            params.CompletionCreateParamsStreaming if body.get("stream") else params.CompletionCreateParamsNonStreaming
        )
        checked(kind, body)

    def _usage(self, say: Say) -> Any:
        tokens = say.tokens
        return {
            "prompt_tokens": tokens["input"],
            "completion_tokens": tokens["output"],
            "total_tokens": tokens["input"] + tokens["output"],
            "prompt_tokens_details": {"cached_tokens": tokens["cached"]},
            "completion_tokens_details": {"reasoning_tokens": tokens["thought"]},
        }


class Responses:
    """OpenAI's Responses."""

    name = "openai_responses"
    path = "/responses"
    base = "/v1"

    def whole(self, say: Say) -> Any:
        from openai.types.responses import Response

        status = "incomplete" if say.finish == "length" else "completed"
        reason = {"reason": "max_output_tokens"} if say.finish == "length" else None
        return checked(
            Response,
            {
                "id": "resp_1",
                "object": "response",
                "created_at": 1.0,
                "model": say.model,
                "status": status,
                "error": None,
                "incomplete_details": reason,
                "output": self._output(say),
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "usage": self._usage(say),
            },
        )

    def events(self, say: Say) -> list[tuple[str, Any]]:
        from openai.types.responses import ResponseStreamEvent

        whole = self.whole(say)
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
        for index, item in enumerate(whole["output"]):
            events.append({"type": "response.output_item.added", "output_index": index, "item": _empty(item)})
            place = {"output_index": index, "item_id": item["id"]}
            if item["type"] == "reasoning":
                events += [
                    {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": piece, **place}
                    for piece in _pieces(say.reasoning)
                ]
            elif item["type"] == "function_call":
                events += [
                    {"type": "response.function_call_arguments.delta", "delta": piece, **place}
                    for piece in _pieces(item["arguments"])
                ]
            else:
                kind = "refusal" if say.refusal else "output_text"
                more = {} if say.refusal else {"logprobs": []}
                events += [
                    {"type": f"response.{kind}.delta", "content_index": 0, "delta": piece, **place, **more}
                    for piece in _pieces(say.refusal or say.text)
                ]
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        events.append({"type": f"response.{whole['status']}", "response": whole})
        numbered = [{**event, "sequence_number": number} for number, event in enumerate(events)]
        return [(event["type"], checked(ResponseStreamEvent, event)) for event in numbered]

    def error_event(self) -> tuple[str, Any]:
        from openai.types.responses import ResponseErrorEvent

        event = {"type": "error", "code": "server_error", "message": "overloaded in the middle", "param": None}
        return "error", checked(ResponseErrorEvent, {**event, "sequence_number": 9})

    def check(self, body: Any) -> None:
        from openai.types.responses import response_create_params as params

        kind = params.ResponseCreateParamsStreaming if body.get("stream") else params.ResponseCreateParamsNonStreaming
        checked(kind, body)

    def _output(self, say: Say) -> list[Any]:
        output: list[Any] = []
        if say.reasoning:
            summary = [{"type": "summary_text", "text": say.reasoning}]
            output.append({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "sealed"})
        if say.refusal or say.text:
            text = {"type": "output_text", "text": say.text, "annotations": []}
            part = {"type": "refusal", "refusal": say.refusal} if say.refusal else text
            done = "incomplete" if say.finish == "length" else "completed"
            message = {"type": "message", "id": "msg_1", "role": "assistant", "status": done, "content": [part]}
            output.append(message)
        for number, (id, name, arguments) in enumerate(say.calls):
            call = {"type": "function_call", "id": f"fc_{number}", "call_id": id, "name": name, "status": "completed"}
            output.append({**call, "arguments": _text(arguments)})
        return output

    def _usage(self, say: Say) -> Any:
        tokens = say.tokens
        return {
            "input_tokens": tokens["input"],
            "input_tokens_details": {"cached_tokens": tokens["cached"], "cache_write_tokens": 0},
            "output_tokens": tokens["output"],
            "output_tokens_details": {"reasoning_tokens": tokens["thought"]},
            "total_tokens": tokens["input"] + tokens["output"],
        }


class Messages:
    """Anthropic's Messages."""

    name = "anthropic_messages"
    path = "/messages"
    base = ""

    def whole(self, say: Say) -> Any:
        from anthropic.types import Message

        stop = {"stop": "tool_use" if say.calls else "end_turn", "length": "max_tokens", "refusal": "refusal"}
        return checked(
            Message,
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": say.model,
                "content": self._content(say),
                "stop_reason": stop["refusal" if say.refusal else say.finish],
                "stop_sequence": None,
                "usage": self._usage(say),
            },
        )

    def events(self, say: Say) -> list[tuple[str, Any]]:
        from anthropic.types import RawMessageStreamEvent

        whole = self.whole(say)
        usage = {**whole["usage"], "output_tokens": 1}
        begun = {**whole, "content": [], "stop_reason": None, "usage": usage}
        written = {id: _text(arguments) for id, _, arguments in say.calls}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
        for index, block in enumerate(whole["content"]):
            events.append({"type": "content_block_start", "index": index, "content_block": _opening(block)})
            deltas = _block_deltas(block, written.get(block.get("id"), ""))
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        final = {"output_tokens": whole["usage"]["output_tokens"]}
        events += [{"type": "message_delta", "delta": delta, "usage": final}, {"type": "message_stop"}]
        said = [(event["type"], checked(RawMessageStreamEvent, event)) for event in events]
        return [said[0], ("ping", {"type": "ping"}), *said[1:]]

    def error_event(self) -> tuple[str, Any]:
        from anthropic.types import ErrorResponse

        error = {"type": "overloaded_error", "message": "overloaded in the middle"}
        return "error", checked(ErrorResponse, {"type": "error", "error": error, "request_id": None})

    def check(self, body: Any) -> None:
        from anthropic.types import message_create_params as params

        kind = params.MessageCreateParamsStreaming if body.get("stream") else params.MessageCreateParamsNonStreaming
        checked(kind, body)
        assert json.dumps(body).count('"cache_control"') <= 4

    def _content(self, say: Say) -> list[Any]:
        content: list[Any] = []
        if say.reasoning:
            content.append({"type": "thinking", "thinking": say.reasoning, "signature": "signed"})
        if say.refusal or say.text:
            content.append({"type": "text", "text": say.refusal or say.text, "citations": None})
        for id, name, arguments in say.calls:
            given = arguments if isinstance(arguments, dict) else {}
            content.append({"type": "tool_use", "id": id, "name": name, "input": given})
        return content

    def _usage(self, say: Say) -> Any:
        tokens = say.tokens
        return {
            "input_tokens": tokens["input"] - tokens["cached"],
            "cache_read_input_tokens": tokens["cached"],
            "cache_creation_input_tokens": 0,
            "output_tokens": tokens["output"],
            "output_tokens_details": {"thinking_tokens": tokens["thought"]},
        }


Dialect = Chat | Responses | Messages
DIALECTS: dict[str, Dialect] = {one.name: one for one in (Chat(), Responses(), Messages())}
_BY_PATH = {one.path: one for one in DIALECTS.values()}


def in_turn(name: str) -> Dialect:
    """Return the wire format of a test by its name, for tests alike in each of them."""
    return DIALECTS[sorted(DIALECTS)[crc32(name.encode()) % len(DIALECTS)]]


def check_question(asked: Asked) -> None:
    """Hold a request to the parameter types of the SDK, by its path; lists of models ask nothing.

    Source for sounds: platform.openai.com/docs/api-reference/audio/createTranscription.
    """
    if asked.method == "GET":
        return
    path = asked.path.removeprefix("/v1")
    if path != "/audio/transcriptions":
        _BY_PATH[path].check(asked.body)
        return
    from openai.types.audio.transcription_create_params import TranscriptionCreateParamsNonStreaming

    kind = asked.headers["content-type"]
    form = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + asked.raw, policy=HTTP)
    names = [part.get_param("name", header="content-disposition") for part in form.iter_parts()]
    assert set(names) >= TranscriptionCreateParamsNonStreaming.__required_keys__
    assert set(names) <= set(get_type_hints(TranscriptionCreateParamsNonStreaming))


def said(dialect: Dialect, say: Say) -> Reply:
    """A whole answer."""
    return document(dialect.whole(say))


def streamed(dialect: Dialect, say: Say, *, size: int = 0) -> Reply:
    """The same answer as events."""
    return sse(dialect.events(say), size=size)


def checked(kind: Any, value: Any) -> Any:
    """Hold a value to a type of an SDK, and return it as it is."""
    _drained(_adapter(kind).validate_python(json.loads(json.dumps(value))))
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _drained(value: Any) -> None:
    """Go through all of it: pydantic checks an SDK's Iterable only item by item."""
    if isinstance(value, Mapping):
        value = cast("Mapping[Any, Any]", value).values()
    if isinstance(value, Iterable) and not isinstance(value, str | BaseModel):
        for one in cast("Iterable[Any]", value):
            _drained(one)


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _pieces(text: str) -> list[str]:
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def _empty(item: Any) -> Any:
    blank = {"message": {"content": [], "status": "in_progress"}, "function_call": {"arguments": ""}}
    return {**item, **blank.get(item["type"], {"summary": []})}


def _opening(block: Any) -> Any:
    blank = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}, "tool_use": {"input": {}}}
    return {**block, **blank[block["type"]]}


def _block_deltas(block: Any, written: str) -> list[Any]:
    match block["type"]:
        case "thinking":
            thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            return [*thoughts, {"type": "signature_delta", "signature": block["signature"]}]
        case "text":
            return [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        case _:
            return [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written)]
