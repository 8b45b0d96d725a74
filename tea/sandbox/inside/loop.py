"""The event loop of an interpreter without a kernel: it knows timers and the host's messages alone."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any


class ChannelLoop(asyncio.BaseEventLoop):
    """A loop waiting for the channel to the host alone.

    Args:
        wait: Waits for a message on it for a moment; returns whether one is there.
    """

    def __init__(self, wait: Callable[[], bool]) -> None:
        super().__init__()
        self._wait = wait
        self._readers: dict[int, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
        self._selector = self

    def select(self, timeout: float | None) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Wait until a message is there or the time has passed; return its readers.

        Args:
            timeout: Most seconds; None to wait for a message.
        """
        until = None if timeout is None else monotonic() + timeout
        while until is None or timeout == 0 or monotonic() < until:
            if self._wait():
                return list(self._readers.values())
            if timeout == 0:
                break
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        for callback, given in event_list:
            self.call_soon(callback, *given)

    def add_reader(self, fd: Any, callback: Callable[..., Any], *args: Any) -> None:
        """Call a function when a message is there."""
        self._readers[int(fd)] = (callback, args)

    def remove_reader(self, fd: Any) -> bool:
        """Stop calling the function for a reader."""
        return self._readers.pop(int(fd), None) is not None

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """Call a function at once, as nothing here runs beside the loop."""
        found = self.create_future()
        try:
            found.set_result(func(*args))
        except Exception as error:  # raised where the result is awaited
            found.set_exception(error)
        return found

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Do nothing: there is none."""

    def _write_to_self(self) -> None:
        """Do nothing: no call comes from another thread."""
