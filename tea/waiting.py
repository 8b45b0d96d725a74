"""Waiting for work: to its end despite a cancellation, within a time limit, or on from a first step already made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

E = TypeVar("E")
T = TypeVar("T")


async def completed(work: Awaitable[T]) -> T:
    """Return the result of work; a cancellation is raised after its end, with an exception of the work as the cause."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError as called_off:
        await asyncio.wait([task])
        raise called_off from (None if task.cancelled() else task.exception())


async def streamed(work: Callable[[Callable[[E], None]], Coroutine[Any, Any, T]]) -> AsyncGenerator[E | T]:
    """Yield the events of work as they happen, and its result last; closing it early cancels the work.

    Args:
        work: Takes the function to call with each event.
    """
    queue: asyncio.Queue[tuple[E] | None] = asyncio.Queue()
    running = asyncio.ensure_future(work(lambda event: queue.put_nowait((event,))))
    running.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (item := await queue.get()) is not None:
            yield item[0]
        yield await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def _onward(work: Coroutine[Any, Any, T], awaited: object) -> Generator[Any, Any, T]:
    """Wait for `awaited`, and resume the work with its result.

    Args:
        work: A coroutine that waits.
        awaited: What it waits for, as `send` returned it.
    """
    try:
        yield awaited
    except GeneratorExit:
        work.close()
        raise
    except BaseException as error:
        return (yield from _thrown(work, error))
    return (yield from work.__await__())


def _thrown(work: Coroutine[Any, Any, T], error: BaseException) -> Generator[Any, Any, T]:
    """Raise an error inside the work, and continue it."""
    try:
        awaited = work.throw(error)
    except StopIteration as end:
        return end.value
    return (yield from _onward(work, awaited))


def _pause() -> Generator[None, None, None]:
    yield


onward, _go_on, _paused = coroutine(_onward), coroutine(_thrown), coroutine(_pause)


async def handed_over(work: Coroutine[Any, Any, T], awaited: object) -> T:
    """Continue work in a task of its own, made from this coroutine after its first `send`, a step without effect.

    So what calls the task off reaches the work even before the task's first step.
    """
    try:
        await _paused()
    except GeneratorExit:
        work.close()
        raise
    except BaseException as error:
        return await _go_on(work, error)
    return await onward(work, awaited)


class Expired(TimeoutError):
    """The deadline passed; any other `TimeoutError` is the work's own."""


async def finish(work: Coroutine[Any, Any, T], awaited: object, seconds: float) -> T:
    """Return the result of work after its first step, in this task, as under `asyncio.timeout`.

    Making the first step directly, `work.send(None)`, spares the timer where that step ends the work: nothing can
    interrupt it anyhow. From then on both are the same: all that reaches the task reaches the work.

    Args:
        work: A coroutine that waits.
        awaited: What it waits for, as `send` returned it.
        seconds: What is left of its time.

    Raises:
        Expired: They passed, and the work let itself be cancelled.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await onward(work, awaited)
    except TimeoutError as error:
        if limit.expired():
            raise Expired from error
        raise
