"""The workspace of a run: a folder of its own, with copies of the task's files."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tea.errors import BadTask, StorageError

FOLDER = "workspace"


def prepare(folder: Path, files: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Copy files into a new workspace, so that what a run works on is its own and stays.

    Args:
        folder: The workspace to create.
        files: Paths by the name they get.

    Returns:
        Name, size in bytes and SHA-256 of each, for the journal.

    Raises:
        BadTask: A file cannot be read.
        StorageError: The workspace cannot be written.
    """
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        problem = f"The workspace cannot be created: {error.strerror}."
        raise StorageError(problem, fix="choose a home you may write, with --home.") from error
    return [_copy(name, path, folder / name) for name, path in files.items()]


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
