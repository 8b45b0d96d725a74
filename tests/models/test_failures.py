"""Test failures on the way to a model: in all three formats a try ends, another follows, or one clear error."""

import asyncio
import email.utils
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Loopback, Reply, document, sse
from model_kit import HELLO, KEYS, Asking, asking, no_tool

from tea.errors import BadInput, ProviderError
from tea.models.config import ModelConfig
from tea.models.failure import retry_after
from tea.models.manager import Delta, ModelManager
from tea.models.offline import OFFLINE, OfflineModel
from tea.testing import ScriptedModel
from tea.types import Message, ModelRequest, ReasoningPart, TextPart, ToolCall

HI = Say(text="hello")
ERROR = {"error": {"type": "some_error", "message": "try later"}}


def refused(status: int, **headers: str) -> Reply:
    return document(ERROR, status, **headers)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
async def test_a_status_that_may_pass_is_tried_again_and_recorded(dialect: Dialect, status: int) -> None:
    async with asking(dialect, refused(status), refused(status), said(dialect, HI)) as (one, server):
        found = await one.ask(HELLO)
    assert (found.text, len(server.asked)) == ("hello", 3)
    assert [(one.model, one.status, one.waited) for one in found.attempts] == [
        ("fake", status, 0.375),
        ("fake", status, 0.75),
    ]
    assert server.asked[0].raw == server.asked[1].raw == server.asked[2].raw


async def test_what_a_provider_asks_to_wait_is_waited(dialect: Dialect) -> None:
    replies = refused(429, retry_after="7"), refused(503, retry_after_ms="1500"), said(dialect, HI)
    async with asking(dialect, *replies) as (one, _):
        await one.ask(HELLO)
    assert one.waited == [7.0, 1.5]


def test_a_date_to_wait_for_is_understood_and_nonsense_is_not() -> None:
    later = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert retry_after({"retry-after": later}) == pytest.approx(100, abs=3)
    assert retry_after({"retry-after": "Sat, 01 Jan 2000 00:00:00 GMT"}) == 0
    assert [retry_after({"retry-after": text}) for text in ("", "soon", "-3", "nan", "inf")] == [None] * 5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_that_will_not_pass_is_one_error_at_once(dialect: Dialect, status: int) -> None:
    async with asking(dialect, refused(status)) as (one, server):
        with pytest.raises(
            ProviderError, match=rf"'fake' did not answer: status {status}: try later\. Fix: \w+"
        ) as told:
            await one.ask(HELLO)
    assert len(server.asked) == 1
    assert told.value.exit_code == 4


async def test_no_character_of_a_refusal_is_left_out(dialect: Dialect) -> None:
    answer = document({"error": {"type": "some_error", "message": "\x1cnot\r\n\u2028now"}}, 400)
    async with asking(dialect, answer) as (one, _):
        with pytest.raises(ProviderError, match=r"status 400: \\x1cnot \\u2028now\. Fix"):
            await one.ask(HELLO)


async def test_tries_end(dialect: Dialect) -> None:
    async with asking(dialect, *[refused(500)] * 3, limits={"attempts": 3}) as (one, server):
        with pytest.raises(ProviderError, match="after 3 tries"):
            await one.ask(HELLO)
    assert len(server.asked) == 3


async def test_a_wait_that_outlasts_the_calls_time_ends_it(dialect: Dialect) -> None:
    async with asking(dialect, refused(429, retry_after="100"), limits={"seconds": 60}) as (one, server):
        with pytest.raises(ProviderError, match="status 429"):
            await one.ask(HELLO)
    assert (len(server.asked), one.waited) == (1, [])


async def test_a_key_that_rests_for_days_is_not_asked_again_in_a_moment(dialect: Dialect) -> None:
    async with asking(dialect, refused(429, retry_after="90000"), said(dialect, HI)) as (one, server):
        with pytest.raises(ProviderError, match="status 429"):
            await one.ask(HELLO)
    assert (len(server.asked), one.waited) == (1, [])


@pytest.mark.parametrize(("status", "word", "tries"), [(503, "false", 1), (400, "true", 2), (503, "perhaps", 2)])
async def test_a_provider_may_say_whether_to_try_again(dialect: Dialect, status: int, word: str, tries: int) -> None:
    replies = refused(status, x_should_retry=word), refused(404)
    async with asking(dialect, *replies) as (one, server):
        with pytest.raises(ProviderError):
            await one.ask(HELLO)
    assert len(server.asked) == tries


@pytest.mark.parametrize("body", [[ERROR], {"detail": "try later"}, {"object": "error", "message": "try later"}])
async def test_what_other_servers_say_of_an_error_is_found(dialect: Dialect, body: Any) -> None:
    async with asking(dialect, document(body, 400)) as (one, _):
        with pytest.raises(ProviderError, match=r"status 400: try later\. Fix"):
            await one.ask(HELLO)


@pytest.mark.parametrize("then", ["break", "hang"])
async def test_a_whole_stream_is_an_answer_whatever_comes_behind_it(dialect: Dialect, then: str) -> None:
    """Pay for a whole answer, even on a connection left open or broken."""
    whole = sse(dialect.events(HI), then=then)
    async with asking(dialect, whole, limits={"attempt_seconds": 20}) as (one, server):
        async with asyncio.timeout(10):
            found = await one.ask(HELLO, stream=True)
    assert (found.text, found.attempts, len(server.asked)) == ("hello", (), 1)


@pytest.mark.parametrize("then", ["break", "end", "hang"])
async def test_half_a_stream_is_never_an_answer(dialect: Dialect, then: str) -> None:
    events = dialect.events(Say(text="hello world"))
    begun = sse([event for event in events if not _ends(event)][:6], then=then)
    async with asking(dialect, begun, streamed(dialect, HI), limits={"attempt_seconds": 1}) as (one, _):
        found = await one.ask(HELLO, stream=True)
    assert found.text == "hello"
    assert len(found.attempts) == 1
    again = [delta.type for delta in one.heard].index("again")
    assert "".join(delta.text for delta in one.heard[again + 1 :] if delta.type == "text") == "hello"


def _ends(event: tuple[str, object]) -> bool:
    data = str(event[1])
    return any(word in data for word in ("'finish_reason': 'stop'", "[DONE]", "response.completed", "message_stop"))


async def test_what_a_provider_says_in_a_stream_is_one_printable_line(dialect: Dialect) -> None:
    name, event = dialect.error_event()
    odd = json.loads(json.dumps(event).replace("in the middle", "\\u001b[2J\\nnow\\u202e"))
    async with asking(dialect, sse([(name, odd)]), limits={"attempts": 1}) as (one, _):
        with pytest.raises(ProviderError) as told:
            await one.ask(HELLO, stream=True)
    assert r"overloaded \x1b[2J now\u202e." in str(told.value)
    assert str(told.value).isprintable()


async def test_an_error_in_the_middle_of_a_stream_is_tried_again(dialect: Dialect) -> None:
    broken = sse([*dialect.events(HI)[:3], dialect.error_event()])
    async with asking(dialect, broken, streamed(dialect, HI)) as (one, _):
        found = await one.ask(HELLO, stream=True)
    assert found.text == "hello"
    assert "overloaded in the middle" in found.attempts[0].problem


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("code", "tries"),
    [
        *[
            (code, 2)
            for code in ("server_error", "rate_limit_exceeded", "vector_store_timeout", "server_is_overloaded")
        ],
        *[
            (code, 1)
            for code in ("invalid_prompt", "bio_policy", "image_content_policy_violation", "invalid_image_url")
        ],
        *[(code, 1) for code in ("image_too_large", "context_length_exceeded", "insufficient_quota")],
    ],
)
async def test_only_what_may_pass_is_tried_again_where_a_response_failed(
    code: str, tries: int, *, stream: bool
) -> None:
    responses = DIALECTS["openai_responses"]
    error = {"code": code, "message": "It failed."}
    failed = {**responses.whole(HI), "status": "failed", "output": [], "error": error}
    for reply in (
        sse([("", {"type": "response.failed", "response": failed})]) if stream else document(failed),
        sse([("", {"type": "error", **error})]),
    ):
        async with asking(responses, *[reply] * 2, limits={"attempts": 2}) as (one, server):
            with pytest.raises(ProviderError, match=r"It failed\.") as told:
                await one.ask(HELLO, stream=stream)
        assert len(server.asked) == tries
        assert tries == 2 or "see what the provider says" in told.value.fix or "shorten" in told.value.fix
        if not stream:
            break


@pytest.mark.parametrize(
    "garbage",
    [b"", b"<html>proxy</html>", b'{"choices": []}', b"[]", b'{"a": 1e999}', b"\xff\xfe", b'{"output": 7}', b"null"],
)
async def test_garbage_is_never_an_answer(dialect: Dialect, garbage: bytes) -> None:
    reply = Reply(headers={"content-type": "application/json"}, chunks=[garbage] if garbage else [])
    async with asking(dialect, reply, said(dialect, HI)) as (one, _):
        found = await one.ask(HELLO)
    assert (found.text, len(found.attempts)) == ("hello", 1)


@pytest.mark.parametrize("garbage", ["not json", '{"type": "content_block_delta"}', '{"choices": [{"delta": 3}]}', "7"])
async def test_garbage_in_a_stream_is_never_an_answer(dialect: Dialect, garbage: str) -> None:
    async with asking(dialect, sse([("", garbage)]), streamed(dialect, HI)) as (one, _):
        found = await one.ask(HELLO, stream=True)
    assert (found.text, len(found.attempts)) == ("hello", 1)


async def test_a_server_that_is_not_there_is_one_clear_error(dialect: Dialect) -> None:
    async with Loopback().open() as server:
        url = server.url
    one = Asking(dialect, url, limits={"attempts": 2})
    with pytest.raises(ProviderError, match=r"after 2 tries\): nothing answers at http.*Fix: check its base_url"):
        await one.ask(HELLO)
    await one.model.close()


@pytest.mark.parametrize("stream", [False, True])
async def test_a_choice_that_broke_off_is_asked_again_and_no_answer(stream: bool) -> None:
    chat = DIALECTS["openai_chat"]
    half = {"index": 0, "finish_reason": "error", "error": {"code": 502, "message": "upstream died"}}
    broken: Any = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    if stream:
        chunk = {**broken, "object": "chat.completion.chunk", "choices": [{**half, "delta": {"content": "HALF"}}]}
        reply = sse([("", json.dumps(chunk)), ("", "[DONE]")])
    else:
        reply = document({**broken, "choices": [{**half, "message": {"role": "assistant", "content": "HALF"}}]})
    async with asking(chat, reply, (streamed if stream else said)(chat, HI)) as (one, _):
        found = await one.ask(HELLO, stream=stream)
    assert found.text == "hello"
    assert ["upstream died" in one.problem for one in found.attempts] == [True]


async def test_a_server_that_hangs_up_is_said_to_have_done_so(dialect: Dialect) -> None:
    hung = Reply(then="hang up")
    async with asking(dialect, said(dialect, HI), hung, hung, limits={"attempts": 1}) as (one, _):
        assert (await one.ask(HELLO)).text == "hello"
        for _ in range(2):
            with pytest.raises(ProviderError, match=r"the connection failed \(ServerDisconnectedError"):
                await one.ask(HELLO)


async def test_a_call_that_is_called_off_leaves_nothing_behind(dialect: Dialect) -> None:
    async with asking(dialect, Reply(then="hang"), said(dialect, HI)) as (one, server):
        asked = asyncio.ensure_future(one.ask(HELLO))
        await server.came.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await server.left()
        assert (await one.ask(HELLO)).text == "hello"


async def test_calls_at_once_are_limited(dialect: Dialect) -> None:
    slow = replace(said(dialect, HI), after=0.1)
    async with asking(dialect, *[slow] * 12, limits={"concurrency": 3}) as (one, server):
        found = await asyncio.gather(*(one.ask(HELLO) for _ in range(12)))
    assert {answer.text for answer in found} == {"hello"}
    assert server.most == 3


async def test_calls_a_minute_are_spread(dialect: Dialect) -> None:
    async with asking(dialect, *[said(dialect, HI)] * 3, limits={"requests_per_minute": 30}) as (one, _):
        for _ in range(3):
            await one.ask(HELLO)
    assert one.waited == [2.0, 2.0]


async def test_a_provider_that_fails_too_often_is_left_alone_for_a_while(dialect: Dialect) -> None:
    replies = [*[refused(500)] * 6, said(dialect, HI)]
    async with asking(dialect, *replies, limits={"attempts": 1}) as (one, server):
        for _ in range(5):
            with pytest.raises(ProviderError, match="status 500"):
                await one.ask(HELLO)
        with pytest.raises(ProviderError, match="is left alone"):
            await one.ask(HELLO)
        assert len(server.asked) == 5
        one.now += 31
        with pytest.raises(ProviderError, match="status 500"):
            await one.ask(HELLO)
        with pytest.raises(ProviderError, match="is left alone"):
            await one.ask(HELLO)
        one.now += 31
        assert (await one.ask(HELLO)).text == "hello"
        assert len(server.asked) == 7


async def test_a_key_that_is_refused_gives_way_to_the_next(dialect: Dialect) -> None:
    replies = refused(429, retry_after="50"), said(dialect, HI), said(dialect, HI)
    async with asking(dialect, *replies, key_env="FAKE_KEY, SPARE_KEY") as (one, server):
        assert [(await one.ask(HELLO)).text for _ in range(2)] == ["hello", "hello"]
        sent = [" ".join(asked.headers.values()) for asked in server.asked]
    assert [KEYS["SPARE_KEY"] in text for text in sent] == [False, True, True]
    assert one.waited == [0.0]


async def test_a_key_that_a_provider_repeats_is_not_repeated_here(dialect: Dialect) -> None:
    loud = document({"error": {"message": f"Incorrect key: {KEYS['FAKE_KEY']}", "type": "auth"}}, 401)
    whole = said(dialect, Say(text=f"Your key is {KEYS['FAKE_KEY']}."))
    events = streamed(dialect, HI)
    events = Reply(
        headers=events.headers, chunks=[chunk.replace(b"fake-1", KEYS["FAKE_KEY"].encode()) for chunk in events.chunks]
    )
    async with asking(dialect, loud, whole, events) as (one, _):
        with pytest.raises(ProviderError, match="<secret:FAKE_KEY>") as told:
            await one.ask(HELLO)
        assert KEYS["FAKE_KEY"] not in str(told.value)
        assert (await one.ask(HELLO)).text == "Your key is <secret:FAKE_KEY>."
        assert KEYS["FAKE_KEY"] not in (await one.ask(HELLO, stream=True)).model_dump_json()


def twice_in_json(key: str) -> str:
    return json.dumps(json.dumps(key))


def in_hexadecimal(key: str) -> str:
    return key.encode().hex()


@pytest.mark.parametrize("form", [str, twice_in_json, in_hexadecimal])
async def test_a_key_that_an_error_repeats_in_another_form_is_not_repeated_here(
    dialect: Dialect, form: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = 'key"that/nobody\\may+see'
    monkeypatch.setitem(KEYS, "FAKE_KEY", key)
    padding = "x" * (190 - len(form(key)) // 2)  # so that it lies where long words are cut off
    refused = document({"error": {"message": f"{padding} {form(key)}", "type": "x"}}, 401)
    async with asking(dialect, refused) as (one, _):
        with pytest.raises(ProviderError, match="status 401") as told:
            await one.ask(HELLO)
    assert not any(form(key)[:length] in str(told.value) for length in range(8, len(form(key))))


async def test_only_its_own_key_goes_to_a_server(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    for name in (*names, "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"foreign-{name}")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Gateway-Key: foreign")
    async with asking(dialect, said(dialect, HI)) as (one, server):
        await one.ask(HELLO)
        assert "foreign" not in " ".join(server.asked[0].headers.values())


async def test_a_redirect_is_not_followed(dialect: Dialect) -> None:
    async with Loopback().open() as elsewhere:
        moved = Reply(status=307, headers={"location": f"{elsewhere.url}/stolen"})
        async with asking(dialect, moved) as (one, _):
            with pytest.raises(ProviderError, match="status 307"):
                await one.ask(HELLO)
        assert elsewhere.asked == []


def _manager(*chain: tuple[str, object], fallbacks: tuple[str, ...] = ()) -> ModelManager:
    models = ModelManager()
    for position, (name, adapter) in enumerate(chain):
        config = ModelConfig(name=name, provider="test", fallbacks=fallbacks if position == 0 else ())
        models.add(config, adapter)  # pyright: ignore[reportArgumentType]
    return models


async def test_a_fallback_takes_the_whole_conversation_over(dialect: Dialect) -> None:
    call = ToolCall(id="a foreign id!", name="look", arguments={})
    thought = ReasoningPart(
        text="hm", origin="openai_responses  gpt", data={"type": "reasoning", "id": "sealed-by-another"}
    )
    messages = (
        *HELLO.messages,
        Message(role="assistant", content=(thought, TextPart(text="I look.")), calls=(call,)),
        Message(role="tool", content=(TextPart(text="a cat"),), call_id=call.id),
    )
    async with asking(dialect, said(dialect, HI)) as (one, server):
        models = _manager(("first", ScriptedModel([])), ("fake", one.model), fallbacks=("fake",))
        models.add(one.config, one.model)
        found = await models.complete(ModelRequest(model="first", messages=messages, tools=()), no_tool)
        sent = server.asked[0].raw.decode()
    assert (found.text, found.answered_by) == ("hello", "fake")
    assert "sealed-by-another" not in sent
    assert "foreign id" not in sent
    assert sent.count("call_1") == 2
    assert all(word in sent for word in ("Say hello.", "I look.", "a cat"))
    first, changed = found.attempts
    assert (first.model, "asked once more" in first.problem) == ("first", True)
    assert (changed.model, changed.problem[:25]) == ("fake", "The conversation goes on ")


async def test_a_chain_that_ends_says_what_each_of_it_said() -> None:
    models = _manager(("a", ScriptedModel([])), ("b", ScriptedModel([])), fallbacks=("b",))
    with pytest.raises(ProviderError) as told:
        await models.complete(ModelRequest(), no_tool)
    assert told.value.problem.count("was asked once more") == 2


@pytest.mark.parametrize("name", ["offline", "nobody"])
def test_a_fallback_that_is_offline_or_not_there_is_refused(name: str) -> None:
    models = _manager(("a", ScriptedModel([])), fallbacks=(name,))
    models.add(OFFLINE, OfflineModel())
    with pytest.raises(BadInput, match=f"cannot fall back to '{name}'"):
        models.config("a")


def test_deltas_are_values() -> None:
    assert Delta(type="text", text="a") == Delta(type="text", text="a")
