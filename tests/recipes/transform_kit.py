"""Parts of the transformation tests: one component of each kind, and an agent with given calls."""

import json
from collections.abc import Callable
from typing import Any

from tea.models.offline import observations
from tea.platform import Platform
from tea.testing import FunctionModel
from tea.types import ModelRequest

JOIN = '''
from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def join(text: str, times: int = 1) -> str:
    """Say a text several times.

    Args:
        text: The text.
        times: How often.
    """
    if times > 9:
        raise ValueError("too often")
    return text * times
'''

PAD = '''
from tea import Environment, action


class Pad(Environment):
    """A pad that keeps lines."""

    name = "pad"
    rules = "Write clearly."

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def state(self) -> list[str]:
        """Return the lines."""
        return self.lines

    @action(effects="writes", before="the pad has room", after="the line is on the pad")
    async def write(self, line: str, times: int = 1) -> int:
        """Write a line, and return how many there are.

        Args:
            line: The line.
            times: How often.
        """
        self.lines += [line] * times
        return len(self.lines)
'''

ECHO = '''
from tea import Agent, Context, Result, Task


class Echo(Agent):
    """Say again what was asked, and how often before."""

    name = "echo"
    role = "Mirror"
    competencies = ("repeat",)
    rules = "Add nothing."

    async def run(self, ctx: Context, task: Task) -> Result:
        """Echo."""
        before = (await ctx.state.load() or {"asked": 0})["asked"]
        await ctx.state.save({"asked": before + 1})
        return Result(answer=f"{task.text} {before}", ok=task.text != "no", reason="" if task.text != "no" else "no")
'''

CALLER = '''
import json

from tea import Agent, Context, Result, Task


class Caller(Agent):
    """Call what the task lists, kind, ref and arguments."""

    name = "caller"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call."""
        given = []
        for kind, ref, arguments in json.loads(task.text):
            if kind == "tool":
                response = await ctx.tcp.invoke(ref, arguments)
            elif kind == "environment":
                response = await ctx.ecp.invoke(ref, arguments)
            else:
                response = await ctx.acp.invoke(ref, Task.model_validate(arguments["task"]))
            given.append(response.value if response.error is None else response.error["code"])
        return Result(answer=given)
'''

STEP = {"thinking": "", "evaluation": "", "memory": "", "next_goal": ""}


def chooser(*steps: list[dict[str, Any]]) -> FunctionModel:
    """A model calling each step's list, then done with the last result."""
    return FunctionModel(script(*steps))


def script(*steps: list[dict[str, Any]]) -> Callable[[ModelRequest], dict[str, Any]]:
    """Return such a model's answers."""

    def reply(request: ModelRequest) -> dict[str, Any]:
        results = [one for one in observations(request) if "calls" in one]
        if len(results) < len(steps):
            return {**STEP, "calls": steps[len(results)]}
        last = results[-1]["calls"][-1]["value"] if results else None
        answer = "nothing" if last is None else last
        return {**STEP, "calls": [{"name": "done", "arguments": {"answer": answer}}]}

    return reply


async def furnish(platform: Platform) -> None:
    """Register one component of each kind, and the caller."""
    await platform.tcp.register(JOIN)
    await platform.ecp.register(PAD)
    await platform.acp.register(ECHO)
    await platform.acp.register(CALLER)


async def called(platform: Platform, *calls: tuple[str, str, dict[str, Any]]) -> Any:
    """Run the calls in one run, check its replay, and return their results."""
    outcome = await platform.run(json.dumps(calls), agent="caller")
    again = await platform.replay(outcome.run)
    assert again.to_json() == outcome.to_json()
    return outcome.answer
