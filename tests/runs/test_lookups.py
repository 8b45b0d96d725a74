"""Several components looked up in one go: one record pins them all, for replays, resumes, forks and locks."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from journals import DOUBLE, records, rewrite

from tea.errors import Diverged
from tea.journal.compare import compare
from tea.platform import Platform
from tea.protocols.lock import lock_run
from tea.runs.outcome import Outcome
from tea.testing import platform

ASKER = '''
from tea import Agent, Context, Result, Task


class Asker(Agent):
    """Look several tools up, then use one."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        found = await ctx.tcp.facts(task.text.split())
        await ctx.memory.record("seen", {})
        again = await ctx.tcp.facts(task.text.split())
        value = (await ctx.tcp.invoke("double", {"number": 2})).unwrap()
        return Result(answer=[[one["version"] for one in found], [one["version"] for one in again], value])
'''
WARY = ASKER.replace("Asker", "Wary").replace(
    "found = await ctx.tcp.facts(task.text.split())",
    """try:
            found = await ctx.tcp.facts([*task.text.split(), "nowhere"])
        except Exception as error:
            found = [{"version": type(error).__name__}]""",
)
TRIPLE = DOUBLE.replace("double", "triple").replace("* 2", "* 3")
NAMES = "double triple double@1.0.0"
OLD = ["1.0.0", "1.0.0", "1.0.0"]


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as made:
        for source in (DOUBLE, TRIPLE):
            await made.tcp.register(source)
        for source in (ASKER, WARY):
            await made.acp.register(source)
        yield made


async def newer(tea: Platform) -> None:
    """Make another version of `double` current."""
    await tea.tcp.update("double", DOUBLE.replace("* 2", "* 10"), version="2.0.0")


def lookup(outcome: Outcome) -> list[dict[str, Any]]:
    """Start and end of the lookup of several."""
    found = records(outcome.trace)
    (start,) = [one for one in found if one["kind"] == "start" and " " in one["data"]["target"]]
    return [one for one in found if one["key"] == start["key"]]


async def test_one_record_pins_them_all_and_a_second_look_needs_none(tea: Platform) -> None:
    outcome = await tea.run(NAMES, agent="asker")
    assert outcome.answer == [OLD, OLD, 4]
    start, end = lookup(outcome)
    assert start["data"]["target"] == "tool:double tool:triple tool:double@1.0.0"
    assert [one["ref"] for one in end["data"]["data"]] == [
        f"tool:{one}@1.0.0" for one in ("double", "triple", "double")
    ]
    resolves = [one["data"]["target"] for one in records(outcome.trace) if one["data"].get("kind") == "resolve"]
    assert resolves == ["agent:asker", start["data"]["target"]]


async def test_a_replay_and_a_lock_use_what_it_pinned(tea: Platform) -> None:
    outcome = await tea.run(NAMES, agent="asker")
    await newer(tea)
    assert (await tea.replay(outcome.run)).answer == outcome.answer
    with pytest.raises(Diverged):
        await tea.replay(outcome.run, use={"tool:double": "2.0.0"})
    locked = lock_run(tea.tracer.records(outcome.run)).components
    assert {name: one.version for name, one in locked.items() if name.startswith("tool:")} == {
        "tool:double": "1.0.0",
        "tool:triple": "1.0.0",
    }


@pytest.mark.parametrize(("ended", "expected"), [(True, [OLD, OLD, 4]), (False, [["2.0.0", *OLD[1:]]] * 2 + [20])])
async def test_a_resumed_run_keeps_what_was_recorded_and_looks_up_the_rest(
    tea: Platform, ended: bool, expected: list[Any]
) -> None:
    outcome = await tea.run(NAMES, agent="asker")
    last = lookup(outcome)[1 if ended else 0]["seq"]
    other = rewrite(tea.home, outcome.run, lambda kept: kept[: last + 1])
    (tea.home / "traces" / other / "workspace").mkdir()
    await newer(tea)
    assert (await tea.resume(other)).answer == expected
    assert (await tea.replay(other)).answer == expected


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("its first use", [["2.0.0", *OLD[1:]]] * 2 + [20]),
        ("the lookup", [["2.0.0", *OLD[1:]]] * 2 + [20]),
        ("just behind it", [OLD, ["2.0.0", *OLD[1:]], 20]),
    ],
)
async def test_a_fork_changes_one_of_them_wherever_it_begins(tea: Platform, at: str, expected: list[Any]) -> None:
    outcome = await tea.run(NAMES, agent="asker")
    await newer(tea)
    await tea.tcp.update("triple", TRIPLE.replace("* 3", "* 30"))
    start, end = lookup(outcome)
    place = {"the lookup": start["key"], "just behind it": end["seq"] + 1}.get(at)
    fork = await tea.fork(outcome.run, at=place, use={"tool:double": "2.0.0"})
    assert fork.answer == expected
    assert (await tea.replay(fork.run)).answer == expected
    a, b = (list(tea.tracer.records(one.run)) for one in (outcome, fork))
    (double,) = [one for one in compare(a, b).pins if one.what == "tool:double"]
    assert str(double.b).endswith("tool:double@2.0.0")


async def test_where_one_is_missing_none_is_pinned(tea: Platform) -> None:
    outcome = await tea.run(NAMES, agent="wary")
    assert outcome.answer == [["UnknownComponent"], OLD, 4]
    resolves = [one["data"]["target"] for one in records(outcome.trace) if one["data"].get("kind") == "resolve"]
    assert resolves[1:] == [f"tool:double tool:triple tool:double@1.0.0{more}" for more in (" tool:nowhere", "")]
    assert (await tea.replay(outcome.run)).answer == outcome.answer


TWICE = '''
from tea import Agent, Context, Result, Task


class Twice(Agent):
    """Use a tool twice."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return Result(answer=[(await ctx.tcp.invoke("double", {"number": 2})).unwrap() for _ in range(2)])
'''


async def test_a_fork_just_behind_the_lookup_of_a_call_changes_that_call_and_those_behind_it(tea: Platform) -> None:
    await tea.acp.register(TWICE)
    outcome = await tea.run("Go.", agent="twice")
    await newer(tea)
    found = records(outcome.trace)
    (key,) = [one["key"] for one in found if one["kind"] == "start" and one["data"]["target"] == "tool:double"]
    (done,) = [one["seq"] for one in found if one["kind"] == "done" and one["key"] == key]
    fork = await tea.fork(outcome.run, at=done + 1, use={"tool:double": "2.0.0"})
    assert fork.answer == [20, 20]
    assert (await tea.replay(fork.run)).answer == fork.answer
