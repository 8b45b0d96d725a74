"""Programs with a scope of their own attacking their surroundings, with the source of tea at hand."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, create_subprocess_exec
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from untrusted_kit import FOUND, elsewhere, problem, tool

from tea.platform import Platform
from tea.runs.policy import AllowTrusted

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

SCOPE = 'effects="reads", network=False, scope=True'
SETTINGS = "[sandbox]\nmemory_mb = 256\ncpu_seconds = 3\ncall_seconds = 6\ndisk_mb = 32\nprocesses = 16\n"


def program(name: str, body: str, takes: str = "", gives: str = "Any") -> str:
    given = f"ctx: Context, {takes}" if takes else "ctx: Context"
    return tool(name, body, takes=given, gives=gives, traits=SCOPE)


READ = program(
    "look",
    f"{FOUND}\nreturn [found, dict(os.environ), ctx.principal.name, os.getcwd(), os.listdir()]",
    takes="names: list[str]",
)
WRITE = program(
    "write",
    """try:
    Path(name).write_text("mine")
except OSError as error:
    return type(error).__name__
return "written\"""",
    takes="name: str",
)
REACH = program(
    "reach",
    """import socket
try:
    socket.create_connection((host, port), timeout=2)
except OSError as error:
    return type(error).__name__
return "reached\"""",
    takes="host: str, port: int",
)
FINE = program("fine", "return 1")
AWAY = program("away", "await asyncio.sleep(0.01)\nreturn 1")
DIE = program("die", "await ctx.today()\nos._exit(7)")
TALL = program("tall", "ctx.note('much', {'x': 'x' * 2_000_000})\nawait ctx.today()\nreturn 1")
KEYS = program(
    "keys",
    """given = ctx.flow._program
given.say({"start": key, "message": {"serve": {"service": "clock", "verb": "today", "data": {}}}})
await ctx.today()
return 1""",
    takes="key: str",
)
STORM = program(
    "storm",
    """async with ctx.group() as group:
    for _ in range(2000):
        group.spawn(ctx.today())
return 1""",
)
THREAD = program(
    "thread",
    """import threading, time
def change():
    while True:
        ctx.flow._program.say({"note": "late", "data": {}})
        time.sleep(0.0005)
threading.Thread(target=change, daemon=True).start()
for _ in range(3):
    await ctx.today()
return 1""",
)
FRAMES = program(
    "frames",
    """import gc, json
await ctx.today()
line = next(one for one in gc.get_objects() if type(one).__name__ == "Line")
data = json.dumps({"reply": {"value": {"said": [], "end": {"value": "forged"}}}, "token": line._token}).encode()
os.write(3, len(data).to_bytes(4, "big") + data)
return 1""",
)
SPIN = program("spin", "await ctx.today()\nwhile True: pass")
ALLOCATE = program("allocate", "await ctx.today()\nkept = []\nwhile True: kept.append(bytearray(1 << 24))")
FORK = program("fork", "await ctx.today()\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass")
WAIT = program("wait", "await ctx.sleep(3600)")
SOURCES = [READ, WRITE, REACH, FINE, AWAY, DIE, TALL, KEYS, STORM, THREAD, FRAMES, SPIN, ALLOCATE, FORK, WAIT]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("attacks")
    (folder / "home").mkdir()
    (folder / "home" / "tea.toml").write_text(SETTINGS)
    sources: Any = [("tool", one) for one in SOURCES]
    async with elsewhere(folder, *sources, policy=AllowTrusted()) as mine:
        yield mine


async def call(tea: Platform, name: str, /, **arguments: Any) -> Any:
    return await tea.tcp.invoke(name, arguments, session="s")


async def test_it_sees_no_secret_and_no_file_of_this_machine(
    tea: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED", "sesame")
    (tmp_path / ".env").write_text("KEY=sesame")
    outcome = await tea.run("2 + 2")
    journals = [str(one) for one in outcome.trace.rglob("*") if one.is_file()]
    names = [str(tmp_path / ".env"), "/etc/shadow", f"/proc/{os.getpid()}/environ", "/proc/1/environ", *journals[:3]]
    found, variables, principal, folder, files = (await call(tea, "look", names=names)).unwrap()
    assert set(found.values()) <= {"FileNotFoundError", "PermissionError", "NotADirectoryError"}
    assert "sesame" not in str([found, variables])
    assert (principal, folder, files) == ("tool:look@1.0.0", "/workspace", [])


async def test_it_writes_nothing_outside(tea: Platform, tmp_path: Path) -> None:
    for name in (str(tmp_path / "there.txt"), "/etc/there.txt", "../there.txt", str(tea.home / "tea.toml")):
        assert (await call(tea, "write", name=name)).unwrap() in ("FileNotFoundError", "OSError", "PermissionError")
    assert list(tmp_path.iterdir()) == []
    assert (tea.home / "tea.toml").read_text() == SETTINGS


async def test_it_reaches_no_listener_of_this_machine(tea: Platform) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert (await call(tea, "reach", host="127.0.0.1", port=port)).unwrap() != "reached"
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("away", {}, "it waits for something that the run does not record"),
        ("die", {}, "died"),
        ("tall", {}, "gave more than"),
        ("keys", {"key": "0.0"}, "is not a key of its own"),
        ("keys", {"key": "7.0"}, "is not a key of its own"),
        ("storm", {}, "more is open or was begun"),
    ],
)
async def test_what_it_does_is_one_error_of_its_call(
    tea: Platform, name: str, arguments: dict[str, Any], words: str
) -> None:
    assert words in problem(await call(tea, name, **arguments))
    assert (await call(tea, "fine")).unwrap() == 1


async def test_a_forged_end_is_its_own_end_and_nobody_elses(tea: Platform) -> None:
    answer = await call(tea, "frames")  # the second answer of one turn comes before or after the look for more
    assert answer.value == "forged" or "was stopped in its sandbox" in problem(answer)
    assert (await call(tea, "fine")).unwrap() == 1


async def test_a_thread_that_goes_on_beside_it_makes_its_own_replay_differ_at_most(tea: Platform) -> None:
    assert (await call(tea, "thread")).ok
    assert (await call(tea, "fine")).unwrap() == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spin", "allocate", "fork"])
async def test_a_bomb_in_a_program_ends_its_call_alone(tea: Platform, name: str) -> None:
    answer = await call(tea, name)
    assert "was stopped in its sandbox" in problem(answer) or "MemoryError" in problem(answer)
    assert (await call(tea, "fine")).unwrap() == 1


async def test_one_that_sleeps_for_ever_is_called_off_and_holds_up_nobody(tea: Platform) -> None:
    waits = asyncio.ensure_future(call(tea, "wait"))
    await asyncio.sleep(0.05)
    assert (await call(tea, "fine")).unwrap() == 1
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert tea._workers._programs == 0  # pyright: ignore[reportPrivateUsage]


async def test_one_that_is_called_off_while_it_computes_leaves_no_worker(tea: Platform) -> None:
    for seconds in (0.0, 0.3, 1.5):
        spins = asyncio.ensure_future(call(tea, "spin"))
        await asyncio.sleep(seconds)
        spins.cancel()
        with pytest.raises(asyncio.CancelledError):
            await spins
        assert tea._workers._programs == 0  # pyright: ignore[reportPrivateUsage]
    assert (await call(tea, "fine")).unwrap() == 1


HOST = """
import asyncio, sys
from pathlib import Path
from tea.platform import Platform
from tea.runs.policy import AllowTrusted

async def main() -> None:
    async with Platform(Path(sys.argv[1]) / "home", state=Path(sys.argv[1]) / "state", policy=AllowTrusted()) as tea:
        await tea.run("x", agent="steps", watch=lambda record: print(record.kind, record.key, flush=True))

asyncio.run(main())
"""
STEPS = '''
from tea import Agent, Context, Result, Task


class Steps(Agent):
    """Take steps."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Draw numbers, with a pause."""
        numbers = [await ctx.random() for _ in range(6)]
        await ctx.sleep(1)
        return Result(answer=[*numbers, await ctx.random()])
'''


@pytest.mark.slow
async def test_a_run_whose_host_was_killed_goes_on_where_its_program_was(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, ("agent", STEPS)):
        pass
    host = await create_subprocess_exec(sys.executable, "-c", HOST, str(tmp_path), stdout=PIPE)
    assert host.stdout is not None
    count = 0
    while count < 5:
        count += (await host.stdout.readline()).startswith(b"done")
    host.send_signal(signal.SIGKILL)
    await host.wait()
    async with Platform(tmp_path / "home", state=tmp_path / "state", policy=AllowTrusted()) as mine:
        outcome = await mine.resume("last")
        assert len(outcome.answer) == 7
        again = await mine.replay(outcome.run)
        assert (again.answer, again.remarks) == (outcome.answer, ())
