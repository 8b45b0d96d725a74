"""A serving program: it has a network of its own, and no way in or out but Unix sockets of the host."""

import asyncio
import os
import socket
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from tea.sandbox.inside import frames, kernel, namespaces
from tea.sandbox.inside.carrying import listener
from tea.sandbox.inside.confine import become
from tea.sandbox.inside.start import apart

_PIECE = 1 << 16
_LOOK_SECONDS, _READY_STEP = 1.0, 0.02
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_WORDS = 4_000


def main() -> None:
    """Start the program of the host's plan, and carry its connections until it or the host ends."""
    try:
        requests, answers = apart()
        plan = frames.read(requests)
        if plan["enter"]:
            namespaces.enter(plan)
        os.environ.clear()
        os.environ.update(plan["env"])
        become(plan["user"])
        os.chdir(plan["workspace"])
        kernel.prctl(kernel.DUMPABLE, 1)  # the program's own sandbox maps accounts by files of /proc
        kernel.prctl(kernel.PDEATHSIG, 9)
        os.umask(0o077)
    except (OSError, frames.Broken, KeyError) as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    asyncio.run(_serve(plan, requests, answers))


async def _serve(plan: dict[str, Any], requests: int, answers: int) -> None:
    """Serve until the first of them ends: the host, the program, or the room for its memory."""
    way_out = listener(socket.create_server(("127.0.0.1", 0)), plan["out"]) if plan["out"] else nullcontext(0)
    async with way_out as port:
        words = [one.replace("{proxy}", str(port)) for one in plan["command"]]
        log = await asyncio.to_thread(open, plan["log"], "wb")
        process = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
        # no group awaits these: the process ends with the first of them, and with it all others
        watched = [
            asyncio.ensure_future(one)
            for one in (_host(requests), process.wait(), _memory(plan["memory"]), _ready(plan, answers))
        ]
        done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        why = "its memory was full" if watched[2] in done else "it ended"
        with suppress(OSError):
            os.write(answers, frames.encode({"ended": why, "words": _last_words(plan["log"])}))
        os._exit(0)


async def _ready(plan: dict[str, Any], answers: int) -> None:
    """Tell the host the program's words of readiness, and carry connections to its port."""
    while not (text := _text(Path(plan["ready"]))).count("\n"):  # noqa: ASYNC110 - another program writes it
        await asyncio.sleep(_READY_STEP)
    async with listener(plan["in"], text.split("\n")[0]):
        os.write(answers, frames.encode({"ready": text}))
        await asyncio.Event().wait()


async def _host(requests: int) -> None:
    """Wait for the end of the host's stream."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def readable() -> None:
        if not os.read(requests, _PIECE):
            loop.remove_reader(requests)
            ended.set()

    loop.add_reader(requests, readable)
    await ended.wait()


async def _memory(most: int) -> None:
    """Wait until all processes together take more bytes than allowed."""
    while _taken() <= most:  # noqa: ASYNC110 - nobody tells of it
        await asyncio.sleep(_LOOK_SECONDS)


def _taken() -> int:
    """Return the bytes of memory of all processes here not shared with others."""
    taken = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError, IndexError):
            parts = Path(f"/proc/{name}/statm").read_text().split()
            taken += (int(parts[1]) - int(parts[2])) * _PAGE
    return taken


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _last_words(path: str) -> str:
    return _text(Path(path))[-_MOST_WORDS:]
