"""Test the loading of trusted source with its first call: a version only looked up is not executed."""

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tea.errors import BadComponent
from tea.platform import Platform
from tea.testing import platform

BROKER = '''
# /// script
# dependencies = ["teatestkit"]
# ///
import teatestkit

from tea import Context, tool


@tool(effects="reads", scope=True, network=False)
async def broker(ctx: Context, number: int) -> int:
    """Add what the kit says."""
    return number + teatestkit.MORE
'''
ASKER = '''
from tea import Agent, Context, Result, Task


class Asker(Agent):
    """Look tools up, and call one where that is the task."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        (found,) = await ctx.tcp.facts(["broker"])
        if task.text != "call it":
            return Result(answer=found["version"])
        said = await ctx.tcp.invoke("broker", {"number": 1})
        return Result(answer=[said.ok, said.value if said.ok else said.error["problem"]])
'''


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a distribution."""
    folder = tmp_path / "packages"
    about = folder / "teatestkit-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: teatestkit\nVersion: 1.0\n")
    (about / "top_level.txt").write_text("teatestkit\n")
    (folder / "teatestkit.py").write_text("MORE = 2\n")
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("teatestkit", None)


@pytest.fixture
async def tea(kit: Path) -> AsyncIterator[Platform]:
    async with platform() as made:
        await made.tcp.register(BROKER)
        await made.acp.register(ASKER)
        yield made


async def anew(tea: Platform) -> Platform:
    """Return a fresh platform at the same home, with nothing loaded."""
    sys.modules.pop("teatestkit", None)
    return Platform(tea.home, state=tea.trust.path.parent)


async def test_what_is_only_looked_up_is_not_executed(tea: Platform, kit: Path) -> None:
    async with await anew(tea) as other:
        assert (await other.run("look", agent="asker")).answer == "1.0.0"
        assert "teatestkit" not in sys.modules
        assert (await other.run("call it", agent="asker")).answer == [True, 3]
        assert "teatestkit" in sys.modules


async def test_what_cannot_be_loaded_fails_its_call_alone_and_the_run_replays(tea: Platform, kit: Path) -> None:
    (kit / "teatestkit.py").write_text("raise RuntimeError('gone')\n")
    async with await anew(tea) as other:
        outcome = await other.run("call it", agent="asker")
        ok, problem = outcome.answer
        assert (outcome.status, ok) == ("done", False)
        assert "RuntimeError" in problem
        assert (await other.replay(outcome.run)).answer == outcome.answer
        (kit / "teatestkit.py").write_text("MORE = 2\n")
    async with await anew(tea) as third:
        assert (await third.replay(outcome.run)).answer == outcome.answer


async def test_a_replay_says_at_its_start_that_it_cannot_load_what_worked(tea: Platform, kit: Path) -> None:
    async with await anew(tea) as other:
        run = (await other.run("call it", agent="asker")).run
        looked = (await other.run("look", agent="asker")).run
    (kit / "teatestkit.py").write_text("raise RuntimeError('gone')\n")
    async with await anew(tea) as third:
        with pytest.raises(BadComponent, match="RuntimeError"):
            await third.replay(run)
        assert (await third.replay(looked)).answer == "1.0.0"
