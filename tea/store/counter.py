"""The counter of a home: it numbers the runs in the order of their beginning, regardless of the clock.

The number of a run stands in its journal, so the counter can be lost: it goes on behind the highest of all journals.
On disk, one line: the last number, the boot of the system that wrote it, and a check. It is not synced, since a loss of
power ends the boot: whoever finds the line of another one counts from the journals, as where it is torn or missing.
"""

import fcntl
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from tea.store.files import open_regular, read_regular, write_all
from tea.store.scratch import PRIVATE_FILE
from tea.store.strict import Refused

NAME = ".counter"
_LINE = re.compile(rb"(([0-9]{18}) ([0-9a-f-]{0,36})) ([0-9a-f]{8})\n")
_MOST = 256  # bytes of the file
_LARGEST = (
    10**18 - 1
)  # of the digits read; the runs of one number are in the order of their ids, which begin with a time
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Counter:
    """A source of numbers for all processes beginning runs in one folder.

    Args:
        path: The file; created when missing, in a folder that exists.
        highest: Returns the highest number in use, from the journals.
    """

    def __init__(self, path: Path, highest: Callable[[], int]) -> None:
        self._path, self._highest = path, highest

    def next(self) -> int:
        """Return the next number, given to no other call.

        Where something else stands in the file's place, the journals alone tell, and two that begin at the same time
        may get the same number.

        Raises:
            OSError: The system refuses.
        """
        try:
            descriptor = open_regular(self._path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        except (Refused, PermissionError, IsADirectoryError):
            return min(self._highest() + 1, _LARGEST)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            content = os.pread(descriptor, _MOST, 0)
            number = min((_last(content) or self._highest()) + 1, _LARGEST)
            line = _line(number)
            if len(content) > len(line):
                os.ftruncate(descriptor, 0)
            write_all(descriptor, line)
            if not _boot():
                os.fsync(descriptor)
            return number
        finally:
            os.close(descriptor)


def sound(path: Path) -> bool:
    """Return whether a counter is a line as one was written, of this boot or another.

    Raises:
        OSError: It cannot be read.
    """
    with suppress(Refused):
        found = _LINE.fullmatch(read_regular(path, _MOST))
        return found is not None and found[4] == _sum(found[1])
    return False


def _last(content: bytes) -> int:
    """Return the last number given during this boot, 0 if the file does not tell."""
    found = _LINE.fullmatch(content)
    known = found is not None and found[4] == _sum(found[1]) and found[3] == _boot()
    return int(found[2]) if found is not None and known else 0


def _line(number: int) -> bytes:
    text = b"%018d %b" % (number, _boot())
    return b"%b %b\n" % (text, _sum(text))


def _sum(text: bytes) -> bytes:
    return blake2b(text, digest_size=4).hexdigest().encode()


@cache
def _boot() -> bytes:
    """Return the name of the present boot of the system; nothing if the system does not tell."""
    with suppress(OSError):
        found = _BOOT.read_bytes().strip()
        return found if re.fullmatch(rb"[0-9a-f-]{36}", found) else b""
    return b""
