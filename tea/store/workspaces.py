"""Workspaces: each run's own folder, with copies of its task's files."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from tea.errors import BadTask, Damaged, StorageError, exhausted
from tea.store.attempt_folders import ATTEMPTS
from tea.store.files import open_regular
from tea.store.scratch import PRIVATE_FILE, PRIVATE_FOLDER
from tea.store.strict import Refused
from tea.types import JsonObject

_FOLDER = "workspace"
_CHUNK = 2**20
_WITHOUT_SIZE = 2**24  # most bytes of a file that the system gives no size to, as those of /proc


class WorkspaceStore(Protocol):
    """A store of runs' files; its file methods block, so call those in a thread."""

    def home(self, run: str) -> Path:
        """Return the folder of all of a run's files, for people."""
        ...

    def path(self, run: str) -> Path:
        """Return the working folder of a run."""
        ...

    def prepare(self, folder: Path, files: Mapping[str, Path]) -> list[dict[str, Any]]:
        """Copy files into a new workspace, as the run's own permanent copies.

        Args:
            folder: The run's, while it is made.
            files: Paths by the name they get.

        Returns:
            Name, size in bytes and SHA-256 of each, for the journal.

        Raises:
            BadTask: A file cannot be read.
            StorageError: The workspace cannot be written.
        """
        ...

    def inherit(self, folder: Path, origin: str, inputs: Iterable[JsonObject]) -> list[dict[str, Any]]:
        """Copy another run's input files into a new workspace, replacing an existing one.

        Args:
            folder: The new run's.
            origin: The other run.
            inputs: What `prepare` returned for it.

        Raises:
            Damaged: A file is no longer what it was given.
            StorageError: The workspace cannot be written.
        """
        ...

    def carried(self, run: str, names: Iterable[str]) -> dict[str, Path]:
        """Return a run's files directly in its workspace, by name; no links, none if it is gone.

        Args:
            run: The run.
            names: Names of files, as its journal holds them.

        Raises:
            Damaged: The workspace is a link to elsewhere.
        """
        ...

    def written(self, run: str, inputs: Iterable[JsonObject]) -> Iterator[Path]:
        """Yield the files written by a run: all of its workspace but links and unchanged inputs; none if it is a link.

        Args:
            run: The run.
            inputs: What `prepare` returned for it.
        """
        ...

    def left(self, run: str, inputs: Iterable[JsonObject]) -> tuple[str, ...]:
        """Return the names of the files made by a run: written ones, but hidden and merely unpacked ones.

        Args:
            run: The run.
            inputs: What `prepare` returned for it.
        """
        ...

    def check(self, run: str) -> None:
        """Refuse a workspace leading elsewhere, as its content would differ from its record.

        Raises:
            Damaged: It is not a folder of its own.
        """
        ...


class FileWorkspaces:
    """A `WorkspaceStore` beside the journals.

    Args:
        root: The folder of the journals, usually `<home>/traces`.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def home(self, run: str) -> Path:
        """See `WorkspaceStore.home`."""
        return self._root / run

    def path(self, run: str) -> Path:
        """See `WorkspaceStore.path`."""
        return self._root / run / _FOLDER

    def prepare(self, folder: Path, files: Mapping[str, Path]) -> list[dict[str, Any]]:
        """See `WorkspaceStore.prepare`."""
        folder = folder / _FOLDER
        for name in files:
            if not _is_plain(name):
                problem = f"{name[:80]!r} is not a name of a file in a workspace."
                raise Damaged(problem, fix="use a name without folders.")
        try:
            folder.mkdir(PRIVATE_FOLDER)
        except OSError as error:
            problem = f"The workspace cannot be created: {error.strerror}."
            raise StorageError(problem, fix="choose a home you may write, with --home.") from error
        return [_copy(name, path, folder / name) for name, path in files.items()]

    def inherit(self, folder: Path, origin: str, inputs: Iterable[JsonObject]) -> list[dict[str, Any]]:
        """See `WorkspaceStore.inherit`."""
        given = list(inputs)
        self.check(origin)
        for name in (_FOLDER, ATTEMPTS):
            shutil.rmtree(folder / name, ignore_errors=True)
        try:
            copied = self.prepare(folder, {one["name"]: self.path(origin) / one["name"] for one in given})
        except BadTask as error:
            raise Damaged(f"Run {origin}: {error.problem}", fix="start its task again.") from error
        for before, now in zip(given, copied, strict=True):
            if before["sha256"] != now["sha256"]:
                problem = f"The file {now['name'][:80]!r} of run {origin} differs from the file given to the run."
                raise Damaged(problem, fix="bring it back, or start the task again.")
        return copied

    def carried(self, run: str, names: Iterable[str]) -> dict[str, Path]:
        """See `WorkspaceStore.carried`."""
        folder = self.path(run)
        if not os.path.lexists(folder):
            return {}
        self.check(run)
        paths = {name: folder / name for name in names if _is_plain(name)}
        return {name: path for name, path in paths.items() if path.is_file() and not path.is_symlink()}

    def inside(self, run: str, names: Iterable[str]) -> dict[str, Path]:
        """Return a run's files by name, also those in folders of its workspace; nothing is reached through links.

        Args:
            run: The run.
            names: Names of files, as its journal holds them.

        Raises:
            Damaged: The workspace is a link to elsewhere.
        """
        folder = self.path(run)
        if not os.path.lexists(folder):
            return {}
        self.check(run)
        there = {path.relative_to(folder).as_posix(): path for path in self.written(run, ())}
        return {name: there[name] for name in names if name in there}

    def written(self, run: str, inputs: Iterable[JsonObject]) -> Iterator[Path]:
        """See `WorkspaceStore.written`."""
        root = self.path(run)
        given = {root / one["name"]: one for one in inputs}
        for folder, _, names in () if root.is_symlink() else os.walk(root):
            for path in (Path(folder, name) for name in sorted(names)):
                if path.is_symlink() or not path.is_file():  # also in the place of an input
                    continue
                one = given.get(path)
                if one is None or path.stat().st_size != one["bytes"] or _digest(path) != one["sha256"]:
                    yield path

    def left(self, run: str, inputs: Iterable[JsonObject]) -> tuple[str, ...]:
        """See `WorkspaceStore.left`."""
        folder, given = self.path(run), list(inputs)
        unpacked = {f"{one['name']}.d": folder / one["name"] for one in given}
        found: list[str] = []
        for path in self.written(run, given):
            name = path.relative_to(folder)
            hidden = any(part.startswith(".") for part in name.parts)
            if not hidden and not _is_of(path, unpacked.get(name.parts[0])):
                found.append(name.as_posix())
        return tuple(sorted(found))

    def check(self, run: str) -> None:
        """See `WorkspaceStore.check`."""
        folder = self.path(run)
        if folder.is_symlink() or not folder.is_dir():
            problem = f"The workspace of run {run} is gone, or a link to elsewhere."
            raise Damaged(problem, fix="bring its folder back, or start the task again.")


def _is_plain(name: str) -> bool:
    """Return whether a name is one part of a path, so it leads nowhere else."""
    return name not in ("", ".", "..") and not {"/", "\0"} & set(name)


def _is_of(path: Path, archive: Path | None) -> bool:
    """Return whether a file is as it was taken out of an archive: it has the archive's time."""
    return archive is not None and archive.is_file() and path.stat().st_mtime_ns == archive.stat().st_mtime_ns


def _copy(name: str, source: Path, target: Path) -> dict[str, Any]:
    """Copy a file as it is when it is opened, and return its name, size and digest."""
    digest, copied = hashlib.sha256(), 0
    with closing(_parts(name, source)) as parts:
        try:
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE_FILE)
            with os.fdopen(descriptor, "wb") as copy:
                for part in parts:
                    copy.write(part)
                    digest.update(part)
                    copied += len(part)
        except OSError as error:
            problem = f"{name[:80]!r} cannot be copied"
            lack = exhausted(error, problem)
            raise lack or StorageError(f"{problem}: {error.strerror}.", fix="check the disk of the home.") from error
    return {"name": name, "bytes": copied, "sha256": digest.hexdigest()}


def _parts(name: str, source: Path) -> Generator[bytes]:
    """Yield the content of a file after its opening; one without a size by the system ends, or is refused."""
    try:
        descriptor = open_regular(source)
        try:
            size = os.fstat(descriptor).st_size
            left = size or _WITHOUT_SIZE
            while part := os.read(descriptor, min(left, _CHUNK) if size else _CHUNK):
                left -= len(part)
                if left < 0:
                    raise Refused(f"it has no size, and more than {_WITHOUT_SIZE:,} bytes")
                yield part
        finally:
            os.close(descriptor)
    except OSError as error:
        problem = f"The file {name[:80]!r} cannot be read"
        lack = exhausted(error, problem)
        raise lack or BadTask(f"{problem}: {error.strerror}.", fix="check its permissions.") from error
    except Refused as reason:
        raise BadTask(f"The file {name[:80]!r} cannot be used: {reason}.", fix="name a regular file.") from reason


def _digest(path: Path) -> str:
    with path.open("rb") as reading:
        return hashlib.file_digest(reading, "sha256").hexdigest()
