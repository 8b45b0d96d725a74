"""Recipes inside of runs: pins that survive a crash, and a policy that is asked about what they do."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from journals import rewrite

from tea.errors import ApprovalNeeded
from tea.runtime.platform import Platform
from tea.runtime.policy import CallRequest, Decision
from tea.testing import platform

COUNTER = '''
from tea import Environment, action


class Counter(Environment):
    """A counter."""

    name = "counter"

    async def state(self) -> int:
        """Return nothing of interest."""
        return 0

    @action(effects="writes", idempotent=True)
    async def step(self) -> int:
        """Return how far a step goes."""
        return 1
'''

CALLER = '''
import json

from tea import Agent, Context, Result, Task


class Caller(Agent):
    """Call what the task lists."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call."""
        given = []
        for kind, ref, arguments in json.loads(task.text):
            response = await ctx.port.invoke(kind, ref, arguments)
            given.append(response.value if response.error is None else response.error["code"])
        return Result(answer=given)
'''

CALLS = json.dumps([("tool", "counter_step", {}), ("environment", "counter#step", {})])


@pytest.fixture
async def stage() -> AsyncIterator[Platform]:
    async with platform() as made:
        await made.ecp.register(COUNTER)
        await made.acp.register(CALLER)
        await made.transform("E2T", "counter")
        yield made


async def test_a_resumed_run_tells_the_operand_from_what_is_current(stage: Platform) -> None:
    await stage.ecp.update("counter", COUNTER.replace("return 1", "return 2"))
    outcome = await stage.run(CALLS, agent="caller")
    assert outcome.answer == [1, 2]

    def torn(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
        first = next(
            n for n, one in enumerate(kept) if one["kind"] == "done" and (one["data"]["data"] or {}).get("value") == 1
        )
        return kept[: first + 1]

    other = rewrite(stage.home, outcome.run, torn)
    (stage.home / "traces" / other / "workspace").mkdir()
    assert (await stage.resume(other)).answer == [1, 2]


async def test_what_a_tool_keeps_and_asks_inside_of_one_call_is_told_apart() -> None:
    source = '''
from tea import Context, tool


@tool(effects="external", idempotent=True)
async def inquire(ctx: Context) -> list[str]:
    """Ask twice, and keep both answers."""
    first = await ctx.person("First?")
    await ctx.state.save([first])
    second = await ctx.person("Second?")
    await ctx.state.save([first, second])
    return await ctx.state.load()
'''

    async def person(question: str, choices: Sequence[str]) -> str:
        return question.lower()

    async with platform(person=person) as made:
        await made.tcp.register(source)
        await made.acp.register(CALLER)
        outcome = await made.run(json.dumps([("tool", "inquire", {})]), agent="caller")
        assert outcome.answer == [["first?", "second?"]]
        assert await made.kept("caller", outcome.run) == ["first?", "second?"]


async def test_the_policy_is_asked_about_what_a_recipe_does() -> None:
    class Careful:
        async def decide(self, request: CallRequest) -> Decision:
            return "ask" if request.ref.startswith("environment:") and request.traits.effects == "writes" else "allow"

    async with platform(policy=Careful()) as made:
        await made.ecp.register(COUNTER)
        await made.acp.register(CALLER)
        await made.transform("E2T", "counter")
        with pytest.raises(ApprovalNeeded, match=r"environment:counter@1\.0\.0#step") as waiting:
            await made.run(json.dumps([("tool", "counter_step", {})]), agent="caller")
        key = waiting.value.fix.partition("--answer ")[2].partition("=")[0]
        assert (await made.resume("last", answers={key: "deny"})).answer == ["Denied"]


async def test_the_policy_is_asked_once_for_an_action_that_is_called_as_a_tool() -> None:
    asked: list[CallRequest] = []

    class Careful:
        async def decide(self, request: CallRequest) -> Decision:
            asked.append(request)
            return "allow"

    async with platform(policy=Careful()) as made:
        await made.ecp.register(COUNTER)
        await made.transform("E2T", "counter")
        for _ in range(2):
            assert (await made.tcp.invoke("counter_step", {})).ok
        said = [(one.ref, one.through, one.traits.effects) for one in asked]
        assert said == [("environment:counter@1.0.0#step", "tool:counter_step@1.0.0#call", "writes")] * 2
        asked.clear()
        assert (await made.ecp.invoke("counter#step", {})).ok
        assert [(one.ref, one.through) for one in asked] == [("environment:counter@1.0.0#step", "")]
