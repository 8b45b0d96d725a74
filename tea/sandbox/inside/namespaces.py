"""Namespaces: an isolated view of the machine for one process, made by system calls alone."""

from __future__ import annotations

import fcntl
import os
import socket
import struct

from tea.sandbox.inside import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEVICES = ("null", "zero", "full", "random", "urandom")
_DESCRIPTORS = (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"))
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _UP = 0x8913, 0x8914, 1
_KEPT = {
    os.ST_NODEV: kernel.NODEV,
    os.ST_NOSUID: kernel.NOSUID,
    os.ST_NOEXEC: kernel.NOEXEC,
    os.ST_RDONLY: kernel.RDONLY,
    os.ST_NOATIME: 1 << 10,
    os.ST_NODIRATIME: 1 << 11,
    os.ST_RELATIME: 1 << 21,
}


def enter(plan: dict[str, Any]) -> None:
    """Go on as the first process of new namespaces, with nothing visible but the mounts of a plan.

    The process that called stays outside and ends when the new one does.

    Args:
        plan: What the host sent: `root`, `mounts`, `links` and `shm`.
    """
    flags = kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWCGROUP
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(flags if user == 0 else flags | kernel.NEWUSER)
    if user:
        kernel.map_account(user, group)
    child = os.fork()
    if child:
        os.closerange(0, 256)  # so that the host sees the end of the child
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    kernel.prctl(kernel.PDEATHSIG, 9)
    _make_root(plan)
    _raise_loopback()
    socket.sethostname("sandbox")


def _make_root(plan: dict[str, Any]) -> None:
    root = plan["root"]
    kernel.mount("none", "/", "", kernel.REC | kernel.PRIVATE)
    kernel.mount("tmpfs", root, "tmpfs", kernel.NOSUID | kernel.NODEV, "size=1m,mode=755")
    for one in plan["mounts"]:
        _bind(one["source"], root + one["target"], writable=one["writable"])
    for target, text in plan["links"]:
        os.makedirs(os.path.dirname(root + target), 0o755, exist_ok=True)
        os.symlink(text, root + target)
    os.makedirs(root + "/proc", 0o555, exist_ok=True)
    kernel.mount("proc", root + "/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    os.makedirs(root + "/dev/shm", 0o755, exist_ok=True)
    for name in _DEVICES:
        _bind(f"/dev/{name}", f"{root}/dev/{name}", writable=True, device=True)
    for name, text in _DESCRIPTORS:
        os.symlink(text, f"{root}/dev/{name}")
    kernel.mount("tmpfs", root + "/dev/shm", "tmpfs", kernel.NOSUID | kernel.NODEV, f"size={plan['shm']},mode=1777")
    kernel.enter_root(root)
    kernel.mount("none", "/", "", kernel.REMOUNT | kernel.BIND | kernel.RDONLY | kernel.NOSUID | kernel.NODEV)


def _bind(source: str, target: str, *, writable: bool, device: bool = False) -> None:
    """Show a file or folder at another place, with restrictions not removable from inside."""
    if os.path.isdir(source):
        os.makedirs(target, 0o755, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.mount(source, target, "", kernel.BIND | kernel.REC)
    there = os.statvfs(target).f_flag
    kept = sum(flag for seen, flag in _KEPT.items() if there & seen)
    kept |= kernel.NOSUID | (0 if writable else kernel.RDONLY) | (0 if device else kernel.NODEV)
    kernel.mount("none", target, "", kernel.REMOUNT | kernel.BIND | kept)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        name = struct.pack("16sH22x", b"lo", 0)
        (flags,) = struct.unpack("16xH22x", fcntl.ioctl(made, _SIOCGIFFLAGS, name))
        fcntl.ioctl(made, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | _UP))
