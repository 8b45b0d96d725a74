"""What a run waits for from outside, and the work that is under way for it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from tea.errors import ApprovalNeeded, BadArguments, InternalError, TeaError
from tea.runtime.branch import Wait
from tea.runtime.entry import Entry, Event, encode
from tea.types import JsonValue

Perform = Callable[[str], Awaitable[JsonValue]]
Launch = Callable[["Pending"], Callable[[], object]]


class Pending(Wait):
    """One thing that the program waits for.

    Args:
        key: Its key.
        events: The events that may end it.
        launch: Sets it going and returns what calls it off.
        deliver: Takes the event, where it does not simply end a wait.
    """

    __slots__ = ("deliver", "events", "key", "launch", "stop")

    def __init__(
        self, key: str, events: tuple[Event, ...], launch: Launch, deliver: Callable[[Entry], None] | None = None
    ) -> None:
        super().__init__()
        self.key = key
        self.events = events
        self.launch = launch
        self.deliver = deliver
        self.stop: Callable[[], object] | None = None


class Performs:
    """The calls that a run has under way: tasks owned by the run, none of which outlives it.

    Args:
        settled: Called with the outcome of each call; None when there is none, as it was called off.
        failed: Called with a call's key and what ends the run: an approval that is needed, or a keyboard interrupt.
    """

    def __init__(self, settled: Callable[[Entry | None], None], failed: Callable[[str, BaseException], None]) -> None:
        self._settled = settled
        self._failed = failed
        self._tasks: dict[asyncio.Task[Entry], None] = {}

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def start(self, key: str, what: str, perform: Perform, context: contextvars.Context) -> Callable[[], object]:
        """Perform a call in a task of its own and return what calls it off."""
        task = asyncio.get_running_loop().create_task(_outcome(key, what, perform), context=context)
        self._tasks[task] = None
        task.add_done_callback(partial(self._done, key))
        return task.cancel

    async def close(self, grace: float) -> None:
        """Call off what is under way, and wait for its cleanup, `grace` seconds at most."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)

    def _done(self, key: str, task: asyncio.Task[Entry]) -> None:
        del self._tasks[task]
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._failed(key, error)
        else:
            self._settled(None if task.cancelled() else task.result())


async def _outcome(key: str, what: str, perform: Perform) -> Entry:
    """Perform a call; every failure but the need of an approval is an outcome too."""
    try:
        value = await perform(key)
    except ApprovalNeeded:
        raise
    except TeaError as error:
        return _failure(key, error)
    except asyncio.CancelledError as error:
        task: asyncio.Task[Any] | None = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return _failure(key, _defect(what, error))
    except (Exception, SystemExit) as error:
        return _failure(key, _defect(what, error))
    try:
        return Entry(event="done", key=key, text=encode(value))
    except BadArguments as error:
        return _failure(key, InternalError(f"{what} gave no JSON. {error.problem}", fix="give back JSON."))


def _failure(key: str, error: TeaError) -> Entry:
    return Entry(event="failed", key=key, text=encode(error.record()))


def _defect(what: str, error: BaseException) -> InternalError:
    words = " ".join(str(error).split())[:200].encode("utf-8", "replace").decode()
    return InternalError(f"{what} raised {type(error).__name__}: {words}".rstrip(": ") + ".", fix="report this defect.")
