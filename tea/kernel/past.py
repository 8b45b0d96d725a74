"""The recorded past of a run, walked in order while its program runs again."""

from __future__ import annotations

from collections.abc import Sequence

from tea.errors import Diverged
from tea.kernel.entry import Entry

_FIX = "replay with the versions the run pinned; `tea trace` shows them."


class Past:
    """A position in the entries of a journal.

    Args:
        entries: Those the journal holds, in its order.
        lenient: Let a call or note differ in its data, though not in key, kind or target.
    """

    def __init__(self, entries: Sequence[Entry], lenient: bool) -> None:
        self._entries = entries
        self._lenient = lenient
        self._keys: set[str] = set()
        self.position = 0

    @property
    def next(self) -> Entry | None:
        """The entry at this position, or None at the journal's end."""
        return self._entries[self.position] if self.position < len(self._entries) else None

    def advance(self) -> None:
        """Move to the next entry."""
        entry = self._entries[self.position]
        if entry.event == "start":
            self._keys.add(entry.key)
        self.position += 1

    def started(self, key: str) -> bool:
        """Return whether the journal, as far as walked, held the start of this effect."""
        return key in self._keys

    def compare(self, now: Entry) -> Diverged | None:
        """Return the divergence if the program's entry differs from the recorded one."""
        then = self.next
        if then is None:
            return self.diverged(now.key, "the end", _words(now))
        same = (then.event, then.key, then.kind, then.target) == (now.event, now.key, now.kind, now.target)
        if not same:
            return self.diverged(now.key, _words(then), _words(now))
        if then.digest != now.digest and not self._lenient:
            then_words, now_words = _difference(then.text, now.text)
            return self.diverged(now.key, f"{_words(then)} with {then_words}", f"with {now_words}")
        return None

    def diverged(self, key: str, recorded: str, now: str) -> Diverged:
        """Return the report of a divergence at this position."""
        return Diverged(f"At record {self.position}, {key or 'the run'}: recorded {recorded}; now {now}.", fix=_FIX)

    def unmet(self, why: str) -> Diverged:
        """Return the report of an unmet entry at this position."""
        then = self._entries[self.position]
        return self.diverged(then.key, _words(then), why)


def _words(entry: Entry) -> str:
    return " ".join(word for word in (entry.event, entry.key, entry.kind, entry.target) if word)


def _difference(then: str, now: str, width: int = 60) -> tuple[str, str]:
    """Cut both texts at their first difference."""
    at = next((place for place, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), min(len(then), len(now)))
    begin = max(0, at - width // 3)
    return _cut(then, begin, width), _cut(now, begin, width)


def _cut(text: str, begin: int, width: int) -> str:
    return ("…" if begin else "") + text[begin : begin + width] + ("…" if begin + width < len(text) else "")
