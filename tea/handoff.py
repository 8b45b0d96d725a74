"""Handoff: continuing a coroutine in a task after its first step was made by `send`."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


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
    """Throw an error into the work, and continue it."""
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
