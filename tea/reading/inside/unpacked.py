"""Unpacked: bytes of archives, counted while they are decompressed and before any parser sees them."""

from __future__ import annotations

import zipfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import IO

from tea.reading.inside.document import Unreadable

MOST_BYTES = 100_000_000
MOST_PARTS = 20_000
MOST_RATIO = 1_000  # of all bytes, from a megabyte on; texts compress up to some hundred times
_CHUNK = 1 << 16
_LEAST = 1_000_000


class Counter:
    """A count of decompressed bytes.

    Args:
        most: How many there may be.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.left = most
        self._most = most

    def take(self, number: int) -> None:
        """Count bytes.

        Raises:
            Unreadable: There are too many.
        """
        self.left -= number
        if self.left < 0:
            raise too_large(self._most)

    def read(self, stream: IO[bytes]) -> bytes:
        """Return the whole content of a stream.

        Raises:
            Unreadable: It gives too much.
        """
        parts = list[bytes]()
        while part := stream.read(_CHUNK):
            self.take(len(part))
            parts.append(part)
        return b"".join(parts)


def too_large(most: int) -> Unreadable:
    """Return the refusal of an archive with too much unpacked content."""
    return Unreadable(f"unpacks to more than {most // 1_000_000} MB", "unpack the needed part by hand, and name that.")


@contextmanager
def opened_zip(order_path: object, most: int = MOST_BYTES) -> Generator[zipfile.ZipFile]:
    """Open a ZIP archive after counting its parts; the library gives no more of a part than declared in it.

    Raises:
        Unreadable: It is damaged, encrypted or a bomb.
    """
    try:
        archive = zipfile.ZipFile(order_path)  # pyright: ignore[reportArgumentType, reportCallIssue]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable(f"is a damaged archive: {error}", "check the file, or get it again.") from error
    with archive:
        check(archive.infolist(), most)
        yield archive


def check(parts: Iterable[zipfile.ZipInfo], most: int = MOST_BYTES) -> None:
    """Refuse too many parts, too many bytes, and encrypted parts.

    Raises:
        Unreadable: There are.
    """
    size = packed = 0
    for number, part in enumerate(parts):
        size, packed = size + part.file_size, packed + part.compress_size
        if number >= MOST_PARTS:
            raise Unreadable(f"has more than {MOST_PARTS:,} parts", "unpack the needed part by hand, and name that.")
        if part.flag_bits & 1:
            raise Unreadable("is encrypted", "give a copy without a password.")
    if size > most or (size > _LEAST and size > MOST_RATIO * max(1, packed)):
        raise too_large(most)
