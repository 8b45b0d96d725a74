"""Time inside a run: timers fired as events, and the timeout built on them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType

from tea.errors import BadArguments
from tea.kernel.entry import Entry
from tea.kernel.pending import Launch, Pending
from tea.kernel.scheduler import Scheduler


def timer(pump: Scheduler, seconds: float, passed: Callable[[str], float] = lambda key: 0.0) -> Launch:
    """Return a launcher of a timer.

    Args:
        pump: That of the run.
        seconds: How long it runs.
        passed: Tells how much of that an earlier process took, by the timer's key.

    Raises:
        BadArguments: `seconds` is not a finite number from 0.
    """
    if not isinstance(seconds, (int, float)) or not math.isfinite(seconds) or seconds < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadArguments(f"{seconds!r} is not a time to wait.", fix="give seconds, a finite number from 0.")

    def launch(pending: Pending) -> Callable[[], object]:
        fired = Entry(event="fired", key=pending.key)
        left = max(0.0, seconds - passed(pending.key))
        return asyncio.get_running_loop().call_later(left, pump.happen, fired).cancel

    return launch


Alarm = Callable[[float, Callable[[str], float]], Launch]


class Timeout:
    """A time limit on its body, raising TimeoutError in place of its result; the rules of `asyncio.timeout`.

    Args:
        pump: That of the run.
        seconds: How long the body may take.
        elapsed: How much of that earlier processes took, by key; a resumed run does not get it again.
        alarm: What measures the time, given the seconds and what tells how many of them passed; `timer` by default.
    """

    def __init__(
        self, pump: Scheduler, seconds: float, elapsed: Mapping[str, float], alarm: Alarm | None = None
    ) -> None:
        self._scheduler = pump
        self._seconds = seconds
        self._elapsed = elapsed
        self._alarm = alarm or partial(timer, pump)
        self._fired = False

    async def __aenter__(self) -> float:
        self._branch = self._scheduler.branches.here()
        self._cancels = len(self._branch.cancels)
        launch = self._alarm(self._seconds, self._passed)
        self._pending = self._scheduler.begin("timeout", "", self._seconds, ("fired",), launch, self._fire)
        return self._passed(self._pending.key)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._scheduler.finish(self._pending)
        self._branch.forgive(self)
        only_ours = self._fired and len(self._branch.cancels) <= self._cancels
        if only_ours and isinstance(error, asyncio.CancelledError):
            raise TimeoutError(f"{self._seconds} seconds passed.") from error

    def _passed(self, key: str) -> float:
        return self._elapsed.get(key, 0.0)

    def _fire(self, event: Entry) -> None:
        self._fired = True
        self._scheduler.branches.cancel(self._branch, self)
