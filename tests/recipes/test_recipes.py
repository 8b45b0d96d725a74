"""Test recipes inside of runs: pins surviving a crash, and a policy asked about their calls."""

import json
import shlex
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from journals import SEND, WAS_SENT, records, rewrite

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.runs.policy import CallRequest, Decision
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
            response = await {"tool": ctx.tcp, "environment": ctx.ecp}[kind].invoke(ref, arguments)
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
        return question.removeprefix("agent:caller asks: ").lower()

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
        key = shlex.split(waiting.value.fix)[4].partition("=")[0]
        assert (await made.resume("last", answers={key: "deny"})).answer == ["Denied"]


@pytest.mark.parametrize("told", [True, False])
async def test_a_tool_that_was_under_way_as_an_action_is_asked_about_once_after_a_crash(
    stage: Platform, told: bool
) -> None:
    checked = ', check="was_sent"' if told else ""
    await stage.tcp.register(SEND.replace('"external"', f'"external"{checked}'))
    await stage.tcp.register(WAS_SENT)
    await stage.transform("T2E", "send", name="post")
    outcome = await stage.run(json.dumps([("environment", "post#send", {"words": "hello"})]), agent="caller")
    intents = [number for number, one in enumerate(records(outcome.trace)) if one["kind"] == "intent"]
    assert len(intents) == 1
    other = rewrite(stage.home, outcome.run, lambda kept: kept[: intents[0] + 1])
    (stage.home / "traces" / other / "workspace").mkdir()
    answers = dict[str, str]()
    if not told:
        with pytest.raises(ApprovalNeeded, match=r"environment:post@1\.0\.0#send, may have happened") as waiting:
            await stage.resume(other)
        answers[shlex.split(waiting.value.fix)[4].partition("=")[0]] = "allow"
    assert (await stage.resume(other, answers=answers)).answer == ["hello"]
    assert (await stage.replay(other)).answer == ["hello"]
