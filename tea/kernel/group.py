"""Concurrent work inside a run: groups with a common end, and races."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Generic, TypeVar

from tea.errors import BadArguments, CallFailed
from tea.kernel.branch import Branch, Branches, Wait

T = TypeVar("T")


class Handle(Generic[T]):
    """A spawned piece of work."""

    __slots__ = ("_branch",)

    def __init__(self, branch: Branch) -> None:
        self._branch = branch

    @property
    def branch(self) -> Branch:
        """The branch of the work."""
        return self._branch

    def result(self) -> T:
        """Return the result, or raise the work's error, once the group has ended.

        Raises:
            CallFailed: It has not ended, or was cancelled.
        """
        return self._branch.result()


class Group:
    """A group of branches with a common end, with the rules of `asyncio.TaskGroup`.

    The first failure cancels the rest, in the order they were spawned, and the body; the block then raises an
    ExceptionGroup of the failures, in the order they happened.

    Args:
        branches: Those of the run.
    """

    def __init__(self, branches: Branches) -> None:
        self._branches = branches
        self._running: dict[Branch, None] = {}
        self._errors: list[Exception] = []
        self._wait: Wait | None = None
        self._ending = False
        self._aborting = False

    def spawn(self, work: Coroutine[Any, Any, T], /, path: str | None = None) -> Handle[T]:
        """Start `work` in a branch of its own.

        Args:
            work: What it does.
            path: The branch's path, a key taken before; the next one of the spawning branch by default.

        Raises:
            CallFailed: The group is ending.
        """
        if self._branches.problem is not None or self._aborting or (self._ending and not self._running):
            work.close()
            raise CallFailed("The group is ending.", fix="spawn before the group ends or one of its works fails.")
        branch = self._branches.spawn(work, path, on_end=self._ended)
        self._running[branch] = None
        return Handle(branch)

    def stop(self, handle: Handle[Any]) -> None:
        """Cancel one piece of spawned work; the others continue."""
        self._branches.cancel(handle.branch, self)

    def cancel(self) -> None:
        """Cancel the spawned branches in their order; the body continues. A second call leaves cleanup undisturbed."""
        if self._aborting:
            return
        self._aborting = True
        for branch in list(self._running):
            self._branches.cancel(branch, self)

    async def __aenter__(self) -> Group:
        self._parent = self._branches.here()
        self._cancels = len(self._parent.cancels)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._branches.problem is not None:
            return
        self._ending = True
        if error is not None:
            self.cancel()
        interruption = await self._all_ended()
        self._parent.forgive(self)
        if isinstance(error, Exception):
            self._errors.append(error)
        if self._errors:
            if len(self._parent.cancels) > self._cancels:
                self._branches.interrupt(self._parent)  # failures come first; the cancellation follows
            raise ExceptionGroup("work in a group failed", self._errors)
        if interruption is not None and error is None:
            raise interruption

    async def _all_ended(self) -> asyncio.CancelledError | None:
        interruption = None
        while self._running and self._branches.problem is None:
            self._wait = Wait()
            try:
                await self._wait
            except asyncio.CancelledError as error:
                interruption = error
                self.cancel()
        return interruption

    def _ended(self, branch: Branch) -> None:
        del self._running[branch]
        if branch.error is not None:
            self._errors.append(branch.error)
            interrupt = not self._aborting and not self._ending
            self.cancel()
            if interrupt:
                self._branches.cancel(self._parent, self)
        if not self._running and self._wait is not None:
            self._branches.resolve(self._wait, None)


async def race(branches: Branches, *work: Coroutine[Any, Any, Any]) -> tuple[int, Any]:
    """Return index and result of the first work to end; the others are cancelled and waited for.

    Raises:
        Exception: The first to end failed with it.
        ExceptionGroup: Others failed while they were cancelled.
    """
    won: list[tuple[int, Any, Exception | None]] = []

    async def contend(index: int, work: Coroutine[Any, Any, Any]) -> None:
        result, failure = None, None
        try:
            result = await work
        except Exception as error:
            if won:
                raise
            failure = error
        if not won:
            won.append((index, result, failure))
            group.cancel()

    try:
        async with Group(branches) as group:
            for index, one in enumerate(work):
                group.spawn(contend(index, one))
    finally:
        for one in work:  # work that lost before its first step was never awaited
            one.close()
    if not won:
        raise BadArguments(
            "All of the race was cancelled.", fix="pass at least one coroutine that is not cancelled from inside."
        )
    index, result, failure = won[0]
    if failure is not None:
        raise failure
    return index, result
