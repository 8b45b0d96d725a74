"""Folders open to code for writing: their content, its size, and a way to see hidden files."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

MOST_FILES = 20_000
MOST_DEPTH = 100
HIDDEN = 1 << 60  # what cannot be counted takes more than there is
_BLOCK, _PER_FILE = 512, 4096  # a file without content takes room too
_LONGEST = 3_000
_ROUNDS = 8

Files = dict[str, tuple[int, int]]


def walk(*folders: str) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield the content of some folders, no link followed; None with a folder hiding its content.

    A folder that the host made meanwhile for itself alone is left out.
    """
    left = [(one, 0) for one in folders]
    while left:
        folder, depth = left.pop()
        try:
            if depth > MOST_DEPTH or len(folder) > _LONGEST:
                raise PermissionError
            with os.scandir(folder) as entries:
                for one in entries:
                    with suppress(FileNotFoundError):
                        facts = one.stat(follow_symlinks=False)
                        yield one.path, facts
                        if stat.S_ISDIR(facts.st_mode):
                            left.append((one.path, depth + 1))
        except FileNotFoundError:
            continue
        except OSError:
            if not _is_closed(folder):
                yield folder, None


def _is_closed(folder: str) -> bool:
    """Return whether a folder is another account's and closed, so code can hide nothing in it."""
    with suppress(OSError):
        return os.lstat(folder).st_uid != os.geteuid() and not os.access(folder, os.X_OK)
    return False


def uncover(*folders: str) -> None:
    """Open folders hiding their content, and remove those too deep for anybody to reach."""
    for folder in folders:
        with suppress(OSError):
            os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode) | 0o700)
        for _ in range(_ROUNDS):
            hiding = [path for path, facts in walk(folder) if facts is None]
            for path in hiding:
                _open(folder, path)
            if not hiding:
                break


def _open(folder: str, path: str) -> None:
    import subprocess  # only here: every start would wait for it, and few sandboxes need it

    names = path[len(folder) :].strip("/").split("/")
    if len(names) <= MOST_DEPTH and len(path) <= _LONGEST:
        with suppress(OSError):
            os.chmod(path, 0o700)
        if os.access(path, os.R_OK | os.X_OK):
            return
    first = os.path.join(folder, *names[: len(names) // 4 + 1])
    subprocess.run(["/bin/rm", "-rf", "--", first], capture_output=True, check=False)


def files(folder: str) -> Files | None:
    """Return size and time of the files in a folder, by their names in it; None if they are too many to tell."""
    found: Files = {}
    for count, (path, facts) in enumerate(walk(folder)):
        if count >= MOST_FILES:
            return None
        if facts is not None and stat.S_ISREG(facts.st_mode):
            name = path[len(folder) + 1 :].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            found[name] = facts.st_size, facts.st_mtime_ns
    return found


def room(*folders: str) -> int:
    """Return how many bytes some folders take."""
    return sum(HIDDEN if facts is None else facts.st_blocks * _BLOCK + _PER_FILE for _, facts in walk(*folders))


def free(*folders: str) -> int:
    """Return the number of free bytes and file names, counted as bytes, on the file systems of some folders."""
    found = {(one.f_fsid, one.f_bavail * one.f_frsize, one.f_favail * _PER_FILE) for one in map(os.statvfs, folders)}
    return sum(room + names for _, room, names in found)


def nameless(process: int) -> dict[tuple[int, int], int]:
    """Return the bytes taken by files held open by a process and named by no folder, by their places.

    Raises:
        PermissionError: It hides what it holds.
    """
    found: dict[tuple[int, int], int] = {}
    with suppress(FileNotFoundError, ProcessLookupError):
        for name in os.listdir(f"/proc/{process}/fd"):
            with suppress(OSError):
                facts = os.stat(f"/proc/{process}/fd/{name}")
                if facts.st_nlink == 0 and stat.S_ISREG(facts.st_mode):
                    found[facts.st_dev, facts.st_ino] = facts.st_blocks * _BLOCK
    return found
