"""Test steps by function calls: sent and given back unchanged; in words for models without functions."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said, streamed
from loopback import Loopback, document
from model_kit import HELLO, asking, both
from run_kit import tea
from step_kit import stepped

from tea.models.text_calls import StepWords
from tea.types import DataPart, Message, ModelRequest, TextPart, ToolCall

NATIVE: dict[str, Any] = {"capabilities": ["tools", "schema", "streaming"]}
OUTPUT = {"type": "object", "properties": {"thinking": {"type": "string"}, "calls": {"type": "array"}}}
ADD = {"name": "add", "description": "Add up numbers.", "parameters": {"type": "object", "properties": {}}}
STEP = HELLO.model_copy(update={"output": OUTPUT, "tools": (ADD,), "shown": False})
SUM = ("own-id-1", "add", {"a": 6, "b": 7})
DONE = ("own-id-2", "done", {"answer": "42"})
RECORD = {"thinking": "t", "next_goal": "g", "calls": [{"name": "add", "arguments": {"a": 6}}]}
ENDS = {**RECORD, "calls": [{"name": "done", "arguments": {"answer": "42"}}]}


def words(text: str) -> Say:
    return Say(text=text)


def messages(body: Any) -> Any:
    return body.get("messages") or body["input"]


def spoken(body: Any) -> str:
    """All words of a body, without its definitions of functions."""
    return json.dumps({name: value for name, value in body.items() if name != "tools"})


async def test_a_step_is_asked_for_by_functions_alone(dialect: Dialect) -> None:
    found, _, server = await both(dialect, Say(text="I add.", calls=(SUM,), reasoning="hm"), STEP, **NATIVE)
    body = server.asked[0].body
    assert not {"response_format", "text", "output_config", "tool_choice"} & set(body)
    assert [one.get("function", one)["name"] for one in body["tools"]] == ["add"]
    assert "Be brief." in spoken(body)
    assert not any(word in spoken(body) for word in ("JSON", "function_calling", "Add up"))
    assert (found.text, found.output, found.finish) == ("I add.", None, "calls")
    assert found.calls == (ToolCall(id="own-id-1", name="add", arguments={"a": 6, "b": 7}),)
    assert [part.text for part in found.reasoning] == ["hm"]


async def test_a_run_of_steps_is_sent_as_it_came_and_stays_a_prefix(dialect: Dialect, tmp_path: Path) -> None:
    says = [Say(text="First.", calls=(SUM, SUM)), Say(calls=(SUM,)), Say(calls=(DONE,))]
    outcome, server = await stepped(tmp_path, dialect, *(said(dialect, one) for one in says), **NATIVE)
    assert outcome.answer == "42"
    sent = [json.dumps(_plain(messages(one.body)))[:-1] for one in server.asked]
    assert all(later.startswith(earlier) for earlier, later in pairwise(sent))
    assert [one in sent[2] for one in ("First.", "c1_1", "c1_2", "c2_1", "result of c1_2")] == [True] * 5
    assert json.dumps(server.asked[0].body["tools"]) == json.dumps(server.asked[2].body["tools"])


def _plain(value: Any) -> Any:
    """A body without the moving marks of cacheable parts."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items() if name != "cache_control"}
    return value


async def test_a_call_that_cannot_be_read_goes_back_beside_the_good_ones(dialect: Dialect, tmp_path: Path) -> None:
    calls = (("a", "add", {"a": 1}), ("b", "functions.add", "{'a': 2"), ("c", "add", {"a": 3}))
    replies = streamed(dialect, Say(calls=calls)), streamed(dialect, Say(calls=(DONE,)))
    options = {"capabilities": ["tools", "streaming"]}
    async with asking(dialect, replies[0], **options) as (one, _):
        found = await one.ask(STEP, stream=True)
    assert [(call.name, call.arguments) for call in found.calls] == [
        ("add", {"a": 1}),
        ("functions.add", {}),
        ("add", {"a": 3}),
    ]
    assert [call.unreadable for call in found.calls] == ["", "its arguments are not a JSON object: {'a': 2", ""]
    assert found.unusable == ""
    history = (found.message(), *(Message(role="tool", content=(), call_id=call.id) for call in found.calls))
    async with asking(dialect, replies[1], **options) as (one, server):
        await one.ask(STEP.model_copy(update={"messages": (*STEP.messages, *history)}), stream=True)
        sent = spoken(server.asked[0].body)
    assert "functions_add" in sent
    assert "functions.add" not in sent  # which no provider takes as a name
    assert "'a': 2" not in sent


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORD),
        f"I add.\n```json\n{json.dumps(RECORD)}\n```",
        '<think>{"calls": [{"name": "no"}]}</think>I add. {"name": "add", "arguments": {"a": 6}}',
        '<tool_call>\n{"name": "add", "arguments": "{\\"a\\": 6}"}\n</tool_call>',
        '```json\n{"tool": "add", "parameters": {"a": 6}}\n```',
        'I add.\n```json\n{"function": "add", "args": {"a": 6}}\n```',
        '{"action": "add", "action_input": {"a": 6}}',
        '{"calls": [{"tool": "add", "args": {"a": 6}}]}',
        '[TOOL_CALLS] [{"name": "add", "parameters": {"a": 6}}]',
        "add(a=6)",
        "[add(a=6)]",
        "I add.\n```python\nadd(a=6)\n```",
        "```tool_code\nprint(default_api.add(a=6))\n```",
        '<function_calls><invoke name="add"><parameter name="a">6</parameter></invoke></function_calls>',
        'I add.\n<invoke name="add">\n<parameter name="a">\n6\n</parameter>\n</invoke>',
        '<x:function_calls><x:invoke name="add"><x:parameter name="a">6</x:parameter></x:invoke></x:function_calls>',
        'I add. <invoke name="add">{"a": 6}</invoke>',
        "I add.\n<add><a>6</a></add>",
        "<add>\n<parameters>\n<a>6</a>\n</parameters>\n</add>",
        '```xml\n<add>{"a": 6}</add>\n```',
        '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "add", "arguments": "{\\"a\\": 6}"}}]}',
        '[TOOL_CALLS]add[ARGS]{"a": 6}',
        'I add.\n[TOOL_CALLS]add{"a": 6}',
        "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>6</arg_value>\n</tool_call>",
        '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 6}<|call|>',
        "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function"
        '<\uff5ctool\u2581sep\uff5c>add\n```json\n{"a": 6}\n```<\uff5ctool\u2581call\u2581end\uff5c>',
        '<tool_use><name>add</name><arguments>{"a": 6}</arguments></tool_use>',
        '<tool name="add">{"a": 6}</tool>',
        'I add.\n```json\n{"name": "add", "arguments": {"a": 6,},}\n```',
        "{'name': 'add', 'arguments': {'a': 6, 'b': None}}",
        '<tool_call>\n{"name": "add", "arguments": {"a": 6,}}\n</tool_call>',
        "Action: add\nAction Input: {'a': 6}\nObservation: 7",
    ],
)
async def test_calls_in_words_count_where_functions_were_on_offer_and_none_was_called(text: str) -> None:
    chat = DIALECTS["openai_chat"]
    found, _, _ = await both(chat, words(text), STEP, **NATIVE)
    (made,) = found.calls
    given = {"a": int(made.arguments["a"])}
    assert (made.name, {**made.arguments, "b": None} | given, made.unreadable) == ("add", {"a": 6, "b": None}, "")
    assert not {"{", "<", "`"} & {*found.text}
    assert ("I add." in found.text) == ("I add." in text)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nx = add(a=6)\nprint(x + 1)\n```", "```python\nadd(6)\n```", "sub(a=6)", "add(**a)", "add(a=b)",
        "Call add(a=6) to add.", "The <add> tag adds.", "<sub><a>6</a></sub>", "<add>is</add> <b>bold</b>",
        "```python\nfor a in b:\n    add(a=6)\n```", "add(" * 5000, "add(a=" + "[" * 9000,
    ],
)  # fmt: skip
async def test_code_that_does_more_than_call_functions_with_values_is_no_call(text: str) -> None:
    found, _, _ = await both(DIALECTS["openai_chat"], words(text), STEP, **NATIVE)
    assert (found.text, found.calls) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "It is 42.",
        '{"tool": "saw", "args": {}, "n": 1}',
        '{"answer": 42}',
        'Use {"a": 1} or {b}.',
        '{"calls": [3]}',
        "{" * 2000,
        "Its {'a': 1} is {\"a\": 1,}.",
        "The mark <tool_call> begins a call; {'name': 'saw', 'arguments': 1} is none.",
    ],
)
async def test_other_words_are_no_calls(text: str) -> None:
    found, _, _ = await both(DIALECTS["openai_chat"], words(text), STEP, **NATIVE)
    assert (found.text, found.calls) == (text, ())


async def test_several_calls_behind_marks_are_read_with_the_words_between_them() -> None:
    text = 'First.\n[TOOL_CALLS]add[ARGS]{"a": 1}\nThen.\n[TOOL_CALLS]add[ARGS]{"a": "}"}[TOOL_CALLS]add[ARGS]{"a": '
    found, _, _ = await both(DIALECTS["openai_chat"], words(text), STEP, **NATIVE)
    assert [call.arguments for call in found.calls] == [{"a": 1}, {"a": "}"}, {}]
    assert [bool(call.unreadable) for call in found.calls] == [False, False, True]
    assert found.text.split() == ["First.", "Then."]


async def test_words_beside_functions_that_were_called_are_no_calls(dialect: Dialect) -> None:
    found, _, _ = await both(dialect, Say(text=json.dumps(ENDS), calls=(SUM,)), STEP, **NATIVE)
    assert ([call.name for call in found.calls], found.text) == (["add"], json.dumps(ENDS))


async def test_steps_are_put_into_words_for_a_model_without_functions(dialect: Dialect, tmp_path: Path) -> None:
    replies = (said(dialect, words(json.dumps(one))) for one in (RECORD, RECORD, ENDS))
    outcome, server = await stepped(tmp_path, dialect, *replies, capabilities=["schema"])
    assert outcome.answer == "42"
    sent = [json.dumps(_plain(messages(one.body)), ensure_ascii=False) for one in server.asked]
    assert all(later.startswith(earlier[:-1]) for earlier, later in pairwise(sent))
    assert "Result of add (c2_1):\\nresult of c2_1" in sent[2]
    assert sent[2].count(json.dumps(json.dumps(RECORD))) == 2  # as it was written
    assert not any("tools" in asked.body for asked in server.asked)


def native(step: int, text: str = "") -> tuple[Message, ...]:
    calls = tuple(ToolCall(id=f"c{step}_{n}", name=name, arguments={"n": n}) for n, name in ((1, "add"), (2, "look")))
    content = (TextPart(text=text),) if text else ()
    results = (Message(role="tool", content=(DataPart(data={"n": one.id}),), call_id=one.id) for one in calls)
    return Message(role="assistant", content=content, calls=calls), *results


def test_steps_by_functions_are_put_into_words_where_another_model_takes_over() -> None:
    found = StepWords().asked(ModelRequest(messages=(*HELLO.messages, *native(1, "Now."), *native(2)), tools=(ADD,)))
    shown = [part.text for one in found.messages[2:] for part in one.content if isinstance(part, TextPart)]
    calls = [{"name": "add", "arguments": {"n": 1}}, {"name": "look", "arguments": {"n": 2}}]
    assert [json.loads(shown[0]), json.loads(shown[3])] == [{"thinking": "Now.", "calls": calls}, {"calls": calls}]
    assert (shown[2], shown[4]) == ('Result of look (c1_2):\n{"n":"c1_2"}', 'Result of add (c2_1):\n{"n":"c2_1"}')
    assert [one.role for one in found.messages[2:]] == ["assistant", "user", "user"] * 2
    assert found.tools == ()


def test_a_conversation_that_grew_forked_or_folded_is_put_into_words_as_if_it_were_new() -> None:
    kept = StepWords()
    system, task = HELLO.messages
    one, two, three = (native(number) for number in range(3))
    told = Message(role="user", content=(TextPart(text="once more"),))
    for conversation in (
        (system, task),
        (system, task, *one),
        (system, task, *one, *two, told),
        (system, task, *one, *two),
        (system, task, *one, *three, *two),
        (system, task, told, *two),
        (system, task, *one, *three, *two),
        (system,),
    ):
        for shown in (True, False):
            request = ModelRequest.model_construct(messages=conversation, tools=(ADD,), shown=shown)
            assert kept.asked(request) == StepWords().asked(request)


def test_what_was_put_into_words_once_is_the_very_same_in_the_next_step() -> None:
    """Encode each message once; only the last known one may be made anew."""
    kept, tools, step = StepWords(), (ADD,), [native(number) for number in range(9)]
    before = (*HELLO.messages, *(one for some in step[:8] for one in some))
    first, second = (
        kept.asked(ModelRequest.model_construct(messages=given, tools=tools, shown=False)).messages
        for given in (before, (*before, *step[8]))
    )
    assert all(again is once for again, once in zip(second, first[:-1], strict=False))


async def test_a_server_of_ones_own_is_offered_functions_too(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    sums = ("a", "calculator", {"expression": "6 * 7"})
    replies = streamed(chat, Say(calls=(sums,))), streamed(chat, Say(calls=(DONE,)))
    async with Loopback(*replies).open() as server:
        code, out, err = await tea(tmp_path, "run", "-q", "6 * 7?", "--model", "m", "--base-url", f"{server.url}/v1")
        assert (code, out) == (0, "42\n"), err
        assert "calculator" in json.dumps(server.asked[0].body["tools"])


async def test_what_is_on_offer_is_told_once_as_a_function_or_in_words(dialect: Dialect, tmp_path: Path) -> None:
    replies = said(dialect, Say(calls=(DONE,))), said(dialect, words(json.dumps(ENDS)))
    for reply, capabilities, shown in zip(replies, (["tools"], []), (0, 1), strict=True):
        folder = tmp_path / str(shown)
        folder.mkdir()
        outcome, server = await stepped(folder, dialect, reply, capabilities=capabilities)
        assert outcome.answer == "42"
        (asked,) = server.asked
        assert asked.raw.decode().count("Add up numbers.") == 1
        assert spoken(asked.body).count("Add up numbers.") == shown


async def test_a_fallback_without_functions_is_told_of_them_in_words(dialect: Dialect, tmp_path: Path) -> None:
    down = document({"error": {"message": "down"}}, 400)
    replies = [one for said_in in (RECORD, ENDS) for one in (down, said(dialect, words(json.dumps(said_in))))]
    more = f'\n[models.plain]\nprovider = "{dialect.name}"\nmodel = "m"\nbase_url = "URL{dialect.base}"\n'
    more += "capabilities = []"
    outcome, server = await stepped(tmp_path, dialect, *replies, more=more, capabilities=["tools"], fallbacks=["plain"])
    assert outcome.answer == "42", outcome
    for asked, plain in zip(server.asked[::2], server.asked[1::2], strict=True):
        assert ("tools" in asked.body, "tools" in plain.body) == (True, False)
        assert "Add up numbers." not in spoken(asked.body)
        assert spoken(plain.body).count("Add up numbers.") == 1
    assert "Result of add (c1_1)" in spoken(server.asked[3].body)


async def test_names_that_no_provider_takes_are_told_in_words(dialect: Dialect) -> None:
    """An action's name is made of two, and may be too long for a function."""
    tools = tuple({"name": name, "description": "Act.", "parameters": {}} for name in ("x" * 65, "done"))
    request = STEP.model_copy(update={"tools": tools})
    async with asking(dialect, said(dialect, Say(text="{}"))) as (one, server):
        await one.ask(request)
        assert "tools" not in server.asked[0].body
        assert spoken(server.asked[0].body).count("x" * 65) == 1
