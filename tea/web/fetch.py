"""Fetch: one page over HTTP, every hop of it checked by the guard, within limits of bytes and time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self, cast
from urllib.parse import urljoin

from tea.web.address import Target, escaped, read_address
from tea.web.decoding import ACCEPTED, Decoder, Undecodable
from tea.web.guard import Reason, UrlGuard, Verdict

FailureKind = Literal["refused", "unresolved", "unreachable", "tls", "timeout", "broken", "encoding", "redirects"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A request on the way to a page: its address, its IP address, and the status of the answer."""

    url: str
    address: str
    status: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a server.

    Args:
        url: The address that answered, behind all redirects.
        status: Its status.
        headers: Its headers by name in small letters; those given several times are joined by a comma.
        body: Its bytes, decompressed.
        truncated: Whether the body went on behind the limit.
        hops: Every request on the way, this last one among them.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    truncated: bool = False
    hops: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one fetch.

    Args:
        seconds: Most time, with all redirects.
        redirects: Most redirects.
        bytes_of: Gives the most decompressed bytes of a body by its content type.
    """

    seconds: float = 20.0
    redirects: int = 10
    bytes_of: Callable[[str], int] = field(default=lambda content_type: 8_000_000)


class FetchFailed(Exception):
    """A failed fetch: no answer, or none permitted.

    Args:
        kind: What went wrong, for whoever decides whether to try again.
        problem: What went wrong, in words.
        url: The address at which it did, behind redirects.
        reason: The guard's reason, where that refused or found no IP address.
    """

    def __init__(self, kind: FailureKind, problem: str, url: str = "", reason: Reason | None = None) -> None:
        super().__init__(problem)
        self.kind: FailureKind = kind
        self.problem = problem
        self.url = url
        self.reason = reason


class Fetcher:
    """A fetcher of pages through a guard: it connects only to the exact IP address checked.

    Nothing of the environment's proxies counts, and certificates are verified for the name in the address.

    Args:
        guard: Decides about every hop.
        agent: What it tells servers that it is.
        limits: What a fetch may use.
    """

    def __init__(self, guard: UrlGuard, *, agent: str, limits: Limits | None = None) -> None:
        self._guard, self._agent, self._limits = guard, agent, limits or Limits()

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Return the answer to a GET after its redirects, with any status.

        Args:
            url: The address, in the grammar of the guard; see `escaped` for others.
            headers: Further headers, for example `If-None-Match`.

        Raises:
            FetchFailed: The guard refused a hop, or no whole answer came within the limits.
        """
        hops = list[Hop]()
        try:
            async with asyncio.timeout(self._limits.seconds):
                while True:
                    answer = await self._hop(url, headers or {}, hops)
                    location = answer.headers.get("location", "")
                    if answer.status not in _REDIRECTS or not location:
                        return answer
                    url = self._next(answer, location, hops)
        except TimeoutError:
            problem = f"No whole answer came within {self._limits.seconds:g} seconds."
            raise FetchFailed("timeout", problem, url) from None

    async def send(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, content: bytes | None = None
    ) -> Answer:
        """Return the answer to one request, with any status; a redirect is returned, and not followed.

        So what the request carries, such as a key, reaches only the given address.

        Args:
            method: The method, for example `POST`.
            url: The address, in the grammar of the guard; see `escaped` for others.
            headers: Further headers.
            content: Bytes of the request; None for none.

        Raises:
            FetchFailed: The guard refused the address, or no whole answer came within the limits.
        """
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._hop(url, headers or {}, [], method, content)
        except TimeoutError:
            problem = f"No whole answer came within {self._limits.seconds:g} seconds."
            raise FetchFailed("timeout", problem, url) from None

    def _next(self, answer: Answer, location: str, hops: list[Hop]) -> str:
        """Return the target of a redirect."""
        url = escaped(_joined(answer.url, location))
        target = read_address(url)
        seen = {hop.url for hop in hops}
        if not isinstance(target, str) and target.url in seen:
            raise FetchFailed("redirects", f"It redirects in a circle, back to {target.url[:200]}.", url)
        if len(hops) > self._limits.redirects:
            raise FetchFailed("redirects", f"It redirects more than {self._limits.redirects} times.", url)
        return url

    async def _hop(
        self, url: str, headers: Mapping[str, str], hops: list[Hop], method: str = "GET", content: bytes | None = None
    ) -> Answer:
        target = read_address(url)
        verdict = Verdict(False, target, None) if isinstance(target, str) else await self._guard.check_target(target)
        if isinstance(target, str) or verdict.address is None:
            told = f"a redirect to {url[:200]!r}" if hops else repr(url[:200])
            kind = "unresolved" if verdict.unresolved else "refused"
            raise FetchFailed(kind, verdict.problem(told), url, verdict.reason)
        request = (method, headers, content)
        async with self._request(target, verdict.address, *request) as (status, given, chunks):
            hops.append(Hop(url=target.url, address=verdict.address, status=status))
            redirects = status in _REDIRECTS and "location" in given
            most = 0 if redirects else self._limits.bytes_of(given.get("content-type", ""))
            body, truncated = await _body(chunks, given.get("content-encoding", ""), most)
        return Answer(url=target.url, status=status, headers=given, body=body, truncated=truncated, hops=tuple(hops))

    @asynccontextmanager
    async def _request(
        self, target: Target, address: str, method: str, headers: Mapping[str, str], content: bytes | None
    ) -> AsyncGenerator[tuple[int, dict[str, str], AsyncIterator[bytes]]]:
        """Send one request to one IP address, and return status, headers and body of the answer."""
        import httpcore

        secure = target.scheme == "https"
        url = httpcore.URL(
            scheme=target.scheme.encode(), host=address.encode(), port=target.port, target=target.path.encode()
        )
        sent = {"Host": target.authority, "User-Agent": self._agent, "Accept-Encoding": ACCEPTED, "Connection": "close"}
        if content is not None:
            sent["Content-Length"] = str(len(content))
        limits = {"connect": _CONNECT_SECONDS, "read": self._limits.seconds, "write": self._limits.seconds}
        request = httpcore.Request(
            method,
            url,
            headers=list({**_ACCEPT, **headers, **sent}.items()),
            content=content,
            extensions={"timeout": limits, "sni_hostname": target.host},
        )
        streams = _Streams()
        connection = httpcore.AsyncHTTPConnection(
            url.origin, ssl_context=self._tls if secure else None, network_backend=cast(Any, streams)
        )
        try:
            async with streams, connection:
                response = await connection.handle_async_request(request)
                try:
                    yield response.status, _headers(response.headers), _chunks(response)
                finally:
                    await response.aclose()
        except Undecodable as error:
            raise FetchFailed("encoding", f"The body cannot be decompressed: {error}.", target.url) from error
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            raise _failure(error, target) from error

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Return a TLS context trusting certifi's and the operating system's certificates."""
        import certifi

        context = ssl.create_default_context(cafile=certifi.where())
        context.load_default_certs()
        return context


class _Streams:
    """A network backend closing its connections: httpcore leaves one open if its TLS handshake is cancelled."""

    def __init__(self) -> None:
        self._opened: list[Any] = []

    async def connect_tcp(self, *given: Any, **options: Any) -> Any:
        """Open a connection, as httpcore does."""
        import httpcore

        backend: Any = httpcore.AnyIOBackend()
        stream = await backend.connect_tcp(*given, **options)
        self._opened.append(stream)
        return stream

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        for stream in self._opened:
            await stream.aclose()


async def _body(chunks: AsyncIterator[bytes], encoding: str, most: int) -> tuple[bytes, bool]:
    """Return the body's first bytes, and whether there are more."""
    decoder, body = Decoder(encoding if most else "", most), bytearray()
    async for chunk in chunks:
        body += decoder.feed(chunk)
        if decoder.full:
            break
    return bytes(body), decoder.full


async def _chunks(response: Any) -> AsyncIterator[bytes]:
    async for chunk in response.aiter_stream():
        yield chunk


def _headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    found = dict[str, str]()
    for name, value in raw:
        key = name.decode("ascii", "replace").lower()
        try:
            text = value.decode("utf-8")
        except UnicodeDecodeError:
            text = value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _joined(base: str, location: str) -> str:
    """Return the address of a redirect; an ambiguous one is returned unchanged for the guard."""
    if "\\" in location:
        return location
    try:
        return urljoin(base, location.strip())
    except ValueError:  # of a host in brackets that is no IP address
        return location


def _failure(error: Exception, target: Target) -> FetchFailed:
    """Return the failure for an error of the connection, with its explanation."""
    import httpcore

    said = " ".join(str(_cause(error)).split())[:200] or "it closed the connection"
    if isinstance(_cause(error), ssl.SSLError):
        return FetchFailed("tls", f"No secure connection to {target.host!r}: {said}.", target.url)
    if said == _LONG_HEAD:
        return FetchFailed("broken", f"{target.host!r} sent headers that are too long.", target.url)
    if isinstance(error, httpcore.TimeoutException):
        return FetchFailed("timeout", f"{target.host!r} did not answer in time.", target.url)
    if isinstance(error, httpcore.ConnectError):
        return FetchFailed("unreachable", f"{target.host!r} cannot be reached: {said}.", target.url)
    return FetchFailed("broken", f"{target.host!r} broke off its answer: {said}.", target.url)


def _cause(error: BaseException) -> BaseException:
    """Return the innermost cause of an error of the connection."""
    return error if error.__cause__ is None else _cause(error.__cause__)


_LONG_HEAD = "Receive buffer too long"  # as h11 says it
_ACCEPT = {
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Language": "en;q=0.8,*;q=0.5",
}
