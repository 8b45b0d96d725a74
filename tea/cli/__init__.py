"""The command line: one file for each command, and their shared parts."""

import atexit
import gc
import os
import signal

from tea.cli.overseer import overseen

_GARBAGE = (
    300_000  # objects between two looks for garbage: a command ends soon, and a look at those of a table costs 15 ms
)


def main() -> None:
    """Run the command line; an interruption while it is loading ends it at once, as no work has begun."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    gc.set_threshold(_GARBAGE)
    atexit.register(gc.freeze)  # the process ends and gives all of it back, so nobody looks through it once more
    with overseen() as overseer:  # before all imports: a copy of a small process, whose pages nobody has to copy
        from tea.cli.app import main as run

        signal.signal(signal.SIGINT, before)
        run(overseer)


def _stop(number: int, frame: object) -> None:
    os.write(2, b"tea: Interrupted before it began. Fix: start it again.\n")
    os._exit(130)
