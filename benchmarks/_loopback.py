"""A loopback server answering every question, to measure its clients; a process of its own."""

import asyncio
from collections.abc import Callable

Reply = Callable[[bytes], tuple[int, bytes]]


async def serve(reply: Reply) -> None:
    """Print the port, then answer until the process is ended.

    Args:
        reply: Gives for the body of a request how many milliseconds its answer takes, and the answer in JSON.
    """

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            latency, data = reply(await reader.readexactly(size))
            if latency:
                await asyncio.sleep(latency / 1000)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(data))
            writer.write(data)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**26, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
