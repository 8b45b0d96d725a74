"""Test routers, gateways and foreign servers with deviations from the format's own provider."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Asked, Loopback, Reply, document, sse
from model_kit import HELLO, Asking, asking
from run_kit import tea

from tea.errors import ProviderError
from tea.models import wire

HI = Say(text="hello")
FORM = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
LOOK = {"name": "look", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
WITH_LOOK = HELLO.model_copy(update={"tools": (LOOK,)})


@pytest.mark.parametrize(
    ("name", "place", "wish"),
    [
        ("openai_responses", "text", {"verbosity": "low"}),
        ("anthropic_messages", "output_config", {"effort": "high"}),
        ("openai_chat", "response_format", {}),
    ],
)
async def test_an_option_stands_beside_the_form_of_the_answer_and_never_in_its_place(
    name: str, place: str, wish: dict[str, Any]
) -> None:
    dialect = DIALECTS[name]
    async with asking(dialect, *[said(dialect, HI)] * 2, options={place: wish}) as (one, server):
        await one.ask(HELLO.model_copy(update={"output": FORM}))
        if wish:
            await one.ask(HELLO)
        formed = server.asked[0].body[place]
    assert {**formed, **wish} == formed
    assert '"answer"' in json.dumps(formed)
    assert [asked.body[place] for asked in server.asked[1:]] == [wish] * bool(wish)


async def test_openais_models_behind_another_address_are_told_their_limit_by_its_new_name() -> None:
    chat = DIALECTS["openai_chat"]
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    refused = document({"error": {"message": words, "type": "invalid_request_error", "param": "max_tokens"}}, 400)
    async with asking(chat, refused, *[said(chat, HI)] * 2, max_output=99) as (one, server):
        first, second = await one.ask(HELLO), await one.ask(HELLO)
    limits = [{name: value for name, value in asked.body.items() if name.startswith("max_")} for asked in server.asked]
    assert limits == [{"max_tokens": 99}, {"max_completion_tokens": 99}, {"max_completion_tokens": 99}]
    assert (len(first.attempts), second.attempts, one.waited) == (1, (), [0.0])


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ("max_tokens is too large: 8192. This model supports at most 4096 completion tokens.", [8192, 4096]),
        ("`max_tokens` must be less than or equal to `2048`, the maximum value.", [8192, 2048]),
        ("max_tokens: the valid range is [1, 1024].", [8192, 1024]),
        ("max_tokens is too small: at most 9000 are allowed.", None),
    ],
)
async def test_a_limit_of_the_answer_beyond_that_of_the_model_is_lowered(words: str, limits: list[int] | None) -> None:
    chat = DIALECTS["openai_chat"]
    refused = document({"error": {"message": words, "type": "invalid_request_error"}}, 400)
    async with asking(chat, refused, *[said(chat, HI)] * 2, max_output=8192) as (one, server):
        if limits is None:
            with pytest.raises(ProviderError):
                await one.ask(HELLO)
        else:
            first, second = await one.ask(HELLO), await one.ask(HELLO)
            assert [asked.body["max_tokens"] for asked in server.asked] == [*limits, limits[-1]]
            assert (len(first.attempts), second.attempts, one.waited) == (1, (), [0.0])


async def test_a_server_without_options_of_streams_is_asked_without_them() -> None:
    chat = DIALECTS["openai_chat"]
    refused = document({"error": {"message": "stream_options is not supported"}}, 400)
    async with asking(chat, refused, *[streamed(chat, HI)] * 2) as (one, server):
        for _ in range(2):
            assert (await one.ask(HELLO, stream=True)).text == HI.text
    assert ["stream_options" in asked.body for asked in server.asked] == [True, False, False]
    assert all(asked.body["stream"] is True for asked in server.asked)


@pytest.mark.parametrize("reason", [None, ""])
@pytest.mark.parametrize("say", [HI, Say(calls=(("a", "add", {"a": 1}),)), Say(text="")])
async def test_a_stream_may_end_without_a_reason_where_it_holds_an_answer(say: Say, reason: str | None) -> None:
    chat = DIALECTS["openai_chat"]
    events = chat.events(say)
    choices: list[Any] = [choice for _, data in events if data != "[DONE]" for choice in data["choices"]]
    for choice in choices:
        choice["finish_reason"] = reason
    async with asking(chat, sse(events), limits={"attempts": 1}) as (one, _):
        if say.text or say.calls:
            found = await one.ask(HELLO, stream=True)
            assert (found.text, len(found.calls)) == (say.text, len(say.calls))
            assert found.finish == ("calls" if say.calls else "stop")
        else:
            with pytest.raises(ProviderError, match="ended before the answer did"):
                await one.ask(HELLO, stream=True)


@pytest.mark.parametrize("stream", [False, True])
async def test_arguments_may_come_as_an_object(*, stream: bool) -> None:
    chat, function = DIALECTS["openai_chat"], {"name": "add", "arguments": {"a": [1, "\u00fc"]}}
    call = {"index": 0, "id": "a", "type": "function", "function": function}
    choice = {"index": 0, "finish_reason": "tool_calls", "delta" if stream else "message": {"tool_calls": [call]}}
    reply = sse([("", {"choices": [choice]})]) if stream else document({"choices": [choice]})
    async with asking(chat, reply, limits={"attempts": 1}) as (one, _):
        (made,) = (await one.ask(HELLO, stream=stream)).calls
    assert (made.name, made.arguments, made.unreadable) == ("add", {"a": [1, "\u00fc"]}, "")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("code", "tries", "remedy"),
    [
        (400, 1, "see what the provider says"),
        ("402", 1, "more keys"),
        (403, 1, "check the key in FAKE_KEY"),
        ("insufficient_quota", 1, "more keys"),
        (429, 2, "wait"),
        (502, 2, "try again later"),
        ("some_word", 2, "check its base_url"),
    ],
)
async def test_the_code_of_a_routers_error_in_the_place_of_an_answer_counts_as_its_status(
    code: Any, tries: int, remedy: str, *, stream: bool
) -> None:
    chat, error = DIALECTS["openai_chat"], {"error": {"code": code, "message": "The router says no."}}
    reply = sse([("", error)]) if stream else document(error)
    async with asking(chat, *[reply] * 2, limits={"attempts": 2}) as (one, server):
        with pytest.raises(ProviderError, match=rf"The router says no\. Fix: .*{remedy}"):
            await one.ask(HELLO, stream=stream)
    assert len(server.asked) == tries


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("type", "tries", "remedy"),
    [
        ("invalid_request_error", 1, "see what the provider says"),
        ("authentication_error", 1, "check the key in FAKE_KEY"),
        ("overloaded_error", 2, "try again later"),
        ("new_error", 2, "check its base_url"),
    ],
)
async def test_the_type_of_anthropics_error_in_the_place_of_an_answer_counts_as_its_status(
    type: str, tries: int, remedy: str, *, stream: bool
) -> None:
    messages, error = (
        DIALECTS["anthropic_messages"],
        {"type": "error", "error": {"type": type, "message": "It says no."}},
    )
    reply = sse([("error", error)]) if stream else document(error)
    async with asking(messages, *[reply] * 2, limits={"attempts": 2}) as (one, server):
        with pytest.raises(ProviderError, match=rf"It says no\. Fix: .*{remedy}"):
            await one.ask(HELLO, stream=stream)
    assert len(server.asked) == tries


@pytest.mark.parametrize("stream", [False, True])
async def test_the_only_call_of_an_older_server_is_a_call(*, stream: bool) -> None:
    call = {"name": "look", "arguments": '{"a": 1}'}
    if stream:
        parts = [{"name": "look", "arguments": ""}, {"arguments": '{"a":'}, {"arguments": " 1}"}]
        deltas: list[dict[str, Any]] = [{"delta": {"role": "assistant", "function_call": one}} for one in parts]
        ends: list[dict[str, Any]] = [*deltas, {"delta": {}, "finish_reason": "function_call"}]
        reply = sse([*(("", {"choices": [{"index": 0, **one}]}) for one in ends), ("", "[DONE]")])
    else:
        message = {"role": "assistant", "content": None, "function_call": call}
        reply = document({"choices": [{"index": 0, "message": message, "finish_reason": "function_call"}]})
    async with asking(DIALECTS["openai_chat"], reply) as (one, _):
        found = await one.ask(WITH_LOOK, stream=stream)
    assert [(call.name, call.arguments, call.unreadable) for call in found.calls] == [("look", {"a": 1}, "")]
    assert found.finish == "calls"


async def test_a_server_that_is_still_loading_its_model_is_asked_again_which_it_has(dialect: Dialect) -> None:
    loading = document({"error": {"message": "Loading model", "code": 503}}, 503, retry_after="3")
    listed = document({"object": "list", "data": [{"id": "first", "object": "model"}]})
    async with asking(dialect, loading, listed, said(dialect, HI), model="") as (one, server):
        found = await one.ask(HELLO)
    assert (found.text, one.waited, server.asked[-1].body["model"]) == ("hello", [3.0], "first")
    assert "does not list its models: status 503: Loading model" in found.attempts[0].problem


@pytest.mark.parametrize(
    ("listed", "words"),
    [({"data": []}, "has no model"), ({"data": None}, "has no model"), ({"data": ["a"]}, "list of objects")],
)
async def test_a_list_of_models_that_holds_none_is_one_clear_error(dialect: Dialect, listed: Any, words: str) -> None:
    async with asking(dialect, *[document(listed)] * 3, model="", limits={"attempts": 2}) as (one, _):
        with pytest.raises(ProviderError, match=words):
            await one.ask(HELLO)
        with pytest.raises(ProviderError, match=words):
            await one.model.probe(one.config)


@pytest.mark.parametrize("stream", [False, True])
async def test_no_try_outlasts_the_time_that_is_left_for_all_of_them(dialect: Dialect, *, stream: bool) -> None:
    busy = document({"error": {"message": "busy"}}, 503, retry_after="59.7")
    limits = {"seconds": 60, "attempt_seconds": 60}
    async with asking(dialect, busy, Reply(then="hang"), limits={**limits, "attempts": 2}) as (one, server):
        async with asyncio.timeout(30):
            with pytest.raises(ProviderError, match=r"no answer within 0\.3 seconds"):
                await one.ask(HELLO, stream=stream)
    assert len(server.asked) == 2


@pytest.mark.parametrize(("name", "missing"), [("openai_chat", 1), ("anthropic_messages", 1)])
async def test_a_stream_that_said_its_end_and_never_ends_is_soon_an_answer(
    name: str, missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "SETTLING", 0.2)
    cut = sse(DIALECTS[name].events(HI)[:-missing], then="hang")
    async with asking(DIALECTS[name], cut, limits={"attempts": 1, "attempt_seconds": 60}) as (one, _):
        async with asyncio.timeout(30):
            found = await one.ask(HELLO, stream=True)
    assert (found.text, found.usage.output_tokens) == ("hello", 20)


async def test_arguments_that_come_with_the_beginning_of_a_call_are_not_lost() -> None:
    messages = DIALECTS["anthropic_messages"]
    events = messages.events(Say(calls=(("c1", "look", {"a": 1}),)))
    for _, event in events:
        if event["type"] == "content_block_start":
            event["content_block"]["input"] = {"a": 1}
    events = [one for one in events if one[1]["type"] != "content_block_delta"]
    async with asking(messages, sse(events)) as (one, _):
        found = await one.ask(WITH_LOOK, stream=True)
    assert [(call.name, call.arguments) for call in found.calls] == [("look", {"a": 1})]


async def test_a_name_that_comes_with_each_piece_of_a_call_is_said_once_and_one_in_pieces_is_put_together() -> None:
    chat = DIALECTS["openai_chat"]
    for before, names in ((("", "look"), ("look", "look")), (("", "look"), ("look", None)), (("lo", "ok"), ("", None))):
        first, second = ({"name": name, "arguments": ""} for name in before)
        pieces: list[dict[str, Any]] = [
            first,
            second,
            *({"name": name, "arguments": text} for name, text in zip(names, ('{"a"', ": 1}"), strict=True)),
        ]
        events = _calling(chat, pieces)
        async with asking(chat, sse(events)) as (one, _):
            found = await one.ask(WITH_LOOK, stream=True)
        assert [(call.name, call.arguments) for call in found.calls] == [("look", {"a": 1})]


def _calling(chat: Dialect, functions: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """A stream with one call, in these pieces."""
    begin, *_, end, usage, done = chat.events(Say(calls=(("c1", "look", {}),)))
    deltas = [
        {
            "tool_calls": [
                {"index": 0, **({"id": "c1", "type": "function"} if number == 0 else {}), "function": function}
            ]
        }
        for number, function in enumerate(functions)
    ]
    chunks = [("", {**begin[1], "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas]
    return [begin, *chunks, end, usage, done]


SENT = "X-Team: research-team\nX-Gateway-Key: gateway-planted-1\nProxy-Authorization: Bearer gateway-planted-2\nX-Key:"


async def test_what_a_gateway_is_sent_beside_the_key_is_not_repeated_either(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeat(asked: Asked) -> Reply:
        words = " ".join(asked.headers[name] for name in ("x-team", "proxy-authorization", "x-gateway-key"))
        if len(server.asked) == 1:
            return said(dialect, Say(text=words))
        cut = "." * (195 - len(words)) + words  # where long words of an error are cut off
        return document({"error": {"message": cut, "type": "denied"}}, 400)

    async with Loopback(answer=repeat).open() as server:
        for sdk in ("OPENAI", "ANTHROPIC"):
            monkeypatch.setenv(f"{sdk}_CUSTOM_HEADERS", SENT)
            monkeypatch.setenv(f"{sdk}_BASE_URL", server.url + dialect.base)
        one = Asking(dialect, server.url)
        found = await one.ask(HELLO)
        with pytest.raises(ProviderError, match="research-team") as told:
            await one.ask(HELLO)
        await one.model.close()
    assert re.fullmatch(r"research-team Bearer <secret:\w+_HEADERS_2> <secret:\w+_HEADERS_1>", found.text)
    assert "gatew" not in str(told.value)


async def test_a_key_in_the_place_of_a_models_name_is_not_repeated(tmp_path: Path) -> None:
    key = "sk-planted-0123456789abcdef"
    for arguments in (
        ("run", "6 * 7?", "--model", key),
        ("models", "add", key),
        ("run", "6 * 7?", "--model", key, "--json"),
    ):
        code, out, err = await tea(tmp_path, *arguments)
        assert code in (2, 4)
        assert key not in out + err
        assert "looks like a key" in out + err
