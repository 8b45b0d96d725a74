"""Test refusals of the gate: a program off its journal, or listening elsewhere."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from gate_kit import Program, call, execute, never, recorded, replayed

from tea.errors import (
    Diverged,
)
from tea.kernel.entry import Entry
from tea.kernel.gate import Gate


async def two_calls(gate: Gate) -> Any:
    first = await call(gate, "a", {"n": 1})
    gate.note("step", first)
    return await call(gate, "b", first)


async def test_an_altered_result_is_a_divergence_that_names_the_key() -> None:
    entries = await recorded(two_calls)
    entries[1] = Entry(event="done", key="0.0", text='{"key":"altered"}')
    outcome = await replayed(two_calls, entries)
    assert isinstance(outcome, Diverged)
    assert outcome.problem.startswith("At record 2, 0.1: recorded note 0.1 step with")
    assert "altered" in outcome.problem
    assert await replayed(two_calls, entries, lenient=True) == {"key": "0.2"}


async def other_target(gate: Gate) -> Any:
    first = await call(gate, "a", {"n": 1})
    gate.note("step", first)
    return await call(gate, "c", first)


async def other_data(gate: Gate) -> Any:
    await call(gate, "a", {"n": 2})


async def no_note(gate: Gate) -> Any:
    return await call(gate, "b", await call(gate, "a", {"n": 1}))


async def one_less(gate: Gate) -> Any:
    gate.note("step", await call(gate, "a", {"n": 1}))


async def one_more(gate: Gate) -> Any:
    await two_calls(gate)
    await call(gate, "more")


async def idle(gate: Gate) -> Any:
    await call(gate, "a", {"n": 1})
    gate.note("step", {"key": "0.0"})
    await gate.group().__aenter__()
    await gate.receive()


async def one_branch(gate: Gate) -> Any:
    async with gate.group() as group:
        group.spawn(call(gate, "a"))


async def two_branches(gate: Gate) -> Any:
    async with gate.group() as group:
        group.spawn(call(gate, "a"))
        group.spawn(call(gate, "b"))


async def in_a_scope(gate: Gate) -> Any:
    with gate.scope():
        return await two_calls(gate)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (other_target, "At record 3, 0.2: recorded start 0.2 tool b; now start 0.2 tool c."),
        (other_data, 'At record 0, 0.0: recorded start 0.0 tool a with {"n":1}; now with {"n":2}.'),
        (no_note, "At record 2, 0.1: recorded note 0.1 step; now start 0.1 tool b."),
        (one_less, "At record 3, 0.2: recorded start 0.2 tool b; now the program ends with 'a result'."),
        (one_more, "At record 5, 0.3: recorded the end; now start 0.3 tool more."),
        (idle, "At record 3, 0.2: recorded start 0.2 tool b; now start 0.2 receive."),
        (in_a_scope, "At record 0, 0.0.0: recorded start 0.0 tool a; now start 0.0.0 tool a."),
    ],
)
async def test_an_altered_program_is_a_divergence_that_names_the_key(program: Program, words: str) -> None:
    outcome = await replayed(program, await recorded(two_calls))
    assert isinstance(outcome, Diverged)
    assert outcome.problem == words


async def test_a_call_that_is_no_longer_made_is_a_divergence() -> None:
    outcome = await replayed(one_branch, await recorded(two_branches))
    assert isinstance(outcome, Diverged)
    assert outcome.problem == "At record 1, 0/1.0: recorded start 0/1.0 tool b; now the program waits without it."


async def test_the_order_of_keys_in_an_object_makes_no_difference() -> None:
    entries = await recorded(lambda gate: call(gate, data={"a": 1, "b": [{"d": 2, "c": 3}]}))
    assert await replayed(lambda gate: call(gate, data={"b": [{"c": 3, "d": 2}], "a": 1}), entries) == {"key": "0.0"}


async def test_an_event_that_the_program_does_not_wait_for_is_a_divergence() -> None:
    entries = await recorded(two_calls)
    for foreign in (Entry(event="fired", key="0.0"), Entry(event="done", key="0.7")):
        outcome = await replayed(two_calls, [entries[0], foreign])
        assert isinstance(outcome, Diverged)
        assert "now the program does not wait for that" in outcome.problem
    outcome = await replayed(call, [*(await recorded(call))[:1], entries[3]])
    assert isinstance(outcome, Diverged)


async def test_a_replay_of_an_interrupted_run_says_so() -> None:
    outcome = await replayed(two_calls, (await recorded(two_calls))[:4])
    assert isinstance(outcome, Diverged)
    assert "interrupted; now it waits for 0.2" in outcome.problem


async def stubborn(gate: Gate) -> Any:
    while True:
        try:
            await call(gate, "b")
        except Exception:
            gate.note("again", None)


async def immortal(gate: Gate) -> Any:
    while True:
        try:
            await call(gate, "b")
        except BaseException:
            gate.note("again", None)


async def tidy(gate: Gate) -> Any:
    try:
        async with gate.group() as group, gate.timeout(1):
            group.spawn(call(gate, "b"))
            await gate.race(call(gate, "b"), never(""))
    finally:
        await call(gate, "cleanup")


@pytest.mark.parametrize("program", [stubborn, tidy])
async def test_no_program_can_swallow_a_divergence(program: Program) -> None:
    assert isinstance(await replayed(program, await recorded(two_calls)), Diverged)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_not_even_one_that_swallows_everything() -> None:
    assert isinstance(await replayed(immortal, await recorded(two_calls)), Diverged)
    gc.collect()  # Python complains about such a coroutine when it frees it


async def sleeper(gate: Gate) -> Any:
    await asyncio.sleep(0.001)


async def patient_sleeper(gate: Gate) -> Any:
    async with gate.group() as group:
        group.spawn(call(gate, perform=never))
        await sleeper(gate)


async def gatherer(gate: Gate) -> Any:
    return await asyncio.gather(call(gate), call(gate), return_exceptions=True)


async def threader(gate: Gate) -> Any:
    await asyncio.to_thread(threading.get_ident)


async def helper(gate: Gate) -> Any:
    woken = asyncio.Event()

    async def perform(key: str) -> Any:
        woken.set()
        return await never(key)

    async with gate.group() as group:
        group.spawn(call(gate, perform=perform))
        await woken.wait()


async def spinner(gate: Gate) -> Any:
    for _ in range(100_000):
        await asyncio.sleep(0)


async def deadlock(gate: Gate) -> Any:
    await asyncio.Event().wait()


class Strange:
    def __await__(self) -> Iterator[Any]:
        yield "a word of some other event loop"


async def stranger(gate: Gate) -> Any:
    await Strange()


@pytest.mark.parametrize(
    "program",
    [sleeper, patient_sleeper, gatherer, threader, helper, spinner, deadlock, stranger],
    ids=lambda one: one.__name__,
)
async def test_a_wake_that_the_gate_did_not_deliver_is_reported(program: Program) -> None:
    outcome, _ = await execute(program)
    assert isinstance(outcome, Diverged)
    assert "Undeclared nondeterminism in branch 0, " in outcome.problem
    assert "ctx.sleep" in outcome.fix


async def test_the_report_names_the_line_that_waits() -> None:
    outcome, _ = await execute(sleeper)
    assert f"sleeper line {sleeper.__code__.co_firstlineno + 1}" in str(outcome)


async def test_what_branches_settle_among_themselves_is_no_nondeterminism() -> None:
    async def program(gate: Gate) -> Any:
        lock, queue, ready = asyncio.Lock(), asyncio.Queue[int](1), asyncio.Event()

        async def produce() -> None:
            await ready.wait()
            for number in range(3):
                async with lock:
                    await call(gate)
                await queue.put(number)

        async with gate.group() as group:
            group.spawn(produce())
            group.spawn(produce())
            await asyncio.sleep(0)
            ready.set()
            return [await queue.get() for _ in range(6)]

    live, entries = await execute(program)
    assert sorted(live) == [0, 0, 1, 1, 2, 2]
    assert await replayed(program, entries) == live


async def test_a_semaphore_counts_right_when_a_waiting_branch_is_cancelled() -> None:
    async def program(gate: Gate) -> Any:
        semaphore = asyncio.Semaphore(1)

        async def hold() -> None:
            async with semaphore:
                await call(gate)

        async with semaphore:
            await gate.race(hold(), call(gate), hold())
            return semaphore.locked(), gate.open_keys()

    assert (await execute(program))[0] == (True, ())


async def test_structures_of_asyncio_refuse_to_work_in_a_branch() -> None:
    async def program(gate: Gate) -> Any:
        for structure in (asyncio.timeout(1), asyncio.TaskGroup()):
            with pytest.raises(RuntimeError):
                await structure.__aenter__()

    assert (await execute(program))[0] is None
