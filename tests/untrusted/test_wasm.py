"""Test untrusted components at the portable level, the only one present: they work as they do elsewhere."""

import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from untrusted_kit import COUNT, COUNTER, LOOK, elsewhere, problem, tool

from tea.components.manifest import Lineage
from tea.errors import BadComponent
from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.sandbox import levels
from tea.sandbox.levels import Level
from tea.sandbox.session import CLAIMS
from tea.sandbox.settings import WASM, LevelName

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

SHOUT = '''
# /// script
# dependencies = ["pydantic>=2"]
# ///
from typing import Annotated

from pydantic import BaseModel, Field
from tea import ToolError, tool


class Loud(BaseModel):
    """What was said.

    Attributes:
        text: In capitals.
        times: How often.
    """

    text: str
    times: int = Field(ge=1)


@tool(effects="reads", idempotent=True, network=False)
async def shout(text: str, times: Annotated[int, Field(ge=1)] = 1) -> Loud:
    """Say it louder.

    Args:
        text: Any words.
        times: How often.

    Examples:
        >>> (await shout("hey", 2)).text
        'HEY!!'
    """
    if not text:
        raise ToolError("Nothing is said.", fix="say something.")
    return Loud(text=text.upper() + "!" * times, times=times)
'''
REACH = tool(
    "reach",
    """import socket
with socket.socket() as made:
    made.connect((host, port))
return 'reached'""",
    takes="host: str, port: int",
    gives="str",
)
NATIVE = tool("native", "import numpy\nreturn 1", gives="int").replace(
    "\nimport asyncio", '# /// script\n# dependencies = ["numpy"]\n# ///\nimport asyncio', 1
)
BOMB = tool("bomb", "held = []\nwhile True: held.append(bytearray(16 << 20))")
ASK = tool(
    "ask",
    """async with ctx.group() as group:
    parts = [group.spawn(ctx.tcp.invoke("calculator", {"expression": f"{n} + 1"})) for n in range(3)]
await asyncio.sleep(0.02)
threaded = await asyncio.to_thread(len, parts)
return [threaded, *[one.result().unwrap() for one in parts]]""",
    takes="ctx: Context",
    gives="list[Any]",
)
AGENT = '''
from tea import Agent, Context, Result, Task


class Sums(Agent):
    """Add in branches of its own."""

    name = "sums"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Do it."""
        async with ctx.group() as group:
            parts = [group.spawn(ctx.tcp.invoke("calculator", {"expression": f"{n} + 1"})) for n in range(3)]
        await ctx.sleep(0.001)
        return Result(answer=[one.result().value for one in parts])
'''


async def _only_wasm(name: LevelName) -> Level:
    if name == WASM:
        return Level(name=name, present=True, claims=dict.fromkeys(CLAIMS, True))
    return Level(name=name, present=False, problem="it is not there.")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    sources: Any = [("tool", one) for one in (SHOUT, COUNT, LOOK, REACH, NATIVE, BOMB, ASK)]
    others: Any = [("environment", COUNTER.replace("RECOVERY", "snapshot")), ("agent", AGENT)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(levels, "probe", _only_wasm)
        patched.setattr(levels, "_earlier_findings", lambda cache, mark: {})  # what other tests found of this machine
        patched.setattr(levels, "_keep", lambda cache, mark, known: None)
        folder = tmp_path_factory.mktemp("portable")
        async with elsewhere(folder, *sources, *others, policy=AllowTrusted()) as mine:
            yield mine


async def _call(tea: Platform, name: str, /, **arguments: Any) -> Any:
    return await tea.tcp.invoke(name, arguments, session="s")


async def test_a_tool_with_models_does_its_work_and_says_where(tea: Platform) -> None:
    assert (await _call(tea, "shout", text="hey", times=2)).unwrap() == {"text": "HEY!!", "times": 2}
    assert problem(await _call(tea, "shout", text="")) == "ToolError: tool:shout@1.0.0 says: Nothing is said."
    assert "BadArguments" in problem(await _call(tea, "shout", text="a", times=0))
    assert [(await _call(tea, "count")).unwrap() for _ in range(2)] == [1, 2]


async def test_it_sees_no_secret_and_reaches_no_listener(tea: Platform, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=sesame")
    names = [str(tmp_path / ".env"), "/etc/shadow", f"/proc/{os.getpid()}/environ", str(tea.trust.path)]
    found, variables = (await _call(tea, "look", names=names)).unwrap()
    assert set(found.values()) <= {"FileNotFoundError", "PermissionError", "NotADirectoryError"}
    assert not {"KEY", "PYTHONPATH"} & {name for name, value in variables.items() if value}
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert "CallFailed" in problem(await _call(tea, "reach", host="127.0.0.1", port=server.getsockname()[1]))
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


async def test_one_that_needs_native_packages_is_refused_in_one_line(tea: Platform) -> None:
    told = problem(await _call(tea, "native"))
    assert "numpy, which has native parts, and the sandbox of this machine is wasm" in told
    assert "\n" not in told


async def test_one_that_allocates_for_ever_is_one_error_and_the_next_call_works(tea: Platform) -> None:
    assert "CallFailed" in problem(await _call(tea, "bomb"))
    assert (await _call(tea, "shout", text="on")).unwrap()["text"] == "ON!"


async def test_it_asks_its_run_side_by_side_by_messages(tea: Platform) -> None:
    assert (await _call(tea, "ask")).unwrap() == [3, 1, 2, 3]


async def test_an_environment_keeps_its_instance_and_recovers_by_snapshots(tea: Platform) -> None:
    async def add() -> Any:
        return await tea.ecp.invoke("counter#add", {"number": 2}, session="s")

    assert [(await add()).unwrap() for _ in range(2)] == [2, 4]
    assert "CallFailed" in problem(await tea.ecp.invoke("counter#die", {}, session="s"))
    assert (await add()).unwrap() == 6


async def test_an_agent_is_stepped_there_and_its_replay_gives_the_same(tea: Platform) -> None:
    outcome = await tea.run("Go.", agent="sums")
    assert outcome.answer == [1, 2, 3], outcome
    assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_what_a_machine_wrote_is_described_there_with_its_examples(tea: Platform) -> None:
    by_machine = Lineage(how="generator", run="r1")
    renamed = SHOUT.replace("shout", "yell")
    made = await tea.tcp.register(renamed, lineage=by_machine, reason="generated")
    times = made.operations["call"].parameters["properties"]["times"]
    assert times == {"default": 1, "description": "How often.", "minimum": 1, "type": "integer"}
    assert made.operations["call"].returns["required"] == ["text", "times"]
    with pytest.raises(BadComponent, match="does not do what its examples say"):
        await tea.tcp.register(renamed.replace("'HEY!!'", "'HEY?'"), lineage=by_machine, reason="generated")
