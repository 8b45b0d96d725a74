"""Carrying: connections from a listener in the sandbox's own network to one place, and back."""

import asyncio
import fcntl
import os
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

from tea.sandbox.inside.confine import lock_down

_PIECE = 1 << 16
_LISTENER, _TOLD = 3, 4


@asynccontextmanager
async def listener(at: str | socket.socket, target: str) -> AsyncGenerator[int]:
    """Carry each connection to a port of this network, or to a socket, and yield the port of the listener.

    Args:
        at: The listening socket, or the path for a new one.
        target: Where a connection leads: a port, or the path of a socket.
    """

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            far = (
                await asyncio.open_connection("127.0.0.1", int(target))
                if target.isdigit()
                else await asyncio.open_unix_connection(target)
            )
            await asyncio.gather(_carry(reader, far[1]), _carry(far[0], writer))
        writer.close()

    if isinstance(at, str):
        made, port = await asyncio.start_unix_server(connected, at), 0
    else:
        made, port = await asyncio.start_server(connected, sock=at), at.getsockname()[1]
    try:
        yield port
    finally:
        made.close()


def start_carrier(plan: dict[str, Any], at: socket.socket) -> int:
    """Start a process for the connections of one call to the host's socket; return its number."""
    standing, told = os.pipe()
    number = os.fork()
    if number:
        os.close(told)
        os.read(standing, 1)  # until the walls stand: before, nobody can count its files
        os.close(standing)
        return number
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setpgid(0, 0)
        kept = [fcntl.fcntl(one, fcntl.F_DUPFD, _TOLD + 1) for one in (at.fileno(), told)]
        for place, handle in zip((_LISTENER, _TOLD), kept, strict=True):
            os.dup2(handle, place)
        os.closerange(_TOLD + 1, 256)  # before the walls, behind which other processes may look into this one
        os.dup2(1, 2)
        lock_down(plan)
        os.close(_TOLD)
        asyncio.run(_serve(socket.socket(fileno=_LISTENER), plan["way"]["socket"]))
    finally:
        os._exit(1)


async def _serve(at: socket.socket, target: str) -> None:
    async with listener(at, target):
        await asyncio.Event().wait()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.close()
