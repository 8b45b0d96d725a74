"""Pace: how long an evaluation will still take, estimated by its latest runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

_LATEST = 30  # runs whose pace counts; earlier ones may have been there already
_EVERY = 10.0  # seconds between two lines
_MINUTE, _HOUR = 60, 3600


class Pace:
    """The pace of one evaluation.

    Args:
        clock: Tells the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: deque[float] = deque(maxlen=_LATEST)
        self._told = clock()

    def left(self, done: int, total: int) -> str:
        """Count one more run, and return the estimate in words, for example `, about 2 min left`; else empty.

        Args:
            done: How many runs there are.
            total: How many there will be.
        """
        self._times.append(self._clock())
        if len(self._times) < 2 or done >= total:
            return ""
        each = (self._times[-1] - self._times[0]) / (len(self._times) - 1)
        seconds = each * (total - done)
        if seconds < 1:
            return ""
        if seconds < _MINUTE:
            return f", about {seconds:.0f} s left"
        return (
            f", about {seconds / _MINUTE:.0f} min left" if seconds < _HOUR else f", about {seconds / _HOUR:.1f} h left"
        )

    def line(self, done: int, total: int) -> str:
        """Return a line of progress if the last one is some seconds old, else empty."""
        left, now = self.left(done, total), self._clock()
        if now - self._told < _EVERY or done >= total:
            return ""
        self._told = now
        return f"{done} of {total} runs{left}"
