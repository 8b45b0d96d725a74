"""A server on loopback, ending with all of its connections."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
GONE = (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError)


@asynccontextmanager
async def serving(serve: Serve, port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve each connection to a loopback port, and yield the port.

    At the end the connections that are still open are aborted, also those whose serving has not begun.
    """
    connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
    ended = False

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*GONE):
            try:
                await serve(reader, writer)
            finally:
                writer.close()
                await writer.wait_closed()

    async with asyncio.TaskGroup() as tasks:

        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if ended:
                writer.transport.abort()
            else:
                connections[tasks.create_task(served(reader, writer))] = writer

        server = await asyncio.start_server(begin, "127.0.0.1", port, ssl=tls)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            ended = True
            server.close()
            for task, writer in connections.items():
                task.cancel()
                writer.transport.abort()
