"""Test untrusted components at each native level alone: they work, and their reach agrees with its claims."""

import json
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio
from untrusted_kit import COUNTER, elsewhere, tool

from tea.cli.tree import tree
from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.sandbox import levels, settings
from tea.sandbox.levels import Level, probe
from tea.sandbox.settings import LevelName

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRIES = '''
import os
import socket
from pathlib import Path


def tries(secret: str, outside: str, port: int, host: int) -> dict[str, bool]:
    """Tell which of some attacks succeed."""
    found = {}
    for name, work in {
        "read": lambda: Path(secret).read_text(),
        "write": lambda: Path(outside).write_text("mine"),
        "reach": lambda: socket.create_connection(("127.0.0.1", port), timeout=5).close(),
        "signal": lambda: os.kill(host, 0),
    }.items():
        try:
            work()
            found[name] = True
        except OSError:
            found[name] = False
    return {**found, "variable": "PLANTED" in os.environ}
'''
TAKES = "secret: str, outside: str, port: int, host: int"
CALL = "tries(secret, outside, port, host)"
LOOK = tool("look", f"return {CALL}", takes=TAKES, gives="dict[str, bool]", top=TRIES)
PEEK = TRIES + COUNTER.replace("RECOVERY", "lost").replace("Counter", "Peek").replace(
    '    @action(effects="writes", network=False)\n    async def add',
    f'''    @action(effects="writes", network=False)
    async def look(self, {TAKES}) -> dict[str, bool]:
        """Look around."""
        return {CALL}

    @action(effects="writes", network=False)
    async def add''',
)
PROGRAM = tool(
    "peer",
    f"await ctx.today()\nreturn {CALL}",
    takes=f"ctx: Context, {TAKES}",
    gives="dict[str, bool]",
    top=TRIES,
    traits='effects="reads", network=False, scope=True',
)
AGENT = '''
import json

from tea import Agent, Context, Result, Task


class Spy(Agent):
    """Have others look around."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Have them look where the task says."""
        given = json.loads(task.text)
        program = (await ctx.tcp.invoke("peer", given)).unwrap()
        tool = (await ctx.tcp.invoke("look", given)).unwrap()
        return Result(answer=[program, tool, (await ctx.ecp.invoke("peek#look", given)).unwrap()])
'''
# By each claim, the attacks that it speaks of.
SPOKEN = {"fs": ("read", "write"), "net": ("reach",), "pids": ("signal",)}
NAMES = [
    pytest.param("bubblewrap", marks=pytest.mark.slow),
    pytest.param("namespaces", marks=pytest.mark.slow),
    pytest.param("landlock", marks=pytest.mark.slow),
    "rlimits",
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=NAMES)
async def alone(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Platform, Level]]:
    """A platform on a machine with one level, and the claims of this level here."""
    level = await probe(cast("LevelName", request.param))

    async def only(name: LevelName) -> Level:
        return level if name == level.name else Level(name=name, present=False, problem="it is not there.")

    folder = tmp_path_factory.mktemp(level.name)
    sources: Any = [("tool", LOOK), ("tool", PROGRAM), ("environment", PEEK), ("agent", AGENT)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PLANTED", "sesame")
        patched.setattr(settings, "LEAST", level.name)  # as an operator who accepts it
        patched.setattr(levels, "probe", only)
        patched.setattr(levels, "_earlier_findings", lambda cache, mark: {})
        patched.setattr(levels, "_keep", lambda cache, mark, known: None)
        async with elsewhere(folder, *sources, policy=AllowTrusted()) as mine:
            yield mine, level


async def test_what_components_get_at_is_no_more_than_their_level_leaves_open(
    alone: tuple[Platform, Level], tmp_path: Path
) -> None:
    tea, level = alone
    if not level.present:
        assert level.problem
        return
    tmp_path.chmod(0o777)
    (tmp_path / "secret").write_text("sesame")
    with socket.create_server(("127.0.0.1", 0)) as server:
        places = {"secret": str(tmp_path / "secret"), "outside": str(tmp_path / "outside")}
        given = {**places, "port": server.getsockname()[1], "host": os.getpid()}
        outcome = await tea.run(json.dumps(given), agent="spy")
    assert outcome.ok, outcome
    held = {name for claim, names in SPOKEN.items() if level.claims[claim] for name in names} | {"variable"}
    for kind, got in zip(("program", "tool", "environment"), outcome.answer, strict=True):
        open_ = {name for name, through in got.items() if through}
        assert open_ & held == set(), kind
        if level.name == "rlimits":
            assert open_ >= {"read", "write", "reach"}, f"{kind}: what is not claimed is held nevertheless"
    assert (tmp_path / "outside").exists() == any(got["write"] for got in outcome.answer)
    shown = tree(list(tea.tracer.records(outcome.run)))
    assert f"agent:spy@1.0.0 [sandboxed: {level.name}]" in shown
    assert shown.count(f"sandboxed: {level.name}") >= 4
