"""Test answers of very many pieces and calls: none costs more the more came before it."""

import json
import time
from typing import Any

import pytest
from dialects import DIALECTS, Say
from loopback import document
from model_kit import HELLO, asking

from tea.models.adapters import FORMATS
from tea.models.sse import Sent

PIECES = 15_000
CALLS = 10_000
LONG = "x" * 5_000_000
SECONDS = 2  # of the processor; what is copied or counted again with each piece takes several times as long


def of_chat(*deltas: dict[str, Any]) -> list[tuple[str, Any]]:
    events: list[dict[str, Any]] = [{"choices": [{"delta": one}]} for one in deltas]
    events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    return [("", one) for one in events]


def arguments(text: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": text}}]}


def detail(text: str) -> dict[str, Any]:
    return {"content": "x", "reasoning_details": [{"index": 0, "text": text}]}


def of_messages(kind: str) -> list[tuple[str, Any]]:
    piece = {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: "x"}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"type": "message", "model": "fake-1"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: LONG}},
        *[piece] * PIECES,
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "x"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return [(one["type"], one) for one in events]


STREAMS = {
    "a call": ("openai_chat", of_chat(arguments(f'{{"a": "{LONG}'), *[arguments("x")] * PIECES, arguments('"}'))),
    "details": ("openai_chat", of_chat(detail(LONG), *[detail("x")] * PIECES)),
    "text": ("anthropic_messages", of_messages("text")),
    "thinking": ("anthropic_messages", of_messages("thinking")),
}


@pytest.mark.parametrize("stream", STREAMS)
def test_a_long_answer_takes_pieces_in_time_that_grows_with_each_alone(stream: str) -> None:
    name, events = STREAMS[stream]
    assembly = FORMATS[name].assembly()
    begun = time.process_time()
    for event, value in events:
        assembly.take(Sent(event=event, data=json.dumps(value).encode()))
    took = time.process_time() - begun
    assert len(json.dumps(assembly.document())) > len(LONG) + PIECES
    assert took < SECONDS


async def test_an_answer_of_very_many_calls_is_read_in_time_that_grows_with_their_number() -> None:
    dialect = DIALECTS["openai_chat"]
    whole: Any = dialect.whole(Say())
    named = [{"id": f"call_{CALLS + number}", "function": {"name": "f"}} for number in range(CALLS)]
    whole["choices"][0]["message"]["tool_calls"] = [*named, *[{"function": {"name": "f"}}] * CALLS]
    async with asking(dialect, document(whole)) as (one, _):
        begun = time.process_time()
        answer = await one.ask(HELLO)
        took = time.process_time() - begun
    assert len({call.id for call in answer.calls}) == 2 * CALLS
    assert took < SECONDS
