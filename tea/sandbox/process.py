"""SandboxProcess: the host's side of a process in a sandbox: its remaining output, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path

from tea.waiting import completed

_CLOSE_SECONDS = 3.0
_MOST_WORDS = 4_000


class SandboxProcess:
    """The holder of at most one process of a sandbox."""

    def __init__(self) -> None:
        self._process: Process | None = None

    async def _last_words(self) -> str:
        """Return the process's words before its end, on one line."""
        process = self._process
        if process is None or process.stderr is None:
            return ""
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                return " ".join((await process.stderr.read(_MOST_WORDS)).decode("utf-8", "replace").split())
        return ""

    async def _stop(self) -> None:
        """End the process, and with it all below."""
        process, self._process = self._process, None
        if process is not None:
            await completed(_ended(process))


async def _ended(process: Process) -> None:
    """End a process of a sandbox with all below it: it goes when its input ends, else it is killed."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await process.wait()
    except TimeoutError:
        for one in (*_below(process.pid), process.pid):
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        await process.wait()
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            for stream in filter(None, (process.stdout, process.stderr)):
                while await stream.read(1 << 16):  # to its end, by which it is closed
                    pass


def _below(process: int) -> list[int]:
    """Return the children of a process: with bubblewrap, the one ending the whole sandbox by its end."""
    with suppress(OSError):
        return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []
