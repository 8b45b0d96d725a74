import asyncio
import socket
import subprocess
import sys

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.org"])
async def test_leaving_the_machine_is_an_error(host: str) -> None:
    with pytest.raises(AssertionError, match="only loopback is allowed"):
        await asyncio.open_connection(host, 80)


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_a_plain_socket_is_guarded_too(method: str) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside,
        pytest.raises(AssertionError, match="only loopback is allowed"),
    ):
        getattr(outside, method)(("192.0.2.1", 80))


@pytest.mark.parametrize("host", ["192.0.2.1", "api.openai.com"])
def test_a_process_that_a_test_starts_is_guarded_too(host: str) -> None:
    program = f"import socket\nsocket.create_connection(({host!r}, 443), timeout=1)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"a test asked for {host!r}; only loopback is allowed" in done.stderr


async def test_loopback_is_open() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "localhost", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
