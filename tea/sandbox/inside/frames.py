"""Frames: JSON messages over a pipe, each behind its length."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 16 << 20
HEAD = 4


class Broken(Exception):
    """The end of the other side, or bytes other than a message from it."""


def encode(message: object) -> bytes:
    """Return a message as bytes, its length first."""
    data = json.dumps(message).encode("ascii")
    return len(data).to_bytes(HEAD, "big") + data


def length(head: bytes, most: int = MOST) -> int:
    """Return how many bytes follow a head.

    Raises:
        Broken: It announces more than `most`.
    """
    found = int.from_bytes(head, "big")
    if found > most:
        raise Broken(f"a message of {found} bytes")
    return found


def decode(data: bytes) -> dict[str, Any]:
    """Return the message in the bytes behind a head.

    Raises:
        Broken: They are not a JSON object.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Broken("no JSON") from error
    if not isinstance(found, dict):
        raise Broken("no object")
    return found  # pyright: ignore[reportUnknownVariableType]


def write(handle: int, message: object) -> None:
    """Write one message, all of it."""
    left = memoryview(encode(message))
    while left:
        left = left[os.write(handle, left) :]


def read(handle: int) -> dict[str, Any]:
    """Read one message, and wait for it.

    Raises:
        Broken: The other side ended, or sent what is not a message.
    """
    return decode(_exactly(handle, length(_exactly(handle, HEAD))))


def _exactly(handle: int, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = os.read(handle, min(count, 1 << 20))
        if not part:
            raise Broken("the end")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
