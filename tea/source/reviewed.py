"""Reviewed: the source last shown to this account for each component, in the operator's own state."""

from __future__ import annotations

import os
from pathlib import Path

from tea.errors import StorageError
from tea.refs import Ref
from tea.store.access import read_own
from tea.store.scratch import make_private
from tea.store.strict import Refused

_FILE, _LIMIT = "reviewed", 2**24
_UNREVIEWED = ""  # in the place of a digest: another source is being shown, or was not shown to its end


class Reviewed:
    """The shown digests, a line each; the last line of a component counts.

    Args:
        folder: The operator's state.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def last(self, ref: Ref) -> str | None:
        """Return the digest of a component's source shown last, None if there is none.

        Raises:
            StorageError: The file cannot be read.
        """
        try:
            lines = read_own(self._path, _LIMIT).decode("utf-8", "replace").split("\n")
        except FileNotFoundError:
            return None
        except (OSError, Refused) as error:
            problem = f"The list of what was reviewed, {str(self._path)[-150:]!r}, cannot be read: {error}."
            raise StorageError(problem, fix="set TEA_STATE to a folder you may read, or remove the file.") from error
        start = f"{ref.at(None)} "
        return next((line.removeprefix(start) for line in reversed(lines) if line.startswith(start)), None)

    def begin(self, ref: Ref, digest: str) -> None:
        """Record the beginning of a showing: no other source counts as shown last.

        Raises:
            StorageError: The file cannot be written.
        """
        try:
            last = self.last(ref)
        except StorageError:  # nobody can be told what it says
            return
        if last not in (None, digest):
            self.add(ref, _UNREVIEWED)

    def add(self, ref: Ref, digest: str) -> None:
        """Record the showing of a source.

        Raises:
            StorageError: The file cannot be read or written.
        """
        if self.last(ref) == digest:
            return
        try:
            make_private(self._path.parent)
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            try:
                os.write(handle, f"{ref.at(None)} {digest}\n".encode())
            finally:
                os.close(handle)
        except OSError as error:
            problem = f"The list of what was reviewed, {str(self._path)[-150:]!r}, cannot be written: {error.strerror}."
            raise StorageError(problem, fix="set TEA_STATE to a folder you may write.") from error
