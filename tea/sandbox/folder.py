"""The folder that a session has for itself, and those that hosts which were killed left behind."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX, _ALIVE = "tea-sandbox-", "alive"


class Folder:
    """A folder for as long as its session lives; its lock ends with this process, however that ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        part = self.path / f"{_ALIVE}-"
        self._lock = os.open(part, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        part.rename(self.path / _ALIVE)  # under that name nobody ever finds it without its lock

    def remove(self) -> None:
        """Remove it with all that is in it, however deep that is."""
        _remove(self.path)
        os.close(self._lock)


def sweep() -> None:
    """Remove the folders of this account whose process is gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if path.stat().st_uid != os.geteuid():
                continue
            lock = os.open(path / _ALIVE, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(path)
            finally:
                os.close(lock)


def _remove(path: Path) -> None:
    subprocess.run(["rm", "-rf", "--", str(path)], capture_output=True, check=False)
