"""Groups, races and timeouts of a run, live and replayed."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from gate_kit import call, execute, forbidden, never, replayed, told, turns

from tea.errors import (
    BadArguments,
    CallFailed,
    ToolError,
)
from tea.kernel.entry import Entry
from tea.kernel.gate import Gate


async def test_a_failure_cancels_the_others_in_spawn_order_and_the_body() -> None:
    async def program(gate: Gate) -> Any:
        ends: list[Any] = []

        async def wait(name: Any) -> None:
            try:
                await call(gate, perform=never)
            finally:
                ends.append(name)
                await call(gate, f"cleanup {name}")

        async def fail() -> None:
            await call(gate)
            raise ToolError("first", fix="none.")

        try:
            async with gate.group() as group:
                for number in range(4):
                    group.spawn(wait(number))
                group.spawn(fail())
                await wait("body")
        except ExceptionGroup as failures:
            return ends, [str(error) for error in failures.exceptions]

    live, entries = await execute(program)
    assert live == ([0, 1, 2, 3, "body"], ["first. Fix: none."])
    assert await replayed(program, entries) == live


async def test_a_second_failure_does_not_disturb_the_cleanup_after_the_first() -> None:
    async def program(gate: Gate) -> Any:
        seen: list[str] = []

        async def wait() -> None:
            try:
                await call(gate, perform=never)
            finally:
                for _ in range(3):
                    await call(gate)
                seen.append("clean")

        async def fail() -> None:
            try:
                await call(gate, perform=never)
            finally:
                raise ToolError("second", fix="none.")

        async def trigger() -> None:
            await call(gate)
            raise ToolError("first", fix="none.")

        try:
            async with gate.timeout(0.1):
                try:
                    async with gate.group() as group:
                        for work in (wait(), fail(), trigger()):
                            group.spawn(work)
                        await call(gate, perform=never)
                except* ToolError as failures:
                    seen.append(str(len(failures.exceptions)))
                await call(gate, perform=never)
        except TimeoutError:
            return seen

    live, entries = await execute(program)
    assert live == ["clean", "2"]
    assert await replayed(program, entries) == live


async def test_results_can_be_asked_for_when_the_group_has_ended() -> None:
    async def program(gate: Gate) -> Any:
        async with gate.group() as group:
            good, bad = group.spawn(call(gate)), group.spawn(call(gate, perform=never))
            with pytest.raises(CallFailed, match="not ended"):
                good.result()
            await call(gate)
            await call(gate)
            group.cancel()
        with pytest.raises(CallFailed, match="was cancelled"):
            bad.result()
        with pytest.raises(CallFailed, match="ending"):
            group.spawn(call(gate))
        return good.result()

    assert (await execute(program))[0] == {"key": "0/0.0"}


async def test_a_failure_during_an_outer_timeout_does_not_lose_the_timeout() -> None:
    async def program(gate: Gate) -> Any:
        async def spoil() -> None:
            try:
                await call(gate, perform=never)
            finally:
                raise ToolError("spoiled", fix="none.")

        seen: list[str] = []
        try:
            async with gate.timeout(0):
                try:
                    async with gate.group() as group:
                        group.spawn(spoil())
                except* ToolError:
                    seen.append("spoiled")
                await call(gate, "not reached", perform=never)
        except TimeoutError:
            return seen

    live, entries = await execute(program)
    assert live == ["spoiled"]
    assert await replayed(program, entries) == live


async def test_a_timeout_that_was_overtaken_by_a_failure_leaves_nothing_behind() -> None:
    async def program(gate: Gate) -> Any:
        async def spoil() -> None:
            try:
                await call(gate, perform=never)
            finally:
                raise ToolError("spoiled", fix="none.")

        try:
            async with gate.timeout(0), gate.group() as group:
                group.spawn(spoil())
        except* ToolError:
            pass
        return await call(gate)

    assert (await execute(program))[0] == {"key": "0.1"}


async def test_a_timeout_during_the_cleanup_of_another_raises_only_the_outer() -> None:
    async def program(gate: Gate) -> Any:
        try:
            async with gate.timeout(0.02), gate.timeout(0):
                try:
                    await call(gate, perform=never)
                finally:
                    await call(gate, perform=never)
        except TimeoutError as error:
            return str(error)

    live, entries = await execute(program)
    assert live == "0.02 seconds passed."
    assert [line for line in told(entries) if "fired" in line] == ["fired 0.1", "fired 0.0"]
    assert await replayed(program, entries) == live


async def test_the_outer_of_two_timeouts_raises_outside() -> None:
    async def program(gate: Gate) -> Any:
        with pytest.raises(TimeoutError, match=r"^0 seconds"):
            async with gate.timeout(0), gate.timeout(9):
                await call(gate, perform=never)
        async with gate.timeout(9):
            with pytest.raises(TimeoutError):
                async with gate.timeout(0):
                    await call(gate, perform=never)
            return await call(gate)

    live, entries = await execute(program)
    assert live == {"key": "0.6"}
    assert await replayed(program, entries) == live


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, "1"])
async def test_impossible_times_are_refused(seconds: Any) -> None:
    outcome, entries = await execute(lambda gate: gate.sleep(seconds))
    assert isinstance(outcome, BadArguments)
    assert entries == []


async def test_a_replay_does_not_wait() -> None:
    async def program(gate: Gate) -> None:
        await gate.sleep(3600)

    start = Gate(write=(entries := []).append)
    task = asyncio.create_task(start.run(lambda: program(start)))
    await turns()
    task.cancel()
    await asyncio.wait([task])
    assert await replayed(program, [*entries, Entry(event="fired", key="0.0")]) is None


async def test_the_first_to_end_wins_when_the_others_have_cleaned_up() -> None:
    async def program(gate: Gate) -> Any:
        async def slow() -> None:
            try:
                await call(gate, perform=never)
            finally:
                await call(gate, "cleanup")

        won = await gate.race(slow(), call(gate), slow())
        gate.note("won", won[0])
        return won, gate.open_keys()

    live, entries = await execute(program)
    assert live == ((1, {"key": "0/1.0"}), ())
    assert told(entries)[-3:] == ["done 0/0.1", "done 0/2.1", "note 0.0"]
    assert await replayed(program, entries) == live


async def test_a_race_ends_as_its_winner_does() -> None:
    async def at_once(gate: Gate) -> int:
        return 1

    async def program(gate: Gate) -> Any:
        async def fail() -> None:
            await call(gate)
            raise ToolError("lost", fix="none.")

        async def spoil() -> None:
            try:
                await call(gate, perform=never)
            except asyncio.CancelledError as error:
                raise ToolError("spoiled", fix="none.") from error

        with pytest.raises(ToolError, match="lost"):
            await gate.race(call(gate, perform=never), fail())
        with pytest.raises(ExceptionGroup):
            await gate.race(call(gate), spoil())
        with pytest.raises(BadArguments):
            await gate.race()
        return await gate.race(at_once(gate), call(gate, perform=forbidden))

    live, entries = await execute(program)
    assert live == (0, 1)
    assert await replayed(program, entries) == live
