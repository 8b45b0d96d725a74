"""Bytes of a text file to lines, with the encoding that fits."""

from dataclasses import dataclass
from pathlib import Path

from tea import ToolError

MOST_BYTES = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A file's lines, and how they were read."""

    lines: list[str]
    read_as: str


def read_text(path: Path, name: str) -> Text:
    """Return a text file's lines: UTF-8, UTF-16 with a mark, else Windows Latin.

    Args:
        path: The file.
        name: What its user calls it, for messages.

    Raises:
        ToolError: There is no such file, it is too large, or it is not text.
    """
    data = file_bytes(path, name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Text(lines=data.decode("utf-16", errors="replace").splitlines(), read_as="utf-16")
    if b"\x00" in data[:100_000]:
        raise ToolError(f"{name!r} is a binary file.", fix="name a text, PDF, DOCX or PPTX file.")
    try:
        return Text(lines=data.decode("utf-8-sig").splitlines(), read_as="utf-8")
    except UnicodeDecodeError:
        return Text(lines=data.decode("cp1252", errors="replace").splitlines(), read_as="windows-1252")


def file_bytes(path: Path, name: str) -> bytes:
    """Return a regular file's bytes, within the size limit.

    Raises:
        ToolError: There is no such file, it cannot be read, or it is too large.
    """
    try:
        if not path.is_file():
            raise ToolError(f"There is no file {name!r}.", fix="name a file of the workspace.")
        if path.stat().st_size > MOST_BYTES:
            raise ToolError(f"{name!r} is larger than {MOST_BYTES // 10**6} MB.", fix="split the file.")
        return path.read_bytes()
    except OSError as error:
        raise ToolError(f"{name!r} cannot be read: {error.strerror}.", fix="check the file.") from error
