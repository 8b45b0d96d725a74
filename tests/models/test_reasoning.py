"""Test reasoning between the steps: given back unchanged, in place, to its own model alone."""

import asyncio
import json
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, checked, said, streamed
from loopback import Loopback, Reply, document, sse
from model_kit import HELLO, asking, user
from run_kit import home, replayed, run, started, tea

from tea.journal.recorder import Event
from tea.types import Message, ModelRequest, TextPart

NATIVE: dict[str, Any] = {"capabilities": ["tools", "schema", "streaming"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS: tuple[dict[str, Any], ...] = tuple({"name": name, "parameters": NOTHING} for name in ("look", "add"))


def step(number: int) -> Say:
    call = (f"own-{number}", "calculator", {"expression": f"{number} + 1"})
    return Say(reasoning=f"Thought number {number}.", calls=(call, (f"and-{number}", "todo", {"action": "list"})))


END = Say(reasoning="Enough.", calls=(("end", "done", {"answer": "42"}),))


def kept(dialect: Dialect, say: Say) -> Any:
    """Return an answer's reasoning as the format gives it back."""
    if dialect.name == "openai_chat":
        return {"reasoning_content": say.reasoning}
    whole = dialect.whole(say)
    return whole["content"][0] if dialect.name == "anthropic_messages" else whole["output"][0]


def turns(body: Any) -> list[Any]:
    """The model's own turns in a body, each as its blocks or items, in any format."""
    found: list[Any] = []
    if "input" in body:
        for one in body["input"]:
            if one["type"] == "reasoning":
                found.append([one])
            elif found and one["type"] == "function_call":
                found[-1].append(one)
        return found
    for message in body["messages"]:
        if message["role"] == "assistant" and isinstance(message["content"], list):
            found.append(message["content"])
        elif message["role"] == "assistant":
            thought = {name: message[name] for name in message if name.startswith("reasoning")}
            found.append([thought, *message["tool_calls"]])
    return found


@pytest.mark.parametrize("stream", [False, True])
async def test_every_step_gets_all_earlier_reasoning_back_and_the_run_replays(
    dialect: Dialect, tmp_path: Path, *, stream: bool
) -> None:
    says, heard = [step(1), step(2), step(3), END], list[Event]()
    async with Loopback(*[(streamed if stream else said)(dialect, one) for one in says]).open() as server:
        home(tmp_path, dialect, server.url, **NATIVE)
        outcome = await run(tmp_path, watch=heard.append if stream else None)
        assert (outcome.answer, len(server.asked)) == ("42", 4)
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
    for number, asked in enumerate(server.asked):
        found = turns(asked.body)
        assert [one[0] for one in found] == [kept(dialect, one) for one in says[:number]]
        assert all(len(one) == 3 for one in found)  # nothing between the reasoning and its two calls
    words = (outcome.trace / "journal.jsonl").read_text()
    assert "Thought number 2." in words


@pytest.mark.slow
async def test_what_is_sent_after_a_resume_is_what_was_sent_before(dialect: Dialect, tmp_path: Path) -> None:
    replies = [said(dialect, step(1)), said(dialect, step(2)), Reply(then="hang"), said(dialect, END)]
    async with Loopback(*replies).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["tools", "schema"])
        process = await started(tmp_path, "run", "What is 6 * 7?")
        async with asyncio.timeout(60):
            while len(server.asked) < 3:
                server.came.clear()
                await server.came.wait()
        process.send_signal(signal.SIGINT)
        await process.communicate()
        code, out, err = await tea(tmp_path, "resume", "last")
        assert (code, out) == (0, "42\n"), err
        assert server.asked[3].raw == server.asked[2].raw
        assert len(turns(server.asked[3].body)) == 2
        assert (await tea(tmp_path, "replay", "last"))[0] == 0


async def test_another_model_gets_the_conversation_without_foreign_reasoning(dialect: Dialect, tmp_path: Path) -> None:
    other = DIALECTS["openai_chat" if dialect.name == "anthropic_messages" else "anthropic_messages"]
    down = [document({"error": {"message": "down"}}, 500)] * 9
    first, second = Loopback(said(dialect, step(1)), *down), Loopback(said(other, step(2)), said(other, END))
    async with first.open(), second.open():
        home(tmp_path, dialect, first.url, **NATIVE, fallbacks=["spare"], limits={"attempts": 1})
        lines = f'provider = "{other.name}"\nmodel = "m"\nbase_url = "{second.url}{other.base}"'
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(f"\n[models.spare]\n{lines}")
        outcome = await run(tmp_path)
        assert outcome.answer == "42"
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
    sent = [asked.raw.decode() for asked in second.asked]
    assert not any(word in sent[0] for word in ("signature", "sealed", "reasoning_content"))
    assert "Thought number 2." in sent[1]
    assert "1 pieces of foreign reasoning dropped" in (outcome.trace / "journal.jsonl").read_text()


async def test_reasoning_between_calls_stays_between_them() -> None:
    responses, messages = DIALECTS["openai_responses"], DIALECTS["anthropic_messages"]
    whole = messages.whole(Say(text="Now.", calls=(("a", "look", {}), ("b", "add", {}))))
    text, first, second = whole["content"]
    thoughts = [{"type": "thinking", "thinking": f"t{n}", "signature": f"s{n}"} for n in range(4)]
    hidden = {"type": "redacted_thinking", "data": "x"}
    content = [thoughts[0], hidden, text, thoughts[1], first, thoughts[2], second, thoughts[3]]
    sent = await _sent_again(messages, {**whole, "content": content})
    assert _bare(sent["messages"][1]["content"]) == _bare(content[:-1])
    whole = responses.whole(Say(text="Now.", calls=(("a", "look", {}), ("b", "add", {}))))
    text, first, second = whole["output"]
    items: list[Any] = [
        {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": f"s{n}"} for n in range(4)
    ]
    output = [items[0], text, items[1], first, items[2], second, items[3]]
    sent = await _sent_again(responses, {**whole, "output": output})
    kinds = [one.get("encrypted_content") or one.get("call_id") or one["type"] for one in sent["input"][2:8]]
    assert kinds == ["s0", "message", "s1", "a", "s2", "b"]


def _bare(blocks: list[Any]) -> list[Any]:
    return [{name: value for name, value in one.items() if name not in ("citations", "caller")} for one in blocks]


async def _sent_again(dialect: Dialect, answer: Any) -> Any:
    """Return the request after an answer and the results of its two calls."""
    async with asking(dialect, document(answer), said(dialect, Say(text="x"))) as (one, server):
        found = await one.ask(HELLO.model_copy(update={"tools": TOOLS}))
        results = [Message(role="tool", content=(TextPart(text="r"),), call_id=call.id) for call in found.calls]
        await one.ask(ModelRequest(messages=(*HELLO.messages, found.message(), *results), tools=TOOLS))
        return server.asked[1].body


async def test_reasoning_that_only_its_server_holds_is_not_given_back() -> None:
    responses = DIALECTS["openai_responses"]
    whole = responses.whole(Say(reasoning="r", calls=(("a", "look", {}), ("b", "add", {}))))
    del whole["output"][0]["encrypted_content"]
    sent = await _sent_again(responses, whole)
    assert [one["type"] for one in sent["input"]][2:] == ["function_call"] * 2 + ["function_call_output"] * 2


PHASED = (("commentary", "I look first."), ("final_answer", "It is a cat."))


def in_phases(*phases: tuple[str, str], **more: Any) -> Any:
    """A whole answer of Responses in several messages, each of a phase."""
    from openai.types.responses import Response

    whole = DIALECTS["openai_responses"].whole(Say(text="x", **more))
    first, *calls = whole["output"]
    said = [
        {
            **first,
            "id": f"msg_{n}",
            "phase": phase,
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }
        for n, (phase, text) in enumerate(phases)
    ]
    return checked(Response, {**whole, "output": [*said, *calls]})


def spoken(sent: Any) -> list[tuple[Any, str]]:
    said = [one for one in sent["input"] if one.get("role") == "assistant"]
    return [(one.get("phase"), one["content"]) for one in said]


async def test_the_phase_of_each_message_goes_back_and_they_are_not_run_together() -> None:
    responses = DIALECTS["openai_responses"]
    calls = (("a", "look", {}), ("b", "add", {}))
    assert spoken(await _sent_again(responses, in_phases(*PHASED, calls=calls))) == list(PHASED)
    assert spoken(await _sent_again(responses, in_phases(PHASED[0], calls=calls))) == [PHASED[0]]
    whole = in_phases(*PHASED)
    deltas = [("message", one["content"][0]["text"], index) for index, one in enumerate(whole["output"])]
    events: list[Any] = []
    for kind, text, index in deltas:
        events.append({"type": "response.output_item.added", "output_index": index, "item": {"type": kind}})
        events.append({"type": "response.output_text.delta", "delta": text})
    streaming = sse([("", one) for one in (*events, {"type": "response.completed", "response": whole})])
    async with asking(responses, document(whole), streaming) as (one, _):
        found = await one.ask(HELLO)
        assert await one.ask(HELLO, stream=True) == found
    assert found.text == "".join(delta.text for delta in one.heard) == "I look first.\n\nIt is a cat."


async def test_a_step_keeps_the_phase_it_was_said_in(tmp_path: Path) -> None:
    responses = DIALECTS["openai_responses"]
    first = in_phases(PHASED[0], calls=(("a", "calculator", {"expression": "6 * 7"}),))
    async with Loopback(document(first), said(responses, END)).open() as server:
        home(tmp_path, responses, server.url, **NATIVE)
        outcome = await run(tmp_path)
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
        ((phase, words),) = spoken(server.asked[1].body)
    assert (outcome.answer, phase, "I look first." in words) == ("42", "commentary", True)


async def test_what_servers_add_to_chat_completions_goes_back_under_its_name() -> None:
    """Return OpenRouter's details, whole and in pieces; Gemini's signatures beside unnumbered calls."""
    from openai.types.chat import ChatCompletionChunk

    chat = DIALECTS["openai_chat"]
    details = [{"type": "reasoning.text", "text": "I look.", "signature": "s", "index": 0}]
    pieces = [
        {"type": "reasoning.text", "text": "I ", "index": 0},
        {"type": "reasoning.text", "text": "look.", "signature": "s", "index": 0},
    ]
    signed = {"google": {"thought_signature": "sig"}}
    calls = [
        {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}, "extra_content": signed},
        {"id": "b", "type": "function", "function": {"name": "add", "arguments": "{}"}},
    ]
    whole = chat.whole(Say(calls=(("a", "look", {}), ("b", "add", {}))))
    whole["choices"][0]["message"] |= {"tool_calls": calls, "reasoning_details": details, "reasoning": "I look."}
    deltas = [{"reasoning_details": [one]} for one in pieces] + [{"tool_calls": [one]} for one in calls]
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-1"}
    chunks: list[Any] = [{**head, "choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in deltas]
    chunks.append(
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], "usage": whole["usage"]}
    )
    checked(ChatCompletionChunk, chunks[-1])
    tools = HELLO.model_copy(update={"tools": TOOLS})
    replies = document(whole), sse([*(("", one) for one in chunks), ("", "[DONE]")]), said(chat, Say(text="x"))
    async with asking(chat, *replies) as (one, server):
        found = await one.ask(tools)
        streaming = await one.ask(tools, stream=True)
        assert (streaming.calls, streaming.reasoning[0].data) == (found.calls, found.reasoning[0].data)
        assert [call.name for call in found.calls] == ["look", "add"]
        results = [Message(role="tool", content=(TextPart(text="r"),), call_id=call.id) for call in found.calls]
        await one.ask(ModelRequest(messages=(*HELLO.messages, found.message(), *results, user("?")), tools=TOOLS))
        message = server.asked[2].body["messages"][2]
    assert message["reasoning_details"] == details
    assert "reasoning" not in message
    assert [call.get("extra_content") for call in message["tool_calls"]] == [signed, None]


def test_a_server_that_numbers_all_its_calls_alike_is_understood() -> None:
    from tea.models.openai_chat import ChatAssembly
    from tea.models.sse import Sent

    for indices in ((0, 0), (None, None), (0, 1)):
        assembly = ChatAssembly()
        for number, name in zip(indices, ("look", "add"), strict=True):
            call = {"id": name, "function": {"name": name, "arguments": "{"}}
            rest = {"function": {"arguments": "}"}}
            for piece in (call, rest):
                given = piece if number is None else {**piece, "index": number}
                delta = {"choices": [{"delta": {"tool_calls": [given]}, "finish_reason": "tool_calls"}]}
                assembly.take(Sent(event="", data=json.dumps(delta).encode()))
        found = assembly.document()["choices"][0]["message"]["tool_calls"]
        assert [(one["id"], one["function"]["arguments"]) for one in found] == [("look", "{}"), ("add", "{}")]


async def test_the_conversation_stays_a_prefix_with_reasoning_in_it(dialect: Dialect, tmp_path: Path) -> None:
    async with Loopback(*[said(dialect, one) for one in (step(1), step(2), step(3), END)]).open() as server:
        home(tmp_path, dialect, server.url, **NATIVE)
        assert (await run(tmp_path)).answer == "42"
    sent = [json.dumps(turns(one.body))[:-1] for one in server.asked]
    assert all(later.startswith(earlier) for earlier, later in pairwise(sent))


async def test_thinking_fits_into_an_answer_that_a_budget_has_cut() -> None:
    messages = DIALECTS["anthropic_messages"]
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 4000}}
    async with asking(messages, *[said(messages, Say(text="x"))] * 3, options=thinking) as (one, server):
        for limit in (8000, 2000, 500):
            await one.ask(HELLO.model_copy(update={"max_output": limit}))
        budgets = [asked.body.get("thinking", {}).get("budget_tokens") for asked in server.asked]
    assert budgets == [4000, 1999, None]
