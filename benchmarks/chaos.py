"""Runs with a misbehaving model: their ends, and the reading and replay of each journal.

    python benchmarks/chaos.py [--runs 1000] [--seed 0] [--first 0] [--at-once 4] [--agent NAME] [--attempts N]

A run is chosen by the seed and its number: agent, files, budget, form of the answer, whether the model has functions,
its context and how it folds. `--first N --runs 1` repeats one. Exits with 1 where something did not hold.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, get_args

from tea.journal.record import TraceRecord
from tea.models.config import Fold
from tea.models.manager import ModelConfig
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.testing import ChaosModel, platform

SECONDS = 120.0
BATCH = 50
EXIT_CODES = {0: "done", 1: "failed", 4: "provider error", 5: "exhausted"}
FILES = {
    "cities.csv": "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\nRome,Italy,2800000\n",
    "notes.txt": "\n".join(f"Line {number}: nothing of note." for number in range(1, 400)),
    "scores.json": '[{"name": "Ann", "points": 7}, {"name": "Bo", "points": 9}]',
}
TASKS = (
    "Which city has the most people?",
    "Count the rows of each file, and sum up what the notes say.",
    "What is 17% of 2,340?",
    "Compare the files in four parts, and write a report with the sources of each part.",
)
ANSWERS: tuple[dict[str, Any] | None, ...] = (
    None,
    None,
    {"type": "integer"},
    {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}},
        "required": ["count", "names"],
        "additionalProperties": False,
    },
)
DEFECT = '"code": "InternalError"'
KEPT = ("status", "answer", "reason", "evidence", "cost", "error")


@dataclass(slots=True)
class Tally:
    """Count the ends of runs."""

    endings: Counter[str] = field(default_factory=Counter[str])
    behaviours: Counter[str] = field(default_factory=Counter[str])
    agents: Counter[str] = field(default_factory=Counter[str])
    questions: int = 0
    records: int = 0
    replays: int = 0
    faults: list[str] = field(default_factory=list[str])


async def main() -> int:
    """Carry out the runs, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser()
    for name, default in (("runs", 1000), ("seed", 0), ("first", 0), ("at-once", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--agent", default="", help="the only agent; planner and analyzer by default")
    parser.add_argument("--attempts", type=int, default=1, help="how often each task is attempted, in turn or at once")
    given = parser.parse_args()
    tally, begun = Tally(), time.perf_counter()
    end = given.first + given.runs
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        for first in range(given.first, end, BATCH):
            async with platform(person=said) as tea:
                await tea.corpus.add(folder)  # what searches find
                numbers = range(first, min(end, first + BATCH))
                await batch(tea, Path(folder), tally, given, numbers)
    show(tally, given.runs, time.perf_counter() - begun)
    return 1 if tally.faults else 0


async def batch(tea: Platform, folder: Path, tally: Tally, given: argparse.Namespace, numbers: range) -> None:
    """Carry out some runs on one platform, several at once."""
    gate = asyncio.Semaphore(given.at_once)

    async def one(number: int) -> None:
        async with gate, watched(tally, f"--seed {given.seed} --first {number} --runs 1"):
            await carried_out(tea, folder, tally, given, number)

    async with asyncio.TaskGroup() as group:
        for number in numbers:
            group.create_task(one(number))


@contextlib.asynccontextmanager
async def watched(tally: Tally, name: str) -> AsyncGenerator[None]:
    """Count any internal fault, a hang too, against the named run."""
    try:
        async with asyncio.timeout(SECONDS):
            yield
    except Exception as error:  # a crash of any kind is what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        tally.faults.append(f"{name}: {type(error).__name__}: {error} ({last.filename}:{last.lineno})")


async def carried_out(tea: Platform, folder: Path, tally: Tally, given: argparse.Namespace, number: int) -> None:
    """Carry out one run, read its journal, and replay it."""
    seed, random, name = given.seed, Random(f"{given.seed} {number}"), f"chaos-{number}"
    model = ChaosModel(seed * 1_000_003 + number)
    tea.models.add(ModelConfig(name=name, provider="given", **abilities(random)), model)
    chosen = {**options(random, folder), **({"agent": given.agent} if given.agent else {})}
    if given.attempts > 1:
        chosen |= {"attempts": given.attempts, "successive": random.random() < 0.5}
    outcome = await tea.run(random.choice(TASKS), model=name, **chosen)
    tally.behaviours.update(model.chosen)
    tally.questions += model.chosen.total()
    tally.endings[EXIT_CODES.get(outcome.exit_code, f"exit code {outcome.exit_code}")] += 1
    if outcome.exit_code not in EXIT_CODES:
        raise AssertionError(f"it ended with {outcome.exit_code}: {outcome.error}")
    records = read_through(tea, outcome)
    tally.records += len(records)
    tally.agents.update(agents_in(records))
    again = await tea.replay(outcome.run)
    if differing := [one for one in KEPT if getattr(again, one) != getattr(outcome, one)]:
        raise AssertionError(f"its replay has another {' and '.join(differing)}")
    tally.replays += 1


async def said(question: str, choices: Sequence[str]) -> str:
    """Return the answer of a person, the same to the same question; some answers are empty."""
    return Random(question).choice(choices or ("The years 2000 to 2020.", "All of them, please.", " "))


def abilities(random: Random) -> dict[str, Any]:
    """Return the model's abilities, its window, and its way with a growing conversation."""
    return {
        "capabilities": random.choice((("tools",), ("tools", "schema"), ())),
        "context": random.choice((8_000, 32_000)),
        "fold": random.choice(get_args(Fold)),
    }


def options(random: Random, folder: Path) -> dict[str, Any]:
    """Return the options of a run."""
    steps, tokens = random.choice((3, 8, 20, 40)), random.choice((None, None, 4_000, 20_000))
    files = random.sample(sorted(FILES), random.randint(0, len(FILES)))
    chosen: dict[str, Any] = {
        "agent": random.choice(("planner", "planner", "analyzer")),
        "files": [folder / one for one in files],
        "budget": {"steps": steps} | ({"tokens": tokens} if tokens else {}),
        "answer": random.choice(ANSWERS),
        "tools": random.choice((None, None, ["*"], ["table_query", "read_file"])),
    }
    return {key: value for key, value in chosen.items() if value is not None}


def read_through(tea: Platform, outcome: Outcome) -> list[TraceRecord]:
    """Return the records of a run's journal, read to its end."""
    records = list(tea.tracer.records(outcome.run))
    if [one.seq for one in records] != list(range(len(records))):
        raise AssertionError("its journal has gaps")
    text = json.dumps([one.data for one in records], ensure_ascii=False, allow_nan=False)
    text.encode()  # raises where half of a character stands in it
    if DEFECT in text:
        raise AssertionError(f"a defect stands in its journal: {text[text.index(DEFECT) :][:300]}")
    return records


def agents_in(records: Sequence[TraceRecord]) -> set[str]:
    """Return the names of the agents that asked the model in a run."""
    return {one.agent for one in records if one.kind == "start" and one.data["kind"] == "model"}


def show(tally: Tally, runs: int, seconds: float) -> None:
    """Print the counts."""
    counted = [(name, tally.endings[name]) for name in dict.fromkeys((*EXIT_CODES.values(), *tally.endings))]
    figures = (("replays identical", tally.replays), ("faults", len(tally.faults)))
    print("| what | count |\n|---|---|")
    for name, count in (("runs", runs), *counted, *figures, ("questions", tally.questions), ("records", tally.records)):
        print(f"| {name} | {count:,} |")
    print(f"| seconds | {seconds:.0f} |\n")
    print("Behaviours:", ", ".join(f"{name} {count}" for name, count in sorted(tally.behaviours.items())))
    print("Runs in which an agent asked:", ", ".join(f"{name} {count}" for name, count in sorted(tally.agents.items())))
    for fault in tally.faults:
        print(fault)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
