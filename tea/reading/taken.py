"""Taken: files taken out of another by a parser, copied into the workspace; no link on the way is followed."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tea.errors import ToolError
from tea.reading.inside.parts import part_name
from tea.store.rooted import folder_resolved

MOST_BYTES = 250_000_000
_CHUNK = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def taken_out(parts: Path, target: Path, packed: Path | None = None) -> list[str]:
    """Copy the files below a folder into another, made for them, and return their names in it.

    Args:
        parts: What a parser wrote, which is as foreign as what it read.
        target: Where they go, a path without links.
        packed: The archive they come from; they take its time, so that later changes are seen.

    Raises:
        ToolError: They are too large, a link stands in their way, or the folder cannot be written.
    """
    if parts.is_symlink() or not parts.is_dir():
        return []
    found, left = list[str](), MOST_BYTES
    try:
        time = packed.stat().st_mtime_ns if packed is not None else None
        place = folder_resolved(target)
    except OSError as error:
        raise _refused(target, error) from error
    try:
        for folder, folders, names, descriptor in os.fwalk(parts, follow_symlinks=False):
            folders.sort()
            inside = Path(folder).relative_to(parts)
            for name in sorted(names):
                wanted = (inside / name).as_posix()
                facts = os.lstat(name, dir_fd=descriptor)
                if part_name(wanted) != wanted or not stat.S_ISREG(facts.st_mode):
                    continue
                left -= facts.st_size
                if left < 0:
                    raise ToolError("Its files are too large together.", fix="unpack the needed part by hand.")
                source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor)
                _copy(source, place, inside.parts, name, time)
                found.append(wanted)
    except OSError as error:
        raise _refused(target, error) from error
    finally:
        os.close(place)
    return found


def _refused(target: Path, error: OSError) -> ToolError:
    problem = f"Its files cannot be written into {target.name!r}: {error.strerror}."
    return ToolError(problem, fix="remove what stands there, or make room.")


def _copy(descriptor: int, target: int, inside: Sequence[str], name: str, time: int | None) -> None:
    """Copy a file, replacing any file in its place."""
    with os.fdopen(descriptor, "rb") as source, _opened(target, inside) as folder:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        made = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        with closing(os.fdopen(made, "wb")) as copy:
            shutil.copyfileobj(source, copy, _CHUNK)
            if time is not None:
                copy.flush()  # so that no later write moves the time
                os.utime(copy.fileno(), ns=(time, time))


@contextmanager
def _opened(target: int, inside: Sequence[str]) -> Generator[int]:
    """Open a folder below another, making it if missing."""
    descriptor = os.dup(target)
    try:
        for part in inside:
            with suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=descriptor)
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)
