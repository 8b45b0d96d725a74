"""Differences of two texts, line by line, found in bounded time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

_MOST_COMPARED = 2**22  # pairs of lines
_MOST_STEPS = 2**24  # of a comparison: two seconds
_FEW = 200  # lines; among more, `SequenceMatcher` does not look for one that makes up over a hundredth of them
_Change = tuple[str, int, int, int, int]


def unified_diff(
    old: Sequence[str], new: Sequence[str], before: str, after: str, *, context: int = 3, end: str = "", parts: int = 1
) -> Iterator[str]:
    """Yield the lines of a unified diff.

    Where very much lies between the first and the last line that differ, or little that is alike in very many ways,
    all of it counts as changed.

    Args:
        old: The lines before.
        new: The lines after.
        before: The name of the text before.
        after: The name of the text after.
        context: How many equal lines are shown around each change.
        end: What ends the lines with names and places; those of the texts stay as they are.
        parts: How many such diffs make up the whole, which share the time for one.
    """
    for number, group in enumerate(_Known(_changes(old, new, _MOST_STEPS // parts)).get_grouped_opcodes(context)):
        if not number:
            yield from (f"--- {before}{end}", f"+++ {after}{end}")
        (_, old_first, _, new_first, _), (_, _, old_last, _, new_last) = group[0], group[-1]
        yield f"@@ -{_range(old_first, old_last)} +{_range(new_first, new_last)} @@{end}"
        for what, old_first, old_last, new_first, new_last in group:
            if what == "equal":
                yield from (f" {line}" for line in old[old_first:old_last])
            else:
                yield from (f"-{line}" for line in old[old_first:old_last])
                yield from (f"+{line}" for line in new[new_first:new_last])


class _Known(SequenceMatcher[str]):
    """Changes that were found, grouped as others are."""

    def __init__(self, changes: list[_Change]) -> None:
        super().__init__()
        self._changes = changes

    def get_opcodes(self) -> list[_Change]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the changes."""
        return self._changes


def _changes(old: Sequence[str], new: Sequence[str], most: int) -> list[_Change]:
    first = _equal(old, new)
    last = _equal(old[first:][::-1], new[first:][::-1])
    middle, others = old[first : len(old) - last], new[first : len(new) - last]
    found: list[_Change] = [("equal", 0, first, 0, first)] if first else []
    if len(middle) * len(others) > _MOST_COMPARED or _steps(middle, others) > most:
        found.append(("replace", first, first + len(middle), first, first + len(others)))
    else:
        compared = SequenceMatcher(None, middle, others).get_opcodes()
        found += [(what, first + a, first + b, first + c, first + d) for what, a, b, c, d in compared]
    if last:
        found.append(("equal", len(old) - last, len(old), len(new) - last, len(new)))
    return found


def _steps(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the most steps of comparing two texts: all pairs of equal lines again for each line of one."""
    known, most = Counter(new), len(new) if len(new) < _FEW else len(new) // 100 + 1
    pairs = sum(found for line in old if (found := known[line]) <= most)
    return min(len(old), len(new)) * (len(old) + pairs)


def _equal(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many lines are equal from the beginning on."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _range(first: int, last: int) -> str:
    """Return the lines of a change as a unified diff counts them, from 1."""
    length = last - first
    return f"{first + 1}" if length == 1 else f"{first + bool(length)},{length}"
