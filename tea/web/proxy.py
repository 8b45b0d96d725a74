"""Proxy: the guard for programs with a transport of their own, speaking to a proxy (RFC 9110, 9.3.6 and 7.2)."""

from __future__ import annotations

import asyncio
import base64
import re
import secrets
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from typing import Any

from tea.errors import StorageError
from tea.web.address import Target, read_address
from tea.web.guard import REASONS, UrlGuard, Verdict

_USER = "tea"
_MOST_HEAD = 65_536  # bytes of a request's line and headers
_HEAD_SECONDS, _CONNECT_SECONDS, _IDLE_SECONDS = 10.0, 10.0, 120.0
_PIECE = 65_536
_OF_THE_PROXY = frozenset(
    {"host", "connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "upgrade"}
)
_NAME, _VALUE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"), re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A received request: its line, and its headers in their original spelling."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")


class _Refused(Exception):
    """A refused request: the status and the text for the client."""

    def __init__(self, status: str, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class GuardProxy:
    """A proxy for requests permitted by the guard, connecting to the exact IP address checked.

    `CONNECT` opens a tunnel, other methods are sent on for `http` addresses, one request a connection.

    Args:
        guard: Decides about every place.
        connections: How many there may be at once; the next one is refused.
        most_bytes: Most bytes of one connection, both ways together.
        refused: Is told each place that was not opened, as `host:port`, and the verdict.
    """

    def __init__(
        self,
        guard: UrlGuard,
        *,
        connections: int = 64,
        most_bytes: int = 1_000_000_000,
        refused: Callable[[str, Verdict], None] | None = None,
    ) -> None:
        self._guard, self._connections, self._most_bytes = guard, connections, most_bytes
        self._told = refused

    @asynccontextmanager
    async def on_loopback(self) -> AsyncGenerator[str]:
        """Listen on a port of 127.0.0.1, and yield the proxy's address with a password of this listener."""
        secret = secrets.token_urlsafe(24)
        async with self._listening(socket.create_server(("127.0.0.1", 0)), secret) as name:
            yield f"http://{_USER}:{secret}@127.0.0.1:{name[1]}"

    @asynccontextmanager
    async def on_socket(self, path: Path) -> AsyncGenerator[Path]:
        """Listen on a Unix socket accessible only to this account, and yield its path.

        Raises:
            StorageError: It cannot be made.
        """
        bound = await asyncio.to_thread(_bound, path)
        try:
            async with self._listening(bound, ""):
                yield path
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)

    @asynccontextmanager
    async def _listening(self, bound: socket.socket, secret: str) -> AsyncGenerator[Any]:
        """Serve a socket, yield its name, and cancel the open connections at the end."""
        begun, failed = set[asyncio.Task[None]](), list[BaseException]()
        async with asyncio.TaskGroup() as tasks:

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                full = len(begun) >= self._connections
                task = tasks.create_task(self._serve(reader, writer, secret, full=full))
                begun.add(task)
                task.add_done_callback(begun.discard)

            start = asyncio.start_unix_server if bound.family == socket.AF_UNIX else asyncio.start_server
            server = await start(connected, sock=bound, limit=_MOST_HEAD)
            try:
                yield bound.getsockname()
            except BaseException as error:  # of whoever uses the proxy, and not to be wrapped in a group
                failed.append(error)
            finally:
                server.close()
                for task in begun:
                    task.cancel()
        if failed:
            raise failed[0]

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: str, *, full: bool
    ) -> None:
        """Serve one connection; an error ends only this connection."""
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            try:
                request = await _read(reader)
                if full:
                    raise _Refused("503 Service Unavailable", "too many connections")
                _admit(request, secret)
                await self._carry(request, reader, writer)
            except _Refused as error:
                writer.write(_refusal(error))
                await writer.drain()
            finally:
                writer.close()

    async def _carry(self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward a request if the guard permits it."""
        tunnel = request.method == "CONNECT"
        target, address = await self._checked(f"https://{request.target}/" if tunnel else request.target, tunnel=tunnel)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                far_reader, far_writer = await asyncio.open_connection(address, target.port)
        except (OSError, TimeoutError) as error:
            raise _Refused("502 Bad Gateway", f"{target.host} cannot be reached") from error
        try:
            if tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(_sent_on(request, target))
            await _Relay(self._most_bytes).run((reader, writer), (far_reader, far_writer))
        finally:
            far_writer.close()

    async def _checked(self, url: str, *, tunnel: bool) -> tuple[Target, str]:
        """Return the place named in a request, and the IP address to connect to."""
        target = read_address(url)
        if isinstance(target, str):
            raise _Refused("403 Forbidden", f"{target}: {REASONS[target]}")
        if (tunnel and target.path != "/") or (not tunnel and target.scheme != "http"):
            raise _Refused("400 Bad Request", "a tunnel is asked for with CONNECT host:port")
        verdict = await self._guard.check_target(target)
        if verdict.address is None:
            if self._told is not None:
                self._told(f"{target.host}:{target.port}", verdict)
            status = "502 Bad Gateway" if verdict.unresolved else "403 Forbidden"
            raise _Refused(status, f"{verdict.reason}: {REASONS[verdict.reason]}")
        return target, verdict.address


class _Relay:
    """A relay of bytes in both directions until one side ends, is idle too long, or exceeds the limit."""

    def __init__(self, most: int) -> None:
        self._left = most

    async def run(
        self,
        near: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        far: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Relay until both directions have ended."""
        with suppress(ExceptionGroup):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._carry(near[0], far[1]))
                tasks.create_task(self._carry(far[0], near[1]))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            async with asyncio.timeout(_IDLE_SECONDS):
                piece = await reader.read(_PIECE)
                self._left -= len(piece)
                if self._left < 0:
                    raise ConnectionAbortedError("too many bytes")
                if not piece:
                    break
                writer.write(piece)
                await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def _bound(path: Path) -> socket.socket:
    """Return a Unix socket at a path, accessible only to this account."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(str(path))
        path.chmod(0o600)  # before anybody listens
    except OSError as error:
        made.close()
        problem = f"The socket {str(path)[:150]!r} cannot be made: {error.strerror or error}."
        raise StorageError(problem, fix="name a short path in a folder that you may write.") from error
    return made


def _admit(request: _Request, secret: str) -> None:
    """Refuse a request without the listener's secret, if it has one."""
    given = request.header("proxy-authorization").encode("latin-1", "replace")
    wanted = b"Basic " + base64.b64encode(f"{_USER}:{secret}".encode())
    if secret and not compare_digest(given, wanted):
        raise _Refused("407 Proxy Authentication Required", "the token is missing")


async def _read(reader: asyncio.StreamReader) -> _Request:
    """Return the request at the beginning of a connection."""
    try:
        async with asyncio.timeout(_HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise _Refused("431 Request Header Fields Too Large", "the headers are too large") from error
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1.") or not parts[0].isalpha():
        raise _Refused("400 Bad Request", "the request line is not one of HTTP/1.1")
    pairs = [(name, value.strip(" \t")) for name, colon, value in (line.partition(":") for line in lines) if colon]
    if len(pairs) != len(lines) or not all(_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in pairs):
        raise _Refused("400 Bad Request", "a header is not one of HTTP/1.1")
    return _Request(method=parts[0].upper(), target=parts[1], headers=tuple(pairs))


def _sent_on(request: _Request, target: Target) -> bytes:
    """Return a request in the form for the server: for the checked place, and as the last one of its connection."""
    kept = [(name, value) for name, value in request.headers if name.lower() not in _OF_THE_PROXY]
    pairs = [("Host", target.authority), ("Connection", "close"), *kept]
    lines = [f"{request.method} {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in pairs), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _refusal(error: _Refused) -> bytes:
    body = f"{error.words}\n".encode()
    asks = 'Proxy-Authenticate: Basic realm="tea"\r\n' if error.status.startswith("407") else ""
    head = f"HTTP/1.1 {error.status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n{asks}"
    return f"{head}Connection: close\r\n\r\n".encode() + body
