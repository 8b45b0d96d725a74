"""Loopback sites for tests, with pages and real misbehaviour."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from serving import serving

from tea.web import UrlGuard


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One received request."""

    path: str
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Page:
    """An answer; `then` is the server's next act: `end`, `break` off, `hang`, or send `endless` bytes.

    A `raw` answer is sent as it stands, without a head of the server's own.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    raw: bytes = b""
    then: str = "end"


Maker = Callable[[Asked], Page]


def html(text: str, **headers: str) -> Page:
    given = {
        "content-type": "text/html; charset=utf-8",
        **{name.replace("_", "-"): one for name, one in headers.items()},
    }
    return Page(body=text.encode(), headers=given)


def redirect(to: str, status: int = 302) -> Page:
    return Page(status=status, headers={"location": to})


class Site:
    """A server of pages by path; an unknown one is 404, and one of several answers each time with the next."""

    def __init__(self, pages: Mapping[str, Page | Maker | list[Page]]) -> None:
        self.pages = dict(pages)
        self.asked: list[Asked] = []
        self.port = 0

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.place}"

    def guard(self, *more: str) -> UrlGuard:
        return UrlGuard([self.place, *more])

    def paths(self) -> list[str]:
        return [one.path for one in self.asked]

    @asynccontextmanager
    async def open(self, tls: ssl.SSLContext | None = None) -> "AsyncIterator[Site]":
        async with serving(self._serve, self.port, tls) as self.port:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = first.split(" ", 2)
        asked = Asked(path=path, headers=headers, method=method, body=body)
        self.asked.append(asked)
        page = self._page(asked)
        writer.write(page.raw or _head(page) + page.body)
        await writer.drain()
        while page.then == "endless":
            writer.write(b"<p>more and more</p>\n" * 1_000)
            await writer.drain()
        if page.then == "hang":
            await reader.read(1)

    def _page(self, asked: Asked) -> Page:
        found = self.pages.get(asked.path) or self.pages.get(
            asked.path.partition("?")[0], Page(status=404, body=b"<html><body>Not found</body></html>")
        )
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found if isinstance(found, Page) else found(asked)


def _head(page: Page) -> bytes:
    headers = dict(page.headers)
    if page.then == "end":
        headers.setdefault("content-length", str(len(page.body)))
    lines = [f"HTTP/1.1 {page.status} Status", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode()
