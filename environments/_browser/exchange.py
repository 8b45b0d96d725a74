"""Exchange: files copied between a workspace and a browser; no link put there meanwhile is followed."""

import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from tea import RootedFolder, ToolError, open_resolved

MOST_DOWNLOAD = 500_000_000
_MOST_NAMES = 1_000
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
_CHUNK = 1 << 20


def lent(path: Path, uploads: Path) -> Path:
    """Copy a file of a workspace into a new folder for the browser, and return the path of the copy.

    Args:
        path: It is absolute, and has no links.
        uploads: Where the folder is made.

    Raises:
        ToolError: It cannot be read.
    """
    name = f"{secrets.token_hex(8)}/{path.name}"
    try:
        with open_resolved(path) as given, RootedFolder(uploads) as folder:
            folder.write(name, _pieces(given))
    except OSError as error:
        raise ToolError(
            f"{path.name!r} cannot be copied for the browser: {error.strerror}.", fix="check the file."
        ) from error
    return uploads / name


def received(download: Path, workspace: str, wished: str, *, whole: bool) -> dict[str, Any]:
    """Move a download to the first free name of a workspace like a wished one; return name and size, or the problem.

    Args:
        download: Where the browser put it.
        workspace: Where it goes.
        wished: Its name there.
        whole: Whether the browser says that it is complete.

    Raises:
        ToolError: All such names are taken, or the workspace refuses.
    """
    with RootedFolder(download.parent) as folder:
        size = _size(folder, download.name) if whole else None
        if size is None:
            return {"problem": "it was not completed"}
        if size > MOST_DOWNLOAD:
            folder.remove(download.name)
            return {"problem": f"it has more than {MOST_DOWNLOAD:,} bytes"}
        try:
            with folder.reading(download.name) as given:
                name = _kept(given, workspace, wished)
            folder.remove(download.name)
        except OSError as error:
            raise ToolError(f"{wished!r} cannot be saved: {error.strerror}.", fix="check the workspace.") from error
    return {"name": name, "size": size}


def plain(wished: str) -> str:
    """Return the name of a file like one that a page wished for."""
    return _UNSAFE.sub("_", wished).strip(". ")[-120:] or "download"


def _kept(file: BinaryIO, workspace: str, wished: str) -> str:
    stem, dot, ending = wished.rpartition(".")
    begin, end = (stem, f".{ending}") if dot and not stem.endswith("/") else (wished, "")
    with RootedFolder(workspace) as files:
        for number in range(1, _MOST_NAMES):
            name = wished if number == 1 else f"{begin}-{number}{end}"
            if files.status(name) is None:
                file.seek(0)
                with suppress(FileExistsError):  # it came in between
                    files.write(name, _pieces(file), replace=False)
                    return name
    raise ToolError(f"There are {_MOST_NAMES:,} files like {wished!r}.", fix="move some of them away.")


def _size(folder: RootedFolder, name: str) -> int | None:
    """Return the size of a regular file, None if there is none in the folder."""
    try:
        found = folder.status(name)
    except (OSError, ToolError):
        return None
    return found.st_size if found is not None and stat.S_ISREG(found.st_mode) else None


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_CHUNK):
        yield piece
