"""The protocols of a wire format, and the functions shared by the three of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import count as count_from
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from pydantic_core import to_json

from tea.characters import on_one_line
from tea.errors import ProviderError
from tea.models.config import ModelConfig
from tea.models.failure import CallFailure
from tea.models.manager import Delta
from tea.models.rendering import result_text
from tea.models.schema import Reach
from tea.models.written_json import read_json
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

if TYPE_CHECKING:
    from tea.models.sse import Sent

Sdk = Literal["openai", "anthropic"]
BYTES_PER_TOKEN = 3  # of JSON with English words; all tokenizers in use need fewer tokens
_SHOWN = 200  # characters of what cannot be read
MOST_TOKENS = 10**12  # of one answer; a higher number cannot be a count of tokens
Encode = Callable[[tuple[Message, ...], Mapping[str, bytes]], Sequence[bytes]]
"""Gives the pieces of messages in the format's own form, with the contents of their media; some may be empty."""


class Assembly(Protocol):
    """An assembly of one streamed answer: `ended` when the answer is complete, `done` when nothing more will come."""

    @property
    def ended(self) -> bool:
        """Whether the answer has stated its end; its usage may still follow."""
        ...

    @property
    def done(self) -> bool:
        """Whether the server has sent its last event."""
        ...

    def take(self, sent: Sent) -> list[Delta]:
        """Process one event and return the resulting deltas for a listener.

        Raises:
            Fault: It is an error, or makes no sense.
        """
        ...

    def document(self) -> JsonObject:
        """Return the whole answer, as it would be without streaming.

        Raises:
            Fault: The stream ended before the answer did.
        """
        ...


class Format(Protocol):
    """A wire format: the writing of requests and the reading of answers.

    Args:
        name: What configurations call it, as `provider`.
        sdk: The package whose client carries it.
        path: Where questions are posted, below the base URL.
        reach: What of a schema its provider enforces.
        relents: Members of a question that avoid a refusal (status 400), by words of the refusal in lower case.
    """

    name: str
    sdk: Sdk
    path: str
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
        """Return the answer in a document, without its price.

        Raises:
            Fault: It holds none.
        """
        ...

    def assembly(self) -> Assembly:
        """Return an assembly for one streamed answer."""
        ...


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def encoded(value: Any) -> bytes:
    """Return compact JSON in its original order."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except ValueError:
        return paired(_encode(value)).encode()


def stable(value: Any) -> bytes:
    """Return compact JSON with sorted keys, for external values needing a stable encoding between steps."""
    return _sorted(value).encode("utf-8", "replace")


def assembled(members: Mapping[str, bytes]) -> bytes:
    """Return an object made of members encoded as JSON."""
    return b"{" + b",".join(encoded(name) + b":" + value for name, value in members.items()) + b"}"


def optional(options: JsonObject, own: JsonObject) -> dict[str, bytes]:
    """Return additional members of a request by name: options, and tea's own objects, with the options' members first.

    One object may hold both a schema of tea's and a wish of the person's, such as `text` of Responses its `verbosity`.
    """
    both = {name: {**member(options, name), **value} for name, value in own.items()}
    return {name: stable(value) for name, value in sorted({**options, **both}.items())}


def joined(items: Sequence[bytes]) -> bytes:
    """Return an array made of items encoded as JSON."""
    return b"[" + b",".join(items) + b"]"


def begins(pieces: Sequence[bytes]) -> bool:
    """Return whether the received bytes start with a JSON object, and not with a web page."""
    return b"".join(pieces).lstrip().startswith(b"{")


def paired(text: str) -> str:
    """Return a text with adjacent surrogate halves joined to a character; lone halves become replacement characters."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def decoded(data: bytes, *, piece: bool = False) -> dict[str, Any]:
    """Return the JSON object decoded from external bytes.

    Args:
        data: The bytes.
        piece: Whether it is a piece of an answer, whose words some servers cut in the middle of a character.

    Raises:
        Fault: They are not a JSON object.
    """
    try:
        value = loads(data, halves=piece)
    except Refused as error:
        raise CallFailure(f"what came back is not JSON ({error})", again=True) from error
    if not isinstance(value, dict):
        raise CallFailure("what came back is not a JSON object", again=True)
    return cast("dict[str, Any]", value)


def braced(text: str) -> str:
    """Return a text from its first brace to its last, after any thinking; empty if it has none."""
    said = text.rpartition("</think>")[2]
    begin, end = said.find("{"), said.rfind("}")
    return said[begin : end + 1] if begin >= 0 else ""


def words(part: TextPart | DataPart) -> str:
    """Return the text of a text or data part, as a model reads it."""
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
    """Return the reasoning parts of a message with data to send back, in their order."""
    return [part for part in message.content if isinstance(part, ReasoningPart) and part.data]


def woven(
    thoughts: Sequence[ReasoningPart], texts: Sequence[JsonObject], calls: Sequence[JsonObject]
) -> list[JsonObject]:
    """Return text and calls with the reasoning at its original places; reasoning after all of them is dropped."""
    found: list[JsonObject] = []
    left = list(thoughts)
    for place, items in enumerate((texts, *([call] for call in calls))):
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


def extended(text: str | StringIO, piece: str) -> StringIO:
    """Append a piece to a text of a streamed answer, in time proportional to the piece alone."""
    if not isinstance(text, StringIO):
        whole = StringIO()
        whole.write(text)
        text = whole
    text.write(piece)
    return text


def collected(values: JsonObject) -> JsonObject:
    """Return values with their extended texts as texts."""
    return {name: value.getvalue() if isinstance(value, StringIO) else value for name, value in values.items()}


@dataclass(slots=True)
class AnswerCalls:
    """The tool calls of one answer; an unreadable one is kept with the reason."""

    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    _known: set[str] = field(default_factory=set[str], init=False, repr=False)
    _last: int = field(default=0, init=False, repr=False)

    def add(self, id: Any, name: Any, arguments: Any) -> None:
        """Add a call as the model wrote it, its arguments as JSON text or an object."""
        given = _arguments(arguments)
        unreadable = "" if given is not None else f"its arguments are not a JSON object: {_beginning(arguments)}"
        if not isinstance(name, str) or not name.strip():
            given, unreadable, name = None, f"it has no name: {_beginning(arguments)}", ""
        own = id if isinstance(id, str) and id and id not in self._known else self._free()
        self._known.add(own)
        self.calls.append(ToolCall(id=own, name=paired(name), arguments=given or {}, unreadable=unreadable))

    def _free(self) -> str:
        """Return the first free id behind the number of calls; none behind the last one is looked at again."""
        numbers = count_from(max(len(self._known), self._last) + 1)
        self._last = next(number for number in numbers if f"call_{number}" not in self._known)
        return f"call_{self._last}"


def whole(response: ModelResponse) -> ModelResponse:
    """Return an answer with its last call marked unreadable if it was cut off, as the call may be incomplete."""
    if response.finish != "length" or not response.calls:
        return response
    *before, last = response.calls
    why = "the answer was cut off at its greatest length, in the middle of it; make fewer or smaller calls"
    return changed(response, calls=(*before, changed(last, arguments={}, unreadable=why)))


def _arguments(written: Any) -> dict[str, Any] | None:
    """Return the arguments of a call, possibly JSON-encoded twice; None if they are not an object."""
    value = written
    for _ in range(2):
        if isinstance(value, str):
            try:
                value = read_json(value) if value.strip() else None
            except Refused:
                return None
    if not value:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _beginning(written: Any) -> str:
    """Return the beginning of a model's output, in one printable line."""
    text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False, default=str)
    return paired(on_one_line(text[:_SHOWN]))


def counted(response: ModelResponse, body: bytes, media: Mapping[str, bytes]) -> Usage:
    """Return the usage of an answer, with missing counts estimated from bytes, never zero."""
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
    """Return an object inside an object; an empty one if it is missing."""
    found = value.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def members(value: JsonObject, name: str) -> list[dict[str, Any]]:
    """Return a list of objects inside an object; an empty one if it is missing.

    Raises:
        Fault: It holds something else.
    """
    found = cast("list[Any]", value.get(name) or [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CallFailure(f"{name!r} is not a list of objects", again=True)
    return found


def chooses(request: ModelRequest, config: ModelConfig) -> bool:
    """Return whether a request sets the tool choice and its model supports such a setting."""
    return request.tool_choice != "auto" and "tool_choice" in config.capabilities


def error_of(document: JsonObject) -> str:
    """Return the message of an error inside an answer; empty if there is none."""
    error = document.get("error")
    found = member(document, "error")
    return str(found.get("message") or found.get("type") or found.get("code") or error)[:300] if error else ""


def count(usage: JsonObject, *path: str) -> int:
    """Return a number from a usage report; 0 if it is missing or not a number of tokens."""
    found: Any = usage
    for name in path:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < MOST_TOKENS else 0
