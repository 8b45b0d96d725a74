"""What was made of a message, kept as long as the message lives: a conversation only grows, its cost must not."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

from tea.types import Message

V = TypeVar("V")


class Kept(Generic[V]):
    """Values by the very message that they were made of; they go when it goes, before another can take its place."""

    def __init__(self) -> None:
        self._values: dict[int, V] = {}
        self._living: dict[int, weakref.ref[Message]] = {}

    def get(self, message: Message) -> V | None:
        """Return what was made of this message, None if nothing was."""
        return self._values.get(id(message))

    def put(self, message: Message, value: V) -> V:
        """Keep what was made of this message, and return it."""
        key, values, living = id(message), self._values, self._living

        def gone(reference: weakref.ref[Message]) -> None:
            if living.get(key) is reference:
                del living[key], values[key]

        living[key], values[key] = weakref.ref(message, gone), value
        return value
