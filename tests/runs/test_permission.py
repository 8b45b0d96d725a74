"""Test failing policies: a non-decision allows nothing, and a standing decision may stay untold."""

import pytest

from tea.components.operation import Traits
from tea.errors import InternalError
from tea.runs.policy import CallRequest, Decision
from tea.testing import platform
from tea.types import Principal

SEND = '''
from tea import tool

@tool(effects="external", network=False)
async def send(words: str) -> str:
    """Send words.

    Args:
        words: Which.
    """
    return f"sent {words}"
'''

SENDER = '''
from tea import Agent, Context, Result, Task

class Sender(Agent):
    """Send, or have it sent."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Send a letter, at the task's word by another of its kind."""
        if task.text == "delegate":
            return (await ctx.acp.invoke("sender", Task(text="send"))).result
        return Result(answer=(await ctx.tcp.invoke("send", {"words": "hello"})).value)
'''


class Says:
    """A policy allowing agents, with scripted words on tools."""

    def __init__(self, said: object) -> None:
        self.said = said

    async def decide(self, request: CallRequest) -> Decision:
        """Decide."""
        return self.said if request.ref.startswith("tool:") else "allow"  # pyright: ignore[reportReturnType]


@pytest.mark.parametrize("said", [None, False, True, "Deny", "", ["deny"], "no\nway"])
async def test_what_is_no_decision_allows_nothing(said: object) -> None:
    async with platform(policy=Says(said)) as stage:
        await stage.tcp.register(SEND)
        await stage.acp.register(SENDER)
        with pytest.raises(InternalError, match=r"^The policy \w+ said .+ of tool:send@1\.0\.0#call\. Fix: let it say"):
            await stage.run("send", agent="sender")
        with pytest.raises(InternalError, match=r"^The policy \w+ said .+ of tool:send@1\.0\.0#call\. Fix: let it say"):
            await stage.tcp.invoke("send", {"words": "hello"})


class Unsure(Says):
    """A policy without a standing decision, once it is tired."""

    tired = True

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Decide about an operation."""
        if self.tired:
            raise RuntimeError("too tired\nfor that")
        return "allow"


@pytest.mark.parametrize("tired", [True, False])
async def test_where_a_policy_cannot_tell_what_holds_for_all_calls_each_is_asked_about(tired: bool) -> None:
    policy = Unsure("allow")
    async with platform(policy=policy) as stage:
        await stage.tcp.register(SEND)
        await stage.acp.register(SENDER)
        policy.tired = tired
        outcome = await stage.run("delegate", agent="sender")
        assert outcome.answer == "sent hello"
        policy.tired = not tired
        assert (await stage.replay(outcome.run)).answer == outcome.answer
        assert (await stage.tcp.invoke("send", {"words": "hello"})).value == "sent hello"


async def test_a_policy_that_raises_is_one_clear_defect_outside_of_runs_too() -> None:
    class Broken:
        async def decide(self, request: CallRequest) -> Decision:
            raise RuntimeError("broken\nto pieces")

    async with platform(policy=Broken()) as stage:
        await stage.tcp.register(SEND)
        with pytest.raises(InternalError, match=r"^The policy .*Broken raised RuntimeError: broken.* about tool:send"):
            await stage.tcp.invoke("send", {"words": "hello"})
