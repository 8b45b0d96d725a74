"""Lines: input typed by a person or piped by a program, line by line without blocking the event loop."""

from __future__ import annotations

import asyncio
import os
import re
import termios
from contextlib import suppress
from pathlib import Path

MOST_LINE = 200_000  # bytes
_PART = 65_536
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"|((?:\\.|[^\s'\"\\])+)")
_AROUND = "()[]{}<>,;:!?"


class Lines:
    """The lines of a descriptor.

    Args:
        source: The descriptor: a terminal, a pipe or a file.
    """

    def __init__(self, source: int) -> None:
        self._source = source
        self._read = b""
        self._closed = False

    async def next(self) -> str | None:
        """Return the next line without its end, None at the end of the input; the wait can be cancelled."""
        while b"\n" not in self._read and not self._closed:
            await self._ready()
            part = os.read(self._source, _PART)
            self._closed = not part
            self._read += part
        line, end, self._read = self._read.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r") if line or end else None

    def forget(self) -> None:
        """Discard earlier input of a terminal, as it cannot answer a question not shown yet."""
        self._read = b""
        forget_typed(self._source)

    async def _ready(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        try:
            loop.add_reader(self._source, lambda: ready.done() or ready.set_result(None))
        except PermissionError:  # a regular file never waits
            return
        try:
            await ready
        finally:
            loop.remove_reader(self._source)


def forget_typed(source: int) -> None:
    """Discard the input of a terminal not read yet."""
    with suppress(termios.error):
        termios.tcflush(source, termios.TCIFLUSH)


def dropped(line: str, folder: Path) -> tuple[str, list[Path]]:
    """Return a line with its paths of files replaced by their names, and the files.

    A word is a path if it has a separator, an ending or quotes, and a regular file is there; terminals drop files as
    words with quotes, or with a backslash before each space.

    Args:
        line: The words of a person.
        folder: What paths are relative to.
    """
    found: list[Path] = []

    def named(match: re.Match[str]) -> str:
        quoted = match[1] or match[2]
        word = quoted or re.sub(r"\\(.)", r"\1", match[3])
        inner = word if quoted else word.strip(_AROUND)
        path = file_at(inner if quoted else inner.rstrip("."), folder) or file_at(inner, folder)
        if path is None or not (quoted or "/" in inner or "." in inner.strip(".")):
            return match[0]
        found.append(path)
        return path.name if quoted else word.replace(inner.rstrip(".") or inner, path.name, 1)

    return _QUOTED.sub(named, line), list(dict.fromkeys(found))


def file_at(word: str, folder: Path) -> Path | None:
    """Return the regular file at a path relative to a folder, None if there is none."""
    try:
        path = folder / Path(word).expanduser()
        return path.resolve() if word and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None
