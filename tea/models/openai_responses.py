"""OpenAI's Responses, without anything kept on the provider's side.

Source: https://platform.openai.com/docs/api-reference/responses, with responses-streaming; reasoning is carried along
encrypted, as https://platform.openai.com/docs/guides/reasoning describes for stateless use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tea.errors import ProviderError
from tea.models.config import ModelConfig
from tea.models.failure import CallFailure
from tea.models.format import (
    AnswerCalls,
    Encode,
    Sdk,
    assembled,
    chooses,
    count,
    decoded,
    encoded,
    error_of,
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

_DELTAS: Mapping[str, Literal["text", "reasoning", "call"]] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "call",
}
_ENDED = ("completed", "incomplete")
_BREAK = "\n\n"  # between two messages of one answer
# Words of the codes of failures that may pass; all others, of prompts, images, policies and quotas, will not.
_PASSING = ("server_error", "internal", "rate_limit", "overload", "unavailable", "timeout", "slow_down")


class OpenAIResponses:
    """The format of `POST /responses`."""

    name = "openai_responses"
    sdk: Sdk = "openai"
    path = "/responses"
    reach = OPENAI
    relents: Mapping[str, JsonObject] = {"encrypted content is not supported": {"include": []}}

    def body(
        self, request: ModelRequest, config: ModelConfig, encode: Encode, tools: Sequence[bytes], *, stream: bool
    ) -> bytes:
        """Return the question as bytes."""
        members = {"model": encoded(config.model), "store": b"false", "include": b'["reasoning.encrypted_content"]'}
        limit = request.max_output or config.max_output
        if limit is not None:
            members["max_output_tokens"] = encoded(limit)
        if tools:
            members["tools"] = joined(tools)
            members |= {"tool_choice": encoded(request.tool_choice)} if chooses(request, config) else {}
            members |= {} if request.parallel else {"parallel_tool_calls": b"false"}
        own: dict[str, Any] = {}
        if form := wanted(request, config, self.reach):
            own["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": form[0], "strict": form[1]}}
        members |= optional(config.options, own)
        members["input"] = joined([*filter(None, encode(request.messages, request.media))])
        if stream:
            members["stream"] = b"true"
        return assembled(members)

    def tool(self, function: JsonObject) -> bytes:
        """Return one function on offer."""
        parameters = member(function, "parameters") or {"type": "object", "properties": {}}
        return stable(
            {**function, "type": "function", "parameters": parameters, "strict": bool(function.get("strict"))}
        )

    def message(self, message: Message, media: Mapping[str, bytes]) -> bytes:
        """Return one message as items, divided by commas."""
        if message.role == "tool":
            result = {"type": "function_call_output", "call_id": message.call_id, "output": plain(message)}
            return encoded(result)
        if message.role == "assistant":
            return b",".join(encoded(item) for item in _spoken(message))
        content = [_part(part, media) for part in message.content]
        return encoded({"type": "message", "role": message.role, "content": content})

    def response(self, document: JsonObject, config: ModelConfig) -> ModelResponse:
        """Return the answer."""
        if document.get("status", "completed") not in _ENDED or "output" not in document:
            raise _failed(member(document, "error") or {"message": error_of(document)})
        made, thought, texts, refusals = AnswerCalls(), list[ReasoningPart](), list[str](), list[str]()
        for one in members(document, "output"):
            match one.get("type"):
                case "message":
                    parts = members(one, "content")
                    refusals += [str(part.get("refusal") or "") for part in parts if part.get("type") == "refusal"]
                    said = "".join(str(part.get("text") or "") for part in parts)
                    texts += [said] if said else []
                    if said and isinstance(one.get("phase"), str):
                        data = {"type": "message", "phase": one["phase"], "characters": len(said)}
                        thought.append(ReasoningPart(origin=config.origin, data=data))
                case "function_call":
                    made.add(one.get("call_id"), one.get("name"), one.get("arguments"))
                case "reasoning":
                    at = 1 + len(made.calls) if texts or refusals or made.calls else 0
                    thought.append(
                        ReasoningPart(text=_thought(one), origin=config.origin, data=_kept_members(one), at=at)
                    )
                case _:
                    pass
        return ModelResponse(
            text="".join(refusals) or _BREAK.join(texts),
            calls=tuple(made.calls),
            reasoning=tuple(thought),
            usage=_usage(member(document, "usage")),
            finish=_finish(document, calls=bool(made.calls), refused=bool(refusals)),
            model=str(document.get("model") or config.model),
        )

    def assembly(self) -> ResponseAssembly:
        """Return an assembly for one streamed answer."""
        return ResponseAssembly()


class ResponseAssembly:
    """An assembly waiting for the event with the whole response."""

    def __init__(self) -> None:
        self._document: JsonObject | None = None
        self._spoke = False

    @property
    def done(self) -> bool:
        """Whether the whole response has come."""
        return self._document is not None

    ended = done

    def take(self, sent: Sent) -> list[Delta]:
        """Process one event."""
        event = decoded(sent.data, piece=True)
        kind = str(event.get("type"))
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            self._document = member(event, "response")
        elif kind == "error":
            raise _failed(event)
        elif kind == "response.output_item.added" and member(event, "item").get("type") == "function_call":
            return [Delta(type="call", text=str(event["item"].get("name", "")))]
        elif kind == "response.output_item.added" and self._spoke and event["item"].get("type") == "message":
            return [Delta(type="text", text=_BREAK)]
        elif kind in _DELTAS:
            self._spoke = self._spoke or _DELTAS[kind] == "text"
            return [Delta(type=_DELTAS[kind], text=str(event.get("delta", "")))]
        return []

    def document(self) -> JsonObject:
        """Return the response."""
        if self._document is None:
            raise CallFailure("the stream ended before the answer did", again=True)
        return self._document


def _spoken(message: Message) -> list[JsonObject]:
    """Return a model's message as its original output items."""
    given = thoughts(message)
    phases = [one.data for one in given if one.data.get("type") == "message"]
    said = [{"type": "message", "role": "assistant", **one} for one in _phased(plain(message), phases)]
    calls = [
        {"type": "function_call", "call_id": one.id, "name": one.name, "arguments": stable(one.arguments).decode()}
        for one in message.calls
    ]
    return woven([one for one in given if one.data not in phases], said, calls)


def _phased(text: str, phases: Sequence[JsonObject]) -> list[JsonObject]:
    """Return text as its original messages; if they were replaced, as one message with the last phase.

    A model that names the phase of a message wants it back with it: `commentary`, or `final_answer`.
    """
    if not text:
        return []
    found: list[JsonObject] = []
    rest = text
    for one in phases:
        found.append({"content": rest[: one["characters"]], "phase": one["phase"]})
        rest = rest[one["characters"] :].removeprefix(_BREAK)
    if rest or _BREAK.join(one["content"] for one in found) != text:
        found = [{"content": text, **({"phase": phases[-1]["phase"]} if phases else {})}]
    return found


def _part(part: Part, media: Mapping[str, bytes]) -> JsonObject:
    if isinstance(part, TextPart | DataPart):
        return {"type": "input_text", "text": words(part)}
    if isinstance(part, ReasoningPart) or part.type == "audio":
        problem = f"A question to this model cannot hold {part.type}."
        raise ProviderError(problem, fix="transcribe it, or choose a model that takes it.")
    address = f"data:{part.media_type};base64,{in_base64(part, media)}"
    if part.type == "image":
        return {"type": "input_image", "detail": "auto", "image_url": address}
    return {"type": "input_file", "filename": f"file.{part.media_type.rpartition('/')[2]}", "file_data": address}


def _kept_members(item: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a reasoning item to send back; empty without content, as the provider stores none."""
    if not item.get("encrypted_content") and not item.get("content"):
        return {}
    names = ("type", "id", "summary", "content", "encrypted_content")
    return {name: item[name] for name in names if item.get(name) is not None}


def _failed(error: JsonObject) -> CallFailure:
    """Return the failure described by an error; a permanent error gets the status of a refused request."""
    code = str(error.get("code") or "").lower()
    again = not code or any(word in code for word in _PASSING)
    problem = str(error.get("message") or code or "what came back is not a finished answer")[:300]
    return CallFailure(problem, again=again, status=None if again else 400, code=code)


def _thought(item: dict[str, Any]) -> str:
    parts = [*members(item, "summary"), *members(item, "content")]
    return "\n".join(str(part.get("text", "")) for part in parts)


def _finish(document: JsonObject, *, calls: bool, refused: bool) -> Finish:
    reason = member(document, "incomplete_details").get("reason")
    if refused or reason == "content_filter":
        return "refusal"
    if document.get("status") == "incomplete":
        return "length"
    return "calls" if calls else "stop"


def _usage(usage: JsonObject) -> Usage:
    return Usage(
        input_tokens=count(usage, "input_tokens"),
        cached_tokens=count(usage, "input_tokens_details", "cached_tokens"),
        written_tokens=count(usage, "input_tokens_details", "cache_write_tokens"),
        output_tokens=count(usage, "output_tokens"),
        reasoning_tokens=count(usage, "output_tokens_details", "reasoning_tokens"),
    )
