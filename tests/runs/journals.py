"""Parts of the run tests: small agents, and ways to look into and alter a journal."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tea import Agent, BudgetExceeded, Context, Result, Task
from tea.journal.recorder import Event
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.store.journal import FileJournals

LATER = "2999-01-01T00:00:00.000Z"

COUNT = '''
from tea import Environment, action


class Count(Environment):
    """Count in memory."""

    recovery = "RECOVERY"

    def __init__(self) -> None:
        self.number = 0

    @action(effects="writes", network=False)
    async def add(self, by: int) -> int:
        """Add to the number."""
        self.number += by
        return self.number

    async def snapshot(self) -> int:
        return self.number

    async def restore(self, state: int) -> None:
        self.number = state

    async def state(self) -> int:
        """Return the number."""
        return self.number
'''

PROMPT = """---
name: answers
description: Asks for anything.
---
# system

Answer.

# message

Now.
"""

DOUBLE = '''
from tea import tool


@tool(effects="reads", idempotent=True)
async def double(number: int) -> int:
    """Double a number."""
    return number * 2
'''

SEND = '''
from tea import Context, tool


@tool(effects="external")
async def send(ctx: Context, words: str) -> str:
    """Send words to the world, which cannot be taken back."""
    with ctx.path("sent.txt").open("a") as file:
        file.write(words)
    return words
'''

WAS_SENT = '''
from tea import Context, tool


@tool(effects="reads", idempotent=True, network=False)
async def was_sent(ctx: Context, words: str) -> str | None:
    """Tell whether words were sent."""
    path = ctx.path("sent.txt")
    return words if path.exists() and path.read_text().endswith(words) else None
'''

WORKER = '''
from tea import Agent, Context, Result, Task


class Worker(Agent):
    """Double numbers, one after the other and side by side."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        first = await ctx.tcp.invoke("double", {"number": int(task.text)})
        async with ctx.group() as group:
            others = [group.spawn(ctx.tcp.invoke("double", {"number": n})) for n in range(3)]
        await ctx.memory.record("doubled", {"number": first.value})
        values = [first.value, *(other.result().value for other in others)]
        return Result(answer=" ".join(map(str, values)))
'''

SENDER = '''
from tea import Agent, Context, Result, Task


class Sender(Agent):
    """Send the task's words."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        await ctx.tcp.invoke("double", {"number": 1})
        sent = await ctx.tcp.invoke("send", {"words": task.text})
        await ctx.tcp.invoke("double", {"number": 2})
        return Result(answer=str(sent.value), ok=sent.ok)
'''


def records(folder: Path) -> list[dict[str, Any]]:
    """The records of a run, by its folder."""
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def rewrite(home: Path, run: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> str:
    """Write a run's records, changed, as another run with valid checks; return its id."""
    store = FileJournals(home / "traces")
    kept = [{k: v for k, v in dict(one).items() if k not in ("seq", "check")} for one in store.read(run)]
    other = f"{run[:-4]}beef"
    with store.create(other) as writer:
        writer.append(change(kept))
    return other


def rewrite_in_place(home: Path, run: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> str:
    """Change a run's records where they are, with valid checks: its marks stay those of this account; return its id."""
    store, aside = FileJournals(home / "traces"), home / "aside"
    kept = [{k: v for k, v in dict(one).items() if k not in ("seq", "check")} for one in store.read(run)]
    shutil.move(home / "traces" / run / "workspace", aside)
    store.remove(run)
    with store.create(run) as writer:
        writer.append(change(kept))
    shutil.move(aside, home / "traces" / run / "workspace")
    return run


class Asks(Agent):
    """Ask as long as it can."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask up to nine times; return the facts so far."""
        for number in range(9):
            try:
                await ctx.ask("answers", {})
            except BudgetExceeded as error:
                return Result(answer=f"{number} answers", ok=False, reason=error.problem, exhausted=True)
        return Result(answer="all")


async def resumed_late(tea: Platform, task: str, **options: Any) -> tuple[str, Outcome]:
    """Call a run off in its sleep, let years pass, and let it go on; return the new run, and its end."""
    asleep = asyncio.Event()

    def watch(event: Event) -> None:
        if event.kind == "start" and event.data["kind"] == "sleep":
            asleep.set()

    running = asyncio.ensure_future(tea.run(task, watch=watch, **options))
    await asleep.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    run = rewrite(tea.home, tea.tracer.find("last"), lambda kept: [*kept[:-1], {**kept[-1], "time": LATER}])
    (tea.home / "traces" / run / "workspace").mkdir()
    async with asyncio.timeout(30):
        return run, await tea.resume(run)
