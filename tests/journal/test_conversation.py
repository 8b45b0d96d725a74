"""Test agents' own conversations: the model reads exactly the journal's record, and both are JSON."""

from typing import Any

import pytest
from journals import PROMPT

from tea import Agent, Context, Result, Task, TeaError
from tea.testing import ScriptedModel, platform
from tea.types import DataPart, Message, ModelResponse, ToolCall


class Talker(Agent):
    """Say odd things to a model."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Show data, or a non-message."""
        first = (await ctx.ask("answers", {})).message()
        kind, nest = type(first), [0]
        for _ in range(3000):
            nest = [nest]
        odd: Any = {
            "nan": float("nan"),
            "infinite": [float("inf")],
            "half a character": "x\ud800",
            "bytes": b"abc",
            "huge": 10**5000,
            "deep": nest,
            "object": {"part": first.content[0]},
            "key": {(1, 2): 3},
            "tuple": {"b": (1, 2), "a": "\u4e16"},
            "no message": None,
        }[task.text]
        shown = kind.model_validate({"role": "user", "content": [{"type": "data", "data": odd}]})
        history: Any = [first, {"role": "user"} if task.text == "no message" else shown]
        try:
            answer = await ctx.ask("answers", {}, history)
        except TeaError as error:
            return Result(ok=False, reason=error.problem)
        return Result(answer=[answer.text, (await ctx.ask("answers", {}, (first,))).text])


@pytest.mark.parametrize("what", ["nan", "infinite", "half a character", "bytes", "huge", "deep", "object", "key"])
async def test_data_that_is_not_json_is_shown_to_no_model(what: str) -> None:
    model = ScriptedModel(["one"])
    async with platform(model=model) as tea:
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(Talker)
        outcome = await tea.run(what, agent="talker")
        assert (outcome.exit_code, len(model.requests)) == (1, 1)
        assert outcome.reason.startswith("The data is not JSON:"), outcome.reason
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


async def test_what_is_no_message_is_an_error_that_the_agent_can_act_on() -> None:
    async with platform(model=ScriptedModel(["one"])) as tea:
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(Talker)
        outcome = await tea.run("no message", agent="talker")
        assert (outcome.exit_code, outcome.reason) == (1, "A conversation holds no dict.")


async def test_a_conversation_may_be_a_list_and_is_recorded_as_the_model_reads_it() -> None:
    model = ScriptedModel(["one", "two", "three"])
    async with platform(model=model) as tea:
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(Talker)
        outcome = await tea.run("tuple", agent="talker")
        assert outcome.answer == ["two", "three"]
        last: Message = model.requests[1].messages[-1]
        assert isinstance(last.content[0], DataPart)
        kept = [one for one in tea.tracer.records(outcome.run) if one.kind == "start" and "messages" in str(one.data)]
        messages: Any = kept[1].data
        assert messages["data"]["messages"][-1]["content"] == [{"type": "data", "data": {"a": "\u4e16", "b": [1, 2]}}]


class Caller(Agent):
    """Give calls back with their results."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask, then again with the earlier calls."""
        first = await ctx.ask("answers", {})
        content = [{"type": "text", "text": "done"}]
        results = tuple(
            type(first.message()).model_validate({"role": "tool", "content": content, "call_id": call.id})
            for call in first.calls
        )
        return Result(answer=(await ctx.ask("answers", {}, (first.message(), *results))).text)


async def test_calls_and_their_results_are_recorded_as_they_were_said() -> None:
    calls = tuple(ToolCall(id=id, name="add", arguments={"a": 1}) for id in ("c1", "c2"))
    model = ScriptedModel([ModelResponse(text="I add.", calls=calls), "end"])
    async with platform(model=model) as tea:
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(Caller)
        outcome = await tea.run("go", agent="caller")
        assert outcome.answer == "end", outcome
        kept: list[Any] = [one.data for one in tea.tracer.records(outcome.run) if one.kind == "start"]
        spoken, *results = [one["data"]["messages"] for one in kept if one["kind"] == "model"][1]
        assert spoken["calls"] == [{**call.model_dump(), "unreadable": ""} for call in calls]
        assert [one["call_id"] for one in results] == ["c1", "c2"]
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


GUESSER = '''
from tea import Agent, Context, Message, Result, Task, TextPart


class Guesser(Agent):
    """Ask again with words of its own."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask twice, the second time after a turn that it wrote itself."""
        first = await ctx.ask("answers", {})
        turn = Message(role="user", content=(TextPart(text="Higher."),))
        return Result(answer=(await ctx.ask("answers", {}, (first.message(), turn))).text)
'''


async def test_an_agent_writes_turns_of_a_conversation_with_public_names() -> None:
    model = ScriptedModel(["five", "seven"])
    async with platform(model=model) as tea:
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(GUESSER)
        outcome = await tea.run("Guess.", agent="guesser")
        assert outcome.answer == "seven"
        assert [one.role for one in model.requests[1].messages] == ["system", "user", "assistant", "user"]
        assert (await tea.replay(outcome.run)).answer == "seven"
