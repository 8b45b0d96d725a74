"""Workspaces: the folder that each run has for itself, with copies of its task's files."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tea.errors import BadTask, Damaged, StorageError
from tea.types import JsonObject

_FOLDER = "workspace"


class WorkspaceStore(Protocol):
    """Where runs keep their files; the methods that touch them block, so call those in a thread."""

    def home(self, run: str) -> Path:
        """Return where all that a run left lies, for people."""
        ...

    def path(self, run: str) -> Path:
        """Return the folder that a run works in."""
        ...

    def prepare(self, run: str, files: Mapping[str, Path]) -> list[dict[str, Any]]:
        """Copy files into a new workspace, so that what a run works on is its own and stays.

        Args:
            run: The run.
            files: Paths by the name they get.

        Returns:
            Name, size in bytes and SHA-256 of each, for the journal.

        Raises:
            BadTask: A file cannot be read.
            StorageError: The workspace cannot be written.
        """
        ...

    def inherit(self, run: str, origin: str, inputs: Iterable[JsonObject]) -> list[dict[str, Any]]:
        """Copy what another run was given into a new workspace.

        Args:
            run: The new run.
            origin: The other run.
            inputs: What `prepare` returned for it.

        Raises:
            Damaged: A file is no longer what it was given.
            StorageError: The workspace cannot be written.
        """
        ...

    def check(self, run: str) -> None:
        """Refuse a workspace that leads elsewhere: what was recorded of it would not be what is there.

        Raises:
            Damaged: It is no folder of its own.
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

    def prepare(self, run: str, files: Mapping[str, Path]) -> list[dict[str, Any]]:
        """See `WorkspaceStore.prepare`."""
        folder = self.path(run)
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            problem = f"The workspace cannot be created: {error.strerror}."
            raise StorageError(problem, fix="choose a home you may write, with --home.") from error
        return [_copy(name, path, folder / name) for name, path in files.items()]

    def inherit(self, run: str, origin: str, inputs: Iterable[JsonObject]) -> list[dict[str, Any]]:
        """See `WorkspaceStore.inherit`."""
        given = list(inputs)
        self.check(origin)
        try:
            copied = self.prepare(run, {one["name"]: self.path(origin) / one["name"] for one in given})
        except BadTask as error:
            raise Damaged(f"Run {origin}: {error.problem}", fix="start its task again.") from error
        for before, now in zip(given, copied, strict=True):
            if before["sha256"] != now["sha256"]:
                problem = f"The file {now['name'][:80]!r} of run {origin} is not what the run was given."
                raise Damaged(problem, fix="bring it back, or start the task again.")
        return copied

    def check(self, run: str) -> None:
        """See `WorkspaceStore.check`."""
        folder = self.path(run)
        if folder.is_symlink() or not folder.is_dir():
            problem = f"The workspace of run {run} is gone, or a link to elsewhere."
            raise Damaged(problem, fix="bring its folder back, or start the task again.")


def _copy(name: str, source: Path, target: Path) -> dict[str, Any]:
    try:
        with source.open("rb") as reading:
            digest = hashlib.file_digest(reading, "sha256").hexdigest()
    except OSError as error:
        problem = f"The file {name[:80]!r} cannot be read: {error.strerror}."
        raise BadTask(problem, fix="check its permissions.") from error
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise StorageError(f"{name[:80]!r} cannot be copied: {error.strerror}.", fix="free some space.") from error
    return {"name": name, "bytes": target.stat().st_size, "sha256": digest}
