"""Test greedy untrusted components, and killed hosts: measured on the host."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, create_subprocess_exec
from pathlib import Path

import pytest
from untrusted_kit import elsewhere, problem, tool

from tea.runs.policy import AllowTrusted

ALLOCATE = tool("allocate", "kept = []\nwhile True: kept.append(bytearray(1 << 24))", gives="int")
MANY = tool(
    "many",
    """for _ in range(12):
    if not os.fork():
        kept = bytearray(os.urandom(1)) * (100 << 20)
        import time; time.sleep(30); os._exit(0)
import time; time.sleep(30)""",
)
FORK = tool(
    "fork",
    """while True:
    try:
        os.fork()
    except OSError:
        pass""",
)
SPIN = tool("spin", "while True: pass")
FILL = tool("fill", "for n in range(10_000): Path(f'{n}.bin').write_bytes(bytes(1 << 20))\nimport time; time.sleep(30)")
PRINT = tool("say", "while True: print('x' * 10_000)")
FINE = tool("fine", "return 1", gives="int")
HOST = """
import asyncio, sys
from pathlib import Path
from tea.platform import Platform
from tea.runs.policy import AllowTrusted

async def main() -> None:
    async with Platform(Path(sys.argv[1]) / "home", state=Path(sys.argv[1]) / "state", policy=AllowTrusted()) as tea:
        assert (await tea.tcp.invoke("fine", {}, session="s")).ok
        work = asyncio.ensure_future(tea.tcp.invoke("hang", {}, session="s"))
        await asyncio.sleep(1)
        print("there", flush=True)
        await work

asyncio.run(main())
"""


def own_memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def below(process: int) -> set[int]:
    """All processes started by one, and theirs."""
    found: set[int] = set()
    left = [process]
    while left:
        try:
            words = Path(f"/proc/{left[-1]}/task/{left.pop()}/children").read_text().split()
        except OSError:
            continue
        left += map(int, words)
        found |= set(map(int, words))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("source", [ALLOCATE, MANY, FORK, SPIN, FILL, PRINT])
async def test_a_bomb_costs_the_host_no_more_than_its_limits(source: str, tmp_path: Path) -> None:
    settings = "[sandbox]\nmemory_mb = 256\ncpu_seconds = 3\ncall_seconds = 10\ndisk_mb = 32\nprocesses = 16\n"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "tea.toml").write_text(settings)
    name = source.partition("async def ")[2].partition("(")[0]
    async with elsewhere(tmp_path, ("tool", source), ("tool", FINE), policy=AllowTrusted()) as mine:
        before = own_memory()
        call = asyncio.ensure_future(mine.tcp.invoke(name, {}, session="s"))
        most = 0
        while not call.done():
            most = max(most, len(below(os.getpid())))
            await asyncio.sleep(0.05)
        assert "was stopped in its sandbox" in problem(await call) or "MemoryError" in problem(await call)
        assert most <= 16 + 8
        assert own_memory() - before < 64 << 20
        assert (await mine.tcp.invoke("fine", {}, session="s")).unwrap() == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_a_host_that_is_ended_leaves_no_worker(how: signal.Signals, tmp_path: Path) -> None:
    async with elsewhere(tmp_path, ("tool", tool("hang", "await asyncio.sleep(600)")), ("tool", FINE)):
        pass
    host = await create_subprocess_exec(sys.executable, "-c", HOST, str(tmp_path), stdout=PIPE)
    assert host.stdout is not None
    assert await host.stdout.readline() == b"there\n"
    workers = below(host.pid)
    assert len(workers) > 2
    host.send_signal(how)
    await host.wait()
    for _ in range(1_000):
        if not any(Path(f"/proc/{one}").exists() for one in workers):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("a worker is still there")
