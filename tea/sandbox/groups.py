"""Control groups: the kernel's own limits of a sandbox's memory and processes, if this process can make them."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import sleep
from typing import cast

from tea.errors import exhausted
from tea.sandbox.folder import cache_folder
from tea.store.access import read_own
from tea.store.files import keep_private

CACHE = "groups.json"
_LIMIT = 2**20  # bytes of it
_MOST_KEPT = 16
_PREFIX = "tea-sandbox-"
_UNLIMITED = "max"
_MEMBERS = "cgroup.procs"
# Files of each version: the most memory, the most with what is swapped out (version 2 counts that apart), and events.
_FILES = {
    1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control"),
    2: ("memory.max", "memory.swap.max", "memory.events"),
}
_ENTER = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 1; shift; done; shift; exec "$@"'
_PROBE_MEMORY, _PROBE_PROCESSES, _PROBE_SECONDS = 48 << 20, 6, 30
_PROBE = """
import os, signal, sys, time
made = []
try:
    for _ in range(24):
        number = os.fork()
        if not number:
            time.sleep(60)
            os._exit(0)
        made.append(number)
except OSError:
    os.write(1, b"refused")
for one in made:
    os.kill(one, signal.SIGKILL)
    os.waitpid(one, 0)
held = bytearray(256 << 20)
for at in range(0, len(held), 4096):
    held[at] = 1
os.write(1, b"taken")
"""
_REMOVE_ROUNDS, _REMOVE_PAUSE = 200, 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Parents:
    """The folders for new control groups.

    Args:
        version: Version of the kernel's interface.
        mark: Name of the place, the same for each process that finds it.
        memory: The folder for groups with a limit of memory.
        pids: The folder for groups with a limit of processes; with version 2 the same.
    """

    version: int
    mark: str
    memory: str
    pids: str


class ControlGroup:
    """One control group; its processes together never hold more than its limits.

    Args:
        parents: Where it is made.
        memory: Most bytes of memory, that of the kernel included.
        processes: Most processes and threads.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, parents: Parents, *, memory: int, processes: int) -> None:
        name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self._memory, self._pids = (os.path.join(one, name) for one in (parents.memory, parents.pids))
        most, swapped, self._events = _FILES[parents.version]
        try:
            for folder in self._folders:
                os.mkdir(folder)
            _write(self._memory, most, str(memory))
            with suppress(OSError):  # a machine may not count what it swaps out
                _write(self._memory, swapped, str(memory if parents.version == 1 else 0))
            _write(self._pids, "pids.max", str(processes))
        except OSError:
            self.remove()
            raise

    @property
    def is_there(self) -> bool:
        """Whether it still exists."""
        return all(map(os.path.isdir, self._folders))

    def around(self, command: Sequence[str]) -> list[str]:
        """Return a command's words to start it in this group, with all its descendants."""
        members = [os.path.join(one, _MEMBERS) for one in self._folders]
        return ["/bin/sh", "-c", _ENTER, "sh", *members, "--", *command]

    def killed(self) -> int:
        """Return how many processes the kernel has ended for want of memory."""
        with suppress(OSError):
            for line in Path(self._memory, self._events).read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0

    def remove(self) -> None:
        """End all processes left in it, and remove it."""
        for folder in self._folders:
            for _ in range(_REMOVE_ROUNDS):
                for one in _members(folder):
                    with suppress(OSError):
                        os.kill(one, signal.SIGKILL)
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    break
                except OSError:
                    sleep(_REMOVE_PAUSE)
                else:
                    break

    @property
    def _folders(self) -> list[str]:
        return list(dict.fromkeys((self._memory, self._pids)))


def parents(groups: str, mounts: str) -> Iterator[Parents]:
    """Yield the folders to try for new groups, the nearest first.

    Args:
        groups: The text of `/proc/self/cgroup`.
        mounts: The text of `/proc/self/mountinfo`.
    """
    lines = [line.split(":", 2) for line in groups.splitlines()]
    own = {name: path for _, names, path in lines for name in names.split(",")}
    folders: dict[str, tuple[str, str]] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _, options = after.split()
        for name in [""] if kind == "cgroup2" else options.split(",") if kind == "cgroup" else []:
            if name in own and own[name].startswith(root.rstrip("/")):
                folders[name] = point, os.path.normpath(f"{point}/{own[name][len(root.rstrip('/')) :]}")
    if "" in folders:
        top, folder = folders[""]
        yield Parents(version=2, mark=f"2 {folder}", memory=folder, pids=folder)
        while folder != top and _is_unlimited(folder):  # a group with processes has none below it with limits
            folder = os.path.dirname(folder)
            yield Parents(version=2, mark=f"2 {folder}", memory=folder, pids=folder)
    if {"memory", "pids"} <= folders.keys():
        memory, pids = folders["memory"], folders["pids"]
        yield Parents(version=1, mark=f"1 {memory[0]} {pids[0]}", memory=memory[1], pids=pids[1])


@cache
def usable() -> Parents | None:
    """Return the folders for groups with limits seen to hold, None without any; it is kept until the next boot."""
    try:
        texts = [Path(f"/proc/self/{name}").read_text() for name in ("cgroup", "mountinfo")]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        candidates = list(parents(*texts))
    except (OSError, ValueError):
        return None
    known = _earlier_findings()
    for one in candidates:
        mark = f"{boot} {os.geteuid()} {one.mark}"
        if mark not in known:
            held = _holds(one)
            if held is None:
                continue
            known = {**known, mark: held}
            _keep(known)
        if known[mark]:
            return one
    return None


def made(*, memory: int, processes: int) -> ControlGroup | None:
    """Return a new group, None if this process can make none.

    Args:
        memory: Most bytes of memory.
        processes: Most processes and threads.
    """
    found = usable()
    if found is None:
        return None
    _sweep(found)
    try:
        return ControlGroup(found, memory=memory, processes=processes)
    except OSError:
        return None


def _holds(where: Parents) -> bool | None:
    """Tell whether a process in a group dies of too much memory, and cannot start too many others.

    Without open files or disk space to tell, it is None.
    """
    try:
        group = ControlGroup(where, memory=_PROBE_MEMORY, processes=_PROBE_PROCESSES)
    except OSError as error:
        return None if exhausted(error) else False
    try:
        line = group.around([os.path.realpath(sys.executable), "-I", "-S", "-c", _PROBE])
        ran = subprocess.run(line, capture_output=True, timeout=_PROBE_SECONDS, check=False)
        return (ran.stdout, ran.returncode) == (b"refused", -signal.SIGKILL) and group.killed() > 0
    except (OSError, subprocess.TimeoutExpired) as error:
        return None if exhausted(error) else False
    finally:
        group.remove()


def _earlier_findings() -> dict[str, bool]:
    """Return the earlier findings, if no other account may have written them."""
    try:
        found: object = json.loads(read_own(cache_folder() / CACHE, _LIMIT))
    except (OSError, ValueError):
        return {}
    return (
        {str(mark): held is True for mark, held in cast("dict[object, object]", found).items()}
        if isinstance(found, dict)
        else {}
    )


def _keep(findings: Mapping[str, bool]) -> None:
    with suppress(OSError):  # then it is tried again the next time
        keep_private(cache_folder() / CACHE, json.dumps(dict(list(findings.items())[-_MOST_KEPT:])).encode())


def _is_unlimited(folder: str) -> bool:
    """Return whether a group has no limit of memory, as then a group beside it has none either."""
    try:
        return Path(folder, "memory.max").read_text().strip() == _UNLIMITED
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _sweep(where: Parents) -> None:
    """Remove the empty groups of killed hosts."""
    for folder in {where.memory, where.pids}:
        with suppress(OSError):
            for one in os.scandir(folder):
                number = one.name.removeprefix(_PREFIX).partition("-")[0]
                if one.name.startswith(_PREFIX) and not os.path.exists(f"/proc/{number}"):
                    with suppress(OSError):
                        os.rmdir(one.path)


def _members(folder: str) -> list[int]:
    try:
        return [int(one) for one in Path(folder, _MEMBERS).read_text().split()]
    except OSError:
        return []


def _write(folder: str, name: str, text: str) -> None:
    """Write a file made by the kernel; on any other file system it is not there."""
    handle = os.open(os.path.join(folder, name), os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)
