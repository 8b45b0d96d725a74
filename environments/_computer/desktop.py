"""Desktop: a display with its programs in the sandbox, from its start to its end."""

import asyncio
import base64
import inspect
import json
import shutil
import zlib
from typing import Any

from tea import SandboxService, ToolError, png_of
from tea.reading import language_fault

from . import inside

PROGRAMS = {
    "Xvfb": "xvfb",
    "openbox": "openbox",
    "xdotool": "xdotool",
    "xprop": "x11-utils",
    "xwininfo": "x11-utils",
    "xmodmap": "x11-xserver-utils",
}
FOLDERS = "/usr/bin:/bin"  # of the machine's programs, the sandbox shows these
WIDTH, HEIGHT = 1024, 768
MEMORY_MB = 2_000
LANGUAGE = "eng"
PROCESSES = 256
ANSWER_SECONDS = 90.0
MOST_ANSWER = 16_000_000
CRASHED = "The desktop has crashed; its windows, and what was not saved in them, are gone."


class Desktop:
    """A desktop alive until it is closed.

    Args:
        terms: What the sandbox is opened with.
    """

    def __init__(self, terms: dict[str, Any]) -> None:
        self._service = SandboxService(terms, memory_mb=MEMORY_MB, workspace=True)
        self.language = str(terms.get("language", LANGUAGE))
        self._limits = {"processes": PROCESSES, "bytes": int(terms["limits"]["disk_mb"]) << 20}

    @classmethod
    async def open(cls, terms: dict[str, Any]) -> "Desktop":
        """Start a desktop.

        Raises:
            ToolError: A program or a language that it needs is missing, or it does not start.
        """
        check_programs()
        made = cls(terms)
        await check_language(made.language)
        try:
            await made._start()
        except BaseException:
            await made.close()
            raise
        return made

    async def _start(self) -> None:
        service = self._service
        program = service.files / "inside.py"
        await asyncio.to_thread(program.write_text, f"{inspect.getsource(inside)}\n\nmain()\n")
        program.chmod(0o444)
        told = {"width": WIDTH, "height": HEIGHT, "limits": self._limits, "language": self.language}
        line = ["python3", "-I", service.inside(program), json.dumps(told)]
        await service.start(line, ready=inside.READY)

    @property
    def alive(self) -> bool:
        """Whether the desktop runs."""
        return self._service.process is not None

    async def ask(self, do: str, look: str = "", **arguments: Any) -> dict[str, Any]:
        """Act, and return the windows, the ended programs, and with `look` the screen.

        Args:
            do: What to do, empty for nothing.
            look: `picture` for the screen, `words` also for its letters.
            arguments: Those of the act.

        Raises:
            ToolError: It could not be done, or the desktop has crashed.
        """
        if not self.alive:
            raise _crashed()
        if do == "open":
            await asyncio.to_thread(self._service.own_workspace)  # so that a program may change what the host wrote
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                text = await self._exchanged(json.dumps({"do": do, "look": look, **arguments}))
        except TimeoutError as error:
            await self.close()
            raise ToolError(f"The desktop took more than {ANSWER_SECONDS:.0f} s.", fix="call again.") from error
        try:
            answer: dict[str, Any] = dict(json.loads(text))
        except (TypeError, ValueError, RecursionError):
            await self.close()
            raise _crashed() from None
        if "refused" in answer:
            raise ToolError(f"The desktop could not do it: {answer['refused']}", fix="look at the state first.")
        return answer

    async def _exchanged(self, request: str) -> str:
        """Return the answer to a request, empty without one."""
        try:
            reader, writer = await asyncio.open_unix_connection(str(self._service.socket))
        except OSError:
            return ""
        try:
            writer.write(f"{request}\n".encode())
            await writer.drain()
            parts, size = list[bytes](), 0
            while (piece := await reader.read(1 << 16)) and size <= MOST_ANSWER:
                parts.append(piece)
                size += len(piece)
            return b"".join(parts).decode("utf-8", "replace") if size <= MOST_ANSWER else ""
        except OSError:
            return ""
        finally:
            writer.close()

    async def close(self) -> None:
        """End the desktop with all of its processes and files."""
        await self._service.close()


def find_program(name: str) -> str | None:
    """Return the path of a program shown by the sandbox, None if it is not installed.

    Args:
        name: Its name.
    """
    return shutil.which(name, path=FOLDERS)


def check_programs() -> None:
    """Look for the programs needed by a desktop.

    Raises:
        ToolError: One is missing.
    """
    missing = [one for one in PROGRAMS if find_program(one) is None]
    if missing:
        packages = " ".join(dict.fromkeys(PROGRAMS.values()))
        problem = f"A desktop needs {', '.join(missing)}, which is not installed."
        raise ToolError(problem, fix=f"install it: apt-get update && apt-get install -y {packages}")


async def check_language(language: str) -> None:
    """Look for the languages of the screen's letters; without tesseract there are no words at all.

    Raises:
        ToolError: One is missing.
    """
    if fault := await asyncio.to_thread(language_fault, language):
        problem, fix = fault
        where = "`language` in [computer] of tea.toml"
        raise ToolError(f"The letters of the screen {problem}.", fix=f"{fix} The operator sets {where}.")


def picture_of(answer: dict[str, Any]) -> bytes:
    """Return the screen of an answer as PNG.

    Raises:
        ToolError: It holds none.
    """
    try:
        most = WIDTH * HEIGHT * 3
        colours = zlib.decompressobj().decompress(base64.b64decode(answer["picture"]), most + 1)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise ToolError("The desktop gave no picture.", fix="call again.") from error
    return png_of(colours, WIDTH, HEIGHT)


def _crashed() -> ToolError:
    return ToolError(CRASHED, fix="call again: a new one begins without windows; what was saved is in the workspace.")
