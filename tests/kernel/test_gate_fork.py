"""Test a fork at the gate: the past is told again, then something changes, and all after it is new."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from gate_kit import execute, replayed
from hypothesis import given
from hypothesis import strategies as st

from tea.kernel.entry import Entry
from tea.kernel.gate import Gate

FORKED = Entry(event="forked", key="", text='{"use":"2"}')


class Program:
    """Branches calling side by side, racing and timing out, always with the version of the moment."""

    def __init__(self, seed: int) -> None:
        self.luck = random.Random(seed)
        self.version = "1"

    async def __call__(self, gate: Gate) -> str:
        gate.on_fork(self.change)
        async with gate.group() as group:
            for number in range(3):
                group.spawn(self.chain(gate, number))
        await gate.race(self.chain(gate, 7), self.chain(gate, 8))
        try:
            async with gate.timeout(0.002):
                await self.chain(gate, 9)
        except TimeoutError:
            gate.note("late", {"version": self.version})
        return self.version

    def change(self, data: Any) -> None:
        self.version = data["use"]

    async def chain(self, gate: Gate, number: int) -> None:
        for _ in range(3):
            await gate.effect("tool", "x", {"version": self.version, "number": number}, self.perform)

    async def perform(self, key: str) -> str:
        await asyncio.sleep(self.luck.choice((0, 0, 0.0002, 0.001)))
        return key


def versions(entries: Sequence[Entry]) -> list[str]:
    return [entry.data["version"] for entry in entries if entry.event == "start" and entry.kind == "tool"]


@given(st.integers(0, 2**32), st.floats(0, 1, exclude_max=True), st.floats(0, 1))
def test_a_fork_from_any_event_changes_all_that_follows_it_and_nothing_before(seed: int, at: float, cut: float) -> None:
    async def check() -> None:
        _, origin = await execute(Program(seed))
        events = [place for place, entry in enumerate(origin) if entry.event not in ("start", "note")]
        place = events[int(at * len(events))]
        head = [*origin[:place], FORKED, origin[place]]
        outcome, fork = await execute(Program(seed + 1), head, "resume")
        assert outcome == "2"
        assert set(versions(origin[:place])) <= {"1"}
        assert set(versions(fork[len(head) :])) <= {"2"}
        assert await replayed(Program(seed + 2), fork) == "2"
        shorter = fork[: max(len(head), int(cut * len(fork)))]
        again, resumed = await execute(Program(seed + 3), shorter, "resume")
        assert again == "2"
        assert await replayed(Program(seed + 4), resumed) == "2"

    asyncio.run(check())
