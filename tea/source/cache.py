"""SourceCache: the results of checking and compiling texts, kept between processes beside the list of trust.

It counts for the very texts it was made of, one Python and pydantic, and one state of the files that make it: the seal
of a file covers all these beside the value, so one that is damaged, or lies in another's place, does not count. Nor
does one that another account owns or may write. What does not count is made anew.
"""

from __future__ import annotations

import marshal
import os
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any

from pydantic import VERSION

from tea.store.access import read_own
from tea.store.files import keep_private
from tea.store.strict import Refused

_FOLDER, _SUFFIX = "kept", ".bin"
_MOST = 1024  # files; those longest unused go
_SEAL, _LIMIT = 32, 2**26
_MAKERS = tuple(Path(__file__).parent.parent / room for room in ("components", "source", "prompts"))


class SourceCache:
    """A cache of plain values and code, by their texts; unreadable or unwritable entries are skipped.

    Args:
        folder: The operator's state; without one nothing is kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder / _FOLDER if folder is not None else None

    def read(self, *texts: str) -> Any:
        """Return the value cached for these texts, None if there is none, or it is damaged."""
        if self._folder is None:
            return None
        key = _key(texts)
        path = self._path(key)
        try:
            data = read_own(path, _LIMIT)
            found = marshal.loads(data[_SEAL:]) if data[:_SEAL] == _seal(key, data[_SEAL:]) else None
        except (OSError, Refused, ValueError, EOFError, TypeError):
            return None
        with suppress(OSError):
            os.utime(path, follow_symlinks=False)
        return found

    def keep(self, value: Any, *texts: str) -> None:
        """Cache a value for these texts: numbers, texts, tuples, lists, dicts and code."""
        if self._folder is None:
            return
        key, data = _key(texts), marshal.dumps(value)
        with suppress(OSError):
            keep_private(self._path(key), _seal(key, data) + data)
            self._forget_unused(self._folder)

    def _path(self, key: str) -> Path:
        return (self._folder or Path()) / (key + _SUFFIX)

    def _forget_unused(self, folder: Path) -> None:
        """Remove the files longest unused, but for the newest."""
        files = [one for one in os.scandir(folder) if one.name.endswith(_SUFFIX)]
        if len(files) > _MOST:
            files.sort(key=lambda one: one.stat().st_mtime_ns)
            for one in files[: len(files) - _MOST]:
                os.unlink(one.path)


def _key(texts: tuple[str, ...]) -> str:
    """Return the cache's name for the results made of some texts."""
    key = sha256(_makers())
    for text in texts:
        key.update(sha256(text.encode("utf-8", "surrogatepass")).digest())
    return key.hexdigest()


def _seal(key: str, data: bytes) -> bytes:
    return sha256(key.encode() + data).digest()


@cache
def _makers() -> bytes:
    """Return an identification of this Python, of its pydantic, and of the files for checking and building."""
    files = [one for folder in _MAKERS for one in os.scandir(folder) if one.name.endswith(".py")]
    stamps = sorted((one.path, one.stat().st_size, one.stat().st_mtime_ns) for one in files)
    return MAGIC_NUMBER + repr((VERSION, stamps)).encode()
