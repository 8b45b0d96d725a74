"""Overseer: a process beside a command, to end it if it does not react to SIGTERM.

Python's own handlers run between two of its instructions, and so does every thread. Code in C that keeps the
interpreter to itself, such as a sum of very many numbers, therefore holds up both for as long as it takes; a regular
expression lets a handler in, and no thread. The handler's part in C is not held up: it writes the signal's number into
a pipe, read by a process that needs nothing of the interpreter.
"""

import os
import select
import signal
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from math import inf

GRACE = 2.0  # seconds for the cleanup of what SIGTERM ends
_PATIENCE = 1.0  # seconds for the command's own handler to begin, and beyond the grace for it to end the command
_HEARD = b"\0"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Overseer:
    """The command's end of the pipe.

    Args:
        pipe: Where its handler says that it runs.
    """

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def heard(self) -> None:
        """Report a run of the command's own handler of SIGTERM."""
        os.write(self._pipe, _HEARD)


@contextmanager
def overseen() -> Generator[Overseer | None]:
    """Start the process beside this one for the duration of the body; give None without room for it."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other threads: the copy makes system calls alone
            overseer = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        yield None
        return
    if not overseer:
        _oversee(reading, os.getppid())
    os.close(reading)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield Overseer(writing)
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        os.waitpid(overseer, 0)


def _oversee(pipe: int, command: int) -> None:
    """Kill the command if it does not react to SIGTERM; end with it."""
    for number in _SIGNALS:  # they come to all processes of a terminal, and the command alone has to hear them
        signal.signal(number, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    os.closerange(0, pipe)
    os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))
    left = inf
    while select.select((pipe,), (), (), None if left == inf else max(0.0, left - time.monotonic()))[0]:
        number = os.read(pipe, 1)
        if not number:
            os._exit(0)
        if number == _HEARD:
            left = time.monotonic() + GRACE + _PATIENCE
        elif number[0] == signal.SIGTERM and left == inf:
            left = time.monotonic() + _PATIENCE
    if os.getppid() == command:
        os.kill(command, signal.SIGKILL)
    os._exit(0)
