"""Worker: an optimiser library in a process of its own, without keys, told and asked in lines of JSON."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tea.errors import MissingExtra, ToolError
from tea.extras import EXTRAS
from tea.types import JsonObject

Answer = Callable[[Mapping[str, Any]], Awaitable[JsonObject]]
_INSIDE = Path(__file__).parent / "inside"
_LINE = 16 * 2**20
_SECONDS = 3_600.0
_SAID = 400
_KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT")


async def work(extra: str, job: JsonObject, answers: Mapping[str, Answer], seconds: float = _SECONDS) -> Any:
    """Give a job to the worker of an extra, answer its questions, and return its result.

    Args:
        extra: Name of the extra, also of the library.
        job: What to do.
        answers: What answers its questions, by their names.
        seconds: How long it may take.

    Raises:
        MissingExtra: It is not installed.
        ToolError: The worker failed, or took too long.
    """
    require_library(extra)
    with TemporaryDirectory(prefix="tea-") as folder:
        said = Path(folder) / "said"
        with said.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", str(_INSIDE / f"{extra}_worker.py"), stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE, stderr=errors, limit=_LINE, cwd=folder, env=_environment(folder),
                start_new_session=True,
            )  # fmt: skip
        try:
            async with asyncio.timeout(seconds):
                return await _converse(process, job, answers)
        except TimeoutError as error:
            raise ToolError(f"{extra} took more than {seconds:g} s.", fix="give it fewer tasks.") from error
        except (EOFError, ValueError, KeyError, ConnectionError) as error:
            last = (await asyncio.to_thread(said.read_text, errors="replace")).strip().rpartition("\n")[2]
            problem = f"{extra} failed: {last[-_SAID:] or type(error).__name__}."
            raise ToolError(problem, fix="look at the message, or take another strategy.") from error
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def require_library(extra: str) -> None:
    """Check for the installed library of an extra.

    Raises:
        MissingExtra: It is not.
    """
    wanted = next(one for one in EXTRAS if one.name == extra)
    if wanted.missing:
        raise MissingExtra(f"The strategy {extra!r} needs the extra {extra!r}.", fix=wanted.install_command)


async def _converse(process: asyncio.subprocess.Process, job: JsonObject, answers: Mapping[str, Answer]) -> Any:
    """Answer a worker's questions until it is done.

    Raises:
        EOFError: It ended before.
    """
    await _send(process, job)
    while process.stdout is not None and (line := await process.stdout.readline()):
        [(what, content)] = json.loads(line).items()
        if what == "done":
            return content
        await _send(process, await answers[what](content))
    raise EOFError


async def _send(process: asyncio.subprocess.Process, message: JsonObject) -> None:
    if process.stdin is not None:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        await process.stdin.drain()


def _environment(folder: str) -> dict[str, str]:
    """Return an environment without keys; in it libraries fetch nothing and write only in their folder."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {"HOME": folder, "TEXTGRAD_LOG_DIR": folder, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1"}
    return {**kept, **own, "PYTHON_DOTENV_DISABLED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
