"""Relay: questions of code during one call, passed to the host, and the host's answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias, cast

from tea.sandbox.inside import frames
from tea.types import JsonObject

Hear: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
_MOST_ASKED = 64


class Relay:
    """The questions of one call, answered side by side.

    Args:
        hear: Answers one question.
        send: Sends a message inside.
        tasks: Where questions are answered side by side.
    """

    def __init__(self, hear: Hear, send: Callable[[object], None], tasks: asyncio.TaskGroup) -> None:
        self._hear, self._send, self._tasks = hear, send, tasks
        self._open: set[asyncio.Task[None]] = set()

    def pass_on(self, question: JsonObject, id: int) -> None:
        """Pass a question of a call to the host.

        Raises:
            Broken: More is asked at once than anybody has to.
        """
        if len(self._open) >= _MOST_ASKED:
            raise frames.Broken(f"more than {_MOST_ASKED} questions at once")
        task = self._tasks.create_task(self._answer(question, id))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    def end(self) -> None:
        """Cancel the answers no longer awaited by anybody."""
        for task in self._open:
            task.cancel()

    async def _answer(self, question: JsonObject, id: int) -> None:
        answer = await self._hear(question)
        with suppress(frames.Broken):  # the call ended meanwhile, and says how itself
            self._send({"id": id, "hear": answer})


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group, at any depth of nested groups."""
    first = group.exceptions[0]
    return (
        first_of(cast("BaseExceptionGroup[BaseException]", first)) if isinstance(first, BaseExceptionGroup) else first
    )
