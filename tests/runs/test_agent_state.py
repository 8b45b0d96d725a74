"""Test an agent's state between tasks and sessions: recorded, replayed, and written once across a crash."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from journals import rewrite_in_place

from tea.platform import Platform
from tea.testing import platform

KEEPER = '''
from tea import Agent, Context, Result, Task


class Keeper(Agent):
    """Count its tasks, in this session and for good."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Count."""
        now = (await ctx.state.load() or {"n": 0})["n"] + 1
        await ctx.state.save({"n": now})
        while True:
            old = await ctx.state.load(lasting=True)
            new = {"n": (old or {"n": 0})["n"] + 1}
            if await ctx.state.swap(old, new, lasting=True):
                break
        await ctx.state.merge({"last": task.text})
        return Result(answer=[now, new["n"], await ctx.state.load()])
'''


@pytest.fixture
async def stage() -> AsyncIterator[Platform]:
    async with platform() as made:
        await made.acp.register(KEEPER)
        yield made


async def test_an_agent_keeps_a_state_for_a_session_and_one_for_good(stage: Platform) -> None:
    answers = [(await stage.run(t, agent="keeper", session=s)).answer for t, s in [("a", "x"), ("b", "x"), ("c", "y")]]
    assert answers == [
        [1, 1, {"n": 1, "last": "a"}],
        [2, 2, {"n": 2, "last": "b"}],
        [1, 3, {"n": 1, "last": "c"}],
    ]
    assert await stage.kept("keeper", "x") == {"n": 2, "last": "b"}
    assert await stage.kept("keeper") == {"n": 3}


async def test_a_replay_reads_what_was_recorded_and_writes_nothing(stage: Platform) -> None:
    outcome = await stage.run("a", agent="keeper", session="x")
    await stage.run("b", agent="keeper", session="x")
    assert (await stage.replay(outcome.run)).to_json() == outcome.to_json()
    assert await stage.memory.states.load("agent:keeper", None) == {"n": 2}


async def test_a_save_that_was_made_before_a_crash_is_not_made_again(stage: Platform) -> None:
    outcome = await stage.run("a", agent="keeper", session="x")

    def torn(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
        merge = next(n for n, one in enumerate(kept) if one["kind"] == "start" and one["data"]["target"] == "merge")
        return kept[: merge + 1]

    rewrite_in_place(stage.home, outcome.run, torn)
    await stage.memory.states.save("agent:keeper", "x", {"n": 5}, "another run")
    assert (await stage.resume(outcome.run)).answer == [1, 1, {"n": 5}]
