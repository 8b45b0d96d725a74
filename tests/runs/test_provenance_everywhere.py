"""Random programs know the same live, replayed, resumed and forked."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from provenance_kit import NOTES, plain, scripted, stock

from tea import Platform
from tea.errors import ApprovalNeeded
from tea.policy.provenance import Known
from tea.runs.policy import CallRequest, Decision

CALLS: list[list[Any]] = [
    ["tool", "read_mail", {}],
    ["tool", "quiet", {}],
    ["tool", "own", {"words": "see https://site.test/a"}],
    ["tool", "get", {"url": "https://site.test/more"}],
    ["tool", "keep", {"name": "a", "text": "https://site.test/b"}],
    ["tool", "look", {"name": "a"}],
    ["tool", "add", {"a": 1, "b": 2}],
    ["tool", "send", {"to": "ann@good.test", "words": "x"}],
    ["act", "notes#note", {"text": "x"}],
    ["act", "notes#all", {}],
    ["record", "x"],
    ["recall"],
    ["save", "x"],
    ["load"],
    ["sleep", 0],
    ["person", "What?", []],
]


def program(chance: random.Random, depth: int = 2) -> list[Any]:
    """Return the steps of a random program: calls in turn, side by side, and given to other agents."""
    steps = list[Any]()
    for _ in range(chance.randint(2, 4)):
        if depth and chance.random() < 0.3:
            steps.append(["both", *(program(chance, depth - 1) for _ in range(2))])
        elif depth and chance.random() < 0.3:
            steps.append(["agent", chance.choice(["first", "second"]), json.dumps(program(chance, depth - 1))])
        else:
            steps.append(chance.choice(CALLS))
    return steps


class Watching:
    """A policy remembering the labels at each call, and asking about one of them."""

    def __init__(self, number: int = 0) -> None:
        self.seen: dict[str, Known] = {}
        self.number, self.stop = number, ""

    async def decide(self, request: CallRequest) -> Decision:
        """Allow, but for the one call."""
        if "!" not in request.key:  # what is called from inside is performed, and so decided, only once
            self.seen[request.key] = request.known
            self.number -= 1
            self.stop = self.stop or (request.key if self.number == 0 else "")
        return "ask" if request.key == self.stop else "allow"


async def typing(question: str, choices: Any) -> str | None:
    return "words" if "What?" in question else None


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stocked")

    async def prepare() -> None:
        async with plain(folder) as tea:
            await stock(tea, *(scripted(name=name) for name in ("Worker", "First", "Second")), environments=[NOTES])

    asyncio.run(prepare())
    return folder


async def check(tea: Platform, run: str, seen: Mapping[str, Known]) -> None:
    """Check a walk through a journal against the labels known in the run."""
    for key in random.Random(0).sample(sorted(seen), min(3, len(seen))):
        assert (await tea.explain(run, key))[0].known == seen[key], (run, key)


@pytest.mark.parametrize("seed", range(8))
async def test_a_replay_a_resume_and_a_fork_know_what_the_run_knew(home: Path, seed: int) -> None:
    steps = json.dumps(program(random.Random(seed)))

    def platform(policy: Watching) -> Platform:
        return Platform(home / "home", state=home / "state", policy=policy, person=typing)

    live, fork = Watching(), Watching()
    async with platform(live) as tea:
        outcome = await tea.run(steps, agent="worker")
        await check(tea, outcome.run, live.seen)
    middle = sorted(live.seen)[len(live.seen) // 2]
    stopping = Watching(len(live.seen) // 2 + 1)  # the keys depend on which branch looks a name up first
    async with platform(stopping) as tea:
        with pytest.raises(ApprovalNeeded):
            await tea.run(steps, agent="worker")
        (waiting,) = [one for one in (await tea.inbox("last")).questions if one.key == stopping.stop]
    before, stopping.seen = stopping.seen, {}
    async with platform(stopping) as tea:
        await tea.resume(waiting.run, answers={waiting.key: "allow"})
        assert stopping.seen[waiting.key] == before[waiting.key]
        await check(tea, waiting.run, {**before, **stopping.seen})
    async with platform(fork) as tea:
        forked = await tea.fork(outcome.run, at=middle)
        there = {one.key for one in tea.tracer.records(forked.run)}  # behind the position keys may be others
        kept = {key: known for key, known in live.seen.items() if key in there and key not in fork.seen}
        await check(tea, forked.run, {**kept, **fork.seen})
        assert fork.seen[middle] == live.seen[middle]
