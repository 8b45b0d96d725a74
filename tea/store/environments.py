"""The data kept by environments in sessions: one file for each session and environment, and folders.

A file is replaced as a whole, sealed and durable before the call returns, so a process that dies leaves the state
before or the one after. A folder stands beside the file that says which session it belongs to.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from tea.errors import Damaged, StorageError
from tea.store.files import shown, write_over, writing
from tea.store.scratch import Scratch
from tea.store.sealed import sealed, unsealed
from tea.store.turn import claim
from tea.types import JsonObject, JsonValue

SUFFIX = ".json"


class FileEnvironments:
    """A store of one document for each session and environment; every method but `claim` blocks.

    Args:
        root: The folder; created with the first document.
        mark: Gives the names of folders from what they are for. What lies in them is taken back into files of the
            person, so nobody else may know where to put something.
    """

    def __init__(self, root: Path, mark: Callable[[JsonValue], str]) -> None:
        self._root, self._mark = root, mark
        self._scratch = Scratch(root.parent, private=True)

    def read(self, session: str, environment: str) -> dict[str, Any] | None:
        """Return the document of an environment in a session, None if there is none.

        Raises:
            Damaged: The file is not what was written.
            StorageError: It cannot be read.
        """
        path = self._path(session, environment)
        return unsealed(path)["kept"] if path.exists() else None

    def write(self, session: str, environment: str, document: JsonObject) -> None:
        """Replace the document of an environment in a session; call it with the turn.

        Raises:
            BadInput: The document is not JSON, or larger than 16 MiB.
            StorageError: It cannot be written; the one before stands.
        """
        self._write(self._path(session, environment), session, environment, document)

    def folder(self, session: str, environment: str, place: str) -> Path:
        """Return the folder of an environment in a session, for one place of its actions; made if it is missing.

        Raises:
            StorageError: It cannot be made.
            Damaged: A link stands in its place, and may lead out of the home.
        """
        name = f"{environment}:{place}"
        path = self._root / f"environment-{self._mark({'folder': name, 'session': session})}{SUFFIX}"
        folder = path.with_suffix("")
        if folder.is_symlink():
            raise Damaged(f"{shown(folder)} is a link, and no folder of a session.", fix="remove it.")
        if not folder.is_dir():
            self._write(path, session, name, {"folder": place})
            with writing(folder):
                self._scratch.make(folder)
        return folder

    def claim(self, session: str, environment: str) -> Callable[[], None] | None:
        """Claim the turn of an environment in a session and return its release, None if another process has it.

        It never waits, and the turn ends with the process at the latest.

        Raises:
            StorageError: It cannot be written.
        """
        path = self._path(session, environment).with_suffix(".lock")
        with writing(path):
            self._scratch.make(self._root)
        return claim(path)

    def forget(self, sessions: Container[str]) -> None:
        """Remove the documents and folders of sessions permanently; a damaged one is left alone.

        Raises:
            StorageError: One cannot be removed.
        """
        for path in self._of(sessions):
            with writing(path):
                if (folder := path.with_suffix("")).is_symlink():
                    folder.unlink()
                elif folder.is_dir():
                    shutil.rmtree(folder)
                path.unlink(missing_ok=True)

    def holds(self, session: str) -> bool:
        """Return whether an environment keeps something in a session."""
        return any(True for _ in self._of({session}))

    def _write(self, path: Path, session: str, environment: str, document: JsonObject) -> None:
        data = sealed({"session": session, "environment": environment, "kept": document})
        with writing(path):
            self._scratch.make(self._root)
        write_over(path, data, self._scratch)

    def _of(self, sessions: Container[str]) -> Iterator[Path]:
        for path in sorted(self._root.glob(f"*{SUFFIX}")):
            session = _session(path)
            if session is not None and session in sessions:
                yield path

    def _path(self, session: str, environment: str) -> Path:
        """Return the file; its name has no part of a session's, possibly as long as a name can be."""
        name = sha256(f"{environment}/{session}".encode("utf-8", "surrogatepass")).hexdigest()
        return self._root / f"environment-{name}{SUFFIX}"


def _session(path: Path) -> str | None:
    """Return the session of a file; None if the file is damaged or was removed."""
    with suppress(StorageError):
        return unsealed(path)["session"]
    return None
