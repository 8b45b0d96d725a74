"""A process like `tests/cli/warm.py` with children dying by SIGKILL at a chosen moment.

Each request also says after how many journal records, and how many seconds later, its command dies (`moment`, null
for never), or before or after which kept state of an environment, or within how many seconds (`kept`, null for never);
and where it notes the key of each effect that it performs (`log`).
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))

from warm import carry_out

from tea.kernel.pending import Performs
from tea.store.environments import FileEnvironments
from tea.store.writer import FileJournalWriter


def serve() -> None:
    """Carry out requests until the input ends."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            request = json.loads(line)
            note_performs(request["log"])
            if request["moment"] is not None:
                die_after(*request["moment"])
            if request["kept"] is not None:
                die_at(*request["kept"])
            carry_out(request)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def die_after(records: int, seconds: float) -> None:
    """End this process so many seconds after so many records were written."""
    append, written = FileJournalWriter.append, 0

    def counted(self: FileJournalWriter, lines: Any) -> None:
        nonlocal written
        append(self, lines)
        before, written = written, written + len(lines)
        if before < records <= written:
            if seconds:
                threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
            else:
                os.kill(os.getpid(), signal.SIGKILL)

    FileJournalWriter.append = counted


def die_at(when: str, number: float) -> None:
    """End this process before or after it keeps a state for so many times, or within so many seconds."""
    if when == "within":
        threading.Timer(number, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return
    write, kept = FileEnvironments.write, 0

    def counted(self: FileEnvironments, *arguments: Any) -> None:
        nonlocal kept
        kept += 1
        if when == "before" and kept == number:
            os.kill(os.getpid(), signal.SIGKILL)
        write(self, *arguments)
        if when == "after" and kept == number:
            os.kill(os.getpid(), signal.SIGKILL)

    FileEnvironments.write = counted


def note_performs(log: str) -> None:
    """Note the key of each effect when it is performed."""
    start: Callable[..., Any] = Performs.start
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def noted(self: Performs, key: str, *arguments: Any, **options: Any) -> Any:
        os.write(descriptor, f"{key}\n".encode())
        return start(self, key, *arguments, **options)

    Performs.start = noted


if __name__ == "__main__":
    serve()
