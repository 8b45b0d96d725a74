"""Blobs: bytes kept under their digest beside a journal, verified on every read."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tea.errors import BadInput
from tea.refs import is_digest
from tea.store.files import damaged, read_regular, reading, write_over, writing
from tea.store.scratch import Scratch
from tea.store.strict import Refused

BLOB_LIMIT = 2**30
_TYPE_LIMIT = 255


class Blobs(Protocol):
    """A store for the large values of a run. The methods block: call them in a thread."""

    def put(self, data: bytes, media_type: str) -> str:
        """Keep `data`, durably, and return its digest `sha256:…`; the same bytes are kept once.

        Raises:
            BadInput: The media type is not one short line, or the data exceeds 1 GiB.
            StorageError: It cannot be written.
        """
        ...

    def get(self, digest: str) -> bytes:
        """Return the bytes with the given digest.

        Raises:
            Damaged: They are missing, or not what was put.
        """
        ...

    def media_type(self, digest: str) -> str:
        """Return the media type those bytes were first stored with."""
        ...


class FileBlobs:
    """Blobs in a folder, at `<aa>/<hex>` with the media type beside it in `<aa>/<hex>.type`.

    Args:
        folder: Usually `traces/<run>/blobs`; created when the first blob is put.
        scratch: Scratch of the store that the folder belongs to.
    """

    def __init__(self, folder: Path, scratch: Scratch) -> None:
        self._folder = folder
        self._scratch = scratch
        self._settled: set[str] = set()

    def put(self, data: bytes, media_type: str) -> str:
        """See `Blobs.put`."""
        if not (media_type.isprintable() and media_type.isascii() and 0 < len(media_type) <= _TYPE_LIMIT):
            raise BadInput(f"{media_type[:80]!r} is not a media type.", fix="write one such as image/png.")
        if len(data) > BLOB_LIMIT:
            raise BadInput(f"A blob of {len(data):,} bytes is too large.", fix=f"keep it below {BLOB_LIMIT:,} bytes.")
        digest = _digest(data)
        path = self._path(digest)
        if not _holds(path, data):
            with writing(path):
                self._scratch.settle(path.parent, self._settled)
            write_over(path.with_suffix(".type"), media_type.encode("ascii"), self._scratch)
            write_over(path, data, self._scratch)
        return digest

    def get(self, digest: str) -> bytes:
        """See `Blobs.get`."""
        path = self._path(digest)
        data = _read(path, BLOB_LIMIT)
        if _digest(data) != digest:
            raise damaged(path, "its bytes do not have its digest")
        return data

    def media_type(self, digest: str) -> str:
        """See `Blobs.media_type`."""
        return _read(self._path(digest).with_suffix(".type"), _TYPE_LIMIT).decode("ascii", "replace")

    def _path(self, digest: str) -> Path:
        if not is_digest(digest):
            raise BadInput(f"{digest[:80]!r} is not a digest.", fix="write sha256:<64 hex digits>.")
        name = digest.removeprefix("sha256:")
        return self._folder / name[:2] / name


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _holds(path: Path, data: bytes) -> bool:
    with suppress(OSError, Refused):
        return read_regular(path, len(data)) == data
    return False


def _read(path: Path, limit: int) -> bytes:
    with reading(path):
        return read_regular(path, limit)
