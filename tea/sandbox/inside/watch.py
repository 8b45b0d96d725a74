"""Watching over the processes of a sandbox: their use of resources together, held by no limit of one process."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic

from tea.sandbox.inside.folders import HIDDEN, free, nameless, room

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")
_STATE, _PARENT, _TIMES, _RESIDENT = 0, 1, slice(11, 15), 21
_STEP = 16 << 20  # how much more memory has to be held until what is shared is told apart again
_PER_SOCKET = 416 << 10  # what the kernel keeps for each at most, which is not a process's memory
_IDLE_SECONDS = 1.0
_SHARE = 4  # for each second that counting files takes, so many without it
_SLACK = 1 << 20

Processes = dict[int, list[str]]


def processes() -> Processes:
    """Return the processes below this one by number, each with the fields of its `stat` from its state on."""
    found: Processes = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            found[int(name)] = file.read().rpartition(b")")[2].decode("ascii").split()
    below = {os.getpid()}
    while True:
        more = {one for one, fields in found.items() if one not in below and int(fields[_PARENT]) in below}
        if not more:
            break
        below |= more
    below.discard(os.getpid())
    return {one: found[one] for one in below if one in found}


def runs(fields: list[str]) -> bool:
    """Return whether a process is still running, and not a zombie."""
    return fields[_STATE] not in "ZX"


class Watch:
    """Tells when the processes of one call use more than they may.

    Args:
        limits: Most `memory` and `disk` in bytes, `cpu` and `seconds`, and `processes`.
        folders: The folders that they may write.
        base: Bytes that the folders took before anything ran in this sandbox.
        own_network: Whether all sockets that the kernel counts are this sandbox's.
    """

    def __init__(self, limits: dict[str, int], folders: tuple[str, ...], base: int, *, own_network: bool) -> None:
        self._limits, self._folders, self._base, self._own_network = limits, folders, base, own_network
        self._begun = monotonic()
        self._spent = _seconds(processes())
        used = room(*folders) - base
        self._disk = max(limits["disk"], used)
        self._free, self._left = free(*folders), self._disk - used
        self._looked, self._pause, self._shared = self._begun, 0.0, 0

    def fault(self) -> tuple[str, str] | None:
        """Return the exceeded limit, and in words how; the processes exceeding it may stand still then."""
        now, running, limits = monotonic(), processes(), self._limits
        if now - self._begun > limits["seconds"]:
            return "seconds", f"It did not end within {limits['seconds']} s."
        if _seconds(running) - self._spent > limits["cpu"]:
            return "cpu", f"It used more than {limits['cpu']} s of processor time."
        if len(running) > limits["processes"] + 1:
            return "processes", f"It ran more than {limits['processes']} processes at once."
        if self._own_network and _sockets() * _PER_SOCKET > limits["memory"]:
            return "memory", f"It holds more sockets than fit into {limits['memory'] >> 20} MB of memory."
        if self._takes_too_much(running):
            return "memory", f"Its processes together used more than {limits['memory'] >> 20} MB of memory."
        if self._fills(running, now):
            return "disk", f"Its files take more than {limits['disk'] >> 20} MB, or lie where nobody can count them."
        return None

    def _takes_too_much(self, running: Processes) -> bool:
        """Return whether processes hold too much memory; they stand still while shared memory is told apart."""
        held = _resident(running)
        self._shared = min(self._shared, held + _STEP)  # so that it sinks with what is held
        if held <= max(self._limits["memory"], self._shared):
            return False
        awake = _stop(running)
        if _shared_out(running) > self._limits["memory"]:
            return True
        _go_on(awake)
        self._shared = held + _STEP
        return False

    def _fills(self, running: Processes, now: float) -> bool:
        """Return whether files take too much; if they may, the writers stand still during the count."""
        there = free(*self._folders)
        urgent = self._free - there > self._left
        changed = there != self._free and now - self._looked > self._pause
        if not (urgent or changed or now - self._looked > _IDLE_SECONDS):
            return False
        awake = _stop(running) if urgent else []
        used = self._used(running)
        if used > self._disk + _SLACK and (urgent or self._used(running) > self._disk + _SLACK):
            return True  # counted twice, since what is deleted meanwhile may be seen twice
        _go_on(awake)
        self._looked, self._pause = monotonic(), _SHARE * (monotonic() - now)
        self._free, self._left = there, max(self._disk - used, _SLACK)
        return False

    def _used(self, running: Processes) -> int:
        return room(*self._folders) + _nameless(running) - self._base


def _stop(running: Processes) -> list[int]:
    """Stop processes; return those running before."""
    awake = [one for one, fields in running.items() if fields[_STATE] != "T"]
    for one in awake:
        with suppress(OSError):
            os.kill(one, signal.SIGSTOP)
    return awake


def _go_on(stopped: Iterable[int]) -> None:
    for one in stopped:
        with suppress(OSError):
            os.kill(one, signal.SIGCONT)


def _seconds(among: Processes) -> float:
    """Return the processor seconds used by this process's descendants, also by those already ended."""
    own = os.times()
    live = sum(int(one) for fields in among.values() for one in fields[_TIMES])
    return own.children_user + own.children_system + live / _TICK


def _resident(among: Processes) -> int:
    """Return the memory held by processes, with shared memory counted for each of them."""
    return sum(int(fields[_RESIDENT]) for fields in among.values()) * _PAGE


def _shared_out(among: Processes) -> int:
    """Return the memory held by processes, with shared memory divided among them."""
    total = 0
    for one, fields in among.items():
        try:
            with open(f"/proc/{one}/smaps_rollup", "rb") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith(b"Pss:")) << 10
        except PermissionError:
            total += _resident({one: fields})
        except OSError:
            continue
    return total


def _nameless(among: Processes) -> int:
    """Return the bytes taken by files held open by processes and no longer named by any folder."""
    found: dict[tuple[int, int], int] = {}
    for one in among:
        try:
            found |= nameless(one)
        except PermissionError:
            if not _ends(one):
                return HIDDEN
    return sum(found.values())


def _ends(process: int) -> bool:
    """Return whether a process is ending: its memory is released already."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return file.read().startswith(b"0 ")
    except OSError:
        return True


def _sockets() -> int:
    """Return how many sockets there are in the network of this process."""
    with open("/proc/net/sockstat", "rb") as file:
        return int(file.readline().split()[-1])
