"""The lease of a run: the exclusive right to append to its journal, with its holder and start.

The right is a lock (`flock`) on the file, which the system takes back the moment the holder dies. The file itself
only grows, by one line for each holder: epoch, process, time, check. The epoch fences: a holder whose lock was lost in
some way that no lock can prevent (a deleted file, a network file system) sees a newer epoch and stops.
A holder that gives the lease back adds how many records were safe on disk by then, so that a journal which was cut
at the end of a line later is not taken for a run that was interrupted there.
A process forked while a lease is held inherits the lock, so workers are started with exec, never by a bare fork.
"""

import fcntl
import os
import re
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from tea.clock import epoch_nanoseconds
from tea.errors import Conflict
from tea.store.files import FILE_LIMIT, open_regular, read_regular, reading, shown, storage_error, write_all, writing
from tea.store.scratch import PRIVATE_FILE
from tea.store.strict import Refused

_Look: TypeAlias = tuple[int, int, int]

_LINE = re.compile(rb"([0-9]{8,12}) ([0-9]+) ([0-9]+)")
_WHOLE = re.compile(rb"(?:left:([0-9]{1,18}):|([0-9]{8,12} [0-9]+ [0-9]+) )([0-9a-f]{8})")
_UNFINISHED = re.compile(
    rb"(l(e(f(t(:[0-9]*(:[0-9a-f]*)?)?)?)?)?)?|[0-9]{1,12}( ([0-9]{1,7}( ([0-9]{1,19}( [0-9a-f]{0,7})?)?)?)?)?"
)
_LEFT = re.compile(rb"^left:([0-9]{1,18}):([0-9a-f]{8})$", re.MULTILINE)
_LOOKS, _LOOK_SECONDS = 5, 0.002


class Lease:
    """The exclusive right to append to one run's journal, held until `release` or the end of the process.

    Its `epoch` counts the holders; `left` is how many records earlier ones found safe on disk when they left.

    Args:
        path: The lease file; created when missing, inside a folder that exists.
        new: Whether the run is being made, so that there is no such file.

    Raises:
        Conflict: Another process, or another writer in this one, holds it.
    """

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self._path = path
        self._descriptor = self._lock(os.O_EXCL if new else 0)
        try:
            self.epoch, self.left, self._seen = self._enter(b"" if new else self._content())
        except BaseException:
            self.release()
            raise

    def moved(self, path: Path) -> None:
        """Set the lease's path after its folder was renamed."""
        self._path = path

    def check(self) -> None:
        """Check if the lease is still ours, with one system call on the open file when nothing changed.

        Raises:
            Conflict: The lease was removed, or taken by someone else.
        """
        try:
            if (look := _look(self._descriptor)) == self._seen:
                return
            ours = os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
            if ours and _epoch(self._content()) == self.epoch:
                self._seen = look
                return
        except FileNotFoundError:
            pass
        except OSError as problem:
            raise storage_error("read", self._path, problem) from problem
        raise Conflict(f"The lease {shown(self._path)} was taken away.", fix="resume the run when nobody holds it.")

    def release(self, lines: int = 0) -> None:
        """Release the lease; a second call has no effect.

        Args:
            lines: How many records of the journal are safe on disk.
        """
        if self._descriptor >= 0:
            with suppress(OSError):
                if lines:
                    write_all(self._descriptor, _left_line(lines))
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = -1

    def _lock(self, flags: int) -> int:
        with reading(self._path), writing(self._path):
            descriptor = open_regular(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | flags, PRIVATE_FILE)
            try:
                _take(descriptor)
            except BlockingIOError:
                os.close(descriptor)
                raise Conflict(f"The run is held by process {self._holder()}.", fix="wait for it, or end it.") from None
            except BaseException:
                os.close(descriptor)
                raise
            return descriptor

    def _enter(self, content: bytes) -> tuple[int, int, _Look]:
        # Not synced: no holder outlives a loss of power, so there is nobody left to fence off after one.
        with writing(self._path):
            epoch = _epoch(content) + 1
            mend = b"" if content.endswith(b"\n") or not content else b"\n"
            line = b"%08d %d %d" % (epoch, os.getpid(), epoch_nanoseconds())
            write_all(self._descriptor, mend + b"%b %b\n" % (line, _sum(line)))
            return epoch, _left(content), _look(self._descriptor)

    def _content(self) -> bytes:
        with reading(self._path):
            return read_regular(self._path, FILE_LIMIT)

    def _holder(self) -> str:
        lines = _LINE.findall(self._content())
        return lines[-1][1].decode() if lines else "(unknown)"


def fence(path: Path) -> None:
    """Take a lease away from a hanging holder: it stops at its next append, and another may hold the lease.

    The file is replaced by a copy of itself, so the next holder's epoch follows the last.

    Raises:
        StorageError: It cannot be written.
    """
    copy = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    with reading(path):
        content = read_regular(path, FILE_LIMIT)
    with writing(path):
        descriptor = open_regular(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        try:
            write_all(descriptor, content)
            os.rename(copy, path)
        finally:
            os.close(descriptor)


def started(path: Path) -> int:
    """Return the time a lease was first taken, in nanoseconds since 1970; 0 if the file does not contain it."""
    with suppress(OSError, Refused):
        line = _LINE.match(read_regular(path, FILE_LIMIT))
        return int(line[3][:20]) if line else 0
    return 0


def held(path: Path) -> bool:
    """Return whether a living process holds a lease."""
    try:
        descriptor = open_regular(path)
    except (OSError, Refused):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def left(path: Path) -> int:
    """Return the number of records holders found safe on disk when they left; 0 if the file does not contain it."""
    with suppress(OSError, Refused):
        return _left(read_regular(path, FILE_LIMIT))
    return 0


def verify(path: Path) -> None:
    """Verify the lines written by holders; an unfinished line does not count as damage.

    Raises:
        Damaged: A line is not what was written, or the file is missing.
        StorageError: It cannot be read.
    """
    with reading(path):
        for number, line in enumerate(read_regular(path, FILE_LIMIT).split(b"\n"), 1):
            whole = _WHOLE.fullmatch(line)
            if not (_sum(whole[1] or whole[2]) == whole[3] if whole else _UNFINISHED.fullmatch(line)):
                raise Refused(f"line {number} is not what was written, and nothing else of the run is lost")


def _take(descriptor: int) -> None:
    # Whoever looks whether a lease is held has it for a moment.
    for _ in range(_LOOKS - 1):
        with suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(_LOOK_SECONDS)
    return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _left(content: bytes) -> int:
    return max((int(lines) for lines, check in _LEFT.findall(content) if check == _sum(lines)), default=0)


def _left_line(lines: int) -> bytes:
    number = b"%d" % lines
    return b"left:%b:%b\n" % (number, _sum(number))


def _sum(number: bytes) -> bytes:
    return blake2b(number, digest_size=4).hexdigest().encode()


def _epoch(content: bytes) -> int:
    """Return the newest epoch; lines count too, so damage to one of them never brings an epoch back."""
    holders = sum(not line.startswith(b"left:") for line in content.splitlines())
    return max([holders, *(int(epoch) for epoch, _, _ in _LINE.findall(content))])


def _look(descriptor: int) -> _Look:
    """Return the file's status, different after another holder's line, a rename or a removal."""
    found = os.fstat(descriptor)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns
