"""Test answers to steps: the usable part of any reply comes, and nothing written is an error."""

import json
import random
from typing import Any

import pytest
from step_kit import ASKER, PROMPT

from tea.testing import FunctionModel, ScriptedModel, platform
from tea.types import ModelResponse, ReasoningPart, ToolCall

WORDS = {"thinking": "t", "next_goal": "g"}
ADD, BAD = {"name": "add", "arguments": {"a": 1}}, {"name": "add", "arguments": "{'a': 1"}
RECORD = {**WORDS, "calls": [ADD]}
NOT_AN_OBJECT = "its arguments are not a JSON object: {'a': 1"


def deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found


async def asked(*replies: Any) -> list[Any]:
    """Return an agent's results for each reply; each run replays to the same."""
    async with platform(model=ScriptedModel(replies)) as tea:
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(ASKER)
        outcomes = [await tea.run("go", agent="asker") for _ in replies]
        for outcome in outcomes:
            assert (outcome.ok, outcome.exit_code) == (True, 0), outcome
            assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
        return [outcome.answer for outcome in outcomes]


@pytest.mark.parametrize(
    "text", [json.dumps(RECORD), f"Here:\n```json\n{json.dumps(RECORD)}\n```", f"{json.dumps(RECORD)} Result: {{2}}"]
)
async def test_a_record_in_words_comes_as_output_and_its_text_stays(text: str) -> None:
    (found,) = await asked(text)
    assert found == {"text": text, "output": RECORD, "calls": [], "unusable": "", "reasoning": []}


async def test_what_fits_the_record_and_what_was_called_come_unchanged() -> None:
    calls = (ToolCall(id="x", name="add", arguments={"a": 1}),)
    record, bare, native = await asked(RECORD, {"calls": [ADD]}, ModelResponse(text="I add.", calls=calls))
    assert (record["output"], record["calls"], record["unusable"]) == (RECORD, [], "")
    assert (bare["output"], bare["calls"], bare["unusable"]) == ({"calls": [ADD]}, [], "")
    assert (native["output"], native["calls"], native["text"]) == (None, [calls[0].model_dump()], "I add.")


@pytest.mark.parametrize(
    "reply",
    [
        {**WORDS, "calls": [ADD, BAD, ADD]},
        json.dumps({**WORDS, "calls": [ADD, BAD, ADD]}),
        json.dumps({**WORDS, "more": 1, "calls": [ADD, BAD, ADD]}),
    ],
)
async def test_a_call_of_a_record_that_cannot_be_read_stands_beside_the_good_ones(reply: Any) -> None:
    (found,) = await asked(reply)
    assert [(one["name"], one["arguments"], one["unreadable"]) for one in found["calls"]] == [
        ("add", {"a": 1}, ""),
        ("add", {}, NOT_AN_OBJECT),
        ("add", {"a": 1}, ""),
    ]
    assert len({one["id"] for one in found["calls"]}) == 3
    assert (found["output"], found["unusable"]) == (None, "")


async def test_what_fits_of_a_record_is_kept() -> None:
    odd = {"thinking": 7, "next_goal": "g", "mood": "fine", "calls": [{**ADD, "why": "so"}, {"name": "done"}]}
    text, output = await asked(json.dumps(odd), odd)
    kept = {"next_goal": "g", "calls": [ADD, {"name": "done", "arguments": {}}]}
    assert text["output"] == output["output"] == kept
    assert text["calls"] == output["calls"] == []


async def test_calls_that_stand_alone_come_as_calls() -> None:
    (found,) = await asked(f'<tool_call>{json.dumps(ADD)}</tool_call>\n{{"name": "done", "arguments": "{{}}"}}')
    assert [(one["name"], one["arguments"]) for one in found["calls"]] == [("add", {"a": 1}), ("done", {})]


CUT, REFUSED = {"finish": "length"}, {"finish": "refusal"}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "The answer is empty"),
        ("<think>hm</think> \n", "The answer is empty"),
        (ModelResponse(text="I can", finish="length"), "cut off at its greatest length"),
        (ModelResponse(text=json.dumps(RECORD)[:-9], finish="length"), "cut off at its greatest length"),
        (ModelResponse(text="No.\nNever.", finish="refusal"), "The model refused: No. Never."),
        (ModelResponse(finish="refusal"), "The model refused: it does not say why"),
        (ModelResponse(unusable="It was interrupted."), "It was interrupted."),
        (json.dumps(RECORD)[:-3], "The calls in the answer cannot be read: The answer is not JSON"),
        (f"```json\n{json.dumps(RECORD)[:-3]}\n```", "The calls in the answer cannot be read"),
        ("{'thinking': 't', 'calls': [{'name': 'add'}]", "The calls in the answer cannot be read"),
        ("[TOOL_CALLS] add with 6", "The calls in the answer cannot be read"),
        ("<|channel|>commentary adds", "The calls in the answer cannot be read"),
        ("<tool_call>\nadd a=6\n</tool_call>", "The calls in the answer cannot be read"),
        ('{"tool": "sub", "parameters": {"a": 1}}', 'no call that can be read: a call is {"name": "FUNCTION"'),
        (json.dumps(WORDS), "a record without a call: `calls` wants at least one object with `name` and `arguments`"),
        (json.dumps({**WORDS, "calls": []}), "a record without a call"),
        (WORDS, "`calls` wants at least one object"),
        ({**WORDS, "calls": "add"}, "`calls` wants at least one object"),
    ],
)
async def test_an_answer_of_which_nothing_can_be_used_says_why_and_keeps_its_words(reply: Any, why: str) -> None:
    (found,) = await asked(reply)
    assert why in found["unusable"]
    assert found["unusable"].isprintable()
    assert (found["output"], found["calls"]) == (None, [])
    said = reply.text if isinstance(reply, ModelResponse) else reply if isinstance(reply, str) else json.dumps(reply)
    assert found["text"] == said


async def test_no_character_of_a_refusal_is_left_out() -> None:
    (found,) = await asked(ModelResponse(text="No,\x1c\n never\u2028.", finish="refusal"))
    assert found["unusable"] == "The model refused: No,\x1c never\u2028."


@pytest.mark.parametrize("text", ["It is 42.", '{"answer": 42}', "The set {a} has one member.", "[1, 2]", "7"])
async def test_words_that_end_normally_may_be_meant(text: str) -> None:
    (found,) = await asked(text)
    assert (found["text"], found["unusable"], found["calls"]) == (text, "", [])


async def test_what_cannot_be_recorded_takes_nothing_else_with_it() -> None:
    good = ToolCall(id="a", name="add", arguments={"a": 1})
    for odd in (float("nan"), "x\ud800", deep(400), b"bytes"):
        thought = (ReasoningPart(data={"odd": odd}), ReasoningPart(text="kept"))
        calls = (good, ToolCall(id="b", name="add", arguments={"odd": odd}))
        native, record = await asked(
            ModelResponse(text="half \ud800", calls=calls, reasoning=thought),
            ModelResponse(output={**WORDS, "calls": [ADD, {"name": "add", "arguments": {"odd": odd}}]}),
        )
        assert native["text"] == "half ?"
        assert native["calls"][0] == good.model_dump()
        assert "cannot be recorded" in native["calls"][1]["unreadable"]
        assert [one["text"] for one in native["reasoning"]] == ["kept"]
        assert [bool(call["unreadable"]) for call in record["calls"]] == [False, True]
        assert record["calls"][0]["arguments"] == {"a": 1}
    (lost,) = await asked(ModelResponse(output={**WORDS, "odd": float("nan")}))
    assert lost["unusable"]


PIECES = [
    *'{}[]",:',
    '{"calls": [',
    '{"name": "add", "arguments": {',
    '"thinking": "',
    "</think>",
    "```json\n",
    "\ud800",
    "\x00",
    "null",
    "1e999",
    "\\u",
    json.dumps(RECORD),
    json.dumps(ADD),
    "words ",
]


async def test_whatever_is_written_is_an_answer() -> None:
    chance = random.Random(7)

    def reply(request: Any) -> Any:
        text = "".join(chance.choices(PIECES, k=chance.randint(0, 12)))
        names = chance.choices(["add", "", "functions.add", "x" * 99], k=chance.randint(0, 2))
        odd = [{}, {"a": [None]}, {"a": float("inf")}, {"a": "\udfff"}]
        calls = tuple(ToolCall(id="c", name=name, arguments=chance.choice(odd)) for name in names)
        output = chance.choice([None, None, None, text, 7, [], {"calls": chance.choice([3, [], [1], [ADD, BAD]])}])
        finish = chance.choice(["stop", "length", "calls", "refusal"])
        return ModelResponse(text=text, calls=calls, output=output, finish=finish)  # pyright: ignore[reportArgumentType]

    async with platform(model=FunctionModel(reply)) as tea:
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(ASKER)
        for number in range(60):
            outcome = await tea.run("go", agent="asker")
            assert outcome.ok, outcome
            found: Any = outcome.answer
            usable = found["calls"] or found["output"] or found["text"].strip()
            assert usable or found["unusable"], found
            assert found["unusable"] == "" or not (found["calls"] or found["output"])
            if number % 10 == 0:
                assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
