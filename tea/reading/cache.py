"""Cache: converted documents by the digest of their bytes, to convert a long one once and read it in parts."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from tea.store.access import read_own
from tea.store.files import keep_private

FOLDER = "reading"
MOST_BYTES = 200_000_000
_SUFFIX = ".document"


class DocumentCache:
    """A cache in a folder, a file each; damaged, unreadable or unwritable entries are skipped.

    The methods block: call them in a thread.

    Args:
        folder: Where they are; None to keep none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def read(self, key: str) -> dict[str, Any] | None:
        """Return the entry under a key of hexadecimal digits, None if there is none."""
        if self._folder is None:
            return None
        path = self._folder / f"{key}{_SUFFIX}"
        try:
            found: Any = json.loads(read_own(path, MOST_BYTES))
            os.utime(path)
        except (OSError, ValueError):
            return None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None

    def write(self, key: str, entry: dict[str, Any]) -> None:
        """Store an entry under a key, and forget those not used for longest."""
        if self._folder is None:
            return
        with suppress(OSError):
            keep_private(self._folder / f"{key}{_SUFFIX}", json.dumps(entry).encode())
            self._forget_oldest(self._folder)

    def _forget_oldest(self, folder: Path) -> None:
        found = [(one.stat(), one.path) for one in os.scandir(folder) if one.name.endswith(_SUFFIX)]
        size = sum(facts.st_size for facts, _ in found)
        for facts, path in sorted(found, key=lambda one: one[0].st_mtime_ns):
            if size <= MOST_BYTES:
                break
            os.unlink(path)
            size -= facts.st_size
