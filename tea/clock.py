"""The clock: the only place reading the time of day, so a test can set it.

Durations come from `time.monotonic`; agents read the time through their context, as a recorded effect.
"""

import time
from datetime import UTC, datetime
from functools import lru_cache
from time import time_ns


def epoch_nanoseconds() -> int:
    """Return the time, in nanoseconds since 1970."""
    return time_ns()


def epoch_seconds() -> float:
    """Return the time, in seconds since 1970."""
    return time_ns() / 10**9


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.fromtimestamp(epoch_seconds(), UTC)


def timestamp() -> str:
    """Return the time, ISO 8601 in UTC, to the millisecond."""
    whole, rest = divmod(time_ns(), 10**9)
    return f"{_second(whole)}.{rest // 10**6:03}Z"


def to_second(moment: float) -> str:
    """Return a time as ISO 8601 in UTC, to the second.

    Args:
        moment: In seconds since 1970.
    """
    return f"{_second(int(moment))}Z"


@lru_cache(maxsize=8)
def _second(moment: int) -> str:
    """Return a time to the second; cached, as most records have the same second as the one before."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
