"""Measure registering as the registry grows, and a journal's line against a plain write.

Usage: python benchmarks/store.py [FOLDER]. Registering is one version and one head, all of it synced. Beside it stands
what the same disk takes at the same moment for two bare durable files (write, fsync, rename, fsync of the folder).
"""

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tea.store.journal import FileJournals
from tea.store.registry import FileRegistry

SIZES = (100, 1_000, 5_000)
BATCH = 100
ROUNDS = 11
LINES = 5_000
DOCUMENT = {
    "name": "word_count",
    "source": "async def word_count(text: str) -> int:\n    return len(text.split())\n" * 12,
    "schema": {
        "type": "object",
        "properties": {f"p{n}": {"type": "string", "description": "A text."} for n in range(5)},
    },
}
RECORD = {"kind": "effect", "key": "0/1.7", "ref": "tool:word_count@1.0.0", "data": {"value": "x" * 850}}


def register(registry: FileRegistry, number: int) -> None:
    """Register one tool under a new name."""
    registry.create("tool", f"tool_{number}", "1.0.0", DOCUMENT)
    registry.advance("tool", f"tool_{number}", {"current": "1.0.0"}, 0)


def two_files(folder: Path, number: int) -> None:
    """Write two durable files in the barest way."""
    data = json.dumps(DOCUMENT).encode()
    for part in ("a", "b"):
        temporary = folder / f"{number}{part}.tmp"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.close(descriptor)
        os.rename(temporary, folder / f"{number}{part}.json")
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the work's duration by this clock."""
    begin = clock()
    work()
    return clock() - begin


def user_seconds() -> float:
    """Return this process's CPU time outside the system, without the noise of a busy disk."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def measure_registry(home: Path) -> None:
    """Print the cost of registering, listing and reading heads at each size; batches alternate with bare files."""
    print("| tools there | registers per second | bare pairs per second | ratio | user CPU us | names ms | head us |")
    print("|---|---|---|---|---|---|---|")
    registry, bare = FileRegistry(home / "registry"), home / "bare"
    bare.mkdir()
    there = 0
    for size in SIZES:
        while there < size - BATCH:
            register(registry, there)
            there += 1
        wall = cpu = files = 0.0
        for _ in range(BATCH):
            used = user_seconds()
            wall += seconds(lambda: register(registry, there))  # noqa: B023 - called at once
            cpu += user_seconds() - used
            files += seconds(lambda: two_files(bare, there))  # noqa: B023 - called at once
            there += 1
        names = seconds(lambda: registry.names("tool"))
        head = median(seconds(lambda n=n: registry.head("tool", f"tool_{n}")) for n in range(BATCH))
        figures = [BATCH / wall, BATCH / files, files / wall, cpu / BATCH * 1e6, names * 1e3, head * 1e6]
        print(f"| {size} |", " | ".join(f"{figure:.3g}" for figure in figures), "|", flush=True)


def measure_journal(home: Path) -> None:
    """Print the CPU of one appended record against encoding and writing the same line; rounds alternate."""
    plain: list[float] = []
    checked: list[float] = []
    journals = FileJournals(home / "traces")
    for number in range(ROUNDS):
        with (home / f"plain-{number}").open("ab", buffering=0) as file:
            plain.append(seconds(lambda: plain_lines(file.fileno()), time.process_time))
        with journals.create(f"run-{number}") as writer:
            append = writer.append
            checked.append(seconds(lambda: [append([RECORD]) for _ in range(LINES)], time.process_time))  # noqa: B023
    per_line = [median(times) / LINES * 1e6 for times in (plain, checked)]
    reading = seconds(lambda: sum(1 for _ in journals.read("run-0")), time.process_time) / LINES * 1e6
    print("\n| one record of 1 KB | CPU us |\n|---|---|")
    for name, cost in (("json.dumps and write", per_line[0]), ("append", per_line[1]), ("read and verify", reading)):
        print(f"| {name} | {cost:.1f} |")


def plain_lines(descriptor: int) -> None:
    """Encode and write the lines, with nothing around them."""
    for _ in range(LINES):
        os.write(descriptor, json.dumps(RECORD).encode() + b"\n")


def main(folder: str | None = None) -> None:
    """Measure in a temporary folder on the disk of `folder`."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        measure_registry(Path(home))
        measure_journal(Path(home))


if __name__ == "__main__":
    main(*sys.argv[1:])
