"""Aggregates: what SQL computes from many numbers, within the time of its statement and a bound of memory."""

import math
import statistics
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

MOST_HELD = 160_000_000  # bytes of numbers, for all aggregates of a statement together
_PACKED = 8  # bytes of a number that is held
_SORTED = 40  # and of one that is sorted, too
_STEPS = 65_536  # numbers between two looks at the clock


class TooMuch(Exception):
    """More numbers are to be held than there is room for."""


class Effort:
    """What one statement has left: its time, and the room for numbers."""

    def __init__(self) -> None:
        self.deadline, self.full = math.inf, False
        self._held = 0

    def begin(self, deadline: float) -> None:
        """Begin a statement, which ends at a time of the monotonic clock."""
        self.deadline, self.full, self._held = deadline, False, 0

    def hold(self, size: int) -> None:
        """Take room, in bytes.

        Raises:
            TooMuch: There is not so much left.
        """
        self._held += size
        if self._held > MOST_HELD:
            self.full = True
            raise TooMuch

    def release(self, size: int) -> None:
        """Give room back, in bytes."""
        self._held -= size

    def check(self) -> None:
        """Look whether there is time and room left.

        Raises:
            TimeoutError: There is no time left.
            TooMuch: There was no room.
        """
        if self.full:
            raise TooMuch
        if time.monotonic() > self.deadline:
            raise TimeoutError


class _Held:
    """Numbers, of which each reader looks at the clock now and then."""

    def __init__(self, effort: Effort, *parts: "array[Any]") -> None:
        self._effort, self._parts = effort, parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[Any]:
        for part in self._parts:
            for place, number in enumerate(part):
                if place % _STEPS == 0:
                    self._effort.check()
                yield number


class Numbers:
    """An aggregate over numbers; missing values and texts do not count.

    Args:
        effort: What its statement has left.
        least: The fewest numbers that have a value.
        compute: What computes it.
    """

    def __init__(self, effort: Effort, least: int, compute: Callable[[Any], float]) -> None:
        self._effort, self._least, self._compute = effort, least, compute
        self._room = _SORTED if compute is statistics.median else _PACKED
        self._whole, self._real = array("q"), array("d")

    def step(self, value: Any) -> None:
        """Take the value of one row."""
        if isinstance(value, float):
            self._effort.hold(self._room)
            self._real.append(value)
        elif isinstance(value, int):
            self._effort.hold(self._room)
            self._whole.append(value)

    def finalize(self) -> Any:
        """Return the value of all rows, None if there are too few."""
        self._effort.check()
        held = _Held(self._effort, self._whole, self._real)
        self._effort.release(len(held) * self._room)
        return self._compute(held) if len(held) >= self._least else None


class Pairs:
    """Pearson's correlation of two columns; pairs with a missing value or a text do not count.

    Args:
        effort: What its statement has left.
    """

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._firsts, self._seconds = array("d"), array("d")

    def step(self, *pair: Any) -> None:
        """Take the values of one row."""
        one, other = pair
        if isinstance(one, int | float) and isinstance(other, int | float):
            self._effort.hold(2 * _PACKED)
            self._firsts.append(one)
            self._seconds.append(other)

    def finalize(self) -> Any:
        """Return the value of all rows, None where a column says only one thing."""
        self._effort.check()
        firsts, seconds = _Held(self._effort, self._firsts), _Held(self._effort, self._seconds)
        self._effort.release(len(firsts) * 2 * _PACKED)
        if _is_constant(self._firsts) or _is_constant(self._seconds):
            return None
        return _correlation(firsts, seconds)


def _is_constant(numbers: Sequence[float]) -> bool:
    return all(one == numbers[0] for one in numbers)


def _correlation(firsts: _Held, seconds: _Held) -> float:
    """Return Pearson's correlation, without a list of the distances from the means."""
    mean, other = math.fsum(firsts) / len(firsts), math.fsum(seconds) / len(seconds)
    both = math.fsum((x - mean) * (y - other) for x, y in zip(firsts, seconds, strict=True))
    first = math.fsum((apart := x - mean) * apart for x in firsts)
    second = math.fsum((apart := y - other) * apart for y in seconds)
    return both / math.sqrt(first * second)
