"""Test the guard's proxy: it carries allowed traffic to the checked address, and nothing else."""

import asyncio
import base64
import ssl
import stat
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sites import Page, Site, html

from tea.errors import StorageError
from tea.web import GuardProxy, UrlGuard

PEM = Path(__file__).parent.parent / "fixtures" / "web" / "loopback.pem"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site({"/": html("through"), "/big": Page(body=b"x" * 300_000)}).open() as site:
        yield site


async def asked(proxy: str | Path, *lines: str, body: bytes = b"", secret: str | None = None) -> bytes:
    """Send a request with these lines to a proxy, and return the whole answer."""
    if isinstance(proxy, Path):
        reader, writer = await asyncio.open_unix_connection(proxy)
    else:
        parts = urlsplit(proxy)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        secret = f"tea:{parts.password}" if secret is None else secret
    own = [f"Proxy-Authorization: Basic {base64.b64encode(secret.encode()).decode()}"] if secret else []
    writer.write("\r\n".join([*lines, *own, "", ""]).encode("latin-1") + body)
    answer = b""
    with suppress(ConnectionResetError):  # who is refused in the middle of a sentence may miss the answer
        answer = await reader.read()
    writer.close()
    return answer


async def test_a_plain_request_is_sent_on_for_the_place_that_was_checked(site: Site) -> None:
    async with GuardProxy(site.guard()).on_loopback() as proxy:
        answer = await asked(
            proxy, f"GET {site.url}/gone?q HTTP/1.1", "Host: other.example", "X-Own: yes", "Upgrade: h2c"
        )
    assert answer.endswith(b"Not found</body></html>")
    (came,) = site.asked
    assert came.path == "/gone?q"
    assert came.headers["host"] == site.place
    assert came.headers["x-own"] == "yes"
    assert not {"proxy-authorization", "upgrade"} & came.headers.keys()


async def test_a_tunnel_carries_both_ways(site: Site) -> None:
    async with GuardProxy(site.guard()).on_loopback() as proxy:
        inner = f"GET /big HTTP/1.1\r\nHost: {site.place}\r\n\r\n".encode()
        answer = await asked(proxy, f"CONNECT {site.place} HTTP/1.1", f"Host: {site.place}", body=inner)
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200")
    assert answer.count(b"x") >= 300_000


async def test_tls_goes_through_a_tunnel_unopened() -> None:
    serving, trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=str(PEM))
    serving.load_cert_chain(PEM)

    async def resolve(name: str) -> Sequence[str]:
        return ["127.0.0.1"]

    async with Site({"/": html("secret")}).open(serving) as site:
        place = f"wiki.example:{site.port}"
        async with GuardProxy(UrlGuard([place], resolve)).on_loopback() as proxy:
            parts = urlsplit(proxy)
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            token = base64.b64encode(f"tea:{parts.password}".encode()).decode()
            writer.write(f"CONNECT {place} HTTP/1.1\r\nProxy-Authorization: Basic {token}\r\n\r\n".encode())
            assert b"200" in await reader.readuntil(b"\r\n\r\n")
            await writer.start_tls(trusting, server_hostname="wiki.example")
            writer.write(f"GET / HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
            assert (await reader.readuntil(b"secret")).endswith(b"secret")
            writer.close()


@pytest.mark.parametrize(
    ("line", "status", "reason"),
    [
        ("GET http://127.0.0.1/ HTTP/1.1", 403, "not_public"),
        ("GET http://169.254.169.254/latest/meta-data/ HTTP/1.1", 403, "metadata"),
        ("GET http://localhost/ HTTP/1.1", 403, "local_name"),
        ("GET http://2130706433/ HTTP/1.1", 403, "bad_literal"),
        ("GET ftp://example.com/ HTTP/1.1", 403, "bad_scheme"),
        ("GET / HTTP/1.1", 403, "bad_scheme"),
        ("GET https://1.1.1.1/ HTTP/1.1", 400, "CONNECT"),
        ("CONNECT 127.0.0.1:443 HTTP/1.1", 403, "not_public"),
        ("CONNECT 127.0.0.1:22 HTTP/1.1", 403, "bad_port"),
        ("CONNECT 1.1.1.1:25 HTTP/1.1", 403, "bad_port"),
        ("CONNECT [::1]:443 HTTP/1.1", 403, "not_public"),
        ("CONNECT user@1.1.1.1:443 HTTP/1.1", 403, "userinfo"),
        ("CONNECT 1.1.1.1:443/path HTTP/1.1", 400, "CONNECT"),
        ("CONNECT http://1.1.1.1/ HTTP/1.1", 403, "bad_port"),
        ("nonsense", 400, "request line"),
        ("GET http://1.1.1.1/ HTTP/2", 400, "request line"),
        ("GET  http://1.1.1.1/ HTTP/1.1", 400, "request line"),
        ("GET http://1.1.1.1/ HTTP/1.1\r\n folded: header", 400, "header"),
        ("GET http://1.1.1.1/ HTTP/1.1\r\nX: a\nHost: b", 400, "header"),
        ("GET http://1.1.1.1/ HTTP/1.1\r\nno colon", 400, "header"),
    ],
)
async def test_what_the_guard_refuses_is_refused_with_its_reason(line: str, status: int, reason: str) -> None:
    async with GuardProxy(UrlGuard()).on_loopback() as proxy:
        answer = (await asked(proxy, line)).decode()
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert reason in answer


@pytest.mark.parametrize("secret", ["", "tea:", "tea:wrong", "other:secret"])
async def test_nobody_passes_without_the_token(site: Site, secret: str) -> None:
    async with GuardProxy(site.guard()).on_loopback() as proxy:
        for line in (f"GET {site.url}/ HTTP/1.1", f"CONNECT {site.place} HTTP/1.1"):
            assert (await asked(proxy, line, secret=secret)).startswith(b"HTTP/1.1 407 ")
    assert site.asked == []


async def test_a_unix_socket_is_for_this_account_alone_and_wants_no_token(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "proxy"
    proxy = GuardProxy(site.guard())
    async with proxy.on_socket(path), proxy.on_loopback() as other:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert (await asked(path, f"GET {site.url}/ HTTP/1.1")).endswith(b"through")
        assert (await asked(path, "GET http://127.0.0.1/ HTTP/1.1")).startswith(b"HTTP/1.1 403 ")
        assert (await asked(other, f"GET {site.url}/ HTTP/1.1", secret="")).startswith(b"HTTP/1.1 407 ")
    assert not path.exists()


async def test_a_socket_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be made"):
        async with GuardProxy(UrlGuard()).on_socket(tmp_path / "none" / "proxy"):
            pass


async def test_a_place_that_is_not_there_is_a_bad_gateway(site: Site) -> None:
    async with Site({}).open() as gone:
        pass
    async with GuardProxy(UrlGuard([gone.place])).on_loopback() as proxy:
        assert (await asked(proxy, f"GET {gone.url}/ HTTP/1.1")).startswith(b"HTTP/1.1 502 ")


async def test_headers_without_an_end_are_refused(site: Site) -> None:
    async with GuardProxy(site.guard()).on_loopback() as proxy:
        answer = await asked(proxy, f"GET {site.url}/ HTTP/1.1", f"X: {'x' * 200_000}")
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    assert site.asked == []


async def test_more_connections_or_bytes_than_the_limit_end(site: Site) -> None:
    async with GuardProxy(site.guard(), connections=0).on_loopback() as proxy:
        assert (await asked(proxy, f"GET {site.url}/ HTTP/1.1")).startswith(b"HTTP/1.1 503 ")
    async with GuardProxy(site.guard(), most_bytes=100_000).on_loopback() as proxy:
        assert len(await asked(proxy, f"GET {site.url}/big HTTP/1.1")) <= 100_000


async def test_an_error_of_who_uses_the_proxy_comes_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with GuardProxy(UrlGuard()).on_loopback():
            raise ZeroDivisionError


async def test_what_is_under_way_ends_with_the_proxy(site: Site) -> None:
    site.pages["/"] = Page(body=b"begun", then="hang")
    async with GuardProxy(site.guard()).on_loopback() as proxy:
        parts = urlsplit(proxy)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        token = base64.b64encode(f"tea:{parts.password}".encode()).decode()
        writer.write(f"GET {site.url}/ HTTP/1.1\r\nProxy-Authorization: Basic {token}\r\n\r\n".encode())
        await reader.readuntil(b"begun")
    assert await reader.read() == b""
    writer.close()
