"""Completion: a cancellation neither stops the work nor hides how it ended."""

import asyncio

import pytest

from tea.waiting import completed


@pytest.mark.parametrize("problem", [None, OSError("the disk is full")])
async def test_who_is_cancelled_waits_for_the_work_and_is_told_how_it_failed(problem: OSError | None) -> None:
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await goes_on.wait()
        if problem is not None:
            raise problem

    waiting = asyncio.create_task(completed(work()))
    await begun.wait()
    waiting.cancel()
    await asyncio.wait([waiting], timeout=0)
    assert not waiting.done()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError) as told:
        await waiting
    assert told.value.__cause__ is problem


async def test_work_that_nobody_calls_off_gives_what_it_gives() -> None:
    assert await completed(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(OSError, match="full"):
        await completed(asyncio.to_thread(_fails))


def _fails() -> None:
    raise OSError("the disk is full")
