"""Test an answer's other facts: its end, its cost, the reason for none."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Loopback, Reply, document, sse
from model_kit import HELLO, asking, system, user
from run_kit import ENDS, home, run

from tea.errors import ProviderError
from tea.models.config import ModelConfig
from tea.models.openai_chat import OpenAIChat
from tea.types import ModelRequest

HI = Say(text="hello")


@pytest.mark.parametrize("status", ["queued", "in_progress", "cancelled"])
async def test_a_response_that_is_not_finished_is_no_answer(status: str) -> None:
    responses = DIALECTS["openai_responses"]
    half = {**responses.whole(Say(text="hel")), "status": status}
    async with asking(responses, document(half), said(responses, HI)) as (one, _):
        found = await one.ask(HELLO)
    assert (found.text, len(found.attempts)) == ("hello", 1)


async def test_a_refusal_without_words_says_what_its_provider_says_of_it() -> None:
    messages = DIALECTS["anthropic_messages"]
    details = {"type": "refusal", "category": "bio", "explanation": "It could do harm."}
    refused = {**messages.whole(Say(refusal="x")), "content": [], "stop_details": details}
    async with asking(messages, document(refused)) as (one, _):
        found = await one.ask(HELLO)
    assert (found.finish, found.text) == ("refusal", "It could do harm.")


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses"])
async def test_what_openai_puts_into_its_cache_is_paid_for(name: str) -> None:
    dialect = DIALECTS[name]
    whole = dialect.whole(HI)
    details = "prompt_tokens_details" if name == "openai_chat" else "input_tokens_details"
    whole["usage"][details] = {"cached_tokens": 40, "cache_write_tokens": 50}
    prices = {"input": 4, "cached": 1, "written": 5, "output": 10}
    async with asking(dialect, document(whole), prices=prices) as (one, _):
        used = (await one.ask(HELLO)).usage
    assert (used.input_tokens, used.cached_tokens, used.written_tokens) == (100, 40, 50)
    assert used.usd == pytest.approx((10 * 4 + 40 * 1 + 50 * 5 + 20 * 10) / 1e6)


@pytest.mark.parametrize(
    "text",
    [
        '{"calls": [{"name": "add", "arguments": {"a": 1}}]}',
        '<think>Perhaps {a} or {"calls": []}?</think>\n{"calls": [{"name": "add", "arguments": {"a": 1}}]}',
        'I call it: {"calls": [{"name": "add", "arguments": {"a": 1}}]} Done.',
    ],
)
async def test_calls_in_words_are_found_behind_thoughts_and_among_words(dialect: Dialect, text: str) -> None:
    add = {"name": "add", "description": "Add.", "parameters": {"type": "object", "properties": {}}}
    request = ModelRequest(messages=(system("Be brief."), user("Go.")), tools=(add,))
    async with asking(dialect, said(dialect, replace(HI, text=text)), capabilities=[]) as (one, _):
        found: Any = await one.ask(request)
    assert [(call.name, call.arguments) for call in found.calls] == [("add", {"a": 1})]


async def test_a_version_in_the_address_is_not_said_twice(tmp_path: Path) -> None:
    messages = DIALECTS["anthropic_messages"]
    async with Loopback(answer=lambda asked: said(messages, ENDS)).open() as server:
        for number, end in enumerate(("", "/", "/v1", "/v1/")):
            folder = tmp_path / str(number)
            folder.mkdir()
            assert (await run(home(folder, messages, server.url + end))).answer == "42"
    assert {asked.path for asked in server.asked} == {"/v1/messages"}


async def test_a_record_in_words_is_found_behind_thoughts_and_among_words(dialect: Dialect, tmp_path: Path) -> None:
    text = f"<think>Braces {{like these}} mean nothing.</think>Here it is: {ENDS.text} Done."
    async with Loopback(said(dialect, replace(ENDS, text=text))).open() as server:
        assert (await run(home(tmp_path, dialect, server.url, capabilities=[]))).answer == "42"


async def test_a_turn_that_its_provider_paused_is_half_an_answer() -> None:
    messages = DIALECTS["anthropic_messages"]
    paused = {**messages.whole(Say(text="I look it up.")), "stop_reason": "pause_turn"}
    async with asking(messages, document(paused)) as (one, _):
        assert "interrupted" in (await one.ask(HELLO)).unusable


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (None, "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://ours.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("http://127.0.0.1:8000/v1", "max_tokens"),
    ],
)
def test_the_limit_of_an_answer_has_the_name_that_its_server_knows(address: str | None, name: str) -> None:
    config = ModelConfig(name="m", provider="openai_chat", model="m", base_url=address, max_output=7)
    body = json.loads(OpenAIChat().body(HELLO, config, lambda messages, media: [], (), stream=False))
    assert {key: value for key, value in body.items() if key.startswith("max_")} == {name: 7}


async def test_a_whole_answer_behind_blanks_is_read_where_a_stream_was_asked_for(dialect: Dialect) -> None:
    """Servers send blanks to keep a connection open while their model thinks."""
    whole = replace(said(dialect, HI), chunks=[b" ", b"\n\n", b"  " + said(dialect, HI).chunks[0]])
    events = replace(streamed(dialect, HI), chunks=[b"\n", b"\n\n", *streamed(dialect, HI).chunks])
    async with asking(dialect, whole, events, limits={"attempts": 1}) as (one, _):
        assert [(await one.ask(HELLO, stream=True)).text for _ in range(2)] == ["hello", "hello"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_count_of_tokens_that_can_be_none_is_not_believed(dialect: Dialect, *, stream: bool) -> None:
    say = replace(HI, tokens={"input": 10**400, "cached": 0, "output": 10**15, "thought": 0})
    prices = {"input": 10, "output": 10}
    async with asking(dialect, (streamed if stream else said)(dialect, say), prices=prices) as (one, server):
        used = (await one.ask(HELLO, stream=stream)).usage
    assert (used.input_tokens, used.output_tokens) == (len(server.asked[0].raw) // 3, 2)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("counted", "output"),
    [
        ({"completion_tokens": 1, "total_tokens": 399, "completion_tokens_details": {"reasoning_tokens": 386}}, 387),
        ({"completion_tokens": 9, "total_tokens": 21}, 9),
        ({"completion_tokens": 9, "total_tokens": 2}, 9),
        ({"completion_tokens": 9, "total_tokens": None}, 9),
        ({"completion_tokens": 0, "total_tokens": 81}, 69),
    ],
)
async def test_thinking_that_is_counted_beside_the_answer_is_paid_for(
    counted: dict[str, Any], output: int, *, stream: bool
) -> None:
    """Count as xAI and Gemini do: the total holds more than its parts."""
    chat, usage = DIALECTS["openai_chat"], {"prompt_tokens": 12, **counted}
    whole = document({**chat.whole(HI), "usage": usage})
    pieces = [(name, {**one, "usage": usage} if isinstance(one, dict) else one) for name, one in chat.events(HI)]
    async with asking(chat, sse(pieces) if stream else whole, prices={"input": 10, "output": 10}) as (one, _):
        used = (await one.ask(HELLO, stream=stream)).usage
    assert (used.input_tokens, used.output_tokens) == (12, output)
    assert used.usd == pytest.approx((12 + output) / 1e5)


async def test_a_character_that_its_server_cut_into_halves_is_one_again(dialect: Dialect) -> None:
    """Cut as servers do with UTF-16 texts, anywhere, with escapes."""
    events: list[tuple[str, Any]] = []
    for name, one in dialect.events(Say(text="a---b-")):  # in pieces of three
        text = one if isinstance(one, str) else json.dumps(one)
        text = text.replace("a---b-", r"a--\ud83d\ude00-b").replace("a--", r"a--\ud83d")
        events.append((name, text.replace(r"\ud83d\ud83d", r"\ud83d").replace('"-b-"', r'"\ude00-b"')))
    heard = ""
    async with asking(dialect, sse(events), limits={"attempts": 1}) as (one, _):
        found = await one.ask(HELLO, stream=True)
        heard = "".join(delta.text for delta in one.heard)
    assert found.text == "a--\N{GRINNING FACE}-b"
    assert heard.encode().decode() == "a--\ufffd\ufffd-b"


@pytest.mark.parametrize("error", [{"type": "error", "error": {"message": "No room."}}, {"error": "No room."}])
async def test_an_error_in_the_place_of_an_answer_is_told_in_its_words(dialect: Dialect, error: Any) -> None:
    async with asking(dialect, *[document(error)] * 2, limits={"attempts": 1}) as (one, _):
        for stream in (False, True):
            with pytest.raises(ProviderError, match=r"did not answer: No room\."):
                await one.ask(HELLO, stream=stream)


@pytest.mark.parametrize(
    ("chunks", "words"), [([b"<html>Welcome</html>\n\n"], "what came back is not an answer"), ([], "nothing came back")]
)
async def test_what_is_no_stream_is_said_to_be_none(dialect: Dialect, chunks: list[bytes], words: str) -> None:
    page = Reply(headers={"content-type": "text/html"}, chunks=chunks)
    async with asking(dialect, page, limits={"attempts": 1}) as (one, _):
        with pytest.raises(ProviderError, match=f"did not answer: {words}"):
            await one.ask(HELLO, stream=True)


async def test_an_answer_that_breaks_off_is_said_to_have_done_so(dialect: Dialect) -> None:
    half = replace(said(dialect, HI), then="break")
    async with asking(dialect, replace(half, chunks=[half.chunks[0][:30]]), limits={"attempts": 1}) as (one, _):
        with pytest.raises(ProviderError, match=r"the connection broke off before the answer ended \(") as told:
            await one.ask(HELLO)
    assert "try again later" in told.value.fix


@pytest.mark.parametrize("then", ["break", "hang", "end"])
@pytest.mark.parametrize(("name", "missing"), [("openai_chat", 1), ("openai_chat", 2), ("anthropic_messages", 1)])
async def test_an_answer_that_said_its_end_is_one_without_the_last_word_of_its_stream(
    name: str, missing: int, then: str
) -> None:
    cut, limits = sse(DIALECTS[name].events(HI)[:-missing], then=then), {"attempts": 1, "attempt_seconds": 1}
    async with asking(DIALECTS[name], cut, limits=limits) as (one, _):
        found = await one.ask(HELLO, stream=True)
    assert (found.text, found.attempts) == ("hello", ())
    assert found.usage.output_tokens == (20 if missing == 1 else len("hello") // 3 + 1)


@pytest.mark.parametrize("name", ["openai_chat", "anthropic_messages"])
async def test_an_error_behind_the_end_of_an_answer_is_one(name: str) -> None:
    dialect = DIALECTS[name]
    failed = sse([*dialect.events(HI)[:-1], dialect.error_event()])
    async with asking(dialect, failed, streamed(dialect, HI)) as (one, _):
        found = await one.ask(HELLO, stream=True)
    assert (found.text, len(found.attempts)) == ("hello", 1)
