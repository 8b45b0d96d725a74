"""Attempt folders: the workspaces of several attempts at one task, beside their run's workspace."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tea.errors import StorageError, exhausted
from tea.store.scratch import PRIVATE_FOLDER

ATTEMPTS = "attempts"


def attempt_folder(workspace: Path, name: str = "") -> Path:
    """Return the folder of an attempt of the run with a workspace; without a name, the one around all of them."""
    return workspace.with_name(ATTEMPTS) / name


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder to a place without one; an existing copy stays unchanged.

    Raises:
        StorageError: It cannot be read or written.
    """
    if target.is_dir():
        return
    part = target.with_name(f".{target.name}")
    with _changing(target):
        shutil.rmtree(part, ignore_errors=True)
        target.parent.mkdir(PRIVATE_FOLDER, exist_ok=True)
        shutil.copytree(source, part, symlinks=True)
        part.rename(target)


def mirror_folder(source: Path, target: Path) -> None:
    """Make the files of a folder those of another one; interrupted, it is done by being done again.

    Only regular files and links are taken over, and a source that is gone changes nothing.

    Raises:
        StorageError: It cannot be read or written.
    """
    if not source.is_dir():
        return
    with _changing(target):
        kept = set[Path]()
        for folder, folders, names in os.walk(source):
            for path in (Path(folder, name) for name in (*folders, *names)):
                kept.add(path.relative_to(source))
                _mirror(path, target / path.relative_to(source))
        for folder, folders, names in os.walk(target, topdown=False):
            for path in (Path(folder, name) for name in (*folders, *names)):
                if path.relative_to(target) not in kept:
                    _remove(path)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all its contents, if there is one.

    Raises:
        StorageError: It cannot be removed.
    """
    with _changing(folder):
        if os.path.lexists(folder):
            _remove(folder)


def _mirror(path: Path, target: Path) -> None:
    """Copy one file, link or folder."""
    if path.is_dir() and not path.is_symlink():
        if target.is_symlink() or not target.is_dir():
            _remove(target)
            target.mkdir(PRIVATE_FOLDER)
    elif path.is_symlink():
        _remove(target)
        target.symlink_to(os.readlink(path))
    elif path.is_file() and not _is_same(path, target):
        _remove(target)
        shutil.copy2(path, target, follow_symlinks=False)


def _is_same(path: Path, target: Path) -> bool:
    return target.is_file() and not target.is_symlink() and filecmp.cmp(path, target, shallow=False)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _changing(folder: Path) -> Generator[None]:
    """Raise StorageError for any failure of the file system with a folder."""
    problem = f"The folder {folder.name[:80]!r} of an attempt cannot be changed"
    try:
        yield
    except OSError as error:
        lack = exhausted(error, problem)
        raise lack or StorageError(f"{problem}: {error}.", fix="check the disk of the home.") from error
