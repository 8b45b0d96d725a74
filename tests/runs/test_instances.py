"""Test environments shared by a session, or private to a branch of a run."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from journals import records, rewrite

from tea import Agent, Context, Result, Task
from tea.errors import ApprovalNeeded, BadInput
from tea.platform import Platform
from tea.testing import platform

NOTES = '''
import asyncio
import os
from pathlib import Path

from tea import Context, Environment, action


class Notes(Environment):
    """Keep notes."""

    recovery = "RECOVERY"
    sharing = "SHARING"

    def __init__(self) -> None:
        self.notes: list[str] = []

    async def setup(self, ctx: Context) -> None:
        """Begin."""
        self.log("up")

    async def teardown(self) -> None:
        """End."""
        self.log(f"down {' '.join(self.notes)}")
        if BEGUN >= 0:
            os.write(BEGUN, b".")

    def log(self, line: str) -> None:
        with Path(LOG_FILE).open("a") as file:
            file.write(line + "\\n")

    @action(effects="writes", idempotent=True, network=False)
    async def add(self, text: str) -> list[str]:
        """Add a note."""
        self.notes.append(text)
        await asyncio.sleep(0)
        return list(self.notes)

    @action(effects="writes", network=False)
    async def stay(self) -> None:
        """Stay until it is called off, and clean up slowly."""
        self.notes.append("stayed")
        os.write(BEGUN, b".")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            self.notes.append("cleaned")

    async def snapshot(self) -> list[str]:
        return list(self.notes)

    async def restore(self, state: list[str]) -> None:
        self.notes = list(state)

    async def state(self) -> str:
        """Return the notes."""
        return " ".join(self.notes)
'''

WRITER = '''
from tea import Agent, Context, Result, Task


class Writer(Agent):
    """Write what it is told, twice, and tell what stands there."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Write."""
        problems = []
        for number in range(2):
            response = await ctx.ecp.invoke("notes#add", {"text": f"{task.text}{number}"})
            problems += [response.error["problem"]] if response.error else []
        return Result(answer=(await ctx.ecp.state("notes")).value, reason="; ".join(problems))
'''

LEAD = '''
import json

from tea import Agent, Context, Result, Task


class Lead(Agent):
    """Have notes written, side by side and in turn."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Lead."""
        (await ctx.ecp.invoke("notes#add", {"text": "lead"})).unwrap()
        async with ctx.group() as group:
            both = [group.spawn(ctx.acp.invoke("writer", Task(text=name))) for name in "ab"]
        found = [one.result().result for one in both]
        if task.text == "ask":
            await ctx.person("Go on?")
        found.append((await ctx.acp.invoke("writer", Task(text="c"))).result)
        async with ctx.group() as group:
            for name in "xy":
                group.spawn(ctx.ecp.invoke("notes#add", {"text": name}))
        answers = [one.answer for one in found] + [(await ctx.ecp.state("notes")).value]
        return Result(answer=json.dumps(answers), reason="; ".join(one.reason for one in found if one.reason))
'''

APART = ["a0 a1", "b0 b1", "lead c0 c1", "lead c0 c1 x y"]

JOT = '''
from tea import Context, tool


@tool(scope=True, effects="writes", idempotent=True, network=False)
async def jot(ctx: Context, text: str) -> list[str]:
    """Add a note for whoever calls."""
    return (await ctx.ecp.invoke("notes#add", {"text": text})).unwrap()
'''


class Jotter(Agent):
    """Have two notes jotted down side by side."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Jot."""
        async with ctx.group() as group:
            for name in "xy":
                group.spawn(ctx.tcp.invoke("jot", {"text": name}))
        return Result(answer=(await ctx.ecp.state("notes")).value)


class Racer(Agent):
    """Have somebody stay until it is told to stop, and end when it is told again."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Race."""

        async def told() -> None:
            while not await ctx.messages():
                await ctx.sleep(0.001)

        await ctx.race(ctx.acp.invoke("stayer", Task(text="stay")), told())
        await told()
        return Result(answer="over")


class Stayer(Agent):
    """Stay."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Stay."""
        return Result(answer=(await ctx.ecp.invoke("notes#stay", {})).value)


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as made:
        for found in (WRITER, LEAD, Jotter, Racer, Stayer):
            await made.acp.register(found)
        yield made


async def keep(tea: Platform, sharing: str = "private", recovery: str = "lost", begun: int = -1) -> Path:
    """Register the environment; return the file of its life's events."""
    log = tea.home / "life.txt"
    words = {"LOG_FILE": repr(str(log)), "RECOVERY": recovery, "SHARING": sharing, "BEGUN": str(begun)}
    source = NOTES
    for word, text in words.items():
        source = source.replace(word, text)
    await tea.ecp.register(source)
    return log


def life(log: Path) -> list[str]:
    return sorted(log.read_text().splitlines())


async def test_agents_side_by_side_meet_in_a_shared_environment_and_not_in_a_private_one(tea: Platform) -> None:
    log = await keep(tea, "private")
    outcome = await tea.run("go", agent="lead")
    assert json.loads(str(outcome.answer)) == APART
    assert life(log) == ["down a0 a1", "down b0 b1", "down lead c0 c1 x y", "up", "up", "up"]
    assert (await tea.replay(outcome.run)).answer == outcome.answer
    assert len(life(log)) == 6


async def test_a_shared_environment_has_one_instance_for_all(tea: Platform) -> None:
    log = await keep(tea, "shared")
    *_, last = json.loads(str((await tea.run("go", agent="lead")).answer))
    assert sorted(last.split()) == ["a0", "a1", "b0", "b1", "c0", "c1", "lead", "x", "y"]
    assert life(log) == [f"down {last}", "up"]


@pytest.mark.parametrize("recovery", ["snapshot", "rerun"])
async def test_wherever_a_run_dies_each_branch_has_its_own_state_again(tea: Platform, recovery: str) -> None:
    log = await keep(tea, recovery=recovery)
    outcome = await tea.run("go", agent="lead")
    whole = records(outcome.trace)
    for length in range(2, len(whole), 3):
        log.unlink()
        other = rewrite(tea.home, outcome.run, lambda kept, length=length: kept[:length])
        (tea.home / "traces" / other / "workspace").mkdir()
        resumed = await tea.resume(other)
        assert (resumed.answer, resumed.reason) == (outcome.answer, ""), length
        assert (await tea.replay(other)).answer == outcome.answer
        assert len([one for one in life(log) if one == "up"]) == len([one for one in life(log) if one != "up"]) <= 3
        tea.tracer.remove(other)


async def test_what_a_branch_has_lost_is_said_once_in_that_branch(tea: Platform) -> None:
    await keep(tea)
    outcome = await tea.run("go", agent="lead")
    whole = records(outcome.trace)
    _, *others = [one["key"] for one in whole if one["kind"] == "start" and "#add" in one["data"]["target"]][:3]
    done = [one["key"] for one in whole if one["kind"] == "done"]
    first = min(others, key=done.index)
    cut = next(n for n, one in enumerate(whole) if (one["kind"], one["key"]) == ("done", first))
    other = rewrite(tea.home, outcome.run, lambda kept: kept[: cut + 1])
    (tea.home / "traces" / other / "workspace").mkdir()
    resumed = await tea.resume(other)
    assert resumed.reason.count("was lost") == 2  # in the branch of who was first, and in that of the lead
    *both, c, last = json.loads(str(resumed.answer))
    assert sorted(both) in (["", "b0 b1"], ["", "a0 a1"])
    assert (c, last) == ("c1", "c1 x y")


@pytest.mark.parametrize("recovery", ["snapshot", "rerun"])
async def test_a_fork_begins_with_what_each_branch_had(tea: Platform, recovery: str) -> None:
    await keep(tea, recovery=recovery)
    outcome = await tea.run("go", agent="lead")
    for one in records(outcome.trace):
        if one["kind"] == "start" and "notes@" in one["data"]["target"] and one["data"]["kind"] != "resolve":
            assert (await tea.fork(outcome.run, at=one["key"])).answer == outcome.answer


async def test_a_fork_refuses_what_a_branch_cannot_have_again(tea: Platform) -> None:
    await keep(tea)
    outcome = await tea.run("go", agent="lead")
    last = [one["key"] for one in records(outcome.trace) if one["kind"] == "start" and "#state" in str(one["data"])][-1]
    with pytest.raises(BadInput, match="its state is lost"):
        await tea.fork(outcome.run, at=last)


async def test_a_private_environment_ends_with_its_run_and_a_shared_one_with_its_session(tea: Platform) -> None:
    log = await keep(tea, recovery="snapshot")
    for _ in range(2):
        assert json.loads(str((await tea.run("go", agent="lead", session="long")).answer)) == APART
    assert len(life(log)) == 12
    for text in ("one", "two"):
        assert (await tea.ecp.invoke("notes#add", {"text": text}, session="long")).ok
    assert (await tea.ecp.state("notes", session="long")).value == "one two"
    assert len(life(log)) == 13


async def test_a_shared_environment_ends_with_its_session(tea: Platform) -> None:
    log = await keep(tea, "shared")
    assert (await tea.ecp.invoke("notes#add", {"text": "alone"})).ok
    assert life(log) == ["down alone", "up"]
    for length in (9, 18):
        *_, last = json.loads(str((await tea.run("go", agent="lead", session="long")).answer))
        assert len(last.split()) == length
    assert life(log) == ["down alone", "up", "up"]


async def test_a_run_that_waits_has_its_private_environments_again_in_the_same_session(tea: Platform) -> None:
    log = await keep(tea, recovery="snapshot")
    with pytest.raises(ApprovalNeeded):
        await tea.run("ask", agent="lead", session="long")
    (question,) = (await tea.inbox()).questions
    assert [one for one in life(log) if one != "up"] == ["down a0 a1", "down b0 b1", "down lead"]
    resumed = await tea.resume(question.run, answers={question.key: "yes"})
    assert json.loads(str(resumed.answer)) == APART


async def test_an_agent_that_is_called_from_outside_of_a_run_has_its_own_too(tea: Platform) -> None:
    log = await keep(tea)
    for session in (None, "long"):
        response: Any = await tea.acp.invoke("lead", {"task": {"text": "go"}}, session=session)
        assert json.loads(response.result.answer) == APART
    assert len(life(log)) == 12


async def test_a_tool_made_of_a_private_environment_acts_in_the_branch_of_its_caller(tea: Platform) -> None:
    await keep(tea)
    await tea.tcp.transform("E2T", "notes")
    made = [one.name for one in await tea.tcp.list() if "add" in one.name]
    await tea.acp.update("writer", WRITER.replace('ctx.ecp.invoke("notes#add"', f'ctx.tcp.invoke("{made[0]}"'))
    outcome = await tea.run("go", agent="lead")
    assert json.loads(str(outcome.answer)) == APART
    assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_a_tool_with_a_scope_acts_where_its_caller_does(tea: Platform) -> None:
    await keep(tea)
    await tea.tcp.register(JOT)
    assert sorted(str((await tea.run("go", agent="jotter")).answer).split()) == ["x", "y"]


async def test_an_environment_is_torn_down_when_what_was_called_off_in_it_has_cleaned_up(tea: Platform) -> None:
    ended, begun = os.pipe()
    log = await keep(tea, begun=begun)
    async with asyncio.timeout(30):
        running = asyncio.ensure_future(tea.run("go", agent="racer"))
        await asyncio.to_thread(os.read, ended, 1)
        await tea.tell("last", "stop")
        await asyncio.to_thread(os.read, ended, 1)
        assert not running.done()
        await tea.tell("last", "end")
        assert (await running).answer == "over"
    assert life(log) == ["down stayed cleaned", "up"]
    os.close(ended)
    os.close(begun)


async def test_how_an_environment_is_shared_is_stored_and_shown_and_carried_along(tea: Platform) -> None:
    await keep(tea)
    assert (await tea.ecp.info("notes")).sharing == "private"
    assert "private to one branch of a run" in await tea.ecp.contract(names=["notes"])
    assert "shared by all who act in a session" in await tea.ecp.contract(names=["workspace"])
    file = tea.home / "notes.json"
    await tea.ecp.save(file, ["notes"])
    async with platform() as other:
        await other.ecp.load(file)
        assert (await other.ecp.info("notes")).sharing == "private"
