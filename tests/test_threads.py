"""Test threads for plain functions: so many at once, in order, nobody waits for a stuck one, and shared looks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.threads import Look, Threads

WAIT = 10
said: ContextVar[str] = ContextVar("said", default="nothing")


class Held:
    """A function going on when it is let go."""

    def __init__(self) -> None:
        self.begun, self.free = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.free.wait(WAIT)
        return said.get()


async def begun(*held: Held) -> None:
    for one in held:
        assert await asyncio.to_thread(one.begun.wait, WAIT)


async def test_a_function_sees_the_context_variables_of_its_caller() -> None:
    said.set("something")
    assert await Threads().run(said.get) == "something"
    assert await Threads().run(lambda: said.set("else") and said.get()) == "else"
    assert said.get() == "something"


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()])
async def test_what_a_function_raises_its_caller_gets(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        await Threads().run(fail)


async def test_no_more_run_at_once_and_the_others_come_in_their_order() -> None:
    threads, first, second, order = Threads(2), Held(), Held(), list[int]()
    running = [asyncio.ensure_future(threads.run(one)) for one in (first, second)]
    await begun(first, second)
    waiting = [asyncio.ensure_future(threads.run(partial(order.append, number))) for number in range(5)]
    await asyncio.sleep(0)
    assert order == []
    first.free.set()
    await asyncio.gather(*waiting)
    assert order == [0, 1, 2, 3, 4]
    second.free.set()
    await asyncio.gather(*running)


async def test_who_is_called_off_does_not_wait_and_the_thread_keeps_its_place() -> None:
    threads, held = Threads(1), Held()
    running = asyncio.ensure_future(threads.run(held))
    await begun(held)
    running.cancel()
    await asyncio.wait([running], timeout=WAIT)
    assert running.cancelled()
    next_one = asyncio.ensure_future(threads.run(lambda: "next"))
    await asyncio.sleep(0)
    assert not next_one.done()
    held.free.set()
    assert await next_one == "next"


@given(st.lists(st.sampled_from(["cancel", "let go"]), min_size=1, max_size=12), st.integers(1, 3))
def test_no_place_is_lost_whoever_gives_up_meanwhile(ends: list[str], most: int) -> None:
    async def tried() -> list[str]:
        threads = Threads(most)
        held = [Held() for _ in ends]
        running = [asyncio.ensure_future(threads.run(one)) for one in held]
        await asyncio.sleep(0)
        for one, end in zip(running, ends, strict=True):
            if end == "cancel":
                one.cancel()
        for one in held:
            one.free.set()
        await asyncio.gather(*running, return_exceptions=True)
        full = [Held() for _ in range(most)]
        last = [asyncio.ensure_future(threads.run(one)) for one in full]
        await begun(*full)
        for one in full:
            one.free.set()
        return await asyncio.gather(*last)

    assert len(asyncio.run(tried())) == most


def test_a_loop_that_was_closed_holds_no_place() -> None:
    threads, held = Threads(1), Held()

    async def leave(*more: Callable[[], object]) -> None:
        tasks = [asyncio.ensure_future(threads.run(one)) for one in (held, *more)]
        await begun(held)
        for task in tasks:
            task.cancel()

    asyncio.run(leave(lambda: None, lambda: None))
    held.free.set()
    assert asyncio.run(threads.run(lambda: "again")) == "again"


def test_a_function_that_never_ends_does_not_keep_the_process() -> None:
    code = """
import asyncio, threading
from tea.threads import Look, Threads
async def main():
    begun = threading.Event()
    def stay():
        begun.set()
        threading.Event().wait()
    running = asyncio.ensure_future(Threads().run(stay))
    await asyncio.to_thread(begun.wait)
    running.cancel()
asyncio.run(main())
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


async def test_many_callers_share_a_look_begun_after_they_asked() -> None:
    begun, free, looks = threading.Event(), threading.Event(), list[int]()

    def function() -> int:
        looks.append(len(looks))
        begun.set()
        assert free.wait(WAIT)
        return looks[-1]

    look = Look(function)
    first = asyncio.ensure_future(look())
    assert await asyncio.to_thread(begun.wait, WAIT)
    others = [asyncio.ensure_future(look()) for _ in range(20)]
    await asyncio.sleep(0)
    free.set()
    assert await first == 0
    assert set(await asyncio.gather(*others)) == {1}  # the first had looked before they asked
    assert await look() == 2


async def test_a_look_that_failed_or_was_left_is_made_again() -> None:
    seen = iter(("failed", "left", "seen"))
    begun, free = threading.Event(), threading.Event()

    def function() -> str:
        match next(seen):
            case "failed":
                raise OSError("failed")
            case "left":
                begun.set()
                free.wait(WAIT)
                return "left"
            case other:
                return other

    look = Look(function)
    with pytest.raises(OSError, match="failed"):
        await look()
    left = asyncio.ensure_future(look())
    assert await asyncio.to_thread(begun.wait, WAIT)
    left.cancel()
    free.set()
    assert await look() == "seen"
