"""Test two runs side by side, and a run's conversations in foreign forms."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from journals import DOUBLE
from loop_kit import Stage, done, step, sum_of

from tea.cli.tree import tree
from tea.journal.compare import compare
from tea.journal.conversation import Chains
from tea.journal.export import conversations, export
from tea.journal.record import TraceRecord
from tea.models.manager import ModelConfig
from tea.models.openai_chat import OpenAIChat
from tea.models.text_calls import in_words
from tea.testing import FunctionModel, platform
from tea.types import Message, ModelRequest, ModelResponse, TextPart, ToolCall


async def test_equal_runs_are_the_same_and_the_first_difference_is_found() -> None:
    async with Stage.open() as stage:
        a, _ = await stage.play(step(sum_of("6*7")), step(done("42")))
        b, _ = await stage.play(step(sum_of("6*7")), step(done("42")))
        c, _ = await stage.play(step(sum_of("6*8")), step(sum_of("6*9")), step(done("54")))
        one, same, other = (list(stage.tea.tracer.records(run.run)) for run in (a, b, c))
    assert compare(one, same).same
    found = compare(one, other)
    name = found.steps[0].a["agent"]
    assert not found.same
    assert found.first is not None
    first, second = found.first
    assert first is not None
    assert second is not None
    assert (first.kind, first.key) == (second.kind, second.key) == ("model", first.key)
    assert "6*7" in str(first.gave)
    assert "6*8" in str(second.gave)
    assert (found.a.answer, found.b.answer, found.same_steps) == ("42", "54", 0)
    assert [one.what for one in found.steps] == [f"{name}, step {number}" for number in (1, 2, 3)]
    assert found.steps[2].a is None
    assert {one.b["agent"] for one in found.steps} == {name}
    assert json.loads(json.dumps(found.to_json(), default=dict))["b"]["cost"]["steps"] == 3


async def test_versions_that_differ_are_named() -> None:
    async with Stage.open() as stage:
        await stage.tea.tcp.register(DOUBLE)
        play = [step(("double", {"number": 2})), step(done("4"))]
        a, _ = await stage.play(*play, tools=["double"])
        await stage.tea.tcp.update("double", DOUBLE.replace("* 2", "+ number"), version="1.0.5")
        b, _ = await stage.play(*play, tools=["double"])
        found = compare(*(list(stage.tea.tracer.records(run.run)) for run in (a, b)))
    assert [(one.what, one.a, one.b) for one in found.pins] == [
        ("tool:double", "tool:double@1.0.0", "tool:double@1.0.5")
    ]


async def test_a_conversation_is_exported_once_and_as_the_model_was_shown_it() -> None:
    async with Stage.open() as stage:
        outcome, model = await stage.play(
            step(sum_of("6*7"), memory="It is 42."), step(thinking="no call"), step(sum_of("1+1")), step(done("42"))
        )
        journal = list(stage.tea.tracer.records(outcome.run))
    assert outcome.ok
    asked = model.requests[-1].messages
    shown = [json.loads(OpenAIChat().message(in_words(asked, position), {})) for position in range(len(asked))]
    (line,) = export(journal, "openai-chat")
    assert sum("could not be used" in one["content"] for one in line["messages"]) == 1
    assert [one["content"] for one in line["messages"] if "It is 42." in one["content"]][-1] == "Remembered: It is 42."
    assert list(map(meaning, line["messages"][:-1])) == list(map(meaning, shown))
    assert json.loads(line["messages"][-1]["content"])["calls"][0]["name"] == "done"
    assert line.keys() == {"messages"}
    assert export(journal, "sharegpt")[-1]["metadata"]["agent"] == "planner"
    effects = export(journal, "jsonl")
    assert [one["seq"] for one in effects] == [one.seq for one in journal if one.kind == "start"]
    assert all(one["ended"] == "done" for one in effects)


def meaning(message: dict[str, Any]) -> tuple[str, Any]:
    """A message with its JSON read: only the order of members may differ in a journal."""
    content = message["content"]
    return message["role"], json.loads(content) if content.startswith("{") else content


async def test_calls_of_functions_are_exported_with_their_results() -> None:
    calls = [("calculator", {"expression": "6*7"}), ("done", {"answer": "42"})]

    def reply(request: ModelRequest) -> ModelResponse:
        name, arguments = calls.pop(0)
        return ModelResponse(calls=(ToolCall(id=f"c{len(calls)}", name=name, arguments=arguments),), finish="calls")

    async with Stage.open() as stage:
        stage.tea.models.add(
            ModelConfig(name="caller", provider="given", capabilities=("tools",)), FunctionModel(reply)
        )
        outcome = await stage.tea.run("a task", model="caller")
        journal = list(stage.tea.tracer.records(outcome.run))
    assert outcome.answer == "42"
    (chat,) = export(journal, "openai-chat")
    wishes = [one["function"]["name"] for message in chat["messages"] for one in message.get("tool_calls", ())]
    assert wishes[-1] == "done"
    (talk,) = export(journal, "sharegpt")
    assert [
        json.loads(one["value"])["name"] for one in talk["conversations"] if one["from"] == "function_call"
    ] == wishes


def asked(chains: Chains, number: int, messages: Sequence[str], answer: str) -> list[TraceRecord]:
    """The two records of an answered question."""
    said = tuple(Message(role="user", content=(TextPart(text=text),)) for text in messages)
    linked = {name: json.loads(text) for name, text in chains.link(said).items()}
    question = {"prompt": "prompt:p@1.0.0", "digest": "", **linked}
    response = ModelResponse(text=answer).model_dump(mode="json")
    place: dict[str, Any] = {"time": "", "span": "", "parent": "", "session": "", "task": "", "agent": "a"}
    return [
        TraceRecord(
            seq=0, kind="start", key=f"0.{number}", data={"kind": "model", "target": "m", "data": question}, **place
        ),
        TraceRecord(
            seq=0, kind="done", key=f"0.{number}", data={"data": {"response": response, "error": None}}, **place
        ),
    ]


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), min_size=1, max_size=8))
def test_every_conversation_that_did_not_go_on_is_there_whole_and_once(talks: list[list[str]]) -> None:
    chains = Chains()
    journal = [one for number, talk in enumerate(talks) for one in asked(chains, number, talk, str(number))]
    found = [
        tuple(part.text for one in talk.messages[:-1] for part in one.content if isinstance(part, TextPart))
        for talk in conversations(journal)
    ]
    whole = {tuple(talk) for talk in talks}
    ended = {talk for talk in whole if not any(len(one) > len(talk) and one[: len(talk)] == talk for one in whole)}
    assert sorted(found) == sorted(ended)


BESIDE = """
from tea import Agent, Context, Result, Task


class Beside(Agent):
    '''Reckon twice, side by side.'''

    async def run(self, ctx: Context, task: Task) -> Result:
        '''Work.'''
        found = {}

        async def reckon(name: str) -> None:
            ctx.note("part", {"phase": name, "text": "begins"})
            for number in (1, 2):
                found[name] = (await ctx.tcp.invoke("calculator", {"expression": f"{number} * {ord(name)}"})).value

        async with ctx.group() as group:
            for name in ("a", "b"):
                group.spawn(reckon(name))
        return Result(answer=found)
"""


async def test_work_side_by_side_is_shown_part_by_part_and_compared_in_any_order() -> None:
    async with platform() as tea:
        await tea.acp.register(BESIDE)
        outcome = await tea.run("Go.", agent="beside")
        records = list(tea.tracer.records(outcome.run))
    lines = [one.strip() for one in tree(records).splitlines()]
    told = [one for one in lines if one.startswith(("note part: ", "tool tool:calculator"))]
    assert [one.partition("(")[2][:22] or one for one in told] == [
        "note part: a: begins", '{"expression": "1 * 97', '{"expression": "2 * 97',
        "note part: b: begins", '{"expression": "1 * 98', '{"expression": "2 * 98',
    ]  # fmt: skip
    assert lines[-2 if lines[-1].startswith("(") else -1].startswith("done: ")
    inner = [one for one in records if "/" in one.key]
    swapped = iter(sorted(inner, key=lambda one: one.key.partition("/")[2][0], reverse=True))
    assert compare(records, [next(swapped) if "/" in one.key else one for one in records]).same
