"""Files as tea reads and writes them: strict on reading, and atomic on writing."""

import errno
import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tea.errors import LACKING, BadInput, Damaged, ResourceExhausted, StorageError
from tea.store.scratch import PUBLIC_FILE, Scratch, make_private, sync_folder
from tea.store.strict import Refused, as_json_object, loads
from tea.types import JsonValue

FILE_LIMIT = 16 * 2**20

_CHUNK = 2**16
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY}
_NO_RIGHT = "make {folder} writable for you, or choose another home with --home or TEA_HOME."
_REMEDIES = {
    **LACKING,
    errno.ENOSPC: "free space on the disk that holds {folder}.",
    errno.EDQUOT: "free space on the disk that holds {folder}.",
    errno.EACCES: _NO_RIGHT,
    errno.EPERM: _NO_RIGHT,
    errno.EROFS: _NO_RIGHT,
    errno.ENAMETOOLONG: "use a shorter path.",
}


def read_json_strict(path: Path, limit: int = FILE_LIMIT, fix: str = "correct the file.") -> dict[str, Any]:
    """Read the one JSON object in a file given by a person.

    Args:
        path: A regular file: no link, folder, pipe or device.
        limit: Largest size in bytes; a larger file is not read.
        fix: What to do about a file that cannot be used.

    Raises:
        BadInput: The file cannot be read, or does not hold exactly one strict JSON object.
    """
    try:
        return as_json_object(loads(read_regular(path, limit)))
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise BadInput(f"Cannot read {shown(path)}: {reason}.", fix="check the path and its permissions.") from problem
    except Refused as reason:
        raise BadInput(f"Cannot use {shown(path)}: {reason}.", fix=fix) from reason


def parse_json_strict(data: bytes, what: str = "The text") -> JsonValue:
    """Read one JSON value from bytes given by a person or a program.

    Refused, besides what is not JSON: encodings other than UTF-8, duplicate keys, NaN and infinities (also
    `1e999`), lone surrogates, and nesting or numbers beyond what Python takes.

    Args:
        data: The JSON text.
        what: How an error names the text, with a capital letter.

    Raises:
        BadInput: `data` is not one strict JSON value.
    """
    try:
        return loads(data)
    except Refused as reason:
        raise BadInput(f"{what} is not usable JSON: {reason}.", fix="correct it.") from reason


def read_regular(path: Path, limit: int) -> bytes:
    """Return the bytes of a regular file, without following a link or waiting for a pipe.

    Raises:
        OSError: The system refuses.
        Refused: It is not a regular file, or larger than `limit` bytes.
    """
    descriptor = open_regular(path)
    try:
        return read_open(descriptor, limit)
    finally:
        os.close(descriptor)


def followed(path: Path) -> Path:
    """Return a path with its links followed; links that lead to each other stay, and open nothing."""
    return Path(os.path.realpath(path))


def read_open(descriptor: int, limit: int) -> bytes:
    """Return the bytes of an open regular file.

    Raises:
        OSError: The system refuses.
        Refused: It is larger than `limit` bytes.
    """
    size = os.fstat(descriptor).st_size
    if size > limit:
        raise Refused(f"it has {size:,} bytes, and {limit:,} are allowed")
    data = b""
    while part := os.read(descriptor, max(size + 1 - len(data), _CHUNK)):
        data += part
        if len(data) > limit:
            raise Refused(f"it grew beyond {limit:,} bytes while it was read")
    return data


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = PUBLIC_FILE) -> int:
    """Open a regular file and return its descriptor; one just created with `O_EXCL` is not checked.

    Args:
        path: The file; a link is refused, and a pipe is not waited for.
        flags: As for `os.open`.
        mode: Who may do what with a file that is created.

    Raises:
        OSError: The system refuses.
        Refused: It is not a regular file.
    """
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW, mode)
    except ValueError as problem:
        raise Refused("no file can have that name") from problem
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.ENXIO):
            raise Refused("it is not a regular file") from problem
        raise
    try:
        if not flags & os.O_EXCL and not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused("it is not a regular file")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_new(path: Path, data: bytes, scratch: Scratch) -> bool:
    """Create `path` with `data`, whole and durable; return False if it exists.

    Raises:
        StorageError: It cannot be written; nothing of it is left.
    """
    with writing(path), scratch.file() as (temporary, descriptor):
        write_all(descriptor, data)
        os.fsync(descriptor)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        try:
            sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(path)
            raise
    return True


def write_over(path: Path, data: bytes, scratch: Scratch) -> None:
    """Write `data` to `path`, whole and durable, whether or not it exists.

    Raises:
        StorageError: It cannot be written; `path` holds what it held, or all of `data`.
    """
    with writing(path), scratch.file() as (temporary, descriptor):
        write_all(descriptor, data)
        os.fsync(descriptor)
        os.replace(temporary, path)
        sync_folder(path.parent)


def keep_private(path: Path, data: bytes) -> None:
    """Write derived `data` to `path` as a whole, for this account alone.

    Raises:
        OSError: The system refuses; `path` holds what it held.
    """
    make_private(path.parent)
    descriptor, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)  # such a file is the account's alone
    try:
        try:
            write_all(descriptor, data)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def publish(temporary: Path, target: Path) -> bool:
    """Move a finished folder to `target`, at once as a whole; return False if something is there.

    The move itself is not durable yet: `sync_folder(target.parent)` makes it so.

    Raises:
        OSError: The system refuses.
    """
    try:
        os.rename(temporary, target)
    except OSError as problem:
        if problem.errno in _TAKEN:
            return False
        raise
    return True


def write_all(descriptor: int, data: bytes) -> None:
    """Write `data`, with one call if the system accepts it in one."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Convert a system error into one line naming `path` and the remedy."""
    try:
        yield
    except OSError as problem:
        raise storage_error("write", path, problem) from problem


@contextmanager
def reading(path: Path) -> Generator[None]:
    """Convert a problem with a stored file into one line naming the file."""
    try:
        yield
    except FileNotFoundError as problem:
        raise damaged(path, "it is missing") from problem
    except OSError as problem:
        raise storage_error("read", path, problem) from problem
    except Refused as reason:
        raise damaged(path, str(reason)) from reason


def storage_error(verb: str, path: Path, problem: OSError) -> StorageError:
    """Return the one-line error for a file the system refuses to read or write."""
    remedy = _REMEDIES.get(problem.errno or 0, "check the disk that holds {folder}, then try again.")
    if verb == "read" and remedy is _NO_RIGHT:
        remedy = "make {folder} readable for you."
    reason = problem.strerror or type(problem).__name__
    kind = ResourceExhausted if problem.errno in LACKING else StorageError
    return kind(f"Cannot {verb} {shown(path)}: {reason}.", fix=remedy.format(folder=shown(path.parent)))


def damaged(path: Path, reason: str) -> Damaged:
    """Return the one-line error for a stored file with unexpected content."""
    fix = "put back a good copy (version control or a backup has one); nothing else is affected."
    return Damaged(f"{shown(path)} is damaged: {reason}.", fix=fix)


def shown(path: Path) -> str:
    """Return the path on one line, its beginning left out when it is very long."""
    text = str(path)
    return repr(text if len(text) <= 80 else "..." + text[-77:])
