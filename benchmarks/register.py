"""Registers per second through the public API, and whether the cost grows: `python benchmarks/register.py [COUNT]`.

Each tool has a name and a source of its own, in a fresh home. Registering checks the source, executes it to describe
it, writes its version and its head durably, and grants trust. The second table registers versions of one name.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable

from tea.testing import platform

BLOCK = 100
SOURCE = '''from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def {name}(text: str, times: int = {number}) -> str:
    """Repeat a text.

    Args:
        text: Any text.
        times: How often.
    """
    return text * times
'''


def many_names(number: int) -> str:
    """Return a tool of its own."""
    return SOURCE.format(name=f"repeat_{number}", number=number)


def one_name(number: int) -> str:
    """Return a version of the one tool."""
    return SOURCE.format(name="repeat", number=number)


async def measured(source: Callable[[int], str], count: int) -> list[tuple[float, float]]:
    """Return seconds and CPU milliseconds of each block, for one registration."""
    found: list[tuple[float, float]] = []
    async with platform() as tea:
        await tea.tcp.register(SOURCE.format(name="warm", number=0))
        for first in range(0, count, BLOCK):
            begin, cpu = time.perf_counter(), time.process_time()
            for number in range(first, first + BLOCK):
                await tea.tcp.register(source(number))
            spent = time.perf_counter() - begin, (time.process_time() - cpu) * 1000
            found.append((spent[0] / BLOCK, spent[1] / BLOCK))
    return found


def main() -> None:
    """Print rates, CPU, and the ratio of the last block to the first."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    for title, source, most in (("many names", many_names, count), ("one name", one_name, min(count, 500))):
        blocks = asyncio.run(measured(source, most))
        first, last = blocks[0], blocks[-1]
        for position, (seconds, cpu) in ((1, first), (len(blocks), last)):
            upto = position * BLOCK
            print(f"{title}: {upto - BLOCK + 1:5}-{upto:5}: {1 / seconds:5.0f} a second, {cpu:5.2f} ms of CPU each")
        print(f"{title}: the last {BLOCK} cost {last[1] / first[1]:.2f} times the CPU of the first")


if __name__ == "__main__":
    main()
