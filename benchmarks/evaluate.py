"""Measure the overhead of `tea eval`: 500 stub tasks, evaluated and simply run.

    python benchmarks/evaluate.py [TASKS]

The stub is an agent that answers at once, so the run costs the least that a run can, and the share of what is added is
the largest that it can be.
"""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tea import Agent, Context, Platform, Result, Task
from tea.evaluate import Plan, TaskSet, evaluate
from tea.testing import TestModel

ROUNDS, CONCURRENCY = 3, 8


class Stub(Agent):
    """Answer with the task."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer at once."""
        return Result(answer=task.text)


async def runs(folder: Path, count: int) -> float:
    """Return the CPU seconds of the tasks, simply run."""
    async with Platform(folder / "home", state=folder / "state", model=TestModel()) as tea:
        await tea.acp.register(Stub)
        await tea.run("warm", agent="stub")
        numbers = iter(range(count))
        begun = time.process_time()

        async def work() -> None:
            for number in numbers:
                await tea.run(f"task {number}", agent="stub")

        async with asyncio.TaskGroup() as group:
            for _ in range(CONCURRENCY):
                group.create_task(work())
        return time.process_time() - begun


async def evaluated(folder: Path, count: int) -> tuple[float, float]:
    """Return the CPU seconds of the same tasks evaluated, and of evaluating them once more."""
    tasks = [{"task": f"task {number}", "expected": f"task {number}", "scorer": "exact"} for number in range(count)]
    async with Platform(folder / "home", state=folder / "state", model=TestModel()) as tea:
        await tea.acp.register(Stub)
        await tea.run("warm", agent="stub")
        begun = time.process_time()
        found = await evaluate(tea, TaskSet.of(tasks), Plan(agent="stub"), concurrency=CONCURRENCY)
        spent = time.process_time() - begun
        assert all(one.right for one in found.runs), "every stub answers right"
        begun = time.process_time()
        again = await evaluate(tea, TaskSet.of(tasks), Plan(agent="stub"), concurrency=CONCURRENCY)
        assert again.fresh == 0, "nothing is run twice"
        return spent, time.process_time() - begun


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    rows: list[tuple[float, float, float]] = []
    for _ in range(ROUNDS):
        with TemporaryDirectory() as one, TemporaryDirectory() as other:
            plain = asyncio.run(runs(Path(one), count))
            rows.append((plain, *asyncio.run(evaluated(Path(other), count))))
    ratio = median(evaluating / plain for plain, evaluating, _ in rows)
    print(f"| {count} tasks | CPU s | ratio | limit |")
    print("|---|---|---|---|")
    print(f"| simply run | {median(one[0] for one in rows):.2f} | 1.00 |  |")
    print(f"| evaluated | {median(one[1] for one in rows):.2f} | {ratio:.2f} | 1.3 |")
    print(f"| evaluated again | {median(one[2] for one in rows):.2f} | {median(o[2] / o[0] for o in rows):.2f} |  |")


if __name__ == "__main__":
    main()
