"""Stopping: the end of a command by Ctrl-C and SIGTERM, at any point of its work.

Both cancel its work, which then cleans up. Ctrl-C leaves it the time that takes; SIGTERM a moment, after which the
process ends: a read, a lock or a computation may be what nothing calls off. Nothing is lost by that, since what a
command wrote is whole at any moment. Code in C that keeps the interpreter to itself delays Ctrl-C; SIGTERM then ends
the process from outside, see `tea.cli.overseer`.
"""

import _thread
import asyncio
import os
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import inf

from tea.cli.failure import in_one_line
from tea.cli.overseer import GRACE, Overseer
from tea.cli.terminal import document
from tea.errors import Interrupted

_LEAVING = 0.5  # seconds until a process is gone that has said how it ended
_TICK = 0.02
_PATIENCE = 3
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CODE = Interrupted.exit_code


class Stopping:
    """The handling of requests to stop one command.

    Args:
        tell: Says how the command ended, and returns its exit code.
        overseer: The process that ends the command where SIGTERM is not heard.
        as_json: Whether a program reads the result.
    """

    def __init__(self, tell: Callable[[BaseException], int], overseer: Overseer | None, *, as_json: bool) -> None:
        self._tell, self._overseer, self._as_json = tell, overseer, as_json
        self._asked, self._end = 0, inf
        self.code: int | None = None

    @contextmanager
    def of(self, work: "asyncio.Task[int | None]") -> Generator[None]:
        """Cancel a task on signals during the body, and report the status at once after SIGTERM."""
        loop = asyncio.get_running_loop()

        def stop(number: int, frame: object) -> None:
            self._asked += 1
            if number == signal.SIGTERM and self._overseer is not None:
                self._overseer.heard()
            if number == signal.SIGTERM and self._end == inf:
                self._enforce()
            if self._asked == 1:
                loop.call_soon_threadsafe(work.cancel)
            elif self._asked >= _PATIENCE:
                os._exit(_CODE)  # what a run did is in its journal, whatever ends the process

        before = {number: signal.signal(number, stop) for number in _SIGNALS}  # not the loop's: it may be busy
        try:
            yield
        except BaseException as error:
            if self._end < inf:
                self.code = self._tell(error)
                self._end = time.monotonic() + _LEAVING  # threads that nobody waits for may hold the process up
            raise
        finally:
            if not self._asked:  # else a second Ctrl-C would end the words on the first
                for number, handler in before.items():
                    signal.signal(number, handler)

    def _enforce(self) -> None:
        """End the process after a grace period; called with any lock possibly held, so it uses none of Python's."""
        self._end = time.monotonic() + GRACE
        _thread.start_new_thread(self._wait, ())

    def _wait(self) -> None:
        while time.monotonic() < self._end:
            time.sleep(_TICK)
        if self.code is None:
            fault = Interrupted(
                "SIGTERM ended the command before it was done.", fix="`tea runs` shows the run, if it was one."
            )
            if self._as_json:
                os.write(1, f"{document({'error': fault.record()})}\n".encode())
            else:
                os.write(2, f"{in_one_line(fault.problem, fault.fix)}\n".encode())
        os._exit(_CODE if self.code is None else self.code)
