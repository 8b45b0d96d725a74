"""Measure the journal and the gate, each beside the barest program with the same promise.

    python benchmarks/journal.py [FOLDER]

Journals are written on the disk of FOLDER, by default of the folder for temporary files. Rounds of both columns
alternate, so that a busy disk slows both; the medians are compared. Below one, the journal is the faster.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from tea.journal.recorder import Recorder
from tea.journal.tracer import Trace
from tea.kernel.gate import Gate
from tea.platform import Platform
from tea.store.journal import FileJournals
from tea.store.writer import Durability, FileJournalWriter
from tea.testing import platform

ROUNDS = 7
APPENDS = 2_000
SYNCED = 100
CONCURRENT = 100
EFFECTS = 5_000
RUNS = 500
STEPS = 200
RECORD = {"kind": "done", "key": "0/1.7", "ref": "tool:word_count@1.0.0", "data": {"value": "x" * 850}}
ARGUMENTS = {"text": "to be or not to be, that is the question", "unique": True, "limit": 10}
CALLER = '''
from tea import Agent, Context, Result, Task, tool


class Caller(Agent):
    """Note so many steps, each with one call of a tool."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        for number in range(int(task.text)):
            value = (await ctx.tcp.invoke("calculator", {"expression": f"{number} * 2"})).unwrap()
            ctx.note("step", {"agent": "caller", "step": number, "next_goal": str(value), "calls": []})
        return Result(answer=task.text)
'''
Seconds = Callable[[], float]


class Bench:
    """Measures in one folder, and prints a line for each comparison."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._names = (f"run-{number}" for number in count())

    @contextmanager
    def journal(self, durability: Durability = "flush") -> Iterator[FileJournalWriter]:
        """Lend the journal of a new run."""
        with FileJournals(self._home / "traces", durability).create(next(self._names)) as writer:
            yield writer

    @contextmanager
    def plain(self) -> Iterator[int]:
        """Lend a new file."""
        descriptor = os.open(self._home / next(self._names), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def compare(self, what: str, ours: Seconds, bare: Seconds) -> None:
        """Print both costs in microseconds, and their ratio."""
        ours(), bare()
        pairs = [(ours(), bare()) for _ in range(ROUNDS)]
        found = [statistics.median(column) * 1e6 for column in zip(*pairs, strict=True)]
        print(f"| {what} | {found[0]:.1f} | {found[1]:.1f} | {found[0] / found[1]:.2f} |", flush=True)

    def append(self) -> float:
        """Return the CPU seconds of appends surviving the end of the process."""
        with self.journal() as writer:
            return cpu(lambda: [writer.append([RECORD]) for _ in range(APPENDS)]) / APPENDS

    def write(self) -> float:
        """Return the CPU seconds of plain writes, surviving it too."""
        with self.plain() as file:
            return cpu(lambda: [os.write(file, line()) for _ in range(APPENDS)]) / APPENDS

    def append_synced(self) -> float:
        """Return the seconds of appends surviving a loss of power."""
        with self.journal("synced") as writer:
            return wall(lambda: [writer.append([RECORD]) for _ in range(SYNCED)]) / SYNCED

    def write_synced(self, at_once: int = 1) -> float:
        """Return the seconds of plain writes, confirmed by the disk so many at once."""
        with self.plain() as file:

            def writes() -> None:
                for _ in range(SYNCED):
                    for _ in range(at_once):
                        os.write(file, line())
                    os.fdatasync(file)

            return wall(writes) / (SYNCED * at_once)

    def commits(self, at_once: int) -> float:
        """Return the seconds of appends from so many tasks, each waiting for the disk."""
        with self.journal() as writer:

            async def effects() -> None:
                for _ in range(SYNCED):
                    writer.append([RECORD])
                    await writer.sync()

            return wall(lambda: asyncio.run(together(effects, at_once))) / (SYNCED * at_once)

    def gated(self, runs: int) -> float:
        """Return the CPU seconds of effects spread over so many runs, each with a gate and a journal of its own."""
        with ExitStack() as stack:
            writers = [stack.enter_context(self.journal()) for _ in range(runs)]

            async def run(writer: FileJournalWriter) -> None:
                recorder = Recorder(Trace(writer, lambda data: "", "", ""), writer.run)
                gate = Gate(write=recorder.entry, flush=recorder.flush)

                async def program() -> None:
                    for _ in range(EFFECTS // runs):
                        await gate.effect("tool", "tool:word_count@1.0.0", ARGUMENTS, work)

                await gate.run(program)

            given = iter(writers)
            return cpu(lambda: asyncio.run(together(lambda: run(next(given)), runs))) / EFFECTS

    def bare_effects(self, runs: int) -> float:
        """Return the CPU seconds of the same work in tasks, each with its arguments and outcome written plainly."""
        with ExitStack() as stack:
            files = [stack.enter_context(self.plain()) for _ in range(runs)]

            async def run(file: int) -> None:
                for _ in range(EFFECTS // runs):
                    os.write(file, json.dumps(ARGUMENTS).encode())
                    os.write(file, json.dumps(await asyncio.create_task(work(""))).encode())

            given = iter(files)
            return cpu(lambda: asyncio.run(together(lambda: run(next(given)), runs))) / EFFECTS


async def work(key: str) -> Any:
    """Take one turn of the event loop, as the shortest of real calls does."""
    await asyncio.sleep(0)
    return {"count": 8, "words": ["to", "be", "or", "not"]}


async def together(program: Callable[[], Awaitable[None]], times: int) -> None:
    """Run so many of a program at once."""
    await asyncio.gather(*[program() for _ in range(times)])


async def replay(tea: Platform) -> None:
    """Print how long a replay of a long run takes, beside reading its lines as JSON and nothing else."""
    await tea.acp.register(CALLER)
    outcome = await tea.run(str(STEPS), agent="caller")
    path = tea.home / "traces" / outcome.run / "journal.jsonl"
    lines = path.read_bytes().splitlines()
    replays: list[float] = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        await tea.replay(outcome.run)
        replays.append(time.process_time() - begin)
    reading = statistics.median(cpu(lambda: list(tea.tracer.records(outcome.run))) for _ in range(ROUNDS))
    parsing = statistics.median(cpu(lambda: [json.loads(one) for one in lines]) for _ in range(ROUNDS))
    print(f"\n| a run of {STEPS} steps, {len(lines)} records | CPU ms | of plain parsing |\n|---|---|---|")
    for name, seconds in (
        ("json.loads", parsing),
        ("read and verify", reading),
        ("replay", statistics.median(replays)),
    ):
        print(f"| {name} | {seconds * 1e3:.1f} | {seconds / parsing:.1f} |")


def line() -> bytes:
    """Return the record as a line, with nothing around it."""
    return json.dumps(RECORD).encode() + b"\n"


def cpu(deed: Callable[[], object]) -> float:
    """Return the CPU seconds of a deed."""
    begin = time.process_time()
    deed()
    return time.process_time() - begin


def wall(deed: Callable[[], object]) -> float:
    """Return the seconds of a deed."""
    begin = time.perf_counter()
    deed()
    return time.perf_counter() - begin


async def replays() -> None:
    """Measure replays in a platform of their own."""
    async with platform() as tea:
        await replay(tea)


def main(folder: str | None = None) -> None:
    """Print both tables."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * RUNS) if hard >= 0 else 4 * RUNS, hard))
    with tempfile.TemporaryDirectory(dir=folder) as home:
        bench = Bench(Path(home))
        print("| what, 1 KB each | us | barest us | ratio |\n|---|---|---|---|")
        bench.compare("append, survives SIGKILL (CPU)", bench.append, bench.write)
        bench.compare("append, survives loss of power", bench.append_synced, bench.write_synced)
        for at_once in (1, CONCURRENT):
            what = f"effects that wait for the disk, {at_once} at once"
            bench.compare(what, partial(bench.commits, at_once), partial(bench.write_synced, at_once))
        for runs in (1, RUNS):
            what = f"effect through gate and journal, {runs} runs (CPU)"
            bench.compare(what, partial(bench.gated, runs), partial(bench.bare_effects, runs))
    asyncio.run(replays())


if __name__ == "__main__":
    main(*sys.argv[1:])
