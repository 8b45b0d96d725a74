"""Launch: the command line of each level, and the plan followed by the process inside."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from tea.errors import ToolError
from tea.sandbox.inside import kernel, start
from tea.sandbox.layout import (
    BUBBLEWRAP,
    CERTIFICATES,
    INSTALLED,
    PACKAGES,
    PROGRAMS,
    PYTHON,
    TEMPORARY,
    WAY,
    WORKSPACE,
    Layout,
    enclosing,
)
from tea.sandbox.settings import MOVED, WASM, LevelName, Limits
from tea.sandbox.wasm import guest

_ACCOUNTS = range(61_184, 65_520)  # which no person and no service has (systemd gives them out for a while, too)
_MEGABYTE = 1 << 20
_SHARED_MEMORY = 64 * _MEGABYTE
FLAGS = ("-S", "-s", "-P", "-B")
_BEGIN = "import sys; sys.path.append({path!r}); from {entry} import main; main()"
SOCKET, _PORT = "out.sock", 3128
PROXY = f"http://127.0.0.1:{_PORT}"
_OWN_NETWORK = (kernel.UNIX, kernel.INET, kernel.INET6)


# With these alone the supervisor starts, which finds modules nowhere but in the interpreter and beside itself: what
# code in a sandbox may write would else be imported by it, outside of all walls.
STARTING = {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}  # a call that is repeated prints sets in the same order


def environment(layout: Layout, *, moved: bool) -> dict[str, str]:
    """Return the whole environment of code in a sandbox.

    Args:
        layout: What lies where.
        moved: Whether the level shows things where the layout says.
    """
    temporary = TEMPORARY if moved else layout.place(TEMPORARY)
    packages = [one if moved else layout.place(one) for one in (INSTALLED, PACKAGES)]
    return {
        "HOME": temporary,
        "TMPDIR": temporary,
        "PATH": f"{PROGRAMS if moved else layout.place(PROGRAMS)}:/usr/bin:/bin:/usr/sbin:/sbin",
        **STARTING,
        "TZ": "UTC",
        "PYTHONPATH": ":".join(packages),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": temporary,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        **(proxied(layout.way_out.own) if layout.way_out.hosts and moved else {}),
    }


def proxied(own: Sequence[str] = ()) -> dict[str, str]:
    """Return the variables of the way out for programs in a sandbox.

    Args:
        own: Names reached without it, in the sandbox's own network.
    """
    proxies = {f"{scheme}_proxy": PROXY for scheme in ("http", "https")} | {"no_proxy": ",".join(own)}
    trusted = dict.fromkeys(("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"), CERTIFICATES)
    return {**proxies, **{name.upper(): value for name, value in proxies.items()}, **trusted}


def account(layout: Layout, level: LevelName) -> int | None:
    """Return the unprivileged account for running code if this process is root, None to keep the present one.

    It is one for each workspace, since several sandboxes may work in one. A level that moves nothing can only use it
    where it may reach the interpreter. Where the kernel holds nothing, an account would not either.
    """
    if os.geteuid() != 0 or level == WASM:
        return None
    moved = level in MOVED
    reached = (layout.interpreter, sys.base_prefix, str(Path(__file__).parent), str(layout.folder))
    if not moved and not all(one.stat().st_mode & 0o001 for path in reached for one in enclosing(path)):
        return None
    return _ACCOUNTS[crc32(os.path.realpath(layout.workspace).encode()) % len(_ACCOUNTS)]


def command(layout: Layout, level: LevelName, entry: str = start.__name__) -> list[str]:
    """Return the command to start the process inside of a level.

    Args:
        layout: What lies where.
        level: The level.
        entry: The module whose `main` begins there.

    Raises:
        ToolError: What it needs is not installed.
    """
    moved = level in MOVED
    path = PYTHON if level == "bubblewrap" else layout.place(PYTHON)
    inner = [layout.interpreter, *FLAGS, "-c", _BEGIN.format(path=path, entry=entry)]
    if level != "bubblewrap":
        return inner
    program = shutil.which(BUBBLEWRAP)
    if program is None:
        raise ToolError("bubblewrap is not installed.", fix="install the package `bubblewrap` of your distribution.")
    return [program, *_bubblewrap(layout), "--", *inner] if moved else inner


def _bubblewrap(layout: Layout) -> list[str]:
    made = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.geteuid() == 0:  # it needs these two to change to an unprivileged account
        made += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        made += ["--unshare-user"]
    made += ["--hostname", "sandbox", "--die-with-parent", "--as-pid-1", "--new-session"]
    made += [
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--perms",
        "1777",
        "--size",
        str(_SHARED_MEMORY),
        "--tmpfs",
        "/dev/shm",
    ]
    known: set[str] = set()
    for one in layout.mounts():
        made += [*_folders(one.target, known), "--bind" if one.writable else "--ro-bind", one.source, one.target]
    for target, text in layout.links():
        made += [*_folders(target, known), "--symlink", text, target]
    return [*made, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]


def _folders(target: str, listed: set[str]) -> list[str]:
    """Return the options to make the folders above a target; bubblewrap itself makes them for root alone."""
    made = [str(one) for one in enclosing(os.path.dirname(target))][-2::-1]
    new = [one for one in made if one not in listed]
    listed.update(new)
    return [word for one in new for word in ("--perms", "0755", "--dir", one)]


def plan(
    layout: Layout,
    level: LevelName,
    limits: Limits,
    user: int | None,
    base: int | None,
    runtime: Path | None = None,
) -> dict[str, Any]:
    """Return the first message to the process inside.

    Args:
        layout: What lies where.
        level: The level.
        limits: What may be used.
        user: The account to go on as.
        base: Bytes that the folders took at the session's beginning, where that was counted.
        runtime: What executes code that is not the machine's own.
    """
    moved = level in MOVED
    at = {one: one if moved else layout.place(one) for one in (WORKSPACE, TEMPORARY, INSTALLED, PACKAGES, PYTHON)}
    families: tuple[int, ...] | None = _OWN_NETWORK if moved else ()
    told: dict[str, Any] = {
        "enter": level == "namespaces",
        "own_pids": moved,
        "user": user,
        "env": environment(layout, moved=moved),
        "workspace": at[WORKSPACE],
        "tmp": at[TEMPORARY],
        "packages": at[INSTALLED],
        "path": [at[INSTALLED], at[PACKAGES], at[PYTHON]],
        "limits": _in_bytes(limits),
        "families": list(families) if level not in ("rlimits", WASM) and kernel.can_filter() else None,
        "rules": None,
        "guest": None if runtime is None else guest(layout, limits, environment(layout, moved=True), runtime),
        "base": base,
        "shm": _SHARED_MEMORY,
        "way": {"port": _PORT, "socket": f"{WAY}/{SOCKET}"} if layout.way_out and moved else None,
    }
    if level == "namespaces":
        told |= {
            "root": str(layout.folder / "root"),
            "mounts": [one.to_json() for one in layout.mounts()],
            "links": layout.links(),
            "rules": _inside_rules(layout),
        }
    if level == "landlock":
        told["rules"] = _outside_rules(layout)
    return told


def _in_bytes(limits: Limits) -> Mapping[str, int]:
    return {
        "memory": limits.memory_mb * _MEGABYTE,
        "cpu": limits.cpu_seconds,
        "seconds": limits.call_seconds,
        "disk": limits.disk_mb * _MEGABYTE,
        "processes": limits.processes,
        "output": limits.output_kb * 1_000,
    }


def _inside_rules(layout: Layout) -> list[tuple[str, int]]:
    """Return the permissions of Landlock for a process able to see only the intended parts."""
    write = [(one, kernel.READ | kernel.WRITE) for one in (*_writable(layout), "/dev/shm")]
    return [("/", kernel.READ), *write, *_devices()]


def _outside_rules(layout: Layout) -> list[tuple[str, int]]:
    """Return the permissions of Landlock for a process able to see all of the machine."""
    read = [(one, kernel.READ) for one in layout.readable()]
    listed = [(one, kernel.LISTED) for one in layout.listed()]
    read += [(layout.place(WORKSPACE), kernel.READ)] if layout.read_only else []
    write = [(layout.place(one), kernel.READ | kernel.WRITE) for one in _writable(layout)]
    return [*read, *listed, *write, *_devices()]


def _writable(layout: Layout) -> tuple[str, ...]:
    """Return the parts of a sandbox open to writing."""
    return (TEMPORARY, INSTALLED) if layout.read_only else (WORKSPACE, TEMPORARY, INSTALLED)


def _devices() -> list[tuple[str, int]]:
    return [(f"/dev/{name}", kernel.DEVICE) for name in ("null", "zero", "full", "random", "urandom")]
