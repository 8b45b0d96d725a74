"""The gate in front of a browser: the end of it ends all connections."""

import asyncio
import runpy
from pathlib import Path
from urllib.parse import urlsplit

GATE = Path(__file__).parents[2] / "environments" / "_browser" / "gate.py"
SECONDS = 30.0


async def test_the_end_of_the_gate_ends_the_connections_still_open(tmp_path: Path) -> None:
    gate = runpy.run_path(str(GATE))["gate"]
    reached = asyncio.Event()

    async def browser(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        reached.set()
        await reader.read()
        writer.close()

    socket = tmp_path / "browser"
    async with asyncio.timeout(SECONDS), await asyncio.start_unix_server(browser, str(socket)):
        async with gate(socket, "/devtools") as address:
            place = urlsplit(address)
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            writer.write(f"GET {place.path} HTTP/1.1\r\n".encode())
            await reached.wait()
        left = [one for one in asyncio.all_tasks() if "_pass" in str(one.get_coro())]
        assert (left, await reader.read()) == ([], b"")
        writer.close()
