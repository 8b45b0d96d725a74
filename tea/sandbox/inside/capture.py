"""Capture of the output of processes: the beginning is kept, all of a long one goes into a file, up to a limit."""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_KEPT_APART = 32 << 20
MOST_WITHOUT_FILE = 9_000
_BLOCK = 1 << 16
_TURNS = 16


class Capture:
    """One stream of one call.

    Args:
        handle: The end of the pipe to read, which does not block.
        most: How many bytes are kept here.
        spill: Path of the file that takes all of it where there is more, or it is long.
    """

    def __init__(self, handle: int, most: int, spill: str) -> None:
        self.handle, self.count = handle, 0
        self._most, self._spill = most, spill
        self._kept = bytearray()
        self._file: int | None = None
        self._written = 0

    def take(self) -> bool:
        """Read the available bytes; tell whether the stream goes on."""
        for _ in range(_TURNS):
            try:
                data = os.read(self.handle, _BLOCK)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._add(data)
        return True

    def drain(self) -> None:
        """Read all bytes available now, as far as anybody would look at them."""
        before = -1
        while before != self.count and not self.floods:
            before = self.count
            if not self.take():
                return

    @property
    def floods(self) -> bool:
        """Whether more was printed than is kept anywhere."""
        return self.count > MOST_KEPT_APART

    def told(self) -> dict[str, Any]:
        """Return the output, and the place of the rest of it; close the file."""
        if self._file is not None:
            os.close(self._file)
        text = bytes(self._kept).decode("utf-8", "replace")
        apart = {"file": self._spill, "whole": self._written == self.count} if self._file is not None else {}
        return {"text": text, "bytes": self.count, "kept": len(self._kept), **apart}

    def _add(self, data: bytes) -> None:
        self.count += len(data)
        room = self._most - len(self._kept)
        if self._file is None and self.count > min(self._most, MOST_WITHOUT_FILE):
            with suppress(OSError):
                self._file = os.open(self._spill, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
                self._write(bytes(self._kept))
        self._kept += data[: max(0, room)]
        if self._file is not None:
            self._write(data)

    def _write(self, data: bytes) -> None:
        if self._file is not None and self._written + len(data) <= MOST_KEPT_APART:
            with suppress(OSError):
                self._written += os.write(self._file, data)


def pipe() -> tuple[int, int]:
    """Return a pipe with a non-blocking reading end."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    return reading, writing
