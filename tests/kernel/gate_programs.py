"""Programs as data, run behind a gate: recorded under random latencies, replayed and resumed under others.

Run as a script it reads `[program, entries]` from standard input and replays them, printing the outcome.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tea.errors import BudgetExceeded, TeaError, ToolError
from tea.kernel.entry import Entry
from tea.kernel.gate import Gate
from tea.kernel.pending import Inline

Node = list[Any]
LATENCIES = (0, 0, 0, 0.0003, 0.0006, 0.001)


@dataclass
class World:
    """The world outside of a run: slow, unreliable, talkative, and different for each seed."""

    seed: int
    failures: float = 0.1
    cancels: bool = False
    performed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    async def perform(self, key: str) -> Any:
        self.performed.append(key)
        luck, latency = self.random.random(), self.random.choice(LATENCIES)
        try:
            async with asyncio.timeout(9):
                if luck > 0.1:
                    await asyncio.sleep(latency)
        except asyncio.CancelledError:
            await asyncio.sleep(self.random.choice(LATENCIES))
            raise
        if luck < self.failures / 3:
            raise ValueError("it broke")
        if luck < self.failures:
            raise ToolError("It does not work.", fix="try again.")
        return {"number": self.random.randrange(100), "among": [luck, None, "é"]}

    async def talk(self, gate: Gate) -> None:
        for number in range(40):
            await asyncio.sleep(self.random.choice(LATENCIES))
            gate.post({"message": number})
            if self.cancels and self.random.random() < 0.05:
                gate.cancel(BudgetExceeded("The budget ended.", fix="give more."))
        while True:
            await asyncio.sleep(0.002)
            gate.post("more")


class Program:
    """Interpret a node; every call shows all earlier results, to reveal any change of order."""

    def __init__(self, gate: Gate, world: World, node: Node) -> None:
        self.gate, self.world, self.node = gate, world, node
        self.seen: list[Any] = []
        self.todo = list(range(5))
        self.lock = asyncio.Lock()

    async def __call__(self) -> list[Any]:
        await self.do(self.node)
        return self.seen

    async def call(self, name: str) -> None:
        self.seen.append(
            [name, await self.gate.effect("call", name, [*self.seen[-4:], len(self.seen)], self.world.perform)]
        )

    async def do(self, node: Node) -> None:
        await getattr(self, f"do_{node[0]}")(*node[1:])

    async def do_call(self, name: str) -> None:
        await self.call(name)

    async def do_seq(self, *nodes: Node) -> None:
        for node in nodes:
            await self.do(node)

    async def do_group(self, *nodes: Node) -> None:
        async with self.gate.group() as group:
            for node in nodes:
                group.spawn(self.do(node))
            await self.call("body")

    async def do_race(self, *nodes: Node) -> None:
        self.seen.append(["won", (await self.gate.race(*[self.do(node) for node in nodes]))[0]])

    async def do_timeout(self, seconds: float, node: Node) -> None:
        try:
            async with self.gate.timeout(seconds):
                await self.do(node)
        except TimeoutError:
            await self.call("late")

    async def do_retry(self, node: Node) -> None:
        for attempt in range(3):
            try:
                await self.do(node)
                break
            except* TeaError as group:
                self.seen.append(["retry", attempt, words(group)])
                await self.gate.sleep(0.0004 * attempt)

    async def do_catch(self, node: Node, handler: Node) -> None:
        try:
            await self.do(node)
        except Exception as error:
            self.seen.append(words(error))
            await self.do(handler)

    async def do_finally(self, node: Node, cleanup: Node) -> None:
        try:
            await self.do(node)
        finally:
            self.seen.append("cleanup")
            await self.do(cleanup)

    async def do_swallow(self, node: Node) -> None:
        with suppress(asyncio.CancelledError):
            await self.do(node)

    async def do_sleep(self, seconds: float) -> None:
        await self.gate.sleep(seconds)
        self.seen.append("slept")

    async def do_receive(self) -> None:
        self.seen.append(await self.gate.receive())

    async def do_look(self) -> None:
        if self.gate.due("look", lambda: self.world.random.random() < 0.4):
            self.seen.append(["found", await self.gate.effect("look", "", {}, self.world.perform, Inline.READ)])
        else:
            self.seen.append("nothing")

    async def do_note(self) -> None:
        self.seen.append(self.gate.note("step", self.seen[-2:]))

    async def do_scope(self, node: Node) -> None:
        with self.gate.scope() as key:
            self.gate.note("enter", key)
            await self.do(node)

    async def do_lock(self, node: Node) -> None:
        async with self.lock:
            await self.do_hop()
            self.seen.append("locked")
        await self.do(node)

    async def do_hop(self) -> None:
        await asyncio.sleep(0)
        self.seen.append("hop")

    async def do_work(self) -> None:
        while self.todo:
            await self.call(f"job {self.todo.pop()}")

    async def do_odd(self, node: Node, other: Node) -> None:
        await self.do(node if len(self.seen) % 2 else other)

    async def do_raise(self) -> None:
        raise ToolError(f"Enough of {len(self.seen)}.", fix="start again.")


def words(error: BaseException) -> Any:
    """Describe an error to the last detail."""
    if isinstance(error, BaseExceptionGroup):
        return [str(error), [words(one) for one in error.exceptions]]
    return [type(error).__name__, str(error)]


@dataclass
class Run:
    """Hold one execution's results."""

    outcome: Any
    entries: list[Entry]
    written: list[Entry]
    performed: list[str]


async def run(node: Node, world: World, past: list[Entry] | None = None, mode: Any = "live", abandon: float = 0) -> Run:
    """Execute a program behind a gate."""
    written: list[Entry] = []
    gate = Gate(write=written.append, past=past or [], mode=mode)
    program = Program(gate, world, node)
    outcome: Any = None
    async with asyncio.TaskGroup() as group:
        talker = None if mode == "replay" else group.create_task(world.talk(gate))
        running = group.create_task(_outcome(gate, program))
        if abandon:
            await asyncio.sleep(abandon)
            running.cancel()
        with suppress(asyncio.CancelledError):
            outcome = await asyncio.wait_for(running, 20)
        if talker is not None:
            talker.cancel()
    return Run(outcome, (past or []) + written, written, world.performed)


async def _outcome(gate: Gate, program: Program) -> Any:
    try:
        value = ["value", await gate.run(program)]
    except Exception as error:
        value = ["error", words(error)]
    return json.loads(json.dumps([value, program.seen]))


def main() -> None:
    node, documents = json.load(sys.stdin)
    past = [Entry.of(document) for document in documents]
    print(json.dumps(asyncio.run(run(node, World(0), past, "replay")).outcome))


if __name__ == "__main__":
    main()
