"""What was handed over is what was permitted, recorded and done, whatever becomes of it afterwards."""

import json
from typing import Any

import pytest
from journals import records

from tea.runtime.outcome import Outcome
from tea.runtime.policy import CallRequest, Decision
from tea.testing import platform

KEEPS = '''
from typing import Any
from tea import tool

@tool(effects="reads", idempotent=True)
async def keeps(given: Any) -> Any:
    """Give back what it was given.

    Args:
        given: Anything.
    """
    return given
'''

CHANGES = '''
from tea import Agent, Context, Result, Task

class Changes(Agent):
    """Change what it handed over before anybody can have acted on it."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Hand lists over, and add to them."""
        await ctx.tcp.invoke("keeps", {"given": 0})
        arguments, remembered = {"given": [1]}, {"seen": [1]}
        async with ctx.group() as group:
            called = group.spawn(ctx.tcp.invoke("keeps", arguments))
            kept = group.spawn(ctx.memory.record("note", remembered))

            async def change() -> None:
                arguments["given"].append(99)
                remembered["seen"].append(99)

            group.spawn(change())
        found = await ctx.memory.recall()
        return Result(answer=[called.result().value, [one["data"] for one in found if one["kind"] == "note"]])
'''


def handed_over(outcome: Outcome) -> list[Any]:
    """The arguments of the calls of tools, as the journal holds them."""
    starts = [one["data"] for one in records(outcome.trace) if one["kind"] == "start"]
    return [one["data"]["arguments"] for one in starts if one["kind"] == "tool"]


async def test_nobody_changes_what_they_handed_over() -> None:
    asked: list[object] = []

    class Looks:
        async def decide(self, request: CallRequest) -> Decision:
            if request.ref.startswith("tool:keeps"):
                asked.append(json.loads(json.dumps(request.arguments)))
            return "allow"

    async with platform(policy=Looks()) as stage:
        await stage.tcp.register(KEEPS)
        await stage.acp.register(CHANGES)
        outcome = await stage.run("x", agent="changes")
        assert outcome.answer == [[1], [{"seen": [1]}]]
        told = handed_over(outcome)
        assert asked == told == [{"given": 0}, {"given": [1]}]
        assert (await stage.replay(outcome.run)).answer == outcome.answer


@pytest.mark.parametrize("odd", ["float('nan')", "b'x'", "[[]] * 2", "(1, 2)", "{'a': {1: 2}}", "circle"])
async def test_odd_data_are_as_recorded_or_refused_in_one_line(odd: str) -> None:
    source = CHANGES.replace('"given": [1]', f'"given": {odd}').replace('arguments["given"].append(99)', "pass")
    source = source.replace(
        "        arguments,", "        circle = []\n        circle.append(circle)\n        arguments,", 1
    )
    async with platform() as stage:
        await stage.tcp.register(KEEPS)
        await stage.acp.register(source.replace("called.result().value", "called.result().model_dump(mode='json')"))
        outcome = await stage.run("x", agent="changes")
        response = outcome.answer[0]
        if response["ok"]:
            assert handed_over(outcome)[-1]["given"] == response["value"]
        else:
            assert response["error"]["code"] == "BadArguments"
            assert "\n" not in response["error"]["problem"]
