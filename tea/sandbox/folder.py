"""A session's own folder, and the folders left behind by killed hosts."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX, _ALIVE = "tea-sandbox-", "alive"


class Folder:
    """A folder with the lifetime of its session; its lock ends with this process, even after a crash."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        part = self.path / f"{_ALIVE}-"
        self._lock = os.open(part, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        part.rename(self.path / _ALIVE)  # under that name nobody ever finds it without its lock

    def remove(self) -> None:
        """Remove it with all its content, at any depth."""
        remove(self.path)
        os.close(self._lock)


def cache_folder() -> Path:
    """Return the account's folder for reproducible data: `XDG_CACHE_HOME/tea`, or the usual one."""
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "tea" if base else Path.home() / ".cache" / "tea"


def hand_over(workspace: str, user: int) -> None:
    """Change the owner of everything in a workspace, no link followed.

    Args:
        workspace: The folder.
        user: The account.
    """
    for _, _, names, folder in os.fwalk(workspace, follow_symlinks=False):
        for name in (".", *names):
            _give(name, folder, user)


def in_memory(*paths: str) -> bool:
    """Tell whether one of some existing paths lies on a file system held in memory."""
    lines = [line.partition(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    held = {before.split()[2] for before, _, after in lines if after.startswith("tmpfs ")}
    numbers = [os.stat(path).st_dev for path in paths]
    return any(f"{os.major(one)}:{os.minor(one)}" in held for one in numbers)


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all its content, at any depth."""
    subprocess.run(["rm", "-rf", "--", str(path)], capture_output=True, check=False)


def sweep() -> None:
    """Remove the folders of this account left by processes now gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if path.stat().st_uid != os.geteuid():
                continue
            lock = os.open(path / _ALIVE, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(path)
            finally:
                os.close(lock)


def _give(name: str, folder: int, user: int) -> None:
    """Change the owner of a file or folder of root; a file with a second name may be somebody else's."""
    with suppress(OSError):
        facts = os.lstat(name, dir_fd=folder)
        alone = stat.S_ISDIR(facts.st_mode) or (stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1)
        if alone and facts.st_uid != user:
            os.chown(name, user, user, dir_fd=folder, follow_symlinks=False)
