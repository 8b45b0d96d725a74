"""Test a direct first step with a timer only for waits: no program can tell it from a plain timeout."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.waiting import Expired, finish

NEVER = 1000.0
seen: ContextVar[str] = ContextVar("seen", default="")


class Halt(BaseException):
    """Neither an exception nor a cancellation."""


async def plain(work: Coroutine[Any, Any, Any], seconds: float) -> Any:
    """A usual deadline."""
    async with asyncio.timeout(seconds):
        return await work


async def direct(work: Coroutine[Any, Any, Any], seconds: float) -> Any:
    """The same with the first step made directly."""
    try:
        awaited = work.send(None)
    except StopIteration as end:
        return end.value
    return await finish(work, awaited, seconds)


async def soon() -> None:
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.call_soon(lambda: future.done() or future.set_result(None))
    await future


async def later() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(soon())


async def inner() -> None:
    async with asyncio.timeout(0):
        await asyncio.Event().wait()


async def oneself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


async def shielded() -> None:
    await asyncio.shield(asyncio.ensure_future(soon()))


async def steps() -> AsyncGenerator[int]:
    for number in range(2):
        await soon()
        yield number


async def generated() -> None:
    async for _ in steps():
        break


async def failing(error: type[BaseException]) -> None:
    raise error("now")


WAITS: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
    "yield": lambda: asyncio.sleep(0),
    "soon": soon,
    "later": later,
    "inner": inner,
    "oneself": oneself,
    "shielded": shielded,
    "generated": generated,
    "value": lambda: failing(ValueError),
    "own timeout": lambda: failing(TimeoutError),
    "cancelled": lambda: failing(asyncio.CancelledError),
    "halt": lambda: failing(Halt),
    "system": lambda: failing(StopAsyncIteration),
}
HANDLES = ("nothing", "goes on", "says another", "waits in the end")
PROGRAMS = st.lists(st.tuples(st.sampled_from(sorted(WAITS)), st.sampled_from(HANDLES)), max_size=5)


async def program(parts: list[tuple[str, str]], told: list[str]) -> list[str]:
    """Do one thing after the other, and record the view."""
    for what, handling in parts:
        told.append(f"{what} in {seen.get()}")
        try:
            await WAITS[what]()
        except BaseException as error:
            told.append(type(error).__name__)
            if handling == "nothing":
                raise
            if handling == "says another":
                raise LookupError("another") from error
        finally:
            seen.set(seen.get() + what[0])
            if handling == "waits in the end":
                await asyncio.sleep(0)
    return told


async def observed(way: Callable[..., Any], parts: list[tuple[str, str]], cancel: int | None) -> list[object]:
    """A program's outside view, cancelled at some turn of the loop."""
    told: list[str] = []

    async def body() -> tuple[object, int]:
        task = asyncio.current_task()
        assert task is not None
        try:
            found = await way(program(parts, told), NEVER)
        except BaseException as error:
            cause = type(error.__cause__).__name__
            return [type(error).__name__, str(error), cause, seen.get()], task.cancelling()
        return [found, seen.get()], task.cancelling()

    task = asyncio.ensure_future(body())
    for turn in range(12):
        if turn == cancel:
            told.append(f"called off: {task.cancel()}")
        await asyncio.sleep(0)
    try:
        return [told, await task]
    except BaseException as error:
        return [told, type(error).__name__]


@given(PROGRAMS, st.none() | st.integers(1, 8))
def test_no_program_can_tell_the_two_apart(parts: list[tuple[str, str]], cancel: int | None) -> None:
    one, other = (asyncio.run(observed(way, parts, cancel)) for way in (plain, direct))
    assert one == other


@pytest.mark.parametrize("seconds", [0.0, -1.0, 0.005])
async def test_what_waits_too_long_is_cancelled_and_says_that_its_time_is_up(seconds: float) -> None:
    told: list[str] = []

    async def waiting() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            told.append("cleaned up")

    with pytest.raises(Expired):
        await direct(waiting(), seconds)
    task = asyncio.current_task()
    assert (told, task and task.cancelling()) == (["cleaned up"], 0)


async def test_work_that_goes_on_after_its_time_gives_its_value() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "done"

    for way in (plain, direct):
        assert await way(stubborn(), 0.0) == "done"


async def test_work_that_never_waits_needs_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def quick() -> str:
        await asyncio.wait_for(immediate(), None)
        return "done"

    async def immediate() -> None:
        """Nothing."""

    monkeypatch.delattr(asyncio, "timeout")
    assert await direct(quick(), 0.0) == "done"


async def test_work_that_is_let_go_of_is_closed() -> None:
    told: list[str] = []

    async def waiting() -> None:
        try:
            await asyncio.Event().wait()
        except GeneratorExit:
            told.append("closed")
            raise

    outer = direct(waiting(), NEVER)
    outer.send(None)
    outer.close()
    assert told == ["closed"]
