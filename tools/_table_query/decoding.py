"""Bytes of a file to text, with the fitting encoding."""

import os
from pathlib import Path

from tea import ToolError, open_resolved
from tea.reading import utf_16_of

MOST_BYTES = 200_000_000


def decoded(data: bytes, name: str) -> tuple[str, str]:
    """Return the text of bytes, with its encoding: UTF-8, UTF-16, else Windows Latin.

    Args:
        data: The file's bytes.
        name: The user's name for it, for messages.

    Raises:
        ToolError: It is not text.
    """
    if wide := utf_16_of(data):
        return data.decode(wide, errors="replace"), wide
    if b"\x00" in data[:100_000]:
        raise ToolError(f"{name!r} is a binary file.", fix="name a CSV, TSV, JSON, XLSX or ODS file.")
    try:
        return data.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), "cp1252"


def read_bytes(path: Path, name: str) -> bytes:
    """Return a file's bytes, within the size limit.

    Raises:
        ToolError: It cannot be read, or it is too large.
    """
    try:
        with open_resolved(path) as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                raise ToolError(f"{name!r} is larger than {MOST_BYTES // 10**6} MB.", fix="split the file.")
            return file.read()
    except OSError as error:
        raise ToolError(f"{name!r} cannot be read: {error.strerror}.", fix="check the file.") from error
