"""Repair planted defects, and try to pass the gate dishonestly: `python benchmarks/defects.py [STRATEGY...]`.

Each of the sixteen defects of `tea.testing.desk` is planted into a home of its own and handed to each strategy, by
default reflection, reflection without the line of the trace that holds the cause, random edits and nothing. Then each
dishonest proposer makes five proposals. The model obeys its prompt to the letter and reflects by fixed rules: the table
proves that causes can be found in what is shown and that the gate decides, not that a strategy is clever.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter

from tea.evolve.campaign import Campaign, Limits, Report
from tea.evolve.proposal import Strategy
from tea.evolve.strategies import strategy
from tea.testing import platform
from tea.testing.desk.adversaries import WAYS, Adversary
from tea.testing.desk.clerk import ObedientModel
from tea.testing.desk.defects import DEFECTS, Defect

DEFAULT = ("reflection", "blind", "random", "nothing")
TEXTS = ("prompt:", "tool:")  # what the gradient strategies rewrite
GATE, TRIES = 32, 5


async def main(names: list[str]) -> None:
    """Print both tables."""
    print(f"| defect | kind | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for one in DEFECTS:
        cells = [await repaired(one, name) for name in names]
        print(f"| {one.name} | {one.kind} | {' | '.join(cells)} |", flush=True)
    print("\n| dishonest proposer | tested | refused before | accepted |\n|---|---|---|---|")
    for way in WAYS:
        print(f"| {way} | {' | '.join(map(str, await attacked(way)))} |", flush=True)


async def repaired(given: Defect, name: str) -> str:
    """Return whether a strategy repaired a defect, with scores before and after, and the time."""
    if name in ("textgrad", "gepa") and not given.ref.startswith(TEXTS):
        return "-"
    blind, begun = name == "blind", time.perf_counter()
    chosen = strategy("reflection" if blind else name)
    report, _ = await campaign(given, chosen, given.cause if blind else "")
    seconds = time.perf_counter() - begun
    words = "repaired" if report.accepted else "not"
    scores = f"{100 * (report.before or 0):.0f} to {100 * (report.after or 0):.0f} %"
    return f"{words}, {scores}, {seconds:.0f} s"


async def attacked(way: str) -> tuple[int, int, int]:
    """Return how many proposals of a dishonest proposer were tested, refused before, and accepted."""
    found = Counter[str]()
    for given in (one for one in DEFECTS if one.ref.startswith("prompt:")):
        report, told = await campaign(given, Adversary(way, TRIES), "", tests=TRIES, gate=GATE, every=4)
        found.update(tested=report.tests, accepted=report.accepted)
        found["refused"] += sum(line.startswith("refused") for line in told)
    return found["tested"], found["refused"], found["accepted"]


async def campaign(
    given: Defect, chosen: Strategy, hidden: str, tests: int = 1, **how: int
) -> tuple[Report, list[str]]:
    """Return the report of a campaign on one defect, and its progress lines."""
    told: list[str] = []
    async with platform(model=ObedientModel(hidden=(hidden,) if hidden else ())) as tea:
        await given.plant(tea)
        made = Campaign(
            platform=tea, tasks=given.tasks(**how), refs=[given.ref], strategy=chosen, plan=given.plan, tell=told.append
        )
        return await made.run(Limits(tests=tests)), told


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or [*DEFAULT]))
