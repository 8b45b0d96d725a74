"""The way of one piece of work through the house: functions and files entered, and moves from file to file.

    python benchmarks/walk.py [--functions]

Counted with `sys.setprofile` on the event loop and in the threads, for a first and a warm call of a tool, a
first and a warm question to a model, and the registration of a tool. `--functions` prints them in order.
"""

import argparse
import asyncio
import sys
import threading
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from tea import Context
from tea.components.clients import Tools
from tea.testing import ScriptedModel, platform

HOUSE = str(Path(__file__).resolve().parent.parent / "tea")
TOOL = '''
"""One tool."""
from tea import tool


@tool
async def same(x: int) -> int:
    """Return what is given.

    Args:
        x: Any number.
    """
    return x
'''
AGENT = '''
"""Calls a tool twice, and asks a model twice."""
from tea import Agent, Context, Result, Task


class Walker(Agent):
    """An agent whose every call is one walk."""

    async def run(self, task: Task, ctx: Context) -> Result:
        """Call, call again, ask, and ask again."""
        for _ in range(2):
            await ctx.tcp.invoke("same", {"x": 1})
        for _ in range(2):
            await ctx.ask("asking", {})
        return Result(answer="yes", ok=True)
'''
QUESTION = """---
name: asking
description: Asks.
---
# system
You agree.

# message
Say yes.
"""


@dataclass(slots=True)
class Walk:
    """The entered functions, in order."""

    steps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def enter(self, frame: FrameType, event: str, _: Any) -> None:
        """Note the function of a beginning or continuing frame."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(HOUSE):
            self.steps.append((code.co_filename[len(HOUSE) + 1 :], code.co_qualname))

    @property
    def figures(self) -> tuple[int, int, int]:
        """Distinct functions, distinct files, and moves between files."""
        files = [file for file, _ in self.steps]
        moves = sum(a != b for a, b in pairwise(files))
        return len(set(self.steps)), len(set(files)), moves


WALKS: dict[str, Walk] = {}
CURRENT: list[Walk] = []


def enter(frame: FrameType, event: str, given: Any) -> None:
    """Note a frame in the current walk, if there is one."""
    for walk in CURRENT:
        walk.enter(frame, event, given)


async def walked(name: str, work: Awaitable[Any]) -> Any:
    """Await work, and count its walk."""
    CURRENT.append(WALKS.setdefault(name, Walk()))
    try:
        return await work
    finally:
        CURRENT.clear()


def watched(owner: type, method: str, names: Iterator[str]) -> None:
    """Count each call of a method of the agent's context under the next of the names."""
    real = getattr(owner, method)

    async def counting(*given: Any, **named: Any) -> Any:
        return await walked(next(names), real(*given, **named))

    setattr(owner, method, counting)


async def walk() -> None:
    """Make all walks in a home of their own."""
    watched(Tools, "invoke", iter(("a tool, first call", "a tool, warm call")))
    watched(Context, "ask", iter(("a model, first question", "a model, warm question")))
    async with platform(model=ScriptedModel(["yes"] * 2)) as house:
        await walked("register a tool", house.tcp.register(TOOL))
        await house.libraries["prompt"].register(QUESTION)
        await house.acp.register(AGENT)
        outcome = await house.run("walk", agent="walker")
        assert outcome.status == "done", outcome


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", action="store_true", help="print every function in order")
    chosen = parser.parse_args(argv)
    threading.setprofile(enter)
    sys.setprofile(enter)
    asyncio.run(walk())
    sys.setprofile(None)
    print(f"{'':28}{'functions':>10}{'files':>8}{'moves':>8}")
    for name, one in sorted(WALKS.items()):
        functions, files, moves = one.figures
        print(f"{name:28}{functions:10}{files:8}{moves:8}")
        for file, function in one.steps if chosen.functions else ():
            print(f"    {file:36}{function}")


if __name__ == "__main__":
    main()
