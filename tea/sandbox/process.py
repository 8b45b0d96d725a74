"""SandboxProcess: the host's side of a process in a sandbox: its remaining output, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from asyncio.subprocess import Process
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tea.characters import on_one_line
from tea.sandbox.launch import STARTING
from tea.waiting import completed

_CLOSE_SECONDS = 3.0
_MOST_WORDS = 4_000
_MOST_LINE = 1 << 20


class SandboxProcess:
    """The holder of at most one process of a sandbox."""

    def __init__(self) -> None:
        self._process: Process | None = None

    async def _start(self, line: Sequence[str], folder: Path) -> None:
        """Start the process in a folder and a session of its own, with pipes to it.

        Raises:
            OSError: It does not start.
        """
        self._process = await asyncio.create_subprocess_exec(
            *line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=STARTING,
            start_new_session=True,
            limit=_MOST_LINE,
        )

    async def _last_words(self) -> str:
        """Return the process's words before its end, on one line."""
        process = self._process
        if process is None or process.stderr is None:
            return ""
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                return on_one_line((await process.stderr.read(_MOST_WORDS)).decode("utf-8", "replace"))
        return ""

    async def _stop(self) -> None:
        """End the process, and with it all below."""
        process, self._process = self._process, None
        if process is not None:
            await completed(_ended(process))


async def _ended(process: Process) -> None:
    """End a process of a sandbox with all below it: it goes when its input ends, else it is killed."""
    below = _below(process.pid)
    with ExitStack() as watched:
        ends = [watched.enter_context(_ending(one)) for one in below]
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await process.wait()
        except TimeoutError:
            for one in (*below, process.pid):
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
            await process.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await asyncio.gather(*ends)  # bubblewrap ends before what it started does
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            for stream in filter(None, (process.stdout, process.stderr)):
                while await stream.read(1 << 16):  # to its end, by which it is closed
                    pass


@contextmanager
def _ending(process: int) -> Generator[asyncio.Future[None]]:
    """Give a future of the end of a process, if the kernel tells of it; of a sandbox's first one, the last's."""
    loop = asyncio.get_running_loop()
    end = loop.create_future()
    try:
        watched = os.pidfd_open(process)
    except OSError:  # it has ended, or this kernel has no such descriptors
        end.set_result(None)
        yield end
        return
    loop.add_reader(watched, lambda: end.done() or end.set_result(None))
    try:
        yield end
    finally:
        loop.remove_reader(watched)
        os.close(watched)


def _below(process: int) -> list[int]:
    """Return the children of a process: with bubblewrap, the one ending the whole sandbox by its end."""
    with suppress(OSError):
        return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []
