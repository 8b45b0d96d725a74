"""Test work begun by hand: it goes on in a task as if begun there."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tea.waiting import handed_over


def begun(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Make the first step of some work by hand, and leave the rest to a task."""
    rest = handed_over(work, work.send(None))
    rest.send(None)
    return asyncio.get_running_loop().create_task(rest)


@pytest.mark.parametrize("waits", [1, 2, 5])
async def test_it_goes_on_to_its_end(waits: int) -> None:
    async def work() -> int:
        for _ in range(waits):
            await asyncio.sleep(0.001)
            await asyncio.sleep(0)
        return waits

    assert await begun(work()) == waits


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
async def test_it_cleans_up_whenever_it_is_called_off(steps: int) -> None:
    told: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append("called off")
            raise
        finally:
            await asyncio.sleep(0)
            told.append("cleaned up")

    task = begun(work())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told == ["called off", "cleaned up"]


@pytest.mark.parametrize("steps", [0, 2])
async def test_it_may_go_on_when_it_is_called_off_and_give_its_result(steps: int) -> None:
    async def work() -> str:
        for _ in range(2):
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                await asyncio.sleep(0)
        return "done all the same"

    task = begun(work())
    for _ in range(2):
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert await task == "done all the same"


async def test_its_failure_is_the_tasks() -> None:
    async def work() -> None:
        await asyncio.sleep(0.001)
        raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        await begun(work())


async def test_what_nobody_goes_on_with_is_closed() -> None:
    closed: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    one = work()
    rest = handed_over(one, one.send(None))
    rest.send(None)
    rest.close()
    assert closed == [True]
