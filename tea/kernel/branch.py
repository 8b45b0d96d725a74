"""The branches of one run, stepped in an order determined by the program alone.

A branch is a coroutine that the run steps itself, not a task of the event loop: between two events delivered from
outside, nothing but the program decides who goes next. So a run knows exactly when all its branches wait, needs
neither a task factory nor polling, and sees at once when something else than its gate wakes one of them.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Generic, TypeVar

from tea.errors import CallFailed, Diverged
from tea.kernel.key import spawned_path, step_key

_SPINS = 10_000
_UNWINDS = 100


class Wait:
    """A branch's wait; `Branches.resolve` ends it."""

    __slots__ = ("branch",)

    def __init__(self) -> None:
        self.branch: Branch | None = None

    def __await__(self) -> Generator[Wait, Any, Any]:
        return (yield self)


class Branch:
    """A line of work: a coroutine, its path in the run, and the origins of its cancellations."""

    __slots__ = (
        "cancelled",
        "cancels",
        "context",
        "ended",
        "error",
        "interrupted",
        "on_end",
        "ordinal",
        "path",
        "spawned",
        "value",
        "wait",
        "work",
    )

    def __init__(self, work: Coroutine[Any, Any, Any], path: str, on_end: Callable[[Branch], None] | None) -> None:
        self.work = work
        self.path = path
        self.on_end = on_end
        self.context = contextvars.copy_context()
        self.ordinal = 0
        self.spawned: int = 0
        self.wait: Wait | asyncio.Future[Any] | None = None
        self.cancels: list[object] = []
        self.interrupted = False
        self.ended = False
        self.cancelled = False
        self.value: Any = None
        self.error: Exception | None = None

    @property
    def next_key(self) -> str:
        """The next key to be taken: `branch path.ordinal`."""
        return step_key(self.path, self.ordinal)

    def key(self) -> str:
        """Take the next key."""
        key = step_key(self.path, self.ordinal)
        self.ordinal += 1
        return key

    def forgive(self, origin: object) -> None:
        """Withdraw the cancellation requested by `origin`."""
        if origin in self.cancels:
            self.cancels.remove(origin)
            self.interrupted = self.interrupted and bool(self.cancels)

    @contextmanager
    def scope(self) -> Generator[str, None, None]:
        """Number the keys in the body below a key of its own."""
        key = self.key()
        outer = self.path, self.ordinal, self.spawned
        self.path, self.ordinal, self.spawned = key, 0, 0
        try:
            yield key
        finally:
            self.path, self.ordinal, self.spawned = outer

    def result(self) -> Any:
        """Return the result of the work, or raise its error.

        Raises:
            CallFailed: It has not ended, or was cancelled.
        """
        if self.error is not None:
            raise self.error
        if self.cancelled:
            raise CallFailed("The spawned work was cancelled.", fix="ask only for results of work that went on.")
        if not self.ended:
            raise CallFailed("The spawned work has not ended.", fix="ask for its result after the group has ended.")
        return self.value


class Branches:
    """A stepper of the branches of one run, first come, first served.

    `on_end` is called with the path of each branch that has ended.

    Args:
        wake: Called when something outside may have woken a branch; it should lead to `intrusion`.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._ready: deque[tuple[Branch, Any]] = deque()
        self._alive: dict[Branch, None] = {}
        self._foreign: dict[Branch, asyncio.Future[Any]] = {}
        self._spins = 0
        self.current: Branch | None = None
        self.problem: BaseException | None = None
        self.on_end: Callable[[str], None] = _nothing

    def here(self) -> Branch:
        """Return the branch being stepped.

        Raises:
            CallFailed: The caller runs outside of the run's branches.
        """
        if self.current is None:
            raise CallFailed(
                "The run was called from outside of its branches.",
                fix="spawn work with ctx.group, and make no calls on the run from inside a call.",
            )
        return self.current

    def spawn(
        self, work: Coroutine[Any, Any, Any], path: str | None = None, on_end: Callable[[Branch], None] | None = None
    ) -> Branch:
        """Add a branch; unless its path is given, it is taken now from the spawning branch."""
        if path is None:
            parent = self.here()
            path = spawned_path(parent.path, parent.spawned)
            parent.spawned += 1
        branch = Branch(work, path, on_end)
        self._alive[branch] = None
        self._ready.append((branch, None))
        return branch

    def resolve(self, wait: Wait, value: Any) -> None:
        """End a wait: its branch goes on with `value`."""
        branch, wait.branch = wait.branch, None
        if branch is not None:
            branch.wait = None
            self._ready.append((branch, value))

    def cancel(self, branch: Branch, origin: object) -> None:
        """Raise CancelledError in a branch at its current or next wait, on behalf of `origin`."""
        if branch.ended:
            return
        branch.cancels.append(origin)
        self.interrupt(branch)

    def interrupt(self, branch: Branch) -> None:
        """Deliver a requested cancellation."""
        branch.interrupted = True
        wait, branch.wait = branch.wait, None
        if isinstance(wait, Wait):
            wait.branch = None
        elif wait is not None:
            del self._foreign[branch]
            wait.cancel()
        else:
            return
        self._ready.append((branch, None))

    def drain(self) -> None:
        """Step until every branch waits, has ended, or the run has a problem."""
        self._spins = 0
        while self.problem is None:
            if self._ready:
                self._step(*self._ready.popleft())
            elif not self._woken_from_inside():
                return

    def intrusion(self) -> Diverged | None:
        """Return the divergence if a branch was woken by anything but the program and its gate."""
        for branch, future in self._foreign.items():
            if future.done():
                return _undeclared(branch)
        return None

    def stranger(self) -> Diverged | None:
        """Return the divergence if a waiting branch cannot be woken by any event of the gate."""
        for branch in self._foreign:
            return _undeclared(branch)
        return None

    def stop(self, problem: BaseException) -> None:
        """Stop stepping branches; the first problem stays."""
        if self.problem is None:
            self.problem = problem

    def close(self) -> None:
        """Unwind the remaining branches, children first; their awaited calls are not performed."""
        self.stop(asyncio.CancelledError())
        for branch in reversed(self._alive):
            self.current = branch
            with suppress(BaseException):
                for _ in range(_UNWINDS):  # each wait in its cleanup takes a round; the limit lets the others end
                    branch.context.run(branch.work.throw, asyncio.CancelledError())
        self.current = None
        self._alive.clear()
        self._foreign.clear()
        self._wake = _nothing

    def _step(self, branch: Branch, value: Any) -> None:
        self.current = branch
        try:
            if branch.interrupted:
                branch.interrupted = False
                found = branch.context.run(branch.work.throw, asyncio.CancelledError())
            else:
                found = branch.context.run(branch.work.send, value)
        except StopIteration as stop:
            branch.value = stop.value
            self._end(branch)
        except asyncio.CancelledError:
            branch.cancelled = True
            self._end(branch)
        except Exception as error:
            branch.error = error
            self._end(branch)
        except BaseException as error:
            self._end(branch)
            self.stop(error)
        else:
            self._park(branch, found)
        finally:
            self.current = None

    def _park(self, branch: Branch, found: object) -> None:
        if branch.interrupted:
            self._ready.append((branch, None))
        elif isinstance(found, Wait):
            branch.wait, found.branch = found, branch
        elif found is None and self._spins < _SPINS:
            self._spins += 1
            self._ready.append((branch, None))
        elif asyncio.isfuture(found):
            self._await_foreign(branch, found)
        else:
            self.stop(_undeclared(branch))

    def _await_foreign(self, branch: Branch, future: asyncio.Future[Any]) -> None:
        branch.wait = self._foreign[branch] = future
        future.add_done_callback(lambda _: self._wake())

    def _end(self, branch: Branch) -> None:
        branch.ended = True
        del self._alive[branch]
        if branch.on_end is not None:
            branch.on_end(branch)
        self.on_end(branch.path)

    def _woken_from_inside(self) -> bool:
        """Ready the branches with futures completed by the program itself during a step, for example by a lock."""
        woken = [branch for branch, future in self._foreign.items() if future.done()]
        for branch in woken:
            del self._foreign[branch]
            branch.wait = None
            self._ready.append((branch, None))
        return bool(woken)


def _nothing(*_told: object) -> None:
    """Do nothing: a wakeup or a branch's end after the end of the run."""


def _undeclared(branch: Branch) -> Diverged:
    return Diverged(
        f"Undeclared nondeterminism in branch {branch.path}, {_where(branch)}: "
        "it waits for something that the run does not record.",
        fix="use ctx.sleep, ctx.timeout, ctx.group, ctx.race or ctx.receive, or make it a tool's work.",
    )


def _where(branch: Branch) -> str:
    """Return the innermost line of the branch's own code."""
    place, work = "before its first line", branch.work
    while work is not None:
        frame: FrameType | None = getattr(work, "cr_frame", None)
        if frame is not None and "asyncio" not in frame.f_code.co_filename.split(os.sep):
            place = f"{frame.f_code.co_name} line {frame.f_lineno}"
        work = getattr(work, "cr_await", None)
    return place


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
