"""Small calls and runs for the tests of the gate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tea.kernel.entry import Entry
from tea.kernel.gate import Gate

Program = Callable[[Gate], Awaitable[Any]]


async def echo(key: str) -> Any:
    await asyncio.sleep(0)
    return {"key": key}


async def forbidden(key: str) -> Any:
    raise AssertionError(f"{key} was performed")


async def never(key: str) -> Any:
    await asyncio.Event().wait()


async def call(gate: Gate, name: str = "x", data: Any = None, perform: Any = echo) -> Any:
    return await gate.effect("tool", name, data, perform)


async def execute(program: Program, past: Any = (), mode: Any = "live", **options: Any) -> tuple[Any, list[Entry]]:
    """Run a program and return its result or error, and the whole journal."""
    written: list[Entry] = []
    gate = Gate(write=written.append, past=past, mode=mode, **options)
    try:
        outcome = await asyncio.wait_for(gate.run(lambda: program(gate)), 5)
    except Exception as error:
        outcome = error
    return outcome, [*past, *written]


async def replayed(program: Program, entries: list[Entry], **options: Any) -> Any:
    outcome, after = await execute(program, entries, "replay", **options)
    assert after == entries
    return outcome


async def recorded(program: Program) -> list[Entry]:
    return (await execute(program))[1]


def told(entries: list[Entry]) -> list[str]:
    return [f"{entry.event} {entry.key}" for entry in entries]


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
