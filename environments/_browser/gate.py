"""Gate: the driver's way to the browser in its sandbox: a port of loopback with a token."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from hmac import compare_digest
from pathlib import Path

HEAD_SECONDS = 5.0
PIECE = 1 << 16


@asynccontextmanager
async def gate(socket: Path, path: str) -> AsyncGenerator[str]:
    """Listen on loopback for as long as the browser lives, and yield the address of its protocol.

    Args:
        socket: The socket that leads to the browser.
        path: Path of its protocol, from `/` on.
    """
    token = secrets.token_urlsafe(24)
    live = set[asyncio.Task[None]]()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                async with asyncio.timeout(HEAD_SECONDS):
                    first = await reader.readuntil(b"\r\n")
                wanted = f"GET /{token}{path} HTTP/1.1\r\n".encode()
                if compare_digest(first, wanted):
                    far_reader, far_writer = await asyncio.open_unix_connection(str(socket))
                    far_writer.write(f"GET {path} HTTP/1.1\r\n".encode())
                    async with asyncio.TaskGroup() as tasks:
                        tasks.create_task(_pass(reader, far_writer))
                        tasks.create_task(_pass(far_reader, writer))
        finally:
            writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # a server's callback is not awaited: the end of the gate cancels and awaits all connections
        task = asyncio.get_running_loop().create_task(carry(reader, writer))
        live.add(task)
        task.add_done_callback(live.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/{token}{path}"
    finally:
        server.close()
        for task in list(live):
            task.cancel()
        await asyncio.gather(*live, return_exceptions=True)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError):
            while piece := await reader.read(PIECE):
                writer.write(piece)
                await writer.drain()
    finally:
        writer.close()
