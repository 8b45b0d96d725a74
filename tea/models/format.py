"""What a wire format must be able to do, and what the three of them share."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as count_from
from typing import Any, Literal, Protocol, cast

from pydantic_core import to_json

from tea.errors import ProviderError
from tea.models.config import ModelConfig
from tea.models.failure import CallFailure
from tea.models.manager import Delta
from tea.models.rendering import result_text
from tea.models.schema import Reach
from tea.models.sse import Sent
from tea.store.strict import Refused, loads
from tea.types import (
    DataPart,
    JsonObject,
    MediaPart,
    Message,
    ModelRequest,
    ModelResponse,
    ReasoningPart,
    TextPart,
    ToolCall,
    Usage,
    changed,
)

Sdk = Literal["openai", "anthropic"]
BYTES_PER_TOKEN = 3  # of JSON with English words; all tokenizers in use need fewer tokens
_SHOWN = 200  # characters of what cannot be read
MOST_TOKENS = 10**12  # of one answer; who counts more does not count
Encode = Callable[[tuple[Message, ...], Mapping[str, bytes]], Sequence[bytes]]
"""Gives the pieces of messages in the format's own form, with the contents of their media; some may be empty."""


class Assembly(Protocol):
    """Puts a streamed answer together; it has `ended` when all of it came, and is `done` when nothing more will."""

    @property
    def ended(self) -> bool:
        """Whether the answer said its end; what it used may still come."""
        ...

    @property
    def done(self) -> bool:
        """Whether its server said its last."""
        ...

    def take(self, sent: Sent) -> list[Delta]:
        """Take one event and return what a listener is told of it.

        Raises:
            Fault: It is an error, or makes no sense.
        """
        ...

    def document(self) -> JsonObject:
        """Return the whole answer, as it had been without streaming.

        Raises:
            Fault: The stream ended before the answer did.
        """
        ...


class Format(Protocol):
    """One wire format: how a question is written, and how an answer is read.

    Args:
        name: What configurations call it, as `provider`.
        sdk: The package whose client carries it.
        path: Where questions are posted, below the base URL.
        base_url: Where its provider is.
        reach: What of a schema its provider enforces.
        relents: Members of a question that avoid a refusal (status 400), by words of the refusal in lower case.
    """

    name: str
    sdk: Sdk
    path: str
    base_url: str
    reach: Reach
    relents: Mapping[str, JsonObject]

    def body(
        self, request: ModelRequest, config: ModelConfig, encode: Encode, tools: Sequence[bytes], *, stream: bool
    ) -> bytes:
        """Return the question as bytes; the same question, with the same functions, always gives the same."""
        ...

    def tool(self, function: JsonObject) -> bytes:
        """Return one function on offer in the format's own form, for `body` to put together."""
        ...

    def message(self, message: Message, media: Mapping[str, bytes]) -> bytes:
        """Return one message in the format's own form, for `body` to put together; empty if nothing is left of it."""
        ...

    def response(self, document: JsonObject, config: ModelConfig) -> ModelResponse:
        """Return the answer that a document holds, without its price.

        Raises:
            Fault: It holds none.
        """
        ...

    def assembly(self) -> Assembly:
        """Return what puts one streamed answer together."""
        ...


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def encoded(value: Any) -> bytes:
    """Return compact JSON, in the order in which it was written."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except ValueError:
        return paired(_encode(value)).encode()


def stable(value: Any) -> bytes:
    """Return compact JSON with sorted keys, for what comes from elsewhere and must not change between steps."""
    return _sorted(value).encode("utf-8", "replace")


def assembled(members: Mapping[str, bytes]) -> bytes:
    """Return an object whose members are JSON already."""
    return b"{" + b",".join(encoded(name) + b":" + value for name, value in members.items()) + b"}"


def optional(options: JsonObject, own: JsonObject) -> dict[str, bytes]:
    """Return further members of a question by name: options, and objects of tea's own, whose members go before theirs.

    One object may hold both a schema of tea's and a wish of the person's, such as `text` of Responses its `verbosity`.
    """
    both = {name: {**member(options, name), **value} for name, value in own.items()}
    return {name: stable(value) for name, value in sorted({**options, **both}.items())}


def joined(items: Sequence[bytes]) -> bytes:
    """Return an array whose items are JSON already."""
    return b"[" + b",".join(items) + b"]"


def begins(pieces: Sequence[bytes]) -> bool:
    """Tell whether what came is at least the beginning of an object, and no page of who knows whom."""
    return b"".join(pieces).lstrip().startswith(b"{")


def paired(text: str) -> str:
    """Return a text in which halves of surrogate pairs that stand together are a character; others stand for none."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def decoded(data: bytes, *, piece: bool = False) -> dict[str, Any]:
    """Return the object in bytes that came from outside.

    Args:
        data: The bytes.
        piece: Whether it is a piece of an answer, whose words some servers cut in the middle of a character.

    Raises:
        Fault: They are no JSON object.
    """
    try:
        value = loads(data, halves=piece)
    except Refused as error:
        raise CallFailure(f"what came back is not JSON ({error})", again=True) from error
    if not isinstance(value, dict):
        raise CallFailure("what came back is no JSON object", again=True)
    return cast("dict[str, Any]", value)


def braced(text: str) -> str:
    """Return a text from its first brace to its last, behind what a model thinks aloud; empty where there is none."""
    said = text.rpartition("</think>")[2]
    begin, end = said.find("{"), said.rfind("}")
    return said[begin : end + 1] if begin >= 0 else ""


def words(part: TextPart | DataPart) -> str:
    """Return what a model reads of words and data."""
    return part.text if isinstance(part, TextPart) else _encode(part.data)


def plain(message: Message) -> str:
    """Return all words of a message; the data of a call's result as text, compact and exact."""
    say = _result if message.role == "tool" else words
    return "\n\n".join(say(part) for part in message.content if isinstance(part, TextPart | DataPart))


def _result(part: TextPart | DataPart) -> str:
    if isinstance(part, TextPart) or not isinstance(part.data, dict):
        return words(part)
    data = cast("dict[str, Any]", part.data)
    return result_text(data) if "ok" in data else words(part)


def thoughts(message: Message) -> list[ReasoningPart]:
    """Return the reasoning of a message that can be given back, in its order."""
    return [part for part in message.content if isinstance(part, ReasoningPart) and part.data]


def woven(
    thoughts: Sequence[ReasoningPart], said: Sequence[JsonObject], calls: Sequence[JsonObject]
) -> list[JsonObject]:
    """Return words and calls with the reasoning where it stood; what stood behind all of them led nowhere, and goes."""
    found: list[JsonObject] = []
    left = list(thoughts)
    for place, items in enumerate((said, *([call] for call in calls))):
        if items:
            found += [*(one.data for one in left if one.at <= place), *items]
            left = [one for one in left if one.at > place]
    return found


def in_base64(part: MediaPart, media: Mapping[str, bytes]) -> str:
    """Return a media part's content.

    Raises:
        ProviderError: The content is not at hand.
    """
    if part.digest not in media:
        raise ProviderError(f"The {part.type} {part.digest[:20]} is not at hand.", fix="keep it among the run's blobs.")
    return base64.b64encode(media[part.digest]).decode()


def function_of(tool: JsonObject) -> dict[str, Any]:
    """Return name, description and parameters of a function-calling schema, bare or in OpenAI's envelope."""
    return dict(tool.get("function", tool))


def functions_of(tools: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """Return the functions on offer, in their order."""
    return [function_of(tool) for tool in tools]


@dataclass(slots=True)
class RequestOptions:
    """The tool calls of one answer; one that cannot be read stays among them, and says why."""

    calls: list[ToolCall] = field(default_factory=list[ToolCall])

    def add(self, id: Any, name: Any, arguments: Any) -> None:
        """Add a call as the model wrote it, its arguments as JSON text or an object."""
        given, known = _arguments(arguments), {call.id for call in self.calls}
        unreadable = "" if given is not None else f"its arguments are not a JSON object: {_beginning(arguments)}"
        if not isinstance(name, str) or not name.strip():
            given, unreadable, name = None, f"it has no name: {_beginning(arguments)}", ""
        own = id if isinstance(id, str) and id and id not in known else _free(known)
        self.calls.append(ToolCall(id=own, name=paired(name), arguments=given or {}, unreadable=unreadable))


def whole(response: ModelResponse) -> ModelResponse:
    """Return an answer whose last call cannot be read where it was cut off: that may be half of what was meant."""
    if response.finish != "length" or not response.calls:
        return response
    *before, last = response.calls
    why = "the answer was cut off at its greatest length, in the middle of it; make fewer or smaller calls"
    return changed(response, calls=(*before, changed(last, arguments={}, unreadable=why)))


def _arguments(written: Any) -> dict[str, Any] | None:
    """Return the arguments of a call, which may be JSON twice over; None where they are no object."""
    value = written
    for _ in range(2):
        if isinstance(value, str):
            try:
                value = loads(value.encode("utf-8", "surrogatepass")) if value.strip() else None
            except Refused:
                return None
    if not value:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _beginning(written: Any) -> str:
    """Return the beginning of what a model wrote, in one line that can be printed."""
    text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False, default=str)
    return paired(" ".join(text[:_SHOWN].split()))


def _free(known: set[str]) -> str:
    return next(name for number in count_from(len(known) + 1) if (name := f"call_{number}") not in known)


def counted(response: ModelResponse, body: bytes, media: Mapping[str, bytes]) -> Usage:
    """Return what an answer used; what its server does not count is about what its bytes make of it, never nothing."""
    used = response.usage
    if used.output_tokens and used.input_tokens >= max(1, used.cached_tokens + used.written_tokens):
        return used
    shown = sum(len(content) * 4 // 3 for content in media.values())  # in base64; what it costs nobody knows
    said = [response.text, *(part.text for part in response.reasoning), *(str(one.arguments) for one in response.calls)]
    asked = used.input_tokens or max(1, (len(body) - shown) // BYTES_PER_TOKEN)
    answered = used.output_tokens or sum(map(len, said)) // BYTES_PER_TOKEN + 1
    cached = min(used.cached_tokens, asked)
    written = min(used.written_tokens, asked - cached)
    update = {"input_tokens": asked, "cached_tokens": cached, "written_tokens": written, "output_tokens": answered}
    return used.model_copy(update=update)


def member(value: JsonObject, name: str) -> dict[str, Any]:
    """Return an object inside of an object; an empty one where there is none."""
    found = value.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def members(value: JsonObject, name: str) -> list[dict[str, Any]]:
    """Return a list of objects inside of an object; an empty one where there is none.

    Raises:
        Fault: It holds something else.
    """
    found = cast("list[Any]", value.get(name) or [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CallFailure(f"{name!r} is no list of objects", again=True)
    return found


def chooses(request: ModelRequest, config: ModelConfig) -> bool:
    """Tell whether a question says what is to be called, in a word that its model takes."""
    return request.tool_choice != "auto" and "tool_choice" in config.capabilities


def error_of(document: JsonObject) -> str:
    """Return what an error inside of an answer says; nothing where there is none."""
    error = document.get("error")
    found = member(document, "error")
    return str(found.get("message") or found.get("type") or found.get("code") or error)[:300] if error else ""


def count(usage: JsonObject, *path: str) -> int:
    """Return a number from a usage report; 0 where a provider leaves it out, or it is no number of tokens."""
    found: Any = usage
    for name in path:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < MOST_TOKENS else 0
