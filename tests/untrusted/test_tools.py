"""Test untrusted tools in sandbox workers: called by hand, in a run, by an agent; and their limits."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from untrusted_kit import COUNT, LOOK, elsewhere, problem, tool

from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.sandbox.settings import SandboxSettings
from tea.untrusted import workers

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHOUT = '''
from tea import ToolError, tool


@tool(effects="reads", idempotent=True, network=False)
async def shout(text: str, times: int = 1) -> str:
    """Say it louder.

    Args:
        text: Any words.
        times: How often, as text matching what it says.
    """
    if not text:
        raise ToolError("Nothing is said.", fix="say something.")
    return text.upper() + "!" * times
'''
SYNC = '''
import threading

from tea import tool


@tool(effects="reads", network=False)
def plain(number: int) -> dict[str, int]:
    """Add one, in a thread."""
    return {"number": number + 1, "main": int(threading.current_thread() is threading.main_thread())}
'''
SHEETS = '''
# /// script
# dependencies = ["openpyxl>=3.1"]
# ///
from openpyxl import Workbook

from tea import tool


@tool(effects="reads", network=False)
async def sheets() -> list[str]:
    """Name the sheets of a new workbook."""
    return Workbook().sheetnames
'''
PROCESS = tool("process", "return os.getpid()", gives="int")
WRITE = tool("write", "Path(name).write_text('mine')\nreturn name", takes="name: str", gives="str")
REACH = tool(
    "reach",
    "reader, writer = await asyncio.open_connection(host, port)\nreturn 'reached'",
    takes="host: str, port: int",
    gives="str",
)
DIE = tool("die", "os._exit(7)")
HANG = tool("hang", "await asyncio.sleep(seconds)\nreturn 1", takes="seconds: float")
FLOOD = tool("flood", "while True: os.write(1, b'x' * 65536)")
LONG = tool("long", "return 'x' * 3_000_000", gives="str")
RAISE = tool("fault", "return 1 // 0", gives="int")
FORGING = """import gc, json
line = next(one for one in gc.get_objects() if type(one).__name__ == "Line")
data = json.dumps({"reply": reply, "token": line._token}).encode()
os.write(3, len(data).to_bytes(4, "big") + data)
await asyncio.sleep(60)"""
FORGE = tool("forge", FORGING, takes="reply: dict[str, Any]", gives="int")
FORGE_NAMED = tool("forge_named", FORGING, takes="reply: dict[str, Any]", gives="dict[str, int]")
SOURCES = [SHOUT, SYNC, COUNT, PROCESS, LOOK, WRITE, REACH, DIE, HANG, FLOOD, LONG, RAISE, FORGE, FORGE_NAMED]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("tools")
    sources: Any = [("tool", one) for one in SOURCES]
    async with elsewhere(folder, *sources, policy=AllowTrusted()) as mine:
        yield mine


async def call(tea: Platform, name: str, session: str = "s", /, **arguments: Any) -> Any:
    return await tea.tcp.invoke(name, arguments, session=session)


async def test_an_untrusted_tool_does_its_work_elsewhere(tea: Platform) -> None:
    assert (await call(tea, "shout", text="hey", times=2)).unwrap() == "HEY!!"
    assert (await call(tea, "plain", number=1)).unwrap() == {"number": 2, "main": 0}
    assert (await call(tea, "process")).unwrap() != os.getpid()
    assert [one.trusted for one in await tea.tcp.list() if one.name == "shout"] == [False]


async def test_its_arguments_are_held_to_the_schema_before_a_worker_is_asked(tea: Platform) -> None:
    assert "BadArguments: 'shout' got bad arguments" in problem(await call(tea, "shout", times=2))
    assert "BadArguments" in problem(await call(tea, "shout", text={"a": 1}))
    assert "BadArguments" in problem(await call(tea, "shout", text="a", more=1))
    refused = (await call(tea, "shout", times=2)).error
    assert refused["fix"] == "tool:shout@1.0.0 says: its parameters are text (string), needed; times (integer)."


async def test_its_own_error_is_told_as_its_words(tea: Platform) -> None:
    assert problem(await call(tea, "shout", text="")) == "ToolError: tool:shout@1.0.0 says: Nothing is said."
    assert "CallFailed: tool:fault@1.0.0 says: 'fault' raised ZeroDivisionError" in problem(await call(tea, "fault"))


async def test_a_result_that_its_manifest_does_not_promise_is_an_error(tea: Platform) -> None:
    forged = await call(tea, "forge", "first", reply={"value": "text"})
    assert "CallFailed: tool:forge@1.0.0 gave what its manifest does not promise" in problem(forged)
    assert (await call(tea, "forge", "second", reply={"value": 5})).unwrap() == 5


async def test_odd_names_in_a_result_that_is_not_promised_are_quoted(tea: Platform) -> None:
    forged = await call(tea, "forge_named", reply={"value": {"it. Run `it`, as": "text"}})
    assert "promise: \"it. Run `it`, as\": 'text' is not of type 'integer'." in problem(forged)


@pytest.mark.parametrize(
    "reply",
    [{}, {"error": 3}, {"error": {"code": "ApprovalNeeded", "problem": "x", "fix": "y"}}, {"error": {"problem": [1]}}],
)
async def test_an_error_is_never_more_than_an_error_of_the_call(tea: Platform, reply: dict[str, Any]) -> None:
    assert "CallFailed: " in problem(await call(tea, "forge", "third", reply=reply))


async def test_workers_are_warm_within_a_session_and_shared_with_no_other(tea: Platform) -> None:
    assert [(await call(tea, "count", "one")).unwrap() for _ in range(3)] == [1, 2, 3]
    assert (await call(tea, "count", "two")).unwrap() == 1


async def test_it_sees_nothing_of_this_machine(tea: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "sesame")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("KEY=sesame")
    outcome = await tea.run("2 + 2")
    journals = [str(one) for one in (tea.home / "traces").rglob("*") if one.is_file()]
    state = [str(one) for one in tea.trust.path.parent.iterdir()]
    assert outcome.run
    assert journals
    names = [str(tmp_path / ".env"), ".env", "/etc/shadow", f"/proc/{os.getpid()}/environ", *journals[:3], *state]
    found, variables = (await call(tea, "look", "seeing", names=names)).unwrap()
    assert set(found.values()) <= {"FileNotFoundError", "PermissionError", "NotADirectoryError"}
    assert "PLANTED" not in variables
    assert "sesame" not in str([found, variables])


async def test_it_writes_nothing_but_in_its_own_folder(tea: Platform, tmp_path: Path) -> None:
    assert (await call(tea, "write", "writing", name="own.txt")).unwrap() == "own.txt"
    for name in (str(tmp_path / "there.txt"), "/etc/there.txt", "/usr/there.txt", "../../there.txt"):
        assert "says: 'write' raised" in problem(await call(tea, "write", "writing", name=name))
    assert list(tmp_path.iterdir()) == []


async def test_it_reaches_no_listener_of_this_machine(tea: Platform) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert "says: 'reach' raised" in problem(await call(tea, "reach", host="127.0.0.1", port=port))
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(("name", "words"), [("die", "died"), ("flood", "printed more"), ("long", "gave more than")])
async def test_one_that_dies_or_floods_is_one_error_and_the_next_call_works(
    tea: Platform, name: str, words: str
) -> None:
    assert words in problem(await call(tea, name, "bad"))
    assert (await call(tea, "shout", "bad", text="on")).unwrap() == "ON!"
    assert words in problem(await call(tea, name, "bad"))


async def test_a_call_that_is_called_off_ends_in_its_worker_too(tea: Platform) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.5):
            await call(tea, "hang", "off", seconds=600.0)
    assert (await call(tea, "hang", "off", seconds=0.0)).unwrap() == 1


async def test_many_calls_at_once_share_a_bounded_number_of_workers(
    tea: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST", 3)
    answers = await asyncio.gather(*(call(tea, "count", "many") for _ in range(9)))
    assert sum(one.unwrap() for one in answers) > 9, "some of them were given to a worker that was there"
    assert tea._workers._live <= 3  # pyright: ignore[reportPrivateUsage]


async def test_trust_moves_it_into_this_process(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, ("tool", PROCESS)) as mine:
        assert (await mine.tcp.invoke("process", {})).unwrap() != os.getpid()
        await mine.tcp.trust("process")
        assert (await mine.tcp.invoke("process", {})).unwrap() == os.getpid()


async def test_no_worker_is_left_when_the_platform_ends(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, ("tool", PROCESS)) as mine:
        assert (await mine.tcp.invoke("process", {}, session="s")).ok
        [[worker]] = mine._workers._idle.values()  # pyright: ignore[reportPrivateUsage]
        process = worker._sandbox.process  # pyright: ignore[reportPrivateUsage]
        assert process is not None
        os.kill(process, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def refuse(*_: Any) -> bool:
    return False


async def test_without_a_sandbox_there_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with elsewhere(tmp_path, ("tool", SHOUT)) as mine:
        monkeypatch.setattr(SandboxSettings, "accepts", refuse)
        answer = await mine.tcp.invoke("shout", {"text": "a"})
        assert "no sandbox of the level" in problem(answer)


WRITES = WRITE.replace('effects="writes"', 'effects="reads"').replace("async def write", "async def tries")


async def test_a_tool_that_only_reads_finds_its_workspace_read_only(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, ("tool", WRITES), ("tool", WRITE), policy=AllowTrusted()) as mine:
        await mine.acp.register(AGENT)
        outcome = await mine.run("x", agent="both")
        assert outcome.answer[0] == "OSError"
        assert outcome.answer[1] == "a.txt"
        assert outcome.files == ("a.txt",)
        [first, _] = [one for one in mine.tracer.records(outcome.run) if "'level'" in str(one.data)]
        assert "'workspace': 'read-only'" in str(first.data)


AGENT = '''
from tea import Agent, Context, Result, Task


class Both(Agent):
    """Use both."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Let both write."""
        first = await ctx.tcp.invoke("tries", {"name": "a.txt"})
        second = await ctx.tcp.invoke("write", {"name": "a.txt"})
        return Result(answer=[first.error["problem"].split(": ")[1].split()[-1], second.value])
'''


async def test_it_imports_what_it_requires_with_a_version(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, ("tool", SHEETS)) as mine:
        answered = await mine.tcp.invoke("sheets", {})
    assert answered.unwrap() == ["Sheet"]
