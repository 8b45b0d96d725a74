"""Steps by function calls: real definitions on the wire, the same record in the journal, one kind of agent."""

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Loopback, document
from model_kit import HELLO, asking
from run_kit import ADDS, ENDS, home, record, replayed, run, tea

from tea.models.step_calls import StepCalls
from tea.runtime.outcome import Outcome
from tea.types import DataPart, Message, ModelRequest, TextPart

NATIVE: dict[str, Any] = {"capabilities": ["tools", "schema"]}
THOUGHT = {"thinking": "t", "evaluation": "e", "memory": "m", "next_goal": "g"}
SUM = ("own-id-1", "calculator", {"expression": "6 * 7"})
DONE = ("own-id-2", "done", {"answer": "42"})


def steps(outcome: Outcome) -> list[Any]:
    lines = map(json.loads, (outcome.trace / "journal.jsonl").read_text().splitlines())
    notes = [line["data"] for line in lines if line["kind"] == "note"]
    return [note["data"] for note in notes if note["kind"] == "step"]


def functions(body: Any) -> list[str]:
    return [one.get("function", one)["name"] for one in body["tools"]]


def identifiers(value: Any, names: Iterable[str]) -> list[str]:
    """Every id of a call in a body, in its order, whatever the format calls it."""
    if isinstance(value, list):
        return [found for one in value for found in identifiers(one, names)]
    if not isinstance(value, dict):
        return []
    own = [found for name, found in value.items() if name in names and str(found).startswith("call_")]
    return [*own, *(found for one in value.values() for found in identifiers(one, names))]


async def test_functions_are_called_and_the_journal_is_that_of_a_model_without_them(
    dialect: Dialect, tmp_path: Path
) -> None:
    text = json.dumps(THOUGHT)
    replies = said(dialect, Say(text=text, calls=(SUM,))), said(dialect, Say(text=text, calls=(DONE,)))
    (tmp_path / "native").mkdir()
    (tmp_path / "words").mkdir()
    async with Loopback(*replies).open() as server:
        home(tmp_path / "native", dialect, server.url, **NATIVE)
        outcome = await run(tmp_path / "native")
        assert (outcome.answer, outcome.cost.steps) == ("42", 2)
        first, second = (asked.body for asked in server.asked)
        for body in (first, second):
            assert functions(body) == sorted(functions(body))
            assert {"calculator", "done", "analyzer"} <= set(functions(body))
            assert not {"response_format", "text", "output_config"} & set(body)
        assert json.dumps(first["tools"]) == json.dumps(second["tools"])
        ids = identifiers(
            second.get("messages") or second.get("input"), ("id", "call_id", "tool_call_id", "tool_use_id")
        )
        assert len(ids) == 2
        assert len(set(ids)) == 1
        assert (await replayed(tmp_path / "native", outcome)).to_json() == outcome.to_json()
    async with Loopback(said(dialect, ADDS), said(dialect, ENDS)).open() as server:
        home(tmp_path / "words", dialect, server.url, capabilities=["schema"])
        spoken = await run(tmp_path / "words")
        assert all("tools" not in asked.body for asked in server.asked)
    assert steps(outcome) == steps(spoken)


async def test_a_call_without_words_is_a_step_with_empty_ones(dialect: Dialect, tmp_path: Path) -> None:
    replies = said(dialect, Say(text="I compute.", calls=(SUM,))), said(dialect, Say(calls=(DONE,)))
    async with Loopback(*replies).open() as server:
        home(tmp_path, dialect, server.url, **NATIVE)
        outcome = await run(tmp_path)
        assert outcome.answer == "42"
    words = [[one[name] for name in THOUGHT] for one in steps(outcome)]
    assert words == [["I compute.", "", "", ""], ["", "", "", ""]]


async def test_a_record_in_words_counts_where_functions_were_on_offer(dialect: Dialect, tmp_path: Path) -> None:
    async with Loopback(said(dialect, ADDS), said(dialect, Say(text="42.")), said(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url, **NATIVE)
        outcome = await run(tmp_path)
        assert (outcome.answer, outcome.cost.steps) == ("42", 3)
        assert "could not be used" in server.asked[2].raw.decode()


async def test_what_was_sent_stays_a_prefix_of_what_is_sent(dialect: Dialect, tmp_path: Path) -> None:
    calls = [Say(calls=((f"id-{n}", "calculator", {"expression": f"{n} + 1"}),)) for n in range(4)]
    replies = [said(dialect, one) for one in [*calls, Say(calls=(DONE,))]]
    async with Loopback(*replies).open() as server:
        home(tmp_path, dialect, server.url, **NATIVE)
        assert (await run(tmp_path)).answer == "42"
    sent = [json.dumps(_plain(one.body.get("messages") or one.body["input"]))[:-1] for one in server.asked]
    assert all(later.startswith(earlier) for earlier, later in pairwise(sent))


def _plain(value: Any) -> Any:
    """A body without the marks of what may be cached, which move on."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items() if name != "cache_control"}
    return value


async def test_a_name_that_no_provider_takes_leaves_the_step_in_words() -> None:
    made = json.loads(record(("no such tool!", {})))
    seen = {"step": 1, "calls": [{"name": "no such tool!", "arguments": {}, "ok": False, "value": None}]}
    given = (
        Message(role="system", content=(TextPart(text="s"),)),
        Message(role="assistant", content=(DataPart(data=made),)),
        Message(role="user", content=(DataPart(data=seen),)),
    )
    tools = ({"name": "done", "description": "", "parameters": {}},)
    asked = StepCalls().asked(ModelRequest(messages=given, output={"properties": {"calls": {}}}, tools=tools))
    assert asked.messages[1:] == given[1:]


async def test_another_state_is_told_beside_the_results() -> None:
    made = json.loads(record(("a", {}), ("b", {})))
    results = [{"name": name, "arguments": {}, "ok": True, "value": name} for name in "ab"]
    given = (
        Message(role="assistant", content=(DataPart(data=made),)),
        Message(role="user", content=(DataPart(data={"step": 1, "calls": results, "state": {"w": 1}}),)),
    )
    translator, request = StepCalls(), ModelRequest(messages=given, output={"properties": {"calls": {}}}, tools=())
    found = translator.asked(request).messages
    assert [one.role for one in found] == ["assistant", "tool", "tool", "user"]
    assert [call.id for call in found[0].calls] == [one.call_id for one in found[1:3]]
    assert found[3].content == (DataPart(data={"state": {"w": 1}}),)
    assert all(again is once for again, once in zip(translator.asked(request).messages, found, strict=True))


async def test_a_server_of_ones_own_is_offered_functions_too(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    replies = streamed(chat, Say(calls=(SUM,))), streamed(chat, Say(calls=(DONE,)))
    async with Loopback(*replies).open() as server:
        code, out, err = await tea(tmp_path, "run", "-q", "6 * 7?", "--model", "m", "--base-url", f"{server.url}/v1")
        assert (code, out) == (0, "42\n"), err
        assert "calculator" in functions(server.asked[0].body)


EXPRESSION = "Numbers with + - * / // % **"  # of the calculator's schema
CHECKLIST = "Keep the plan of a task as a checklist"


def spoken(body: Any) -> str:
    """All words of a body, without its definitions of functions."""
    return json.dumps({name: value for name, value in body.items() if name != "tools"})


async def test_a_schema_is_told_once_as_a_function_or_in_words(dialect: Dialect, tmp_path: Path) -> None:
    replies = said(dialect, Say(calls=(DONE,))), said(dialect, ENDS)
    sizes: list[int] = []
    for reply, capabilities, words in zip(replies, (["tools"], []), (0, 1), strict=True):
        folder = tmp_path / str(words)
        folder.mkdir()
        async with Loopback(reply).open() as server:
            home(folder, dialect, server.url, capabilities=capabilities)
            outcome = await run(folder)
            assert outcome.answer == "42"
            assert (await replayed(folder, outcome)).to_json() == outcome.to_json()
            (asked,) = server.asked
            sizes.append(len(asked.raw))
            assert [asked.raw.decode().count(one) for one in (EXPRESSION, CHECKLIST)] == [1, 1]
            assert [spoken(asked.body).count(one) for one in (EXPRESSION, CHECKLIST)] == [words, words]
            assert ("behind it" in spoken(asked.body)) == (not words)
    assert sizes[0] < sizes[1]


async def test_a_fallback_without_functions_is_told_of_them_in_words(dialect: Dialect, tmp_path: Path) -> None:
    down = document({"error": {"message": "down"}}, 400)
    async with Loopback(down, said(dialect, ADDS), down, said(dialect, ENDS)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["tools"], fallbacks=["plain"])
        lines = f'provider = "{dialect.name}"\nmodel = "m"\nbase_url = "{server.url}{dialect.base}"\ncapabilities = []'
        with (tmp_path / "tea.toml").open("a") as file:
            file.write(f"\n[models.plain]\n{lines}")
        outcome = await run(tmp_path)
        assert outcome.answer == "42", outcome
        assert (await replayed(tmp_path, outcome)).to_json() == outcome.to_json()
        for native, plain in zip(server.asked[::2], server.asked[1::2], strict=True):
            assert ("tools" in native.body, "tools" in plain.body) == (True, False)
            assert EXPRESSION not in spoken(native.body)
            assert spoken(plain.body).count(EXPRESSION) == 1


async def test_names_that_no_provider_takes_are_told_in_words(dialect: Dialect) -> None:
    """An action's name is made of two, and may be too long for a function."""
    tools = tuple({"name": name, "description": "Act.", "parameters": {}} for name in ("x" * 65, "done"))
    request = HELLO.model_copy(update={"output": {"properties": {"calls": {}}}, "tools": tools, "shown": False})
    async with asking(dialect, said(dialect, Say(text="{}"))) as (one, server):
        await one.ask(request)
        assert "tools" not in server.asked[0].body
        assert spoken(server.asked[0].body).count("x" * 65) == 1


def test_a_conversation_that_grew_forked_or_began_anew_is_translated_as_if_it_were_new() -> None:
    def said_at(number: int) -> tuple[Message, Message]:
        calls = [{"name": "add", "arguments": {"n": number}}]
        record, seen = {**THOUGHT, "calls": calls}, {"step": number, "calls": [{**calls[0], "ok": True}]}
        return Message(role="assistant", content=(DataPart(data=record),)), Message(
            role="user", content=(DataPart(data=seen),)
        )

    def asked(kept: StepCalls, *messages: Message) -> tuple[Message, ...]:
        tools = ({"name": "add", "description": "Add.", "parameters": {"type": "object"}},)
        return kept.asked(ModelRequest.model_construct(messages=messages, tools=tools, shown=True)).messages

    kept = StepCalls()
    system, task = (Message(role=role, content=(TextPart(text=role),)) for role in ("system", "user"))
    one, two, three = (said_at(number) for number in range(3))
    told = Message(role="user", content=(TextPart(text="once more"),))
    for conversation in (
        (system, task),
        (system, task, *one),
        (system, task, *one, *two, told),
        (system, task, *one, *two),
        (system, task, *one, *three, *two),
        (system, task, *one, *three, two[0]),
        (system, task, *one, *three, *two),
        (system,),
    ):
        assert asked(kept, *conversation) == asked(StepCalls(), *conversation)
