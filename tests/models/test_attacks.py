"""Test whole tasks against faulty providers: each ends with its answer, and replays identically."""

import asyncio
import copy
import json
import random
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Loopback, Reply, document, sse
from model_kit import HELLO, asking
from run_kit import home, replayed, run

from tea.errors import ProviderError
from tea.journal.recorder import Event
from tea.types import ModelRequest

NATIVE: dict[str, Any] = {"capabilities": ["tools", "schema", "streaming"], "limits": {"attempt_seconds": 20}}
LOOK: dict[str, Any] = {"name": "look", "parameters": {"type": "object", "properties": {}}}
ASKED = HELLO.model_copy(update={"tools": (LOOK, {**LOOK, "name": "add"})})
RICH = Say(text="Let me see 世界.", reasoning="Hm.", calls=(("c1", "look", {"a": 1}), ("c2", "add", {"b": "ü"})))
END = Say(calls=(("e", "done", {"answer": "42"}),))


def calling(*calls: tuple[str, str, Any], **more: Any) -> Say:
    return Say(calls=calls, **more)


def adding(number: int) -> Say:
    sums = [(f"i{n}", "calculator", {"expression": f"{number} + {n}"}) for n in range(2)]
    return calling(*sums, ("noted", "note", {"fact": f"{number} counts"}), reasoning=f"Thought {number}.")


def later(status: int, **headers: str) -> Reply:
    return document({"error": {"message": "later", "type": "overloaded_error"}}, status, **headers)


def with_arguments(dialect: Dialect, arguments: Any) -> Reply:
    """A call with any arguments."""
    whole = dialect.whole(calling(("c", "calculator", {"expression": "1"})))
    if "choices" in whole:
        whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = arguments
    elif "output" in whole:
        whole["output"][0]["arguments"] = arguments
    else:
        whole["content"][0]["input"] = arguments
    return document(whole)


def onslaught(dialect: Dialect, *, stream: bool) -> list[Reply]:
    """Answers good and bad; a good one between any two unusable ones."""
    say = streamed if stream else said
    good = [say(dialect, adding(number)) for number in range(9)]
    events = dialect.events(adding(9))
    broken = [sse(events[: len(events) // 2], then=then) for then in ("break", "end")]
    return [
        later(429, retry_after="0"),
        good[0],
        later(429, retry_after=formatdate(time.time() - 5, usegmt=True)),
        later(529, retry_after_ms="1"),
        later(408, retry_after="0"),
        say(dialect, calling(("a", "calculator", {"expression": "1 + " * 20_000 + "1"}), ("b", "note", {}))),
        say(dialect, calling(("a", "no_such_tool", {}), ("b", "calculater", {"expression": "1"}))),
        say(dialect, calling(("a", "no such name!", {}))),
        good[1],
        say(dialect, calling(("same", "calculator", {"expression": "1"}), ("same", "note", {"fact": "1"}))),
        say(dialect, calling(("", "calculator", {"expression": "2"}), ("", "note", {"fact": "2"}))),
        with_arguments(dialect, '{"expression": '),
        good[2],
        with_arguments(dialect, "[1]"),
        good[3],
        say(dialect, Say(text="Let me think about", finish="length")),
        good[4],
        say(dialect, calling(("c", "calculator", {"expression": "1"}), finish="length")),
        good[5],
        say(dialect, Say(refusal="I will not.")),
        good[6],
        *(broken if stream else [Reply(chunks=[b"\xff\xfe"]), Reply(then="break")]),
        good[7],
        say(dialect, calling(*[(f"c{n}", "calculator", {"expression": str(n)}) for n in range(40)])),
        say(dialect, calling(("a", "done", {"answer": "1"}), ("b", "calculator", {"expression": "1 + 100"}))),
        good[8],
        say(dialect, END),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
async def test_a_task_outlives_everything_a_provider_can_do_and_replays(
    dialect: Dialect, tmp_path: Path, *, stream: bool
) -> None:
    heard: list[Event] = []
    replies = onslaught(dialect, stream=stream)
    async with Loopback(*replies).open() as server:
        home(tmp_path, dialect, server.url, **NATIVE)
        outcome = await run(tmp_path, watch=heard.append if stream else None)
        assert (outcome.answer, outcome.ok) == ("42", True), outcome.reason
        assert len(server.asked) == len(replies)
        assert outcome.cost.steps == len(replies) - 6  # those that gave no answer
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
    journal = (outcome.trace / "journal.jsonl").read_text()
    assert all(word in journal for word in ("did you mean 'calculator'", "cut off at its greatest length", "later"))


@pytest.mark.parametrize("then", ["break", "end"])
async def test_a_stream_that_ends_at_any_event_is_never_taken_for_the_answer(dialect: Dialect, then: str) -> None:
    events = dialect.events(RICH)
    for end in range(len(events)):
        begun = sse(events[:end], then=then)
        async with asking(dialect, begun, streamed(dialect, RICH), limits={"attempts": 2}) as (one, server):
            found = await one.ask(ASKED, stream=True)
        assert [(call.name, call.arguments) for call in found.calls] == [("look", {"a": 1}), ("add", {"b": "ü"})]
        assert (found.text, [part.text for part in found.reasoning]) == ("Let me see 世界.", ["Hm."])
        assert found.usage.output_tokens > 0
        assert len(server.asked) == 1 + len(found.attempts)


@pytest.mark.parametrize("seed", range(4))
async def test_an_answer_with_anything_wrong_in_it_is_an_answer_a_try_or_one_error(dialect: Dialect, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        stream = chance.random() < 0.5
        wrong: Any = copy.deepcopy(dialect.events(RICH) if stream else dialect.whole(RICH))
        _spoil(wrong, chance)
        reply = sse(wrong) if stream else document(wrong)
        async with asking(dialect, reply, said(dialect, Say(text="fine")), limits={"attempts": 2}) as (one, _server):
            try:
                found = await one.ask(ASKED, stream=stream)
            except ProviderError:
                continue
        json.dumps(found.model_dump(mode="json"), ensure_ascii=False).encode()
        used = found.usage
        assert used.input_tokens >= max(1, used.cached_tokens + used.written_tokens)
        assert used.output_tokens > 0


_ODD: tuple[Any, ...] = (None, 3, "x", [], {}, [1], {"a": 1}, True, -1, 1e400, "", [None], [[]])


def _spoil(value: Any, chance: random.Random) -> None:
    """Change one thing, anywhere, to anything."""
    places: list[tuple[Any, Any]] = []

    def walk(one: Any) -> None:
        for key in list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ():
            places.append((one, key))
            walk(one[key])

    for one in [event for _, event in value] if isinstance(value, list) else [value]:
        walk(one)
    holder, key = chance.choice(places)
    holder[key] = copy.deepcopy(chance.choice(_ODD))


async def test_an_answer_that_nobody_counted_is_not_for_nothing(dialect: Dialect) -> None:
    whole = dialect.whole(Say(text="hello " * 100))
    whole["usage"] = None if dialect.name != "anthropic_messages" else {"input_tokens": 0, "output_tokens": 0}
    async with asking(dialect, document(whole), prices={"input": 1e6, "output": 1e6}) as (one, _):
        used = (await one.ask(HELLO)).usage
    assert used.input_tokens > 10
    assert used.output_tokens > 150
    assert used.usd == used.input_tokens + used.output_tokens


async def test_a_server_that_knows_no_streams_is_understood(dialect: Dialect) -> None:
    async with asking(dialect, said(dialect, RICH)) as (one, _):
        found = await one.ask(ASKED, stream=True)
    assert (found.text, len(found.calls), found.attempts) == ("Let me see 世界.", 2, ())


async def test_an_answer_cut_off_in_its_calls_makes_all_but_the_last_of_them(dialect: Dialect) -> None:
    cut = calling(("c1", "look", {}), ("c2", "add", {}), finish="length")
    async with asking(dialect, said(dialect, cut), streamed(dialect, cut)) as (one, _):
        for stream in (False, True):
            found = await one.ask(ASKED, stream=stream)
            assert ([call.name for call in found.calls], found.finish) == (["look", "add"], "length")
            assert [call.unreadable[:22] for call in found.calls] == ["", "the answer was cut off"]


async def test_a_model_that_does_not_seal_its_reasoning_is_asked_without() -> None:
    responses = DIALECTS["openai_responses"]
    words = "Encrypted content is not supported with this model."
    refused = document({"error": {"message": words, "type": "invalid_request_error"}}, 400)
    async with asking(responses, refused, *[said(responses, Say(text="x"))] * 2) as (one, server):
        first, second = await one.ask(HELLO), await one.ask(HELLO)
        assert [asked.body["include"] for asked in server.asked] == [["reasoning.encrypted_content"], [], []]
    assert (len(first.attempts), second.attempts, one.waited) == (1, (), [0.0])
    async with asking(responses, refused, options={"include": ["reasoning.encrypted_content"]}) as (one, server):
        with pytest.raises(ProviderError, match="Encrypted content"):
            await one.ask(ModelRequest(messages=HELLO.messages))
        assert len(server.asked) == 1


async def test_of_several_questions_that_are_refused_at_once_each_is_asked_again_without() -> None:
    responses = DIALECTS["openai_responses"]
    refused = document({"error": {"message": "Encrypted content is not supported with this model."}}, 400)
    async with asking(responses, refused, refused, *[said(responses, Say(text="x"))] * 2) as (one, _):
        assert [found.text for found in await asyncio.gather(one.ask(HELLO), one.ask(HELLO))] == ["x", "x"]
