"""CPU of one call through the gate, against the bare await of the same work in a task: `python benchmarks/gate.py`.

The bare loop awaits the work in a task of its own, as the gate does, so that the difference is what keys, digests,
records and ordered delivery cost. Bare and gated rounds alternate; the medians are compared.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any

from tea.kernel.entry import Entry
from tea.kernel.gate import Gate

CALLS = 2_000
ROUNDS = 11
ARGUMENTS = {"text": "to be or not to be, that is the question", "unique": True, "limit": 10}


async def work(key: str) -> Any:
    """Take one turn of the event loop, as the shortest of real calls does."""
    await asyncio.sleep(0)
    return {"count": 8, "words": ["to", "be", "or", "not"]}


async def bare() -> None:
    """Await the work directly."""
    for _ in range(CALLS):
        await work("")


async def in_tasks() -> None:
    """Await the work in a task of its own each time."""
    for _ in range(CALLS):
        await asyncio.create_task(work(""))


async def gated(past: list[Entry], mode: Any) -> list[Entry]:
    """Await the work through a gate."""
    written: list[Entry] = []
    gate = Gate(write=written.append, past=past, mode=mode)

    async def program() -> None:
        for _ in range(CALLS):
            await gate.effect("tool", "tool:word_count@1.0.0", ARGUMENTS, work)

    await gate.run(program)
    return written


def cost(work: Any) -> tuple[float, Any]:
    """Return CPU microseconds per call, and the work's result."""
    begin = time.process_time()
    found = asyncio.run(work)
    return (time.process_time() - begin) / CALLS * 1e6, found


def main() -> None:
    """Print the medians and their ratio."""
    columns: dict[str, list[float]] = {"bare await": [], "await in a task": [], "gate, live": [], "gate, replay": []}
    for _ in range(ROUNDS):
        columns["bare await"].append(cost(bare())[0])
        columns["await in a task"].append(cost(in_tasks())[0])
        live, entries = cost(gated([], "live"))
        columns["gate, live"].append(live)
        columns["gate, replay"].append(cost(gated(entries, "replay"))[0])
    medians = {name: statistics.median(values) for name, values in columns.items()}
    for name, median in medians.items():
        print(f"{name:16} {median:7.1f} µs of CPU a call")
    with_gate, without = medians["gate, live"], medians["bare await"]
    print(f"the gate adds    {with_gate - without:7.1f} µs a call, {with_gate / without:.1f} times the bare await")


if __name__ == "__main__":
    main()
