"""Values derived from a message, cached for its lifetime, to avoid recomputation as a conversation grows."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

from tea.types import Message

V = TypeVar("V")


class _Held(weakref.ref[Message], Generic[V]):
    """A weakly referenced message and the value derived from it, in one object, as there are many."""

    __slots__ = ("key", "value")
    key: int
    value: V


class Memo(Generic[V]):
    """A cache of values by message identity; an entry is removed with its message, before its id can be reused."""

    def __init__(self) -> None:
        held = self._held = dict[int, _Held[V]]()

        def gone(one: weakref.ref[Message]) -> None:
            assert isinstance(one, _Held)
            if held.get(one.key) is one:
                del held[one.key]

        self._gone = gone

    def get(self, message: Message) -> V | None:
        """Return the value cached for this message, None if there is none."""
        one = self._held.get(id(message))
        return None if one is None else one.value

    def put(self, message: Message, value: V) -> V:
        """Cache a value for this message, and return it."""
        one = self._held[id(message)] = _Held(message, self._gone)
        one.key, one.value = id(message), value
        return value


class IncrementalMemo(Generic[V]):
    """A cache of values derived from conversations, part by part: for a grown conversation only new parts are made."""

    def __init__(self) -> None:
        self._known: Memo[tuple[tuple[Message, ...], list[V]]] = Memo()

    def parts(self, messages: tuple[Message, ...], make: Callable[[int, V | None], V]) -> list[V]:
        """Return a part for each message behind the first.

        Args:
            messages: The conversation; one that begins with the very same message is taken for the same, as far as
                the very same messages follow.
            make: Makes the part at a position from 1 on, given the part before, None at 1. It may look one message
                ahead, so the last part that was the same is made anew.
        """
        rest = messages[1:]
        before, parts = self._known.get(messages[0]) or ((), list[V]())
        same = len(before)
        if same > len(rest) or not all(map(is_, before, rest)):
            same = next((at for at, one in enumerate(rest) if at >= same or before[at] is not one), len(rest))
        made = parts[: max(0, same - 1)]
        for position in range(len(made) + 1, len(messages)):
            made.append(make(position, made[-1] if made else None))
        self._known.put(messages[0], (rest, made))
        return made
