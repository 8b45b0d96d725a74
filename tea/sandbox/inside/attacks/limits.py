"""Attacks on limits: memory, disk, output."""

import os
import signal
from contextlib import suppress
from typing import Any

from tea.sandbox.inside.attacks.attack import HELD, Facts, absent, attack, broke, module

_MEGABYTE = 1 << 20
mmap = module("mmap")


@attack("memory")
def memory_bomb(facts: Facts) -> str:
    """Take ever more memory."""
    taken: list[bytearray] = []
    try:
        for _ in range(2 * facts["memory"] // 16 // _MEGABYTE):
            taken.append(bytearray(16 * _MEGABYTE))
    except MemoryError:
        return HELD
    return broke(f"{len(taken) * 16} MB taken")


@attack("memory")
def memory_at_once(facts: Facts) -> str:
    """Take far more memory than there is at once."""
    try:
        bytearray(1 << 40)
    except (MemoryError, OverflowError):
        return HELD
    return broke("a terabyte taken")


@attack("memory")
def mapped_memory(facts: Facts) -> str:
    """Map ever more memory of its own."""
    taken: list[Any] = []
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    with suppress(OSError, MemoryError, ValueError):
        for _ in range(2 * facts["memory"] // 16 // _MEGABYTE):
            one = mmap.mmap(-1, 16 * _MEGABYTE, flags=kind)
            one.write(b"x" * 16 * _MEGABYTE)
            taken.append(one)
        return broke(f"{len(taken) * 16} MB mapped")
    return HELD


@attack("memory")
def deep_recursion(facts: Facts) -> str:
    """Overrun the stack."""
    number = os.fork()
    if not number:
        import sys

        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        sys.setrecursionlimit(10**9)

        def deeper(depth: int) -> int:
            return deeper(depth + 1) + 1 if depth < 10**6 else depth

        with suppress(BaseException):
            deeper(0)
        os._exit(0)
    os.waitpid(number, 0)
    return HELD


@attack("limits")
def large_file(facts: Facts) -> str:
    """Write a file larger than all files may be."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with open("large", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 2 * facts["disk"])
    except OSError:
        return HELD
    finally:
        os.unlink("large")
    return broke("written")


@attack("limits")
def hollow_file(facts: Facts) -> str:
    """Make a file of a terabyte with nothing in it, to make its copying fail."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with open("hollow", "wb") as file:
            file.truncate(1 << 40)
    except OSError:
        return HELD
    finally:
        os.unlink("hollow")
    return broke("made")


@attack("memory")
def shared_folder(facts: Facts) -> str:
    """Fill the folder held in memory."""
    if not facts["moved"]:
        return absent("this level shows no such folder")
    written = 0
    try:
        with open("/dev/shm/large", "wb", buffering=0) as file:
            while written < facts["memory"]:
                written += file.write(bytes(_MEGABYTE))
    except OSError:
        return HELD
    finally:
        os.unlink("/dev/shm/large")
    return broke(f"{written >> 20} MB written")


@attack("memory")
def other_folders_in_memory(facts: Facts) -> str:
    """Write in folders counted by no limit: the root folder and those of devices."""
    for folder in ("/", "/dev", "/etc", "/opt", "/usr", "/proc", "/var/tmp", "/run"):
        with suppress(OSError):
            path = os.path.join(folder, f"tea-{os.getpid()}")
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.unlink(path)
            if facts["moved"]:
                return broke(f"wrote into {folder}")
    return HELD


@attack("limits")
def open_files(facts: Facts) -> str:
    """Open ever more files."""
    found: list[int] = []
    try:
        for _ in range(100_000):
            found.append(os.open(__file__, os.O_RDONLY))
    except OSError:
        return HELD
    finally:
        for one in found:
            os.close(one)
    return broke(f"{len(found)} open")
