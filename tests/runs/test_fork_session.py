"""Test a fork's session: its own copy of the origin's, as of the fork's beginning."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from journals import COUNT, records

from tea.errors import BadInput
from tea.journal.retention import RetentionPolicy, collect
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.testing import platform

DIARY = '''
from tea import Agent, Context, Result, Task


class Diary(Agent):
    """Write what it is told into memory and state, and tell what is there."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Write twice."""
        for part in ("early", "late"):
            await ctx.memory.record("line", {"text": f"{task.text} {part}"})
            await ctx.state.merge({f"{task.text} {part}": True})
            await ctx.tcp.invoke("calculator", {"expression": "1+1"})
        lines = [one["data"]["text"] for one in await ctx.memory.recall("", 100) if one["kind"] == "line"]
        return Result(answer=f"{'; '.join(lines)} / {'; '.join(await ctx.state.load())}")
'''

COUNTER = '''
from tea import Agent, Context, Result, Task


class Counter(Agent):
    """Count."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Look, and add twice."""
        await ctx.tcp.invoke("calculator", {"expression": "1+1"})
        await ctx.ecp.state("count")
        await ctx.ecp.invoke("count#add", {"by": 1})
        await ctx.tcp.invoke("calculator", {"expression": "2+2"})
        return Result(answer=(await ctx.ecp.invoke("count#add", {"by": 1})).value)
'''


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as made:
        await made.acp.register(DIARY)
        await made.acp.register(COUNTER)
        yield made


def sums(outcome: Outcome) -> list[int]:
    """The places of calculator calls in the run."""
    starts = [one for one in records(outcome.trace) if one["kind"] == "start"]
    return [one["seq"] for one in starts if "calculator@" in one["data"]["target"]]


def streams(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (home / "traces" / "memory").glob("*.jsonl")}


async def test_a_fork_remembers_its_session_as_it_was_at_its_position(tea: Platform) -> None:
    await tea.run("one", agent="diary", session="shared")
    origin = await tea.run("two", agent="diary", session="shared")
    await tea.run("three", agent="diary", session="shared")
    before = streams(tea.home)
    fork = await tea.fork(origin.run, at=sums(origin)[1])
    assert (
        fork.answer
        == origin.answer
        == "one early; one late; two early; two late" + (" / one early; one late; two early; two late")
    )
    assert {name: data for name, data in streams(tea.home).items() if name in before} == before
    assert (await tea.replay(fork.run)).answer == origin.answer
    again = await tea.fork(fork.run, at=sums(fork)[0])
    assert again.answer == origin.answer
    lines = [json.loads(line) for line in streams(tea.home)[f"{fork.run}.jsonl"].splitlines()]
    assert [one["event"]["task"] == fork.run for one in lines] == [False, False, True, True]


async def test_a_fork_that_begins_anew_has_what_the_session_held_when_its_origin_began(tea: Platform) -> None:
    await tea.run("one", agent="diary", session="shared")
    origin = await tea.run("two", agent="diary", session="shared")
    await tea.run("three", agent="diary", session="shared")
    assert (await tea.fork(origin.run, at=0)).answer == origin.answer


async def test_an_environment_of_the_session_is_found_as_the_origin_found_it(tea: Platform) -> None:
    await tea.ecp.register(COUNT.replace("RECOVERY", "snapshot"))
    await tea.run("x", agent="counter", session="long")
    origin = await tea.run("x", agent="counter", session="long")
    await tea.run("x", agent="counter", session="long")
    assert str(origin.answer) == "4"
    for at in sums(origin):
        assert str((await tea.fork(origin.run, at=at)).answer) == "4"
    assert str((await tea.ecp.state("count", session="long")).value) == "6"


@pytest.mark.parametrize("recovery", ["rerun", "lost"])
async def test_an_environment_whose_state_other_runs_made_refuses_a_fork_and_nothing_is_left(
    tea: Platform, recovery: str
) -> None:
    await tea.ecp.register(COUNT.replace("RECOVERY", recovery))
    first = await tea.run("x", agent="counter", session="long")
    origin = await tea.run("x", agent="counter", session="long")
    runs, before = tea.tracer.runs(), streams(tea.home)
    for at in sums(origin):
        with pytest.raises(BadInput, match=r"other runs|declares"):
            await tea.fork(origin.run, at=at)
    assert (tea.tracer.runs(), streams(tea.home)) == (runs, before)
    assert str((await tea.fork(first.run, at=sums(first)[0])).answer) == "2"


async def test_a_refused_fork_leaves_no_memory_behind(tea: Platform) -> None:
    noting = DIARY.replace("for part", "ctx.note('run', {'id': ctx.run})\n        for part")
    await tea.acp.register(noting.replace("class Diary", "class Nosy"))
    origin = await tea.run("one", agent="nosy", session="shared")
    before = streams(tea.home)
    with pytest.raises(Exception, match="recorded"):
        await tea.fork(origin.run, at=sums(origin)[1])
    assert streams(tea.home) == before


async def test_what_a_removed_run_remembered_for_itself_goes_with_it(tea: Platform) -> None:
    alone = await tea.run("one", agent="diary")
    shared = await tea.run("two", agent="diary", session="shared")
    followed = await tea.run("three", agent="diary")
    await tea.run("four", agent="diary", session=followed.run)
    collected = collect(tea.tracer, tea.memory, RetentionPolicy(newest=1), remove=True)
    assert {one.run for one in collected.removed} == {alone.run, shared.run, followed.run}
    left = {json.loads(data.splitlines()[0])["stream"] for data in streams(tea.home).values()}
    assert left == {"shared", "state/agent:diary/shared", followed.run, f"state/agent:diary/{followed.run}"}


async def test_a_run_that_another_process_removes_meanwhile_is_no_fault(
    tea: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = await tea.run("one", agent="diary"), await tea.run("two", agent="diary")
    runs = [last.run, f"{first.run[:-4]}beef", first.run]
    monkeypatch.setattr(tea.tracer, "runs", lambda: runs)
    assert {one.run for one in tea.tracer.steps()} <= {first.run, last.run}
    found = collect(tea.tracer, tea.memory, RetentionPolicy(newest=1), remove=True)
    assert ([one.run for one in found.removed], found.kept) == ([first.run], 1)
