"""Rooted folders: files opened beneath one folder, despite any links and renames."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import TypeAlias

from tea.errors import ToolError

_OPENAT2 = 437  # number of the system call, the same on all architectures (Linux 5.6)
_BENEATH = 0x08 | 0x04 | 0x02  # RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS (linux/openat2.h)
_ATTEMPTS = 16  # of a call answered by EAGAIN, as something was renamed meanwhile
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_Opener: TypeAlias = Callable[[int, str, int, int], int]


class RootedFolder:
    """A folder with files reached through descriptors only; its methods block, so call them in a thread.

    Names are relative to it, with `/` between folders. Links are followed where they lead to a file inside. What is
    made is private to this account. Each method raises OSError as the system does, and ToolError for a name that leads
    out.

    Args:
        root: The folder.
        walk: Whether to open folder by folder even where the kernel has `openat2`.

    Examples:
        >>> with RootedFolder(".") as folder:
        ...     folder.open("../secret", os.O_RDONLY)
        Traceback (most recent call last):
        tea.errors.ToolError: '../secret' is outside of the workspace. (fix: name a file inside it.)
    """

    def __init__(self, root: str | Path, *, walk: bool = False) -> None:
        self.root = Path(root).resolve()
        self._descriptor = -1
        self._open = _walk if walk else _opener()

    def __enter__(self) -> RootedFolder:
        """Open the folder."""
        self._descriptor = os.open(self.root, _FOLDER)
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        os.close(self._descriptor)

    def inside(self, name: str) -> str:
        """Return a name with its links resolved, relative to the folder; `.` for the folder itself.

        Raises:
            ToolError: It leads out of the folder.
        """
        try:
            path = (self.root / name).resolve()
            return path.relative_to(self.root).as_posix()
        except (OSError, ValueError, RuntimeError):
            raise ToolError(f"{name[:100]!r} is outside of the workspace.", fix="name a file inside it.") from None

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open a file, and return its descriptor."""
        return self._open(self._descriptor, self.inside(name), flags | os.O_CLOEXEC, mode)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of a file or folder, None if there is none."""
        try:
            descriptor = self.open(name, os.O_PATH)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)

    def is_file(self, name: str) -> bool:
        """Return whether a name belongs to a regular file."""
        found = self.status(name)
        return found is not None and stat.S_ISREG(found.st_mode)

    @contextmanager
    def reading(self, name: str) -> Generator[BufferedReader]:
        """Open a regular file to be read.

        Raises:
            ToolError: It is a folder, a pipe or a device.
        """
        descriptor = self.open(name, os.O_RDONLY | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise ToolError(f"{name[:100]!r} is not an ordinary file.", fix="name a file, not a folder or device.")
        with os.fdopen(descriptor, "rb") as file:
            yield file

    def write(self, name: str, data: bytes | Iterator[bytes], *, replace: bool = True) -> None:
        """Write a whole file at once, and the folders it needs; it has its name only when it is complete and on disk.

        Args:
            name: The file.
            data: All it shall hold, also in pieces.
            replace: Whether an existing file is replaced.

        Raises:
            FileExistsError: There is one, and it is not to be replaced.
        """
        with self._parent(name) as (folder, last):
            part = f".tea-{secrets.token_hex(8)}"
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                with os.fdopen(os.open(part, flags, 0o600, dir_fd=folder), "wb") as file:
                    for piece in (data,) if isinstance(data, bytes) else data:
                        file.write(piece)
                    file.flush()
                    os.fsync(file.fileno())
                if replace:
                    os.replace(part, last, src_dir_fd=folder, dst_dir_fd=folder)
                else:
                    os.link(part, last, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(part, dir_fd=folder)

    def set_modified(self, name: str, time: int) -> None:
        """Set the time at which a file was last changed, in nanoseconds since 1970."""
        with self._parent(name, make=False) as (folder, last):
            os.utime(last, ns=(time, time), dir_fd=folder, follow_symlinks=False)

    def append(self, name: str, data: bytes) -> None:
        """Add bytes to the end of a file, or create it."""
        with self._parent(name) as (folder, last):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(last, flags, 0o600, dir_fd=folder), "ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())

    def remove(self, name: str) -> None:
        """Remove a file."""
        with self._parent(name, make=False) as (folder, last):
            os.unlink(last, dir_fd=folder)

    def link_target(self, name: str) -> str | None:
        """Return the target of a link, as it is written in it; None if there is no link."""
        with self._beside(name) as (folder, last), suppress(OSError, ValueError):
            return os.readlink(last, dir_fd=folder)
        return None

    def make_link(self, name: str, target: str) -> None:
        """Make a link; no other method follows it out of the root.

        Raises:
            ToolError: Its name is taken, or its folder is not there.
        """
        try:
            with self._beside(name) as (folder, last):
                os.symlink(target, last, dir_fd=folder)
        except (OSError, ValueError) as error:
            raise ToolError(f"{name[:100]!r} cannot be made a link: {error}.", fix="choose another name.") from error

    def remove_link(self, name: str) -> bool:
        """Remove a link itself, wherever it leads, and return whether there was one."""
        with self._beside(name) as (folder, last):
            try:
                os.readlink(last, dir_fd=folder)
            except (OSError, ValueError):  # it is not there, no link, or has a character that no name can hold
                return False
            os.unlink(last, dir_fd=folder)
        return True

    @contextmanager
    def _beside(self, name: str) -> Generator[tuple[int, str]]:
        """Yield the folder of a name without its last part being followed, and the last part."""
        folder, _, last = name.rstrip("/").rpartition("/")
        if last in (".", ".."):
            last = ""
        try:
            descriptor = self.folder(self.inside(folder or "."), make=False)
        except (FileNotFoundError, NotADirectoryError):  # so neither is the name in it
            descriptor, last = os.open(self.root, os.O_DIRECTORY | os.O_CLOEXEC), ""
        try:
            yield descriptor, last
        finally:
            os.close(descriptor)

    def move(self, name: str, new: str) -> None:
        """Rename a file or a folder, and make the folders needed for it.

        Raises:
            FileExistsError: The new name is taken.
        """
        with self._parent(name, make=False) as (folder, last), self._parent(new) as (target, final):
            try:
                os.stat(final, dir_fd=target, follow_symlinks=False)
            except FileNotFoundError:
                os.rename(last, final, src_dir_fd=folder, dst_dir_fd=target)
            else:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)

    def files(self, *, hidden: bool = False, below: str = ".") -> Iterator[tuple[str, os.stat_result]]:
        """Yield names and status of the regular files, folder by folder, without links leading out.

        Args:
            hidden: Whether those whose names begin with a dot are among them.
            below: The folder to look through.
        """
        for folder, folders, names, descriptor in os.fwalk(below, dir_fd=self._descriptor, follow_symlinks=False):
            folders[:] = sorted(name for name in folders if hidden or not name.startswith("."))
            for name in sorted(name for name in names if hidden or not name.startswith(".")):
                path = os.path.normpath(f"{folder}/{name}")
                found = self._listed(path, name, descriptor)
                if found is not None and stat.S_ISREG(found.st_mode):
                    yield path, found

    def _listed(self, path: str, name: str, folder: int) -> os.stat_result | None:
        """Return the status of a listed file; for a link the status of its target inside."""
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            return self.status(path) if stat.S_ISLNK(found.st_mode) else found
        except (OSError, ToolError):
            return None

    @contextmanager
    def _parent(self, name: str, *, make: bool = True) -> Generator[tuple[int, str]]:
        """Yield a descriptor of the folder of a file, and the file's own name in it."""
        path, _, last = self.inside(name).rpartition("/")
        if last in ("", "."):
            raise ToolError(f"{name[:100]!r} is the workspace itself.", fix="name a file inside it.")
        descriptor = self.folder(path, make=make)
        try:
            yield descriptor, last
        finally:
            os.close(descriptor)

    def folder(self, path: str, *, make: bool) -> int:
        """Open a folder at a path without links, and return its descriptor.

        Args:
            path: It is relative to this one; empty for this one itself.
            make: Whether it is made if it is missing.
        """
        try:
            return self._open(self._descriptor, path or ".", _FOLDER, 0)
        except FileNotFoundError:
            if not make:
                raise
        parent = self.folder(path.rpartition("/")[0], make=make)
        try:
            with suppress(FileExistsError):
                os.mkdir(path.rpartition("/")[2], 0o700, dir_fd=parent)
        finally:
            os.close(parent)
        return self._open(self._descriptor, path, _FOLDER, 0)


def open_resolved(path: Path) -> BufferedReader:
    """Open a regular file at a path without links to be read.

    A link on the way is followed nowhere: it was put there after the path was resolved, to lead to another file.

    Args:
        path: It is absolute, as `Context.path` and `Context.file` give it.

    Raises:
        OSError: The system refuses, the path has a link, or it is not a regular file.
    """
    top = os.open("/", _FOLDER)
    try:
        found = _opener()(top, os.path.relpath(path, "/"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, 0)
    finally:
        os.close(top)
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(found, "rb")


def folder_resolved(path: Path) -> int:
    """Open a folder at a path without links, made if it is missing, and return its descriptor.

    A link on the way is followed nowhere, as by `open_resolved`.

    Args:
        path: It is absolute, as `Context.path` gives it.

    Raises:
        OSError: The system refuses, or the path has a link.
    """
    with RootedFolder("/") as top:
        return top.folder(os.path.relpath(path, "/"), make=True)


class _How(ctypes.Structure):
    """The argument of `openat2`."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _opener() -> _Opener:
    """Return the opener of files beneath a folder: the kernel's own call if it exists and this process may use it."""
    library = ctypes.CDLL(None, use_errno=True)
    call = library.syscall
    call.restype = ctypes.c_long

    def beneath(folder: int, path: str, flags: int, mode: int) -> int:
        how, found = _How(flags, mode if flags & os.O_CREAT else 0, _BENEATH), -1
        for _ in range(_ATTEMPTS):
            found = int(
                call(
                    ctypes.c_long(_OPENAT2),
                    ctypes.c_int(folder),
                    ctypes.c_char_p(os.fsencode(path)),
                    ctypes.byref(how),
                    ctypes.c_size_t(ctypes.sizeof(how)),
                )
            )
            if found >= 0 or ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
                break
        if found < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
        return found

    root = os.open("/", _FOLDER)
    try:
        os.close(beneath(root, ".", _FOLDER, 0))
    except OSError:  # an older kernel, or a filter of system calls
        return _walk
    finally:
        os.close(root)
    return beneath


def _walk(folder: int, path: str, flags: int, mode: int) -> int:
    """Open a path folder by folder, following no link."""
    *folders, last = path.split("/")
    current = os.dup(folder)
    try:
        for name in folders:
            below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=current)
            os.close(current)
            current = below
        found = os.open(last, flags | os.O_NOFOLLOW, mode, dir_fd=current)
    finally:
        os.close(current)
    if stat.S_ISLNK(os.fstat(found).st_mode):  # which O_PATH opens
        os.close(found)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return found
