"""Decoding: decompressing a server's answer piece by piece, with a limit against decompression bombs."""

from __future__ import annotations

import zlib
from typing import Any

ACCEPTED = "gzip, deflate"

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_MOST_MEMBERS = 1_000


class Undecodable(Exception):
    """The bytes do not match their `Content-Encoding`, or its encoding was not requested."""


class Decoder:
    """A decoder of a body's `Content-Encoding`, up to a limit of bytes.

    Args:
        encoding: The header's value.
        most: How many bytes it gives at most.

    Raises:
        Undecodable: The header names another encoding than gzip and deflate, or several.
    """

    def __init__(self, encoding: str, most: int) -> None:
        names = [one.strip().lower() for one in encoding.split(",")]
        self._names = [one for one in names if one not in ("", "identity")]
        if len(self._names) > 1 or not set(self._names) <= {"gzip", "x-gzip", "deflate"}:
            raise Undecodable(f"the encoding {encoding[:60]!r} was not asked for")
        self._gzip = self._names != ["deflate"]
        self._left, self._members = most, 0
        self._unpack: Any = None
        self.full = False

    def feed(self, data: bytes) -> bytes:
        """Return the decoded form of the body's next bytes; empty beyond the limit, with `full` set.

        Raises:
            Undecodable: They are not what the header says.
        """
        if self.full:
            return b""
        found = data if not self._names else self._unpacked(data)
        if len(found) > self._left:
            found, self.full = found[: self._left], True
        self._left -= len(found)
        return found

    def _unpacked(self, data: bytes) -> bytes:
        found = bytearray()
        while data and len(found) <= self._left:
            if self._unpack is None or self._unpack.eof:
                if self._unpack is not None and not (self._gzip and data.startswith(b"\x1f\x8b")):
                    break  # what follows the last member counts for nothing
                self._unpack = self._begun(data)
            try:
                found += self._unpack.decompress(data, self._left + 1 - len(found))
            except zlib.error as error:
                raise Undecodable(f"the body is not {self._names[0]}") from error
            data = self._unpack.unused_data if self._unpack.eof else self._unpack.unconsumed_tail
        return bytes(found)

    def _begun(self, data: bytes) -> Any:
        """Return a decompressor for a member beginning with these bytes."""
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise Undecodable("the body has too many parts")
        if self._gzip:
            return zlib.decompressobj(_GZIP)
        # Servers send both the zlib format, as they should, and deflate without its header.
        zlib_format = data[0] & 0x0F == 8 and (len(data) < 2 or (data[0] * 256 + data[1]) % 31 == 0)
        return zlib.decompressobj(_ZLIB if zlib_format else _RAW)
