"""Test tools without async: called directly and in runs, given up at a deadline, and uncertain afterwards."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic
from typing import Any, cast

import pytest
import pytest_asyncio

from tea import Agent, Context, Result, Task, ToolError, tool
from tea.errors import ApprovalNeeded
from tea.journal.recorder import Recorder
from tea.platform import Platform
from tea.protocols.server import operation_ref
from tea.refs import Kind
from tea.runs.authorization import Authorizer
from tea.runs.direct import Direct
from tea.runs.policy import AllowTrusted
from tea.testing import platform
from tea.types import JsonObject, Principal, Response

SOON = 0.02


@tool(effects="reads", network=False)
def double(number: int) -> int:
    """Double a number."""
    if number < 0:
        raise ToolError("It is negative.", fix="give another.")
    return 2 * number


def plain(text: str, ctx: Context) -> str:
    """Return a file's place."""
    return f"{text} {ctx.path('a.txt').name}"


def hold(begun: str, go_on: str) -> str:
    """Tell the beginning, and wait to be let go; both are named pipes."""
    Path(begun).write_text("begun")
    return Path(go_on).read_text()


@tool(effects="reads", network=False)
def look(begun: str, go_on: str) -> str:
    """Do the same, changing nothing."""
    Path(begun).write_text("begun")
    return Path(go_on).read_text()


class Holder(Agent):
    """Call the task's tool."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call it with the files."""
        name, begun, go_on = task.text.split()
        response = await ctx.tcp.invoke(name, {"begun": begun, "go_on": go_on})
        return Result(answer=response.value or response.error)


class Doubler(Agent):
    """Double, and tell."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call both."""
        doubled = (await ctx.tcp.invoke("double", {"number": int(task.text)})).unwrap()
        return Result(answer=[doubled, (await ctx.tcp.invoke("plain", {"text": "at"})).unwrap()])


class Pipes:
    """Two named pipes to hear a tool in a thread, and let it go."""

    def __init__(self, folder: Path) -> None:
        self.begun, self.go_on = folder / "begun", folder / "go_on"
        for one in (self.begun, self.go_on):
            os.mkfifo(one)
        self.arguments = {"begun": str(self.begun), "go_on": str(self.go_on)}

    async def heard(self) -> None:
        await asyncio.to_thread(self.begun.read_text)

    async def let_go(self) -> None:
        await asyncio.to_thread(self.go_on.write_text, "went on")


@pytest.fixture
def pipes(tmp_path: Path) -> Pipes:
    return Pipes(tmp_path)


@pytest_asyncio.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        for one in (double, plain, hold, look):
            await tea.tcp.register(one)
        for agent in (Holder, Doubler):
            await tea.acp.register(agent)
        yield tea


async def test_a_function_that_is_not_async_is_a_tool_in_calls_and_runs(tea: Platform) -> None:
    assert double(4) == 8
    assert (await tea.tcp.invoke("double", {"number": 4})).value == 8
    error = (await tea.tcp.invoke("double", {"number": -1})).error
    assert error is not None
    assert error["code"] == "ToolError"
    outcome = await tea.run("21", agent="doubler")
    assert outcome.answer == [42, "at a.txt"]
    assert (await tea.replay(outcome.run)).answer == [42, "at a.txt"]


async def test_it_is_copied_under_another_name(tea: Platform) -> None:
    made = await tea.tcp.copy("double", name="twice")
    assert "def twice(number: int)" in made.source
    assert (await tea.tcp.invoke("twice", {"number": 3})).value == 6


async def test_calls_run_beside_each_other(tea: Platform, pipes: Pipes) -> None:
    held = asyncio.ensure_future(tea.tcp.invoke("hold", pipes.arguments))
    await pipes.heard()
    assert (await tea.tcp.invoke("double", {"number": 1})).value == 2
    await pipes.let_go()
    assert (await held).value == "went on"


@pytest.mark.parametrize(("name", "code"), [("hold", "Uncertain"), ("look", "CallTimeout")])
async def test_a_deadline_returns_at_once_and_what_may_go_on_is_uncertain(
    tea: Platform, pipes: Pipes, name: str, code: str
) -> None:
    config = await tea.tcp.info(name)
    definition = await tea.tcp.manager.definition(config)
    facts: dict[str, Any] = dict.fromkeys(("run", "session", "task", "agent", "workspace"), "")
    context = Context(port=cast(Any, None), flow=cast(Any, None), principal=Principal(), **facts)
    calling = tea.tcp.carry_out(
        operation_ref(config, "call"), config, definition, "call", pipes.arguments, context, SOON
    )
    found: Response = await asyncio.wait_for(calling, 10)
    assert found.error is not None
    assert found.error["code"] == code
    assert operation_ref(config, "call") in found.error["problem"]
    assert ("uncertain" in found.error["problem"]) is (code == "Uncertain")
    await pipes.heard()
    await pipes.let_go()


async def test_a_direct_call_that_is_given_up_is_uncertain_too(tea: Platform, pipes: Pipes) -> None:
    async def never(kind: Kind, ref: str, arguments: JsonObject, session: str | None) -> Response:
        raise AssertionError(ref)

    permission = Authorizer(AllowTrusted(), None, Recorder(None, ""), {}, frozenset(), tea.consents)
    direct = Direct(cast(Any, tea.tcp), tea.versions.store, tea.trust, permission, SOON, never)
    for _ in range(2):  # the second is prepared
        found = await direct.invoke("tool", "hold", pipes.arguments, None)
        assert found.error is not None
        assert found.error["code"] == "Uncertain"
        await pipes.heard()
        await pipes.let_go()


async def test_a_run_that_is_interrupted_meanwhile_ends_at_once_and_asks_when_it_goes_on(
    tea: Platform, pipes: Pipes
) -> None:
    running = asyncio.ensure_future(tea.run(f"hold {pipes.begun} {pipes.go_on}", agent="holder"))
    await pipes.heard()
    begun = monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert monotonic() - begun < 10
    with pytest.raises(ApprovalNeeded, match="may have happened"):
        await tea.resume("last")
    await pipes.let_go()
