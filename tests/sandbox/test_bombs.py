"""Test the cost of all processes of a session together, measured on the host."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

import pytest

from tea.errors import ToolError
from tea.sandbox.folder import in_memory
from tea.sandbox.levels import Level
from tea.sandbox.session import GROUP, Sandbox
from tea.sandbox.settings import LEVELS, WASM, LevelName

Open = Callable[..., AbstractAsyncContextManager[Sandbox]]
LIMIT = 512 << 20
# What processes may take beyond it, of the 8 GB that they want: what a control group leaves for all else, or what they
# take between two looks of a supervisor that waits for a processor.
GROUPED, BETWEEN = 192 << 20, 512 << 20
TWENTY = """
import os, time
for _ in range(20):
    if not os.fork():
        held = bytearray(b'x') * (400 << 20)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""


def _below(process: int) -> Iterator[int]:
    """Yield all processes started by one, and theirs."""
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for one in (task / "children").read_text().split():
                yield int(one)
                yield from _below(int(one))


def _held(process: int) -> int:
    """Return the bytes held by all processes below one, with shared memory divided among them."""
    total = 0
    for one in _below(process):
        with suppress(OSError):
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


@pytest.mark.slow
async def test_twenty_processes_of_400_mb_each_cost_no_more_than_the_limit_at_any_level(
    levels: Mapping[LevelName, Level], sandbox: Open
) -> None:
    present = [name for name in LEVELS if name != WASM and levels[name].present]
    assert present
    for name in present:
        async with sandbox(name) as opened:
            call = asyncio.ensure_future(opened.python(TWENTY))
            most = 0
            while not call.done():
                most = max(most, await asyncio.to_thread(_held, os.getpid()))
            with pytest.raises(ToolError, match="together used more than 512 MB of memory"):
                await call
            grouped = opened.claimed()["limits"] == GROUP and not in_memory(opened.workspace)
            assert LIMIT // 4 < most < LIMIT + (GROUPED if grouped else BETWEEN), name
            assert (await opened.python("6 * 7")).result == "42"
