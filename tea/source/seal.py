"""Seal: a mark of this account on contents of a home, made with a key in the operator's own state."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from hmac import compare_digest, new
from pathlib import Path

from tea.source.trust import state_folder
from tea.store.access import read_own
from tea.store.scratch import PRIVATE_FILE, make_private
from tea.store.strict import Refused, dumps
from tea.types import JsonObject, JsonValue

MARK = "mark"  # the name under which marks are written
_FILE, _BYTES, _MARKED = "seal", 32, 64  # bytes of the key, and signs of a mark


class Seal:
    """A maker of keyed marks: access to the home alone can neither make one nor move it to other data.

    Args:
        folder: The operator's state; the usual folder by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._path = (folder or state_folder()) / _FILE

    def __call__(self, data: JsonValue) -> str:
        """Return the mark of JSON data, as 64 hex digits."""
        return new(self._key, dumps(data, sort_keys=True), sha256).hexdigest()

    def made(self, mark: object, data: JsonValue) -> bool:
        """Return whether this account made a mark of JSON data."""
        return isinstance(mark, str) and len(mark) == _MARKED and mark.isascii() and compare_digest(mark, self(data))

    @cached_property
    def _key(self) -> bytes:
        """The key of this account; one of this process alone if the state cannot be read or written."""
        with suppress(OSError, Refused):
            if not self._path.exists():
                self._write()
            if len(key := read_own(self._path, _BYTES)) == _BYTES:
                return key
        return secrets.token_bytes(_BYTES)

    def _write(self) -> None:
        """Write a new key, whole, unless another process has written one."""
        make_private(self._path.parent)
        draft = self._path.with_name(f"{_FILE}.{secrets.token_hex(8)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        try:
            os.write(handle, secrets.token_bytes(_BYTES))
            os.fsync(handle)
            with suppress(FileExistsError):
                os.link(draft, self._path)
        finally:
            os.close(handle)
            draft.unlink()


def unmarked(data: JsonObject) -> JsonObject:
    """Return data without its mark."""
    return {name: value for name, value in data.items() if name != MARK}
