"""Test the offline model: a solver's view of a conversation, and its record as the answer."""

from typing import Any

from step_kit import PROMPT

from tea.models.offline import observations
from tea.testing import platform
from tea.types import DataPart, Message, ModelRequest, TextPart, ToolCall


def step(number: int, *names: str) -> tuple[Message, ...]:
    calls = tuple(ToolCall(id=f"c{number}_{n}", name=name, arguments={"n": n}) for n, name in enumerate(names, 1))
    results = (Message(role="tool", content=(DataPart(data=seen(call)),), call_id=call.id) for call in calls)
    return Message(role="assistant", content=(TextPart(text="hm"),), calls=calls), *results


def seen(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments, "ok": True, "value": 1, "error": None}


def test_a_solver_sees_the_calls_of_each_step_with_their_results() -> None:
    said = Message(role="user", content=(TextPart(text="Last step."),))
    state = Message(role="user", content=(DataPart(data={"state": 1}),))
    words = Message(role="assistant", content=(TextPart(text="I think."),))
    system = Message(role="system", content=(TextPart(text="s"),))
    history = (system, said, *step(1, "a", "b"), state, words, said, *step(2, "a"))
    first, told, second = observations(ModelRequest(messages=history))
    assert (first["step"], told, second["step"]) == (1, {"state": 1}, 2)
    assert [one["name"] for one in first["calls"]] == ["a", "b"]
    assert second["calls"] == [seen(ToolCall(id="", name="a", arguments={"n": 1}))]


SOLVER = '''
from tea import tool


@tool
async def solves(history: list[dict], tools: list = [], functions: bool = False) -> dict:
    """Add once, then end."""
    seen = [call for step in history for call in step["calls"]]
    call = {"name": "done", "arguments": {"answer": seen[0]["value"]}} if seen else {"name": "add", "arguments": {}}
    return {"thinking": "", "next_goal": "", "calls": [call]}
'''
LOOP = '''
from tea import Agent, Context, DataPart, Message, Result, Task

TOOLS = [{"name": "add", "description": "Add.", "parameters": {"type": "object", "properties": {}}}]


class Loops(Agent):
    """Call what the solver wants."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Take two steps."""
        history = ()
        for step in range(2):
            (call,) = (await ctx.ask("steps", {"tools": TOOLS}, history)).output["calls"]
            if call["name"] == "done":
                return Result(answer=call["arguments"]["answer"])
            spoken = {"role": "assistant", "content": [], "calls": [{**call, "id": f"c{step}"}]}
            result = DataPart(data={**call, "ok": True, "value": 42, "error": None})
            history = (Message.model_validate(spoken), Message(role="tool", content=(result,), call_id=f"c{step}"))
        return Result(ok=False)
'''


async def test_a_solver_goes_on_from_results_of_functions() -> None:
    async with platform() as tea:
        await tea.tcp.register(SOLVER)
        await tea.libraries["prompt"].register(PROMPT.replace("output:\n", "solver: tool:solves\noutput:\n", 1))
        await tea.acp.register(LOOP)
        outcome = await tea.run("go", agent="loops")
        assert outcome.answer == 42, outcome
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
