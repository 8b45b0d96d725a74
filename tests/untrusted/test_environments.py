"""Untrusted environments: their instances live in workers, for as long as their session."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from untrusted_kit import COUNTER, elsewhere, problem

from tea.platform import Platform
from tea.runs.policy import AllowTrusted

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOST, KEPT = COUNTER.replace("RECOVERY", "lost"), COUNTER.replace("RECOVERY", "snapshot").replace("Counter", "Keeper")
BAD = '''
from typing import Any

from tea import Context, Environment, action


class Bad(Environment):
    """Fail where it can."""

    async def setup(self, ctx: Context) -> None:
        """Raise."""
        raise ValueError("no")

    async def state(self) -> int:
        """Return nothing of the kind."""
        return 1
'''
SHELF = '''
from tea import Environment, action


class Shelf(Environment):
    """Read what nobody may."""

    async def state(self) -> str:
        """Return nothing."""
        return ""

    @action(effects="reads", network=False)
    async def read(self, name: str) -> str:
        """Read a file."""
        with open(name) as file:
            return file.read()

    @action(effects="writes", network=False)
    async def write(self, name: str) -> str:
        """Write a file."""
        with open(name, "w") as file:
            file.write("mine")
        return name
'''


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("environments")
    sources: Any = [("environment", one) for one in (LOST, KEPT, BAD, SHELF)]
    async with elsewhere(folder, *sources, policy=AllowTrusted()) as mine:
        yield mine


async def act(tea: Platform, ref: str, session: str = "s", /, **arguments: Any) -> Any:
    return await tea.ecp.invoke(ref, arguments, session=session)


async def test_state_stays_from_call_to_call_and_apart_between_sessions(tea: Platform) -> None:
    assert (await act(tea, "counter#add", number=2)).unwrap() == 2
    assert (await act(tea, "counter#add", number=3)).unwrap() == 5
    assert (await tea.ecp.state("counter", session="s")).unwrap() == 5
    assert (await act(tea, "counter#add", "other")).unwrap() == 1


async def test_one_that_dies_is_one_error_and_begins_anew(tea: Platform) -> None:
    assert (await act(tea, "counter#add", "death", number=2)).ok
    assert "died" in problem(await act(tea, "counter#die", "death"))
    assert (await act(tea, "counter#add", "death")).unwrap() == 1


async def test_one_that_dies_has_the_state_of_its_last_snapshot(tea: Platform) -> None:
    assert (await act(tea, "keeper#add", "death", number=2)).ok
    assert "died" in problem(await act(tea, "keeper#die", "death"))
    assert (await act(tea, "keeper#add", "death")).unwrap() == 3


async def test_a_setup_that_fails_is_an_error_and_leaves_no_worker(tea: Platform) -> None:
    live = tea._workers._environments  # pyright: ignore[reportPrivateUsage]
    assert "'setup' raised ValueError: no" in problem(await act(tea, "bad#state", "bad"))
    assert tea._workers._environments == live  # pyright: ignore[reportPrivateUsage]


async def test_it_neither_reads_nor_writes_what_is_not_its_own(tea: Platform, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("sesame")
    assert "raised" in problem(await act(tea, "shelf#read", name=str(tmp_path / "secret")))
    assert "raised" in problem(await act(tea, "shelf#write", name=str(tmp_path / "there")))
    assert [one.name for one in tmp_path.iterdir()] == ["secret"]


async def test_its_actions_become_tools_and_tools_become_actions(tea: Platform) -> None:
    await tea.transform("E2T", "counter")
    assert (await tea.tcp.invoke("counter_add", {"number": 4}, session="tools")).unwrap() == 4
    assert (await tea.tcp.invoke("counter_add", {"number": 4}, session="tools")).unwrap() == 8
    assert (await act(tea, "counter#state", "tools")).unwrap() == 8


async def test_its_teardown_is_called_in_the_run_that_it_served(tmp_path: Path) -> None:
    agent = '''
from tea import Agent, Context, Result, Task


class Counting(Agent):
    """Count."""

    environments = ("counter",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Count twice."""
        await ctx.ecp.invoke("counter#add", {"number": 2})
        return Result(answer=(await ctx.ecp.invoke("counter#add", {})).unwrap())
'''
    async with elsewhere(tmp_path, ("environment", LOST), policy=AllowTrusted()) as mine:
        await mine.acp.register(agent)
        outcome = await mine.run("count", agent="counting")
        assert outcome.answer == 3
        assert "ended.txt" in {one.name for one in (mine.home / "traces" / outcome.run).rglob("*")}
        assert (await mine.replay(outcome.run)).answer == 3
