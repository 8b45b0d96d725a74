"""The same scenarios in all three formats: real SDKs, a loopback provider, the providers' own types."""

import pytest
from dialects import Dialect, Say, said, streamed
from loopback import document
from model_kit import HELLO, asking, both, user

from tea.errors import ProviderError
from tea.types import DataPart, MediaPart, Message, ModelRequest, ReasoningPart, TextPart, ToolCall

PIXEL = bytes.fromhex("89504e470d0a1a0a")
ADD = {
    "name": "add",
    "description": "Add numbers.",
    "parameters": {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "integer"}}},
}
LOOK = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}
CLOSED = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"arguments": {"type": "object"}}}


async def test_words_come_back_whole_or_streamed_with_their_usage(dialect: Dialect) -> None:
    found, one, _ = await both(
        dialect, Say(text="Grüße, 世界 🎉"), HELLO, prices={"input": 2, "cached": 1, "output": 10}
    )
    assert (found.text, found.calls, found.finish, found.answered_by, found.model) == (
        "Grüße, 世界 🎉",
        (),
        "stop",
        "fake",
        "fake-1",
    )
    used = found.usage
    assert (used.input_tokens, used.cached_tokens, used.output_tokens, used.reasoning_tokens) == (100, 40, 20, 5)
    assert used.usd == pytest.approx((60 * 2 + 40 * 1 + 20 * 10) / 1e6)
    assert "".join(delta.text for delta in one.heard if delta.type == "text") == "Grüße, 世界 🎉"


async def test_an_unknown_price_is_unknown_and_never_zero(dialect: Dialect) -> None:
    found, _, _ = await both(dialect, Say(text="x"), HELLO)
    assert found.usage.usd is None


async def test_calls_come_back_in_their_order_with_their_arguments(dialect: Dialect) -> None:
    say = Say(text="I look.", calls=(("c1", "look", {}), ("c2", "add", {"a": 1, "b": "ü"})))
    found, one, _ = await both(dialect, say, HELLO.model_copy(update={"tools": (LOOK, ADD)}))
    assert [(call.id, call.name, call.arguments) for call in found.calls] == [
        ("c1", "look", {}),
        ("c2", "add", {"a": 1, "b": "ü"}),
    ]
    assert (found.finish, found.text, found.unusable) == ("calls", "I look.", "")
    told = "".join(delta.text for delta in one.heard if delta.type == "call")
    assert told.startswith("look")
    assert "add" in told


async def test_a_conversation_with_calls_and_results_is_accepted_and_goes_on(dialect: Dialect) -> None:
    asked = (ToolCall(id="c1", name="look", arguments={}), ToolCall(id="c2", name="add", arguments={"a": 1}))
    messages = (
        *HELLO.messages,
        Message(role="assistant", content=(TextPart(text="Let me see."),), calls=asked),
        Message(role="tool", content=(TextPart(text="a cat"),), call_id="c1"),
        Message(role="tool", content=(DataPart(data={"sum": 1}),), call_id="c2"),
        user("And now?"),
    )
    request = ModelRequest(messages=messages, tools=(ADD, LOOK))
    found, _, server = await both(dialect, Say(text="done"), request)
    assert found.text == "done"
    sent = server.asked[0].raw.decode()
    assert all(word in sent for word in ("c1", "c2", "a cat", "sum", "And now?"))


async def test_bodies_are_the_same_bytes_whatever_the_order_of_their_members(dialect: Dialect) -> None:
    turned = {
        **ADD,
        "parameters": {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "type": "object"},
    }
    async with asking(dialect, *[said(dialect, Say(text="x"))] * 2) as (one, server):
        await one.ask(HELLO.model_copy(update={"tools": (ADD, LOOK), "output": CLOSED}))
        again = {"output": dict(reversed(CLOSED.items())), "tools": ({"type": "function", "function": turned}, LOOK)}
        await one.ask(HELLO.model_copy(update=again))
        first, second = (asked.raw for asked in server.asked)
    assert first == second


@pytest.mark.parametrize(("choice", "parallel"), [("auto", True), ("required", False), ("none", True)])
async def test_whether_tools_are_called_can_be_said(dialect: Dialect, choice: str, parallel: bool) -> None:
    request = HELLO.model_copy(update={"tools": (ADD,), "tool_choice": choice, "parallel": parallel})
    _, _, server = await both(dialect, Say(text="x"), request)
    words = {"required": "any" if dialect.name == "anthropic_messages" else "required"}
    chosen = server.asked[0].body.get("tool_choice", "auto")
    assert (chosen["type"] if isinstance(chosen, dict) else chosen) == words.get(choice, choice)
    assert ("tool_choice" in server.asked[0].body) == (choice != "auto")
    assert ("parallel" in server.asked[0].raw.decode()) is not parallel


async def test_a_model_that_takes_no_choice_is_told_none(dialect: Dialect) -> None:
    request = HELLO.model_copy(update={"tools": (ADD,), "tool_choice": "required"})
    _, _, server = await both(dialect, Say(text="x"), request, capabilities=["tools", "streaming"])
    assert "tool_choice" not in server.asked[0].body


async def test_a_model_that_refuses_a_choice_is_asked_without_from_then_on(dialect: Dialect) -> None:
    words = "Thinking may not be enabled when tool_choice forces tool use."
    refused, answer = document({"error": {"message": words, "type": "invalid_request_error"}}, 400), Say(text="x")
    auto = HELLO.model_copy(update={"tools": (ADD,)})
    required = auto.model_copy(update={"tool_choice": "required"})
    async with asking(dialect, refused, *[said(dialect, answer)] * 3) as (one, server):
        found = [await one.ask(request) for request in (required, required, auto)]
        assert ["tool_choice" in asked.body for asked in server.asked] == [True, False, False, False]
    assert ([len(one.attempts) for one in found], one.waited) == ([1, 0, 0], [0.0])
    async with asking(dialect, refused) as (one, server):
        with pytest.raises(ProviderError, match="Thinking may not"):
            await one.ask(auto)
        assert len(server.asked) == 1


async def test_arguments_that_cannot_be_read_are_said_of_their_call_and_paid_for(dialect: Dialect) -> None:
    async with asking(dialect, streamed(dialect, Say(calls=(("c", "add", '{"a": '),)))) as (one, _):
        found = await one.ask(HELLO.model_copy(update={"tools": (ADD,)}), stream=True)
    assert (found.unusable, found.usage.output_tokens) == ("", 20)
    ((name, arguments, why),) = [(call.name, call.arguments, call.unreadable) for call in found.calls]
    assert (name, arguments, why) == ("add", {}, 'its arguments are not a JSON object: {"a":')


async def test_an_answer_that_was_cut_off_or_refused_says_so(dialect: Dialect) -> None:
    cut, _, _ = await both(dialect, Say(text="Once upon", finish="length"), HELLO)
    assert (cut.finish, cut.text) == ("length", "Once upon")
    refused, _, _ = await both(dialect, Say(refusal="I will not."), HELLO)
    assert (refused.finish, refused.text) == ("refusal", "I will not.")


async def test_reasoning_is_kept_and_given_back_to_its_own_model_only(dialect: Dialect) -> None:
    say = Say(text="42", reasoning="Six by nine.")
    replies = said(dialect, say), streamed(dialect, say, size=5), said(dialect, Say(text="x"))
    async with asking(dialect, *replies) as (one, server):
        found = await one.ask(HELLO)
        assert await one.ask(HELLO, stream=True) == found
        assert [part.text for part in found.reasoning] == ["Six by nine."]
        assert "".join(delta.text for delta in one.heard if delta.type == "reasoning") == "Six by nine."
        foreign = ReasoningPart(text="foreign", origin="elsewhere", data={"type": "thinking", "signature": "forged"})
        answered = found.message().model_copy(update={"content": (foreign, *found.message().content)})
        await one.ask(ModelRequest(messages=(*HELLO.messages, answered, user("Why?"))))
        sent = server.asked[-1].raw.decode()
    assert "forged" not in sent
    assert {"openai_chat": "", "openai_responses": "sealed", "anthropic_messages": "signed"}[dialect.name] in sent


async def test_a_schema_that_can_be_enforced_is_strict(dialect: Dialect) -> None:
    found, _, server = await both(dialect, Say(text='{"answer": 4}'), HELLO.model_copy(update={"output": CLOSED}))
    assert found.text == '{"answer": 4}'
    sent = server.asked[0].raw.decode()
    assert '"json_schema"' in sent
    assert dialect.name == "anthropic_messages" or '"strict":true' in sent
    _, _, server = await both(dialect, Say(text="{}"), HELLO.model_copy(update={"output": OPEN}))
    assert '"strict":true' not in server.asked[0].raw.decode()


async def test_images_and_files_are_sent_by_content(dialect: Dialect) -> None:
    image = MediaPart(type="image", digest="sha256:1", media_type="image/png")
    pdf = MediaPart(type="file", digest="sha256:2", media_type="application/pdf")
    media = {"sha256:1": PIXEL, "sha256:2": b"%PDF"}
    request = ModelRequest(messages=(user("What is this?", image, pdf),), media=media)
    _, _, server = await both(dialect, Say(text="a pixel"), request)
    sent = server.asked[0].raw.decode()
    assert "iVBORw0KGgo=" in sent
    assert "JVBERg==" in sent
    with pytest.raises(ProviderError, match="is not at hand"):
        async with asking(dialect) as (other, _):
            await other.ask(request.model_copy(update={"media": {}}))


async def test_sound_is_sent_where_it_can_be_and_refused_elsewhere(dialect: Dialect) -> None:
    sound = MediaPart(type="audio", digest="sha256:3", media_type="audio/wav")
    request = ModelRequest(messages=(user("What do you hear?", sound),), media={"sha256:3": b"RIFF"})
    if dialect.name == "openai_chat":
        _, _, server = await both(dialect, Say(text="a hum"), request)
        assert server.asked[0].body["messages"][0]["content"][1]["input_audio"]["format"] == "wav"
        return
    with pytest.raises(ProviderError, match="audio"):
        async with asking(dialect) as (other, _):
            await other.ask(request)


async def test_a_model_without_function_calling_is_told_of_tools_in_words(dialect: Dialect) -> None:
    asked = ModelRequest(
        messages=(
            *HELLO.messages,
            Message(role="assistant", content=(), calls=(ToolCall(id="c1", name="look", arguments={}),)),
            Message(role="tool", content=(TextPart(text="a cat"),), call_id="c1"),
        ),
        tools=(ADD, LOOK),
    )
    say = Say(text='Well: ```json\n{"calls": [{"name": "add", "arguments": {"a": 1}}]}\n```')
    found, _, server = await both(dialect, say, asked, capabilities=["streaming"])
    assert [(call.name, call.arguments) for call in found.calls] == [("add", {"a": 1})]
    assert (found.finish, found.text) == ("calls", "")
    body = server.asked[0].body
    assert "tools" not in body
    assert "Add numbers." in server.asked[0].raw.decode()
    assert "Result of look (c1)" in server.asked[0].raw.decode()
    plain, _, _ = await both(dialect, Say(text="No need."), asked, capabilities=["streaming"])
    assert (plain.text, plain.calls) == ("No need.", ())
    wanted = asked.model_copy(update={"tool_choice": "required"})
    lacking, _, _ = await both(dialect, Say(text="No need."), wanted, capabilities=["streaming"])
    assert "none was" in lacking.unusable
