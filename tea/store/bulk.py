"""Bulk writes: many folders, and large files, with one wait for the disk."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tea.errors import BadInput, Conflict
from tea.store.files import publish, write_all, writing
from tea.store.scratch import PUBLIC_FILE, PUBLIC_FOLDER, Scratch, sync_folder
from tea.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A component's complete content in a registry.

    Args:
        kind: The kind.
        name: The name.
        versions: Documents by version.
        heads: Documents of its heads, the first one first.
    """

    kind: str
    name: str
    versions: Mapping[str, JsonObject]
    heads: tuple[JsonObject, ...]


def place(folders: Mapping[Path, Mapping[str, bytes]], scratch: Scratch) -> None:
    """Create folders with their files, each at once as a whole.

    What was not placed when something fails is not there at all; what was stays.

    Args:
        folders: Files by relative path, `folder/file`, for each new folder.
        scratch: Where they are written first; on the same disk.

    Raises:
        Conflict: One of the folders is there already.
        StorageError: They cannot be written.
    """
    if not folders:
        return
    with writing(next(iter(folders))), scratch.folder() as temporary:
        for number, files in enumerate(folders.values()):
            folder = f"{temporary}/{number}"  # text, since paths would take a tenth of the time
            os.mkdir(folder, PUBLIC_FOLDER)
            fill(folder, files, durable=False)
        os.sync()  # one wait for all files, where a wait for each would take minutes
        for number, target in enumerate(folders):
            scratch.settle(target.parent)
            if not publish(temporary / str(number), target):
                raise Conflict(f"{target.name!r} was made by someone else at the same time.", fix="try again.")
        for parent in {target.parent for target in folders}:
            sync_folder(parent)


def fill(folder: Path | str, files: Mapping[str, bytes], *, durable: bool) -> None:
    """Write the files of one component into a new folder of its own.

    Args:
        folder: The folder, which is there and empty.
        files: The files by relative path, `versions/file` or `heads/file`.
        durable: Whether to wait for the disk, for files of versions; otherwise the caller does, for all at once.

    Raises:
        OSError: The system refuses.
    """
    for name in ("versions", "heads"):
        os.mkdir(f"{folder}/{name}", PUBLIC_FOLDER)
    for path, data in files.items():
        descriptor = os.open(f"{folder}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, PUBLIC_FILE)
        try:
            write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    if durable:
        sync_folder(Path(folder) / "versions")
        sync_folder(Path(folder))


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to a file named by a person, whole and durable.

    Raises:
        BadInput: Something that is not a file has that name.
        StorageError: It cannot be written; `path` is what it was.
    """
    if path.exists() and not path.is_file():
        raise BadInput(f"{str(path)[-150:]!r} is not a file.", fix="name a file.")
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    with writing(path):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PUBLIC_FILE)
        try:
            try:
                write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(temporary, path)
            sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
