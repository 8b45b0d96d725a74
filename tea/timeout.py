"""Deadline: a time limit for a waiting coroutine; one without waiting needs none."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from tea.handoff import onward

T = TypeVar("T")


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
