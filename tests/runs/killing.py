"""Real runs of the command dying at a moment: folders, process, and journal."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tea.store.journal import FileJournals

CITIES = "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\nRome,Italy,2800000\n"
KILLED = -9


class Killable:
    """Runs `tea` in folders, to its end or to a moment in its life.

    Args:
        folder: Where the operator's state lies.
        machine: The folder of all processes of the tests.
    """

    def __init__(self, folder: Path, machine: Path) -> None:
        self.folder = folder
        share_sources(folder / "state", machine)
        program = [sys.executable, str(Path(__file__).with_name("killable.py"))]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(
        self,
        home: Path,
        *line: str,
        moment: tuple[int, float] | None = None,
        kept: tuple[str, float] | None = None,
        said: str = "",
    ) -> tuple[int, str]:
        """Return exit code and standard output; `said` is the standard input."""
        home.mkdir(exist_ok=True)
        (home / "cities.csv").write_text(CITIES)
        streams = [home / name for name in ("in", "out", "err")]
        for path in streams:
            path.write_bytes(b"")
        streams[0].write_text(said)
        request = {
            "line": line,
            "folder": str(home),
            "environment": {
                "PATH": os.environ["PATH"],
                "TEA_STATE": str(self.folder / "state"),
                "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"],
            },
            "streams": list(map(str, streams)),
            "log": str(home / "performed"),
            "moment": moment,
            "kept": kept,
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()), streams[1].read_text()


def share_sources(state: Path, machine: Path) -> None:
    """Let processes with a state of their own find the sources that other tests compiled."""
    kept = machine / "kept"
    for folder in (kept, state):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (state / "kept").symlink_to(kept)


def records(home: Path) -> list[Any]:
    (run,) = (path.parent.name for path in home.glob("traces/*/journal.jsonl"))
    return list(FileJournals(home / "traces").read(run))
