"""Completion: waiting for work to its end, even if the waiting task is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def completed(work: Awaitable[T]) -> T:
    """Return the result of work; a cancellation is raised after its end, with an exception of the work as the cause."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError as called_off:
        await asyncio.wait([task])
        raise called_off from (None if task.cancelled() else task.exception())
