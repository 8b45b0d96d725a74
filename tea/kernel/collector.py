"""The garbage collector of Python, run less often while a platform is open.

Each step of a run makes containers that live until the model has answered, and nearly none of them is ever part of a
cycle. With the interpreter's threshold of 700, hundreds of runs that wait at once are walked over and over, which takes
a third of their CPU and frees nothing that a later walk would not.
"""

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager

YOUNG = 100_000
_lock = threading.Lock()
_replaced: list[int] = []
"""The program's own threshold, as each platform that is open found it."""


@contextmanager
def relaxed() -> Generator[None]:
    """Raise the collector's threshold to `YOUNG` containers, until the last caller leaves.

    A threshold that is higher, or 0 (no automatic collection), is the program's own choice and stays; so does one that
    the program sets in between.
    """
    with _lock:
        young = gc.get_threshold()[0]
        _replaced.append(_replaced[-1] if _replaced and young == YOUNG else young)
        if 0 < young < YOUNG:
            _set(YOUNG)
    try:
        yield
    finally:
        with _lock:
            before = _replaced.pop(0)
            if not _replaced and gc.get_threshold()[0] == YOUNG:
                _set(before)


def _set(young: int) -> None:
    gc.set_threshold(young, *gc.get_threshold()[1:])
