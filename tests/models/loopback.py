"""A provider on loopback: it sends a test's script, byte for byte, and keeps the requests."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One response: its delay in seconds or event, its chunks in order, and its end.

    It ends, hangs or breaks off (`end`, `hang`, `break`); with `hang up` it does so before a word.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    chunks: Sequence[bytes] = ()
    then: str = "end"
    after: float = 0.0
    when: asyncio.Event | None = None


def document(value: Any, status: int = 200, **headers: str) -> Reply:
    given = {"content-type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
    return Reply(status=status, headers=given, chunks=[json.dumps(value).encode()])


def sse(events: Iterable[tuple[str, Any]], *, size: int = 0, then: str = "end") -> Reply:
    """Server-sent events, cut into chunks of `size` bytes anywhere."""
    data = b"".join(_event(name, value) for name, value in events)
    step = size or max(1, len(data))
    chunks = [data[at : at + step] for at in range(0, len(data), step)]
    return Reply(headers={"content-type": "text/event-stream"}, chunks=chunks, then=then)


def _event(name: str, value: Any) -> bytes:
    data = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


class Loopback:
    """A server of replies in order, then of the results of `answer` for each request."""

    everything: ClassVar[list[Asked]] = []  # of all servers of one test; see conftest.py

    def __init__(self, *replies: Reply, answer: Callable[[Asked], Reply] | None = None) -> None:
        self.replies = list(replies)
        self.answer = answer
        self.asked: list[Asked] = []
        self.busy = self.most = 0
        self.came = asyncio.Event()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self._idle.clear()
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                self.everything.append(asked)
                self.came.set()
                self.busy += 1
                self.most = max(self.most, self.busy)
                reply = self.replies.pop(0) if self.replies else self._made(asked)
                ended = await _write(writer, reader, reply)
                self.busy -= 1
                if not ended:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()
            if not self._writers:
                self._idle.set()

    async def left(self) -> None:
        """Wait until nobody is connected any more."""
        async with asyncio.timeout(20):
            await self._idle.wait()

    def _made(self, asked: Asked) -> Reply:
        if self.answer is None:
            return document({"error": {"message": "the script is at its end", "type": "script"}}, 400)
        return self.answer(asked)

    @asynccontextmanager
    async def open(self) -> "AsyncIterator[Loopback]":
        self._writers: set[asyncio.StreamWriter] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for writer in list(self._writers):
                writer.close()
            await server.wait_closed()
            await self._idle.wait()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method=method, path=path, headers=headers, raw=raw)


async def _write(writer: asyncio.StreamWriter, reader: asyncio.StreamReader, reply: Reply) -> bool:
    await asyncio.sleep(reply.after)
    if reply.when is not None:
        await reply.when.wait()
    if reply.then == "hang up":
        return False
    lines = [f"HTTP/1.1 {reply.status} -", "transfer-encoding: chunked"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    for chunk in reply.chunks:
        writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        await writer.drain()
        await asyncio.sleep(0)  # who reads is given its turn, so that a chunk comes as one
    if reply.then == "hang":
        await reader.read(1)
        return False
    if reply.then == "break":
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
