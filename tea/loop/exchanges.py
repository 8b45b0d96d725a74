"""Exchanges: a conversation split into the model's answers with their results, their sizes and their text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

from tea.loop.observation import shortened
from tea.models.rendering import rendered, result_text
from tea.types import DataPart, JsonObject, JsonValue, MediaPart, Message, Part, TextPart, ToolCall, changed

BYTES_PER_TOKEN = 4
MEDIA_TOKENS = 1_000
CUT_WORDS = "\n[... {left:,} characters left out ...]\n"
_MOST_ARGUMENTS = 100
_FRAME = 20  # bytes around a message
_FRAME_OF_CALL = 60


def tokens(*messages: Message) -> int:
    """Return the approximate number of tokens in messages."""
    return sum(map(_tokens, messages))


def json_tokens(value: JsonValue) -> int:
    """Return the approximate number of tokens in a JSON value."""
    return len(_compact(value).encode()) // BYTES_PER_TOKEN


def exchanges(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Return a conversation in parts, each an answer of the model with all messages after it.

    What stands before the first answer belongs to it.
    """
    begins = [position for position, one in enumerate(messages) if one.role == "assistant"]
    cuts = [0, *begins[1:], len(messages)] if begins else []
    return [tuple(messages[first:last]) for first, last in pairwise(cuts)]


def last_exchange(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the model's last answer with all messages after it, the whole conversation if it gave none."""
    for back, one in enumerate(reversed(messages), 1):
        if one.role == "assistant":
            return messages[-back:]
    return messages


def unanswered(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the latest text messages not yet answered by the model."""
    told: list[Message] = []
    for one in reversed(messages):
        if one.role != "user":
            break
        if all(isinstance(part, TextPart) for part in one.content):
            told.append(one)
    return tuple(reversed(told))


def words(message: Message) -> str:
    """Return the text of a message, without its calls."""
    parts = [part for part in message.content if isinstance(part, TextPart | DataPart)]
    return "\n".join(part.text if isinstance(part, TextPart) else _data_text(message, part) for part in parts)


def call_line(call: ToolCall) -> str:
    """Return a call in a line, with the beginning of its arguments."""
    arguments = _compact(call.arguments)
    return f"{call.name} {arguments if len(arguments) <= _MOST_ARGUMENTS else f'{arguments[:_MOST_ARGUMENTS]}...'}"


def transcript(messages: Sequence[Message], most: int) -> str:
    """Return a conversation as text of at most about `most` tokens, with its middle left out if it is longer."""
    blocks: list[str] = []
    for one in messages:
        calls = "".join(f"\ncalls {call.name} {_compact(call.arguments)} ({call.id})" for call in one.calls)
        if (text := words(one)) or calls:
            blocks.append(f"[{one.role}{f' {one.call_id}' if one.call_id else ''}] {text}{calls}")
    return cut("\n\n".join(blocks), most)


def latest(messages: Sequence[Message], most: int) -> str:
    """Return the last calls and their results as text of at most about `most` tokens."""
    kept: tuple[Message, ...] = ()
    for one in reversed(exchanges([one for one in messages if one.role != "user"])):
        if kept and tokens(*one, *kept) > most:
            break
        kept = (*one, *kept)
    return transcript(kept, most)


def cut(text: str, most: int) -> str:
    """Return a text without its middle, if it is longer than the given number of tokens."""
    size = len(text.encode())
    if size <= most * BYTES_PER_TOKEN:
        return text
    half = max(1, len(text) * most * BYTES_PER_TOKEN // size // 2)
    return f"{text[:half]}{CUT_WORDS.format(left=len(text) - 2 * half)}{text[-half:]}"


def is_shortened(text: str) -> bool:
    """Return whether the middle of a text was left out."""
    return CUT_WORDS.partition("{")[0] in text


def briefer(message: Message, most: int) -> Message:
    """Return a message with its text and arguments cut to the given number of tokens."""
    if _tokens(message) <= most or message.role == "tool":
        return message
    content = tuple(_briefer(part, most) for part in message.content)
    calls = tuple(changed(call, arguments=_brief(call.arguments, most)) for call in message.calls)
    return changed(message, content=content, calls=calls)


def _briefer(part: Part, most: int) -> Part:
    return changed(part, text=cut(part.text, most)) if isinstance(part, TextPart) else part


def _brief(arguments: JsonObject, most: int) -> JsonValue:
    return shortened(arguments, most * BYTES_PER_TOKEN) if json_tokens(arguments) > most else arguments


def _data_text(message: Message, part: DataPart) -> str:
    return result_text(part.data) if message.role == "tool" else rendered(part.data)


def _tokens(message: Message) -> int:
    media = sum(isinstance(part, MediaPart) for part in message.content)
    thoughts = sum(len(_compact(part.data)) for part in message.content if part.type == "reasoning")
    calls = sum(len(call.name) + len(_compact(call.arguments).encode()) + _FRAME_OF_CALL for call in message.calls)
    return (len(words(message).encode()) + thoughts + calls + _FRAME) // BYTES_PER_TOKEN + MEDIA_TOKENS * media


def _compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
