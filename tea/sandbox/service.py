"""Service: a program running for long in the sandbox, with one socket of the host as its network's only way out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tea.characters import on_one_line
from tea.errors import ToolError
from tea.sandbox.folder import Folder, hand_over, sweep
from tea.sandbox.inside import frames, service
from tea.sandbox.inside.folders import uncover
from tea.sandbox.launch import account, command, plan
from tea.sandbox.layout import TEMPORARY, WORKSPACE, Layout
from tea.sandbox.process import SandboxProcess
from tea.sandbox.settings import MOVED, LevelName, Limits
from tea.types import JsonObject

_OUT, _IN, _LOG = "out.sock", "in.sock", "log.txt"


class SandboxService(SandboxProcess):
    """A program in the sandbox, listening on a port of its own network.

    It runs as an account without rights, in namespaces of its own. The host reaches it by `socket`; it reaches nothing
    but what listens on the host's socket `way_out`, at the address `127.0.0.1:{proxy}` of its own network.

    Args:
        terms: What the host decided, as `ctx.sandbox_terms()` gives it.
        memory_mb: Most memory of all its processes, in megabytes.
        workspace: Whether it works in the workspace of `terms`, at `/workspace`; its own files are then below `/tmp`.

    Raises:
        ToolError: The level in force gives programs no network of their own.

    Example:
        service = SandboxService(await ctx.sandbox_terms())
        async with GuardProxy(guard).on_socket(service.way_out):
            ready = await service.start(["server", "--proxy=127.0.0.1:{proxy}"], ready="port.txt")
            reader, writer = await asyncio.open_unix_connection(service.socket)
            await service.close()
    """

    def __init__(self, terms: JsonObject, *, memory_mb: int = 2_000, workspace: bool = False) -> None:
        self.level: LevelName = terms["level"]
        if self.level not in MOVED:
            problem = f"The sandbox's level {self.level!r} gives a program no network of its own."
            raise ToolError(problem, fix="install the package `bubblewrap` of your distribution.")
        self._memory = memory_mb << 20
        self._folder = Folder()
        self._inside = TEMPORARY if workspace else WORKSPACE
        self.files = self._folder.path / ("tmp" if workspace else "workspace")
        self.files.mkdir(0o700 if workspace else 0o777)
        self._shared = workspace
        shown = (workspace and str(terms["workspace"])) or str(self._folder.path / "workspace")
        os.makedirs(shown, exist_ok=True)
        self._layout = Layout(
            folder=self._folder.path,
            workspace=os.path.abspath(shown),
            inputs=tuple(terms["inputs"]) if workspace else (),
            read_only=workspace and bool(terms.get("read_only")),
        )
        self._user = account(self._layout, self.level)
        super().__init__()
        self._closed = False
        self.own(self.files)

    @property
    def way_out(self) -> Path:
        """The place for a socket of the host, to listen on before the program starts; without one there is no way."""
        return self.files / _OUT

    @property
    def socket(self) -> Path:
        """The socket leading to the program's port once it is ready."""
        return self.files / _IN

    @property
    def process(self) -> int | None:
        """Number of the process above all of its processes, None before it was started or after it has ended."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    def inside(self, path: Path) -> str:
        """Return how the program names a file below `files`."""
        return f"{self._inside}/{path.relative_to(self.files)}"

    def own(self, path: Path) -> None:
        """Give a file or folder to the program's account."""
        if self._user is not None:
            os.chown(path, self._user, self._user)

    def own_workspace(self) -> None:
        """Give all files of the workspace of `terms` to the program's account."""
        if self._user is not None and self._shared:
            hand_over(self._layout.workspace, self._user)

    async def start(self, words: Sequence[str], *, ready: str, seconds: float = 30.0) -> str:
        """Start the program, and return the content of the file `ready`, written once it listens.

        Args:
            words: Its command; `{proxy}` stands for the port of the way out in its network.
            ready: Name of the file below `files`; its first line is the port, or the path of the socket, that the
                program listens on.
            seconds: Most time to wait for that.

        Raises:
            ToolError: It did not start; the error has its last words.
        """
        await asyncio.to_thread(self._prepare)
        try:
            await self._start(command(self._layout, self.level, service.__name__), self._folder.path)
            async with asyncio.timeout(seconds):
                answer = await self._start_and_wait(words, ready)
        except (OSError, TimeoutError, frames.Broken, asyncio.IncompleteReadError) as error:
            answer = {"ended": str(error) or type(error).__name__, "words": await self._last_words()}
        if "ready" not in answer:
            await self._stop()
            words_ = on_one_line(f"{answer['ended']} {answer['words']}")[-600:]
            problem = f"{os.path.basename(words[0])} does not start in the sandbox ({self.level}): {words_}"
            raise ToolError(problem, fix="see `tea doctor --sandbox`.")
        return answer["ready"]

    async def close(self) -> None:
        """End the program, and remove its files."""
        await self._stop()
        if not self._closed:
            self._closed = True
            if self._shared:
                await asyncio.to_thread(uncover, self._layout.workspace)
            await asyncio.to_thread(self._folder.remove)

    def _prepare(self) -> None:
        sweep()
        if self._user is not None and self.way_out.exists():
            self.own(self.way_out)
        self._layout.prepare(self._user)
        self.own_workspace()

    async def _start_and_wait(self, words: Sequence[str], ready: str) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise frames.Broken("the end")
        told = plan(self._layout, self.level, Limits(), self._user, None)
        told |= {
            "command": [*words],
            "out": self.inside(self.way_out) if self.way_out.exists() else "",
            "in": self.inside(self.socket),
            "log": f"{self._inside}/{_LOG}",
            "ready": f"{self._inside}/{ready}",
            "memory": self._memory,
        }
        process.stdin.write(frames.encode(told))
        await process.stdin.drain()
        head = await process.stdout.readexactly(frames.HEAD)
        return frames.decode(await process.stdout.readexactly(frames.length(head)))
