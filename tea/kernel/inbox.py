"""A queue between branches of one run."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

from tea.kernel.branch import Branches, Wait

T = TypeVar("T")


class Inbox(Generic[T]):
    """A queue read by one branch; no event ends a wait for it, but another branch of the same run.

    Args:
        branches: Those of the run.
    """

    def __init__(self, branches: Branches) -> None:
        self._branches = branches
        self._items: deque[T] = deque()
        self._wait: Wait | None = None

    def __bool__(self) -> bool:
        return bool(self._items)

    def put(self, item: T) -> None:
        """Add an item, and wake the waiting branch."""
        self._items.append(item)
        wait, self._wait = self._wait, None
        if wait is not None:
            self._branches.resolve(wait, None)

    async def get(self) -> T:
        """Return the oldest item, once there is one."""
        while not self._items:
            self._wait = Wait()
            await self._wait
        return self._items.popleft()
