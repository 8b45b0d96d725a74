"""A turn: an exclusive right among all processes, held until its release or the end of its process.

The right is a lock (`flock`) on an empty file, which is removed with the turn; one that is left by a process that died
is free. Whoever got the lock of a file that was removed meanwhile has nothing, and asks again.
"""

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tea.store.files import damaged, open_regular, writing
from tea.store.scratch import PRIVATE_FILE, PRIVATE_FOLDER, make_folders
from tea.store.strict import Refused


def claim(path: Path) -> Callable[[], None] | None:
    """Claim a turn and return its release, None if another has it; it never waits.

    Args:
        path: The lock file, in a folder that is made when missing.

    Raises:
        StorageError: It cannot be written.
        Damaged: It is not a regular file.
    """
    with writing(path):
        make_folders(path.parent, PRIVATE_FOLDER)
        try:
            descriptor = open_regular(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        except Refused as reason:
            raise damaged(path, str(reason)) from reason
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = os.fstat(descriptor).st_nlink > 0
        except BlockingIOError:
            free = False
        except BaseException:
            os.close(descriptor)
            raise
    if not free:
        os.close(descriptor)
        return None

    def give_back() -> None:
        with suppress(OSError):
            os.unlink(path)
        os.close(descriptor)

    return give_back
