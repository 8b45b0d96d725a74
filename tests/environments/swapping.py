"""A folder taking the place of a link again and again, as code in a sandbox may do with its workspace."""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE


@contextmanager
def swapping(folder: Path, outside: Path) -> Iterator[None]:
    """Let a folder be a link to another one most of the time between two moments in which it is itself."""
    link = folder.with_name(f"{folder.name}-link")
    link.symlink_to(outside)
    library, done = ctypes.CDLL(None), threading.Event()
    paths = [ctypes.c_char_p(os.fsencode(path)) for path in (folder, link)]

    def swap() -> None:
        while not done.is_set():
            for _ in range(100):  # from folder to link and back
                assert [library.renameat2(_HERE, paths[0], _HERE, paths[1], _EXCHANGE) for _ in "ab"] == [0, 0]

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        link.unlink()
