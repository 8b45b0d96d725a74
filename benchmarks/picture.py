"""The picture of the team at work: the output of `tea run -v` on a terminal in an example, drawn as SVG.

    python benchmarks/picture.py [--example NAME] [--file examples/team.svg] [--text]

A model's kept answers are served on loopback, as in `sittings.py`; agents, calls and cost are those of a real run.
Lines of agents side by side come in whatever order they come. `--text` prints the lines and draws nothing.
"""

import argparse
import asyncio
import fcntl
import io
import json
import os
import pty
import re
import struct
import sys
import tempfile
import termios
from pathlib import Path

from _sittings_format import Sitting
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text
from sittings import seated

from tea.platform import Platform

ROOT = Path(__file__).parent.parent
COLUMNS, ROWS = 112, 60
_ERASED = "\r\x1b[K"
_RUN = re.compile(r"\b[0-9a-f]{32}\b")
_FONT = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)  # it would be fetched from another host


async def main() -> None:
    """Read the command line, run the example, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--example", default="youngest_president", help="The example, a folder of examples/played.")
    parser.add_argument("--file", type=Path, default=ROOT / "examples" / "team.svg", help="The picture.")
    parser.add_argument("--text", action="store_true", help="Print the lines and draw nothing.")
    given = parser.parse_args()
    command = f"tea run -v examples/{given.example}.json"
    with tempfile.TemporaryDirectory() as folder:
        lines = await printed(given.example, command, Path(folder))
    if given.text:
        print(Text.from_ansi("\n".join(lines)).plain)
    else:
        given.file.write_text(drawn(command, lines), encoding="utf-8")


async def printed(name: str, command: str, folder: Path) -> list[str]:
    """Return the lines left on a terminal by a command, with their colours.

    Args:
        name: The example.
        command: The command in the project's folder.
        folder: Where its home comes to lie.
    """
    async with seated(Sitting.read(ROOT / "examples" / "played" / name), folder) as seat:
        async with Platform(seat.home, state=seat.home / "state") as tea:
            for root in seat.sitting.corpus:
                await tea.corpus.add(str(root))
        inner, outer = pty.openpty()
        fcntl.ioctl(outer, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        away = ("NO_COLOR", "CI", "COLUMNS")
        environment = {name: value for name, value in os.environ.items() if name not in away}
        environment |= {"TERM": "xterm-256color", "TEA_HOME": str(seat.home), "TEA_STATE": str(seat.home / "state")}
        digest = json.loads(await _quietly("trust", "--home", "--json", environment=environment))["digest"]
        await _quietly("trust", "--home", f"@{digest}", environment=environment)
        program = (sys.executable, "-m", "tea.cli", *command.split()[1:])
        process = await asyncio.create_subprocess_exec(
            *program, cwd=ROOT, env=environment, stdin=outer, stdout=outer, stderr=outer
        )
        os.close(outer)
        shown, code = await asyncio.gather(asyncio.to_thread(_read, inner), process.wait())
    if code:
        sys.exit(f"{command} ended with {code}:\n{shown}")
    shown = shown.replace(str(seat.home), "~").replace(str(ROOT), "~/tea")
    lines = [line.rsplit(_ERASED, 1)[-1] for line in shown.replace("\r\n", "\n").split("\n")]
    return [_RUN.sub(lambda found: found[0][:12], line) for line in lines if line]


async def _quietly(*words: str, environment: dict[str, str]) -> bytes:
    """Return the output of a command of tea away from the terminal."""
    program = (sys.executable, "-m", "tea.cli", *words)
    process = await asyncio.create_subprocess_exec(*program, env=environment, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    if process.returncode not in (0, 6):  # 6: it shows what is to be granted, and waits for the word
        sys.exit(f"tea {' '.join(words)} ended with {process.returncode}.")
    return out


def _read(descriptor: int) -> str:
    """Return all output of a terminal until its end."""
    found = bytearray()
    with os.fdopen(descriptor, "rb", buffering=0) as terminal:
        while part := _part(terminal):
            found += part
    return found.decode()


def _part(terminal: io.FileIO) -> bytes:
    try:
        return terminal.read(65_536) or b""
    except OSError:  # the end, on Linux
        return b""


def drawn(command: str, lines: list[str]) -> str:
    """Return a picture of a terminal with a command and its lines, as SVG without outside references."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "dim"), (command, "bold")))
    for line in lines:
        console.print(Text.from_ansi(line))
    picture = console.export_svg(
        title="tea", theme=MONOKAI, code_format=_FONT.sub("", CONSOLE_SVG_FORMAT), unique_id="team"
    )
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


if __name__ == "__main__":
    asyncio.run(main())
