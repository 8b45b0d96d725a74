"""Completion: work that is waited for to its end, also by a task that is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def completed(work: Awaitable[T]) -> T:
    """Return what work gives; a cancellation is raised when it has ended, with what it raised as the cause."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError as called_off:
        await asyncio.wait([task])
        raise called_off from (None if task.cancelled() else task.exception())
