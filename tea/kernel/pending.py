"""The external waits of a run, and the work in progress for them."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any

from tea.errors import (
    ApprovalNeeded,
    BadArguments,
    InternalError,
    ResourceExhausted,
    TeaError,
    exhausted,
    words_of,
)
from tea.kernel.branch import Wait
from tea.kernel.entry import Entry, Event, encode
from tea.types import JsonValue
from tea.waiting import handed_over

Perform = Callable[[str], Awaitable[JsonValue]]
Launch = Callable[["Pending"], Callable[[], object]]
SUSPENDING = (ApprovalNeeded, ResourceExhausted)  # no outcome: the call is made again when the run is resumed


class Inline(Enum):
    """The work of a call without a task (and `asyncio.timeout`) of its own until its first wait, a rare event."""

    READ = "read"  # it may begin before its start is safe on disk
    WRITE = "write"


class Pending(Wait):
    """A wait of the program for an external event.

    Args:
        key: Its key.
        events: The events that may end it.
        launch: Sets it going and returns what calls it off.
        deliver: Takes the event, where it does not simply end a wait.
        reads: Whether it changes nothing, so that it may be set going before its start is safe.
    """

    __slots__ = ("deliver", "events", "key", "launch", "reads", "stop")

    def __init__(
        self,
        key: str,
        events: tuple[Event, ...],
        launch: Launch,
        deliver: Callable[[Entry], None] | None = None,
        *,
        reads: bool = False,
    ) -> None:
        super().__init__()
        self.key = key
        self.events = events
        self.launch = launch
        self.deliver = deliver
        self.reads = reads
        self.stop: Callable[[], object] | None = None


class Performs:
    """The calls in progress of a run: tasks owned by the run, and ended with it at the latest.

    Args:
        settled: Called with the outcome of each call; None when there is none, as it was called off.
        ended: Called with the outcome of a call that ended as it began, which had no task.
        failed: Called with a call's key and what ends the run: one of `SUSPENDING`, or a keyboard interrupt.
    """

    def __init__(
        self,
        settled: Callable[[Entry | None], None],
        ended: Callable[[Entry], None],
        failed: Callable[[str, BaseException], None],
    ) -> None:
        self._settled, self._ended = settled, ended
        self._failed = failed
        self._tasks: dict[asyncio.Task[Entry], str] = {}

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def start(
        self, key: str, what: str, perform: Perform, context: contextvars.Context, *, inline: bool
    ) -> Callable[[], object]:
        """Perform a call in a task and return its cancel function; an inline call gets a task only when it waits."""
        work: Any = _outcome(key, what, perform)
        if inline:
            try:
                awaited = context.run(work.send, None)
            except StopIteration as end:
                self._ended(end.value)
                return _nothing
            except BaseException as error:
                work = _fail(error)
            else:
                work = handed_over(work, awaited)
                work.send(None)
        # no group could hold it: a call outlives the branch waiting for it, up to `close` at the end of the run
        task: asyncio.Task[Entry] = asyncio.get_running_loop().create_task(work, context=context)
        self._tasks[task] = key
        task.add_done_callback(self._done)
        return task.cancel

    async def close(self, grace: float) -> None:
        """Cancel the calls in progress and await their cleanup, at most `grace` seconds; later outcomes are dropped."""
        for task in self._tasks:
            task.cancel()
        try:
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=grace)
        finally:
            self._settled = self._ended = self._failed = _nothing

    def _done(self, task: asyncio.Task[Entry]) -> None:
        key = self._tasks.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._failed(key, error)
        else:
            self._settled(None if task.cancelled() else task.result())


class Called:
    """A launcher of a call on its turn, in the context of its request.

    Args:
        performs: What starts it.
        what: What it is, for words.
        perform: Does the work.
        inline: Whether it seldom waits.
    """

    __slots__ = ("_context", "_inline", "_perform", "_performs", "_what")

    def __init__(self, performs: Performs, what: str, perform: Perform, *, inline: bool) -> None:
        self._performs, self._what, self._perform, self._inline = performs, what, perform, inline
        self._context = contextvars.copy_context()

    def __call__(self, pending: Pending) -> Callable[[], object]:
        """Start the call and return its cancel function."""
        return self._performs.start(pending.key, self._what, self._perform, self._context, inline=self._inline)


def _nothing(*_told: object) -> None:
    """Do nothing: cancel a call already ended, or ignore an outcome."""


async def _fail(error: BaseException) -> Any:
    raise error


async def _outcome(key: str, what: str, perform: Perform) -> Entry:
    """Perform a call; return failures as outcomes, too, except for a needed approval or a lack of this machine."""
    try:
        value = await perform(key)
    except SUSPENDING:
        raise
    except TeaError as error:
        if (lack := exhausted(error, f"{what} ended")) is not None:
            raise lack from error
        return _failure(key, error)
    except asyncio.CancelledError as error:
        task: asyncio.Task[Any] | None = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return _failure(key, _defect(what, error))
    except (Exception, SystemExit) as error:
        if (lack := exhausted(error, f"{what} ended")) is not None:
            raise lack from error
        return _failure(key, _defect(what, error))
    try:
        return Entry(event="done", key=key, text=encode(value))
    except BadArguments as error:
        return _failure(key, InternalError(f"{what} gave no JSON. {error.problem}", fix="give back JSON."))


def _failure(key: str, error: TeaError) -> Entry:
    return Entry(event="failed", key=key, text=encode(error.record()))


def _defect(what: str, error: BaseException) -> InternalError:
    return InternalError(f"{what} raised {words_of(error)}.", fix="report this defect.")
