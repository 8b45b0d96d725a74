"""Measure thousands of components, each figure beside its aim: `python benchmarks/scale.py [--most COUNT]`.

Everything is measured in one go, in fresh homes, as CPU of this process or of a fresh interpreter. Registering,
updating and restoring are durable before they are acknowledged. The list is read anew first, then from its catalogue,
which counts from two seconds after the last change. With `--most 10000` it takes a few minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import effects
import numpy as np
from imports import BASE, PROGRAMS
from register import many_names, one_name

from tea.platform import Platform
from tea.retrieval.index import Document, Index

BLOCK, ROUNDS, SETTLED = 100, 5, 2.2
VECTORS, WIDTH, BEST, QUERIES = 100_000, 384, 5, 50
LIST = """
import asyncio, gc, sys
from pathlib import Path
from tea.platform import Platform

async def main():
    async with Platform(sys.argv[1], state=sys.argv[2]) as tea:
        kept = await tea.tcp.list()
        gc.collect()
        print(int(Path("/proc/self/statm").read_text().split()[1]) * 4096)

asyncio.run(main())
"""

Row = tuple[str, str, str]
Work = Callable[[], Awaitable[Any]]


def opened(home: Path) -> Platform:
    """Return a platform with a list of trusted components of its own."""
    return Platform(home, state=home / "state")


async def each(work: Callable[[int], Awaitable[Any]], count: int) -> list[float]:
    """Return the CPU milliseconds of `work` for each number, as the mean of each block of a hundred."""
    found: list[float] = []
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        begin = time.process_time()
        for number in range(first, first + size):
            await work(number)
        found.append((time.process_time() - begin) / size * 1000)
    return found


async def cpu(work: Work) -> float:
    """Return the CPU milliseconds of one piece of work."""
    begin = time.process_time()
    await work()
    return (time.process_time() - begin) * 1000


async def registered(home: Path, count: int) -> Row:
    """Register so many tools."""
    async with opened(home) as tea:
        await tea.tcp.register(many_names(10**6))
        blocks = await each(lambda number: tea.tcp.register(many_names(number)), count)
    grown = f"first {blocks[0]:.2f} ms, last {blocks[-1]:.2f} ms each, {blocks[-1] / blocks[0]:.2f} times"
    total = sum(blocks) * min(BLOCK, count) / 1000
    return f"register {count:,} tools", f"{total:.2f} s: {grown}", "flat; 1,000 need 51 s in the published code"


async def versions(home: Path) -> Row:
    """Register versions of one name."""
    async with opened(home) as tea:
        await tea.tcp.register(one_name(10**6))
        blocks = await each(lambda number: tea.tcp.register(one_name(number)), 500)
    figure = f"first {blocks[0]:.2f} ms, last {blocks[-1]:.2f} ms each, {blocks[-1] / blocks[0]:.2f} times"
    return "register 500 versions of one name", figure, "flat"


async def listed(home: Path, count: int) -> list[Row]:
    """List all, first read anew, then from the catalogue, by another platform and again by the same."""
    await asyncio.sleep(SETTLED)
    async with opened(home) as tea:
        anew = await cpu(tea.tcp.list)
    async with opened(home) as tea:
        first, again = await cpu(tea.tcp.list), await cpu(tea.tcp.list)
        named = await cpu(lambda: tea.tcp.info("repeat_7"))
    return [
        (f"list {count:,} without catalogue", f"{anew:.0f} ms", ""),
        (f"list {count:,}, catalogue from disk", f"{first:.0f} ms", "milliseconds"),
        (f"list {count:,} again", f"{again:.0f} ms", "milliseconds"),
        (f"one by name among {count:,}", f"{named:.1f} ms", "without catalogue"),
    ]


def spent(command: list[str], home: Path) -> tuple[float, str]:
    """Return user and system seconds of a fresh interpreter, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "TEA_STATE": str(home / "state")}
    said = subprocess.run([sys.executable, *command], check=True, stdout=subprocess.PIPE, env=environment, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said.stdout


def library(home: Path) -> list[str]:
    """Return a program to enter a platform and list."""
    return ["-c", LIST, str(home), str(home / "state")]


def cold(home: Path, empty: Path, count: int) -> list[Row]:
    """Start listing programs, in turns with the bare imports."""
    programs: dict[str, tuple[list[str], Path]] = {
        BASE: (["-c", PROGRAMS[BASE]], home),
        f"Platform entered, {count:,} listed": (library(home), home),
        f"`tea list` of {count:,}": (["-m", "tea.cli", "list", "--home", str(home)], home),
        "`tea list` in a fresh home": (["-m", "tea.cli", "list", "--home", str(empty)], empty),
    }
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, (command, at) in programs.items():
            taken[name].append(spent(command, at)[0])
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    grown = int(spent(library(home), home)[1]) - int(spent(library(empty), empty)[1])
    rows = [(name, f"{s:.2f} s, {s / medians[BASE]:.1f} times", "5 times") for name, s in medians.items()]
    return [*rows[1:], ("memory of 1,000 listed", f"{grown / count / 1000:.2f} MB", "")]


async def changed(home: Path, folder: Path, count: int) -> list[Row]:
    """Update, restore, save and load."""
    few = min(BLOCK, count)
    file = folder / "saved.json"
    async with opened(home) as tea:
        update = await each(lambda n: tea.tcp.update(f"repeat_{n}", many_names(n).replace("Any", "Some")), few)
        restore = await each(lambda n: tea.tcp.restore(f"repeat_{n}@1.0.0"), few)
        save = await cpu(lambda: tea.tcp.save(file, [f"repeat_{number}" for number in range(count)]))
    async with opened(folder / "loaded") as tea:
        load = await cpu(lambda: tea.tcp.load(file))
    return [
        ("update", f"{update[0]:.2f} ms", ""),
        ("restore", f"{restore[0]:.2f} ms", ""),
        (f"save {count:,} to one file", f"{save / count:.2f} ms each", ""),
        (f"load {count:,} from one file", f"{load / count:.2f} ms each", ""),
    ]


async def invoked() -> list[Row]:
    """Call one tool directly and from an agent, against its bare function behind pydantic."""
    found = await effects.medians(2_000)
    bare, direct, journaled = found["bare"], found["direct"], found["journaled"]
    return [
        ("invoke outside of a run", f"{direct:.1f} us, {direct / bare:.1f} times bare ({bare:.1f} us)", "2 times"),
        ("invoke in a run, journaled", f"{journaled:.1f} us", "100 us"),
    ]


def retrieved() -> Row:
    """Search many vectors by meaning, keywords and use, against bare FAISS, or numpy without it."""
    rows = np.random.default_rng(0).standard_normal((VECTORS, WIDTH), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = Index(lambda texts: rows[[int(text) for text in texts]])
    index.update({f"tool_{number}": Document(text=str(number)) for number in range(VECTORS)})
    ours = clocked(lambda row: index.search("word", row).best(BEST), rows)
    if find_spec("faiss") is None:
        name, bare = "numpy", clocked(lambda row: np.argpartition(rows @ row, -BEST)[-BEST:], rows)
    else:
        flat: Any = cast(Any, import_module("faiss")).IndexFlatIP(WIDTH)
        flat.add(rows)
        name, bare = "FAISS", clocked(lambda row: flat.search(row[None], BEST), rows)
    return f"retrieve over {VECTORS:,} vectors", f"{ours:.1f} ms, bare {name} {bare:.1f} ms", "near bare FAISS"


def clocked(search: Callable[[Any], object], rows: Any) -> float:
    """Return the median CPU milliseconds of one search."""
    taken: list[float] = []
    for row in rows[:QUERIES]:
        begin = time.process_time()
        search(row)
        taken.append((time.process_time() - begin) * 1000)
    return statistics.median(taken)


def show(*rows: Row) -> None:
    """Print rows of the table."""
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def main(most: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="tea-scale-") as name:
        folder = Path(name)
        counts = [count for count in (10, 100, 1_000, 10_000) if count <= most]
        home, count = folder / str(counts[-1]), counts[-1]
        show(("what", "CPU", "aim"), ("---", "---", "---"))
        for number in counts:
            show(asyncio.run(registered(folder / str(number), number)))
        show(asyncio.run(versions(folder / "one")))
        show(*asyncio.run(listed(home, count)))
        show(*cold(home, folder / "empty", count))
        show(*asyncio.run(changed(home, folder, min(count, 1_000))))
        show(*asyncio.run(invoked()))
        show(retrieved())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--most", type=int, default=1_000, help="largest number of tools, at least 10")
    main(parser.parse_args().most)
