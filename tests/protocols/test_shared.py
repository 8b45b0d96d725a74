"""Test shared actions of an environment: no change is lost, with any others in the session."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, cast

import pytest
from elsewhere import open_platform
from transform_kit import CALLER, called

from tea.journal.recorder import Event
from tea.platform import Platform
from tea.testing import platform

BUMPER = Path(__file__).parent / "bumper.py"

TOOL = '''
import os

from tea import Context, tool


@tool({options})
async def {name}(ctx: Context, n: int) -> dict[str, int]:
    """Count.

    Args:
        n: The count so far.
    """
    {line}
    return {{"n": n + {step}}}
'''

PAIR = '''
from tea import Agent, Context, Result, Task


class Pair(Agent):
    """Act twice at once."""

    name = "pair"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Act."""
        async with ctx.group() as group:
            both = [group.spawn(ctx.ecp.invoke(task.text, {})) for _ in range(2)]
        return Result(answer=[one.result().ok for one in both])
'''


def tool(name: str, *, line: str = "pass", step: int = 1, options: str = "") -> str:
    return TOOL.format(name=name, line=line, step=step, options=options)


async def counting(platform: Platform, *tools: str, name: str = "counter") -> None:
    """Make an environment of tools with a shared count."""
    made = [(await platform.tcp.register(source)).name for source in tools]
    await platform.ecp.transform("T2E", made, name=name, shared={"n": 0})


async def count(platform: Platform, name: str = "counter") -> Any:
    return (await platform.ecp.invoke(f"{name}#state", {}, session="w")).unwrap()["variables"]["n"]


def start(home: Path, action: str, times: int = 1) -> subprocess.Popen[str]:
    command = [sys.executable, str(BUMPER), str(home), action, str(times)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(runners: list[subprocess.Popen[str]]) -> list[int]:
    """Let processes begin together, and return how each ended."""
    for one in runners:
        assert cast(IO[str], one.stdout).readline() == "ready\n"
    for one in runners:
        cast(IO[str], one.stdin).write("go\n")
        cast(IO[str], one.stdin).flush()
    for one in runners:
        one.communicate(timeout=60)
    return [one.returncode for one in runners]


@pytest.mark.parametrize("options", ["", "concurrent=True", 'effects="reads"'])
async def test_two_platforms_of_one_process_lose_no_change(tmp_path: Path, options: str) -> None:
    both = [open_platform(tmp_path) for _ in range(2)]
    await counting(both[0], tool("bump", line="await ctx.sleep(0)", options=options))
    calls = [one.ecp.invoke("counter#bump", {}, session="w") for one in both for _ in range(10)]
    given = [one.unwrap()["n"] for one in await asyncio.gather(*calls)]
    assert sorted(given) == list(range(1, 21))
    assert await count(both[1]) == 20


async def test_processes_lose_no_change_and_one_that_dies_in_its_action_holds_nobody_up(tmp_path: Path) -> None:
    here = open_platform(tmp_path)
    await counting(here, tool("bump"), tool("die", line="os._exit(7)"))
    runners = [start(tmp_path, "counter#bump", 10) for _ in range(3)]
    assert await asyncio.to_thread(ended, [*runners, start(tmp_path, "counter#die")]) == [0, 0, 0, 7]
    assert (await here.ecp.invoke("counter#bump", {}, session="w")).unwrap() == {"n": 31}


async def test_an_action_that_is_called_off_holds_nobody_up(tmp_path: Path) -> None:
    ended, begun = os.pipe()
    both = [open_platform(tmp_path) for _ in range(2)]
    stuck = tool("stuck", line=f'os.write({begun}, b"."); await ctx.sleep(3600)')
    await counting(both[0], tool("bump"), stuck)
    acting = asyncio.create_task(both[0].ecp.invoke("counter#stuck", {}, session="w"))
    await asyncio.to_thread(os.read, ended, 1)
    waiting = [asyncio.create_task(both[1].ecp.invoke("counter#bump", {}, session="w")) for _ in range(2)]
    elsewhere = await both[1].ecp.invoke("counter#bump", {}, session="other")
    assert elsewhere.unwrap() == {"n": 1}
    assert not any(one.done() for one in waiting)
    waiting[0].cancel()
    acting.cancel()
    assert (await waiting[1]).unwrap() == {"n": 1}
    os.close(ended)
    os.close(begun)


async def test_what_many_actions_gave_fits_into_the_state_and_is_cut_where_it_is_long(tmp_path: Path) -> None:
    here, line = open_platform(tmp_path), "return {'n': n + 1, 'words': '\"ü' * 2_000}"
    long = [tool(f"act_{n}", line=line).replace("dict[str, int]", "dict[str, object]") for n in range(40)]
    await counting(here, *long)
    for number in range(40):
        assert (await here.ecp.invoke(f"counter#act_{number}", {}, session="w")).ok
    kept = (await here.ecp.invoke("counter#state", {}, session="w")).unwrap()
    assert kept["variables"] == {"n": 40}
    assert {len(one.encode()) // 100 for one in kept["last"].values()} == {6}
    assert all(one.startswith('{"n": ') and one.endswith("...") for one in kept["last"].values())


async def test_an_action_whose_change_is_too_large_to_be_kept_says_that_it_was_done(tmp_path: Path) -> None:
    here = open_platform(tmp_path)
    await counting(here, tool("grow", line="return {'n': 'x' * 70_000}").replace("dict[str, int]", "dict[str, str]"))
    given = await here.ecp.invoke("counter#grow", {}, session="w")
    assert given.error is not None
    assert (given.error["code"], await count(here)) == ("CallFailed", 0)
    assert given.error["problem"].startswith("'grow' was done, but what it shares was not kept: The state has ")


async def test_an_action_that_would_wait_for_itself_is_told_so(tmp_path: Path) -> None:
    here = open_platform(tmp_path)
    again = tool("again", line='(await ctx.ecp.invoke("counter#again", {})).unwrap()')
    await counting(here, again)
    given = await here.ecp.invoke("counter#again", {}, session="w")
    assert "cannot act in it again before it has ended" in str(given.error)
    assert await count(here) == 0


async def test_actions_of_two_environments_that_call_each_other_wait_for_each_other_briefly_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tea.recipes.executors._SECOND_TURN_SECONDS", 0.05)
    both = [open_platform(tmp_path) for _ in range(2)]
    for name, other in (("left", "right"), ("right", "left")):
        plain = tool(f"{name}_bump")
        across = tool(f"{name}_across", line=f'await ctx.ecp.invoke("{other}#{other}_bump", {{}})')
        await counting(both[0], plain, across, name=name)
    calls = [
        one.ecp.invoke(f"{name}#{name}_across", {}, session="w")
        for one, name in zip(both, ("left", "right"), strict=True)
        for _ in range(5)
    ]
    async with asyncio.timeout(30):
        given = await asyncio.gather(*calls)
    assert all(one.ok or "meanwhile" in str(one.error) for one in given)
    kept = sum(one.ok for one in given)
    assert await count(both[0], "left") + await count(both[0], "right") >= kept


@pytest.mark.parametrize(
    ("options", "gave", "left"), [("", "CallFailed", {"n": 1}), (', effects="reads"', {"n": 101}, {"n": 101})]
)
async def test_an_action_that_is_overtaken_overwrites_nothing_and_one_that_only_reads_is_done_again(
    options: str, gave: Any, left: Any
) -> None:
    inner = 'await ctx.ecp.invoke("counter#bump", {}) if n == 0 else None'
    async with platform() as made:
        await made.acp.register(CALLER)
        await counting(made, tool("bump"), tool("slow", line=inner, step=100, options=f"scope=True{options}"))
        given = await called(made, ("environment", "counter#slow", {}), ("environment", "counter#state", {}))
        assert (given[0], given[1]["variables"]) == (gave, left)


async def test_an_effect_that_is_under_way_is_not_overtaken_by_an_agent_in_the_environment() -> None:
    (ended, begun), (told, tell) = os.pipe(), os.pipe()
    waits = f'import asyncio; os.write({begun}, b"."); await asyncio.to_thread(os.read, {told}, 1)'

    def goes_on(event: Event) -> None:
        if event.kind == "start" and event.data["target"].startswith("put"):
            os.write(tell, b".")

    async with platform() as made:
        await made.acp.register(CALLER)
        await counting(made, tool("slow", line=waits), tool("quick", options="scope=True"))
        acting = asyncio.create_task(made.ecp.invoke("counter#slow", {}, session="w"))
        await asyncio.to_thread(os.read, ended, 1)
        calls = json.dumps([("environment", "counter#quick", {}), ("environment", "counter#quick", {})])
        outcome = await made.run(calls, agent="caller", session="w", watch=goes_on)
        assert (await acting).unwrap() == {"n": 1}
        assert (outcome.answer, await count(made)) == (["CallFailed", {"n": 2}], 2)
        assert (await made.replay(outcome.run)).to_json() == outcome.to_json()
    for descriptor in (ended, begun, told, tell):
        os.close(descriptor)


async def test_branches_of_one_run_take_turns_and_replay_so() -> None:
    async with platform() as made:
        await made.acp.register(PAIR)
        await counting(made, tool("bump", line="await ctx.random()", options="scope=True, concurrent=True"))
        outcome = await made.run("counter#bump", agent="pair", session="w")
        assert outcome.answer == [True, True]
        assert await count(made) == 2
        assert (await made.replay(outcome.run)).to_json() == outcome.to_json()


async def test_a_call_that_is_repeated_after_a_crash_finds_what_it_found_and_not_what_it_changed(
    tmp_path: Path,
) -> None:
    ended, begun = os.pipe()
    here = open_platform(tmp_path)
    await counting(here, tool("bump", options="idempotent=True"), tool("late_bump"))
    late = f"""given = await ctx.ecp.invoke("counter#bump", {{}})
    if not ctx.path("seen").exists():
        ctx.path("seen").touch()
        os.write({begun}, b".")
        await ctx.sleep(3600)
    return given.unwrap()"""
    await here.tcp.register(tool("twice", line=late, options="idempotent=True"))
    await here.acp.register(CALLER)
    calls = json.dumps([("environment", "counter#bump", {}), ("tool", "twice", {"n": 0})])
    running = asyncio.create_task(here.run(calls, agent="caller", session="w"))
    told = asyncio.Event()
    asyncio.get_running_loop().add_reader(ended, told.set)
    await asyncio.wait([running, asyncio.create_task(told.wait())], return_when=asyncio.FIRST_COMPLETED)
    asyncio.get_running_loop().remove_reader(ended)
    assert not running.done(), running.result()
    running.cancel()
    await asyncio.wait([running])
    assert (await here.ecp.invoke("counter#late_bump", {}, session="w")).unwrap() == {"n": 3}
    assert (await here.resume("last")).answer == [{"n": 1}, {"n": 2}]
    assert await count(here) == 3
    os.close(ended)
    os.close(begun)
