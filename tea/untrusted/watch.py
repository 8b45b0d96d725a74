"""Watch: the side effects of code, seen by the interpreter's own audit; it runs in a sandbox."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

MOST = 20
_ALWAYS = {
    "time.sleep": "sleeps",
    "os.fork": "forks",
    "os.forkpty": "forks",
    "os.system": "starts a process",
    "os.exec": "starts a process",
    "os.posix_spawn": "starts a process",
    "subprocess.Popen": "starts a process",
    "ctypes.dlopen": "loads a library",
    "socket.connect": "uses the network",
    "socket.bind": "uses the network",
    "socket.sendto": "uses the network",
    "socket.getaddrinfo": "uses the network",
    "socket.gethostbyname": "uses the network",
    "os.putenv": "changes the environment",
    "os.remove": "deletes a file",
    "os.rename": "renames a file",
    "os.kill": "sends a signal",
}
_PLACES = ("os.listdir", "os.scandir", "os.walk", "glob.glob")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CODE = "<string>"  # the file name of text that is executed; of an example it is another


class Watch:
    """A record of side effects while code is watched; an audit hook stays, so one watch serves an interpreter."""

    def __init__(self) -> None:
        self._seen: dict[str, None] | None = None
        self._inside = os.path.realpath(os.getcwd())
        known = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *filter(None, sys.path)}
        library = [f"{os.path.realpath(one)}{os.sep}" for one in known]
        self._library = (*library, "/usr/share/zoneinfo/", "/dev/null")
        sys.addaudithook(self._hear)

    @contextmanager
    def watching(self) -> Generator[dict[str, None]]:
        """Yield the observed side effects of the body, in words, each once."""
        seen = self._seen = dict[str, None]()
        try:
            yield seen
        finally:
            self._seen = None

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        seen = self._seen
        if seen is None or len(seen) >= MOST:
            return
        self._seen = None  # looking the event up raises events of its own, not the code's
        try:
            if words := self._words(event, arguments):
                seen[words] = None
        finally:
            self._seen = seen

    def _words(self, event: str, arguments: tuple[Any, ...]) -> str:
        if event in _ALWAYS:
            return _ALWAYS[event]
        if event == "open":
            return self._opened(*arguments[:3])
        if event in _PLACES:
            return self._opened(arguments[0] if arguments else ".", "r", 0)
        return "executes text" if event == "compile" and arguments[1] == _CODE else ""

    def _opened(self, path: object, mode: object, flags: object) -> str:
        if not isinstance(path, str | bytes | os.PathLike):
            return ""
        place = os.path.realpath(os.fsdecode(path))  # pyright: ignore[reportUnknownArgumentType]
        writes = bool(isinstance(flags, int) and flags & _WRITES) or any(one in str(mode or "") for one in "wax+")
        if place == self._inside or place.startswith(f"{self._inside}{os.sep}"):
            return f"writes the file {os.path.basename(place)[:60]!r}" if writes else ""
        if (place.startswith(self._library) and not writes) or "__pycache__" in place:
            return ""
        return f"{'writes' if writes else 'reads'} {place[:100]!r}, outside of the workspace"
