"""How a run ends early: cancelled, waiting for approval, abandoned, or without its journal."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from gate_kit import call, echo, execute, never, replayed, told, turns

from tea.errors import (
    ApprovalNeeded,
    BudgetExceeded,
    CallFailed,
    StorageError,
)
from tea.kernel.entry import Entry
from tea.kernel.gate import Gate


async def test_a_cancellation_from_outside_is_an_event_with_its_reason() -> None:
    async def program(gate: Gate) -> Any:
        gate.cancel(BudgetExceeded("No seconds are left.", fix="give more."))
        try:
            await call(gate, perform=never)
        finally:
            with pytest.raises(TimeoutError):
                async with gate.timeout(0):
                    await call(gate, perform=never)
            await call(gate, "cleanup")

    live, entries = await execute(program)
    assert isinstance(live, BudgetExceeded)
    assert told(entries)[:2] == ["start 0.0", "cancelled "]
    assert str(await replayed(program, entries)) == str(live)


async def test_a_program_may_answer_a_cancellation_with_its_best_so_far() -> None:
    async def program(gate: Gate) -> Any:
        gate.cancel(BudgetExceeded("No seconds are left.", fix="give more."))
        try:
            await call(gate, perform=never)
        except asyncio.CancelledError:
            return "so far"

    live, entries = await execute(program)
    assert live == "so far"
    assert await replayed(program, entries) == live


async def test_a_program_that_cancels_itself_has_failed() -> None:
    async def program(gate: Gate) -> Any:
        raise asyncio.CancelledError

    assert isinstance((await execute(program))[0], CallFailed)


async def ask(key: str) -> Any:
    raise ApprovalNeeded("A person must agree.", fix="answer.")


async def test_an_approval_stops_the_run_when_nothing_else_can_go_on() -> None:
    async def program(gate: Gate, approve: Any = ask) -> Any:
        async def chain() -> Any:
            await call(gate, "first")
            return await call(gate, "second")

        async with gate.group() as group:
            work = group.spawn(chain())
            answer = await call(gate, "dangerous", perform=approve)
        return answer, work.result()

    live, entries = await execute(program)
    assert isinstance(live, ApprovalNeeded)
    assert told(entries) == ["start 0.0", "start 0/0.0", "done 0/0.0", "start 0/0.1", "done 0/0.1"]
    resumed, entries = await execute(lambda gate: program(gate, echo), entries, "resume")
    assert resumed == ({"key": "0.0"}, {"key": "0/0.1"})
    assert await replayed(program, entries) == resumed


async def test_an_approval_that_nobody_waits_for_any_more_stops_nothing() -> None:
    async def program(gate: Gate) -> Any:
        index, _ = await gate.race(call(gate, perform=ask), call(gate, "b"))
        return index, await call(gate, "after")

    live, entries = await execute(program)
    assert live == (1, {"key": "0.0"})
    assert await replayed(program, entries) == live


async def test_abandoning_a_run_cleans_up_and_leaves_a_journal_to_resume() -> None:
    ends: list[str] = []

    async def perform(key: str) -> Any:
        try:
            await never(key)
        finally:
            await turns()
            ends.append(key)

    async def program(gate: Gate, perform: Any = perform) -> Any:
        async def branch() -> Any:
            try:
                return await call(gate, perform=perform)
            finally:
                ends.append("branch")

        try:
            await call(gate)
            async with gate.group() as group:
                work = group.spawn(branch())
                await call(gate, perform=perform)
            return work.result()
        finally:
            ends.append("program")
            await call(gate, "cleanup")

    gate = Gate(write=(entries := []).append)
    task = asyncio.create_task(gate.run(lambda: program(gate)))
    await turns()
    written = list(entries)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends == ["branch", "program", "0.1", "0/0.0"]
    assert entries == written
    assert gate.open_keys() == ("0.1", "0/0.0")
    resumed, after = await execute(lambda gate: program(gate, echo), entries, "resume")
    assert resumed == {"key": "0/0.0"}
    assert await replayed(program, after) == resumed


async def test_a_call_that_refuses_to_end_does_not_hold_up_the_run_for_ever() -> None:
    release = asyncio.Event()

    async def perform(key: str) -> Any:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async def program(gate: Gate) -> Any:
        return await gate.race(call(gate, perform=perform), call(gate))

    outcome, _ = await execute(program, grace=0.001)
    assert outcome[0] == 1
    release.set()
    await turns()


async def test_a_journal_that_cannot_be_written_ends_the_run() -> None:
    entries: list[Entry] = []

    def write(entry: Entry) -> None:
        if len(entries) == 3:
            raise StorageError("The disk is full.", fix="make room.")
        entries.append(entry)

    async def program(gate: Gate) -> Any:
        while True:
            with suppress(Exception):
                await call(gate)

    gate = Gate(write=write)
    with pytest.raises(StorageError):
        await gate.run(lambda: program(gate))
    assert len(entries) == 3


async def test_nothing_is_set_going_before_its_record_is_safe() -> None:
    entries: list[Entry] = []
    safe = 0

    def flush() -> None:
        nonlocal safe
        safe = len(entries)

    async def perform(key: str) -> Any:
        started = next(at for at, one in enumerate(entries) if (one.event, one.key) == ("start", key))
        assert started < safe
        return None

    async def program(gate: Gate) -> Any:
        for _ in range(3):
            gate.note("said", None)
            await call(gate, perform=perform)
        return "end"

    gate = Gate(write=entries.append, flush=flush)
    assert await gate.run(lambda: program(gate)) == "end"
    assert safe == len(entries) == 9


async def test_records_that_cannot_be_made_safe_end_the_run_before_what_they_announce() -> None:
    performed: list[str] = []

    def flush() -> None:
        raise StorageError("The disk is full.", fix="make room.")

    async def perform(key: str) -> Any:
        performed.append(key)

    gate = Gate(write=lambda entry: None, flush=flush)
    with pytest.raises(StorageError):
        await gate.run(lambda: call(gate, perform=perform))
    await turns()
    assert performed == []
