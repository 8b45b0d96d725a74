"""Test the gate: a program's results through it, and its records."""

from __future__ import annotations

import asyncio
import contextvars
import math
import sys
import weakref
from typing import Any

import pytest
from gate_kit import call, echo, execute, recorded, replayed, told

from tea.errors import (
    BadArguments,
    CallFailed,
    InternalError,
    TeaError,
    ToolError,
)
from tea.kernel.entry import Entry
from tea.kernel.gate import Gate
from tea.kernel.pending import Inline, Performs


async def test_a_program_gets_what_json_makes_of_a_value_in_live_and_replay() -> None:
    async def perform(key: str) -> Any:
        return {"b": (1, 2), "a": {3: "é"}}

    async def program(gate: Gate) -> Any:
        value = await call(gate, perform=perform)
        first = dict(value)
        value["b"] = "changed by the program"
        return first

    live, entries = await execute(program)
    assert live == {"b": [1, 2], "a": {"3": "é"}}
    assert list(live) == ["b", "a"]
    assert entries[1].data == live
    assert await replayed(program, entries) == live


async def test_an_error_comes_back_as_its_own_type_in_live_and_replay() -> None:
    async def perform(key: str) -> Any:
        raise ToolError("No such column.", fix="use one of a, b.")

    async def program(gate: Gate) -> Any:
        with pytest.raises(ToolError, match="No such column") as caught:
            await call(gate, perform=perform)
        return caught.value.record()

    live, entries = await execute(program)
    assert live == {"code": "ToolError", "problem": "No such column.", "fix": "use one of a, b."}
    assert told(entries) == ["start 0.0", "failed 0.0"]
    assert await replayed(program, entries) == live


@pytest.mark.parametrize("raised", [ValueError("odd\ud800 thing"), SystemExit(3), asyncio.CancelledError(), KeyError()])
async def test_any_other_exception_is_an_internal_error(raised: BaseException) -> None:
    async def perform(key: str) -> Any:
        raise raised

    live, entries = await execute(lambda gate: call(gate, perform=perform))
    assert isinstance(live, InternalError)
    assert type(raised).__name__ in live.problem
    assert str(await replayed(call, entries)) == str(live)


@pytest.mark.parametrize("value", [math.nan, {"a": {1, 2}}, "\ud800", [object()], math.inf])
async def test_what_is_not_json_neither_goes_out_nor_comes_in(value: Any) -> None:
    async def perform(key: str) -> Any:
        return value

    outcome, entries = await execute(lambda gate: call(gate, data=value))
    assert isinstance(outcome, BadArguments)
    assert entries == []
    outcome, entries = await execute(lambda gate: call(gate, perform=perform))
    assert isinstance(outcome, InternalError)
    assert told(entries) == ["start 0.0", "failed 0.0"]


def test_an_entry_survives_its_document() -> None:
    entry = Entry(event="start", key="0/1.2", kind="tool", target="tool:x@1.0.0", digest="00", text='{"a":1}')
    assert Entry.of(entry.document() | {"seq": 4}) == entry


async def test_keys_follow_the_program() -> None:
    async def program(gate: Gate) -> None:
        await call(gate)
        with gate.scope() as key:
            gate.note("enter", key)
            async with gate.group() as group:
                group.spawn(call(gate))
                group.spawn(call(gate))
                await call(gate)
        gate.note("end", None)

    starts = [line for line in told(await recorded(program)) if line.split()[0] in ("start", "note")]
    assert starts == ["start 0.0", "note 0.1.0", "start 0.1.1", "start 0.1/0.0", "start 0.1/1.0", "note 0.2"]


async def test_a_call_sees_the_context_of_its_caller_but_not_its_branch() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    async def program(gate: Gate) -> Any:
        async def perform(key: str) -> Any:
            with pytest.raises(CallFailed, match="outside of its branches"):
                await call(gate)
            return name.get()

        async def branch(value: str) -> Any:
            name.set(value)
            await call(gate)
            return await call(gate, perform=perform)

        async with gate.group() as group:
            handles = [group.spawn(branch(value)) for value in ("a", "b")]
        return [handle.result() for handle in handles]

    assert (await execute(program))[0] == ["a", "b"]


async def test_runs_nest_and_share_one_event_loop() -> None:
    async def inner(key: str) -> Any:
        return (await execute(lambda gate: call(gate, "inner")))[0]

    async def program(gate: Gate) -> Any:
        return await call(gate, perform=inner)

    results = await asyncio.gather(*(execute(program) for _ in range(3)))
    assert [outcome for outcome, _ in results] == [{"key": "0.0"}] * 3


async def test_messages_come_in_order_and_are_recorded_when_received() -> None:
    async def program(gate: Gate) -> Any:
        gate.post({"n": 1})
        gate.post({"n": 2})
        await call(gate)
        return [await gate.receive(), await gate.receive()]

    live, entries = await execute(program)
    assert live == [{"n": 1}, {"n": 2}]
    assert told(entries)[2:] == ["start 0.1", "message 0.1", "start 0.2", "message 0.2"]
    assert await replayed(program, entries) == live


async def test_a_long_replay_lets_the_event_loop_turn() -> None:
    made: list[Any] = []

    async def program(gate: Gate) -> None:
        for _ in range(200):
            made.append(await call(gate))

    entries = await recorded(program)
    made.clear()
    gate = Gate(write=print, past=entries, mode="replay")
    task = asyncio.create_task(gate.run(lambda: program(gate)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert 0 < len(made) < 100
    await task


async def test_an_eager_task_factory_changes_nothing() -> None:
    async def at_once(key: str) -> Any:
        return key

    async def program(gate: Gate) -> Any:
        async with gate.group() as group:
            handles = [group.spawn(call(gate, perform=perform)) for perform in (at_once, echo, at_once)]
        return [handle.result() for handle in handles]

    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 12):
        loop.set_task_factory(asyncio.eager_task_factory)
    try:
        live, entries = await execute(program)
    finally:
        loop.set_task_factory(None)
    assert live == ["0/0.0", {"key": "0/1.0"}, "0/2.0"]
    assert await replayed(program, entries) == live


async def test_what_a_call_was_given_is_not_kept_while_it_is_waited_for() -> None:
    class Data(dict[str, int]):
        pass

    kept: list[weakref.ref[Data]] = []

    def given() -> Data:
        data = Data(x=1)
        kept.append(weakref.ref(data))
        return data

    async def look(key: str) -> Any:
        return kept[-1]() is None

    assert (await execute(lambda gate: gate.effect("tool", "x", given(), look)))[0] is True


def test_a_live_run_has_no_past() -> None:
    with pytest.raises(TeaError):
        Gate(write=print, past=[Entry(event="note", key="0.0")])


async def test_a_resumed_run_repeats_only_what_has_no_outcome_and_knows_it() -> None:
    seen: list[tuple[str, bool]] = []

    async def program(gate: Gate) -> Any:
        async def perform(key: str) -> Any:
            seen.append((key, gate.repeated(key)))
            return key

        for _ in range(3):
            await call(gate, perform=perform)
        return gate.open_keys()

    entries = await recorded(program)
    seen.clear()
    outcome, after = await execute(program, entries[:3], "resume")
    assert outcome == ()
    assert seen == [("0.1", True), ("0.2", False)]
    assert after == entries


@pytest.mark.parametrize("inline", Inline)
@pytest.mark.parametrize("quick", [True, False])
async def test_inline_work_is_recorded_like_any_other_call_and_never_done_by_a_replay(
    quick: bool, inline: Inline
) -> None:
    done: list[tuple[str, bool]] = []
    written: list[Entry] = []
    safe: list[Entry] = []

    async def perform(key: str) -> Any:
        assert key in [entry.key for entry in written], "its start is recorded before"
        assert inline is Inline.READ or key in [entry.key for entry in safe], "what acts begins when its start is safe"
        if not quick:
            await asyncio.sleep(0)
            async with asyncio.timeout(1):
                await asyncio.to_thread(int)
        done.append((key, asyncio.current_task() is None))
        return key

    async def program(gate: Gate) -> Any:
        async with gate.group() as group:
            other = group.spawn(call(gate))
            first = await gate.effect("memory", "record", {"a": 1}, perform, inline)
        return first, await gate.effect("memory", "record", {"a": 2}, perform, inline), other.result()

    gate = Gate(write=written.append, flush=lambda: safe.extend(written[len(safe) :]))
    live = await asyncio.wait_for(gate.run(lambda: program(gate)), 5)
    keys = [entry.key for entry in written if entry.kind == "memory"]
    assert live == (*keys, {"key": next(entry.key for entry in written if entry.kind == "tool")})
    assert done == [(key, quick) for key in keys]
    assert sorted(entry.event for entry in written) == ["done"] * 3 + ["start"] * 3
    assert await replayed(program, written) == live
    assert len(done) == 2


async def test_inline_work_that_waits_is_called_off_like_any_other() -> None:
    ended: list[str] = []

    async def perform(key: str) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(key)

    async def program(gate: Gate) -> Any:
        with pytest.raises(TimeoutError):
            async with gate.timeout(0.01):
                await gate.effect("clock", "", {}, perform, Inline.READ)
        await gate.sleep(0.05)

    await execute(program)
    assert len(ended) == 1


@pytest.mark.parametrize("error", [ToolError("no", fix="none"), ValueError("odd")])
async def test_inline_work_that_fails_at_once_fails_like_any_other(error: Exception) -> None:
    async def perform(key: str) -> Any:
        raise error

    async def program(gate: Gate) -> Any:
        try:
            await gate.effect("clock", "", {}, perform, Inline.READ)
        except TeaError as failed:
            return type(failed).__name__

    live, _ = await execute(program)
    assert live == ("InternalError" if isinstance(error, ValueError) else "ToolError")


async def test_a_defect_in_what_moves_a_run_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a defect")

    monkeypatch.setattr(Performs, "start", broken)
    outcome, _ = await execute(call)
    assert str(outcome) == "a defect"
