"""Confinement of one process before it runs untrusted code: limits, Landlock, system calls."""

from __future__ import annotations

import os
import resource
from contextlib import suppress

from tea.sandbox.inside import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILES = 256
_ROOM = 512 << 20  # of addresses beyond the memory, for libraries that are mapped and not read
_NICE = 5
_FIRST = "1000"


def become(user: int | None) -> None:
    """Give up the privileges of this process beyond those of an ordinary one.

    Args:
        user: The account to go on as; None to stay the one it is.
    """
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        with suppress(OSError):  # the kernel then counts the processes of this sandbox alone
            kernel.unshare(kernel.NEWUSER)
            kernel.map_account(user, user)
    kernel.drop_capabilities()
    kernel.prctl(kernel.NO_NEW_PRIVS, 1)


def lock_down(plan: dict[str, Any], seconds: int | None = None) -> None:
    """Confine this process, and all its descendants, to the limits and paths of a plan.

    Args:
        plan: What the host sent: `limits`, `rules`, `families` and `guest`.
        seconds: Most processor seconds of this process alone.
    """
    kernel.prctl(kernel.PDEATHSIG, 9)
    kernel.prctl(kernel.DUMPABLE, 1)
    os.nice(_NICE)  # so that what watches it is never the one that waits
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(_FIRST)  # so that it is never the one that ends where memory is short
    limits = plan["limits"]
    memory = limits["memory"]
    _limit(resource.RLIMIT_CORE, 1)  # of 0 the kernel would still hand a dump to a program of the machine
    _limit(resource.RLIMIT_DATA, memory)
    if plan["guest"] is None:  # else most addresses are set aside, never to be used
        _limit(resource.RLIMIT_AS, memory + _ROOM)
    _limit(resource.RLIMIT_FSIZE, limits["disk"])
    _limit(resource.RLIMIT_NOFILE, _FILES)
    _limit(resource.RLIMIT_NPROC, limits["processes"] + plan["others"])
    _limit(resource.RLIMIT_MSGQUEUE, 0)
    _limit(resource.RLIMIT_MEMLOCK, 0)
    if seconds is not None:
        _limit(resource.RLIMIT_CPU, seconds)
    if plan["rules"] is not None:
        kernel.landlock(
            ((path, access) for path, access in plan["rules"]), [plan["way"]["port"]] if plan["way"] else ()
        )
    if plan["families"] is not None:
        kernel.filter_calls(plan["families"])


def _limit(which: int, most: int) -> None:
    _, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def tasks_of(user: int) -> int:
    """Return the number of an account's threads visible to this process; a limit of processes counts those too."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count
