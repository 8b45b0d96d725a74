"""A loopback Chat Completions server of kept answers, counting its requests."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from mimetypes import guess_type
from pathlib import Path
from typing import Any, Literal, cast

from _sittings_format import Flow

BYTES_PER_TOKEN = 4
LATENCY = 0.03  # seconds that an answer takes, so that what is asked side by side is there at once
Tell = Callable[[str], Awaitable[None]]
Ending = Literal["text", "final_answer"]
_ID = re.compile(r"(?<![0-9a-z])[0-9a-f]{8,}(?![0-9a-z])")  # ids, other ones in a fork


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request.

    Args:
        flow: Number of the flow that it belongs to.
        tokens: Its bytes / 4.
        words: Its functions and messages as text, in the order in which providers read them.
        at_once: How many were waiting for an answer, with it.
        missing: What an honest model would have had to see in it, and could not.
        refused: Why it got no answer, empty where it got one.
    """

    flow: int
    tokens: int
    words: str
    at_once: int
    missing: tuple[str, ...] = ()
    refused: str = ""


@dataclass(slots=True)
class KeptServer:
    """Gives the replies of each flow in order.

    Args:
        flows: The kept answers.
        context: Most tokens of a question; a longer one is refused as providers do.
        tell: Carries what the person says to whoever works.
        ending: How an `answer` is given: as text, or by a call of `final_answer`.
        remembers: Whether a question asked before, apart from ids, gets its answer again, as after a crash; one that
            comes when all were given gets that of its place in the conversation, else the last that fits what it shows.
    """

    flows: Sequence[Flow]
    context: int | None = None
    tell: Tell | None = None
    ending: Ending = "text"
    remembers: bool = False
    questions: list[Question] = field(default_factory=list[Question])
    _given: dict[int, int] = field(default_factory=dict[int, int])
    _known: dict[str, int] = field(default_factory=dict[str, int])
    _waiting: int = 0
    _writers: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str]:
        """Give the address, and serve until the end of the block."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        finally:
            server.close()
            for writer in list(self._writers):
                writer.close()
            await server.wait_closed()

    async def reply(self, raw: bytes) -> tuple[int, Mapping[str, Any]]:
        """Return the status and the document for a request's body."""
        body = json.loads(raw)
        self._waiting += 1
        try:
            return await self._answered(body, len(raw) // BYTES_PER_TOKEN)
        finally:
            self._waiting -= 1

    async def _answered(self, body: Mapping[str, Any], tokens: int) -> tuple[int, Mapping[str, Any]]:
        words = json.dumps([body.get("tools"), body["messages"]], ensure_ascii=False)
        number, at_once = self._flow(body["messages"]), self._waiting
        asked: dict[str, Any] = {"flow": number, "tokens": tokens, "words": words, "at_once": at_once}
        replies, known = self.flows[number].replies, _ID.sub("", words)
        text = "\n".join(_texts(body["messages"]))
        position, first = self._given.get(number, 0), False
        if self.flows[number].together:
            position = sum(one["role"] == "assistant" for one in body["messages"])
        elif self.remembers and known in self._known:
            position = self._known[known]
        elif self.remembers and position >= len(replies):
            position = _fitting(replies, body["messages"], text)
        else:
            first = True
        if replies[-1].get("again"):
            position = min(position, len(replies) - 1)
        if self.context is not None and tokens > self.context:
            return self._refused(asked, _too_long(self.context, tokens), "context_length_exceeded")
        if position >= len(replies):
            return self._refused(asked, f"there are no more than {len(replies)} kept answers", "kept_answers")
        if first:
            self._given[number], self._known[known] = position + 1, position
        reply = _copied(replies[position], text)
        missing = tuple(one for one in reply.get("shown", ()) if one not in text) + _unoffered(reply, body)
        self.questions.append(Question(**asked, missing=missing))
        if "tell" in reply and self.tell is not None:
            await self.tell(reply["tell"])
        await asyncio.sleep(LATENCY)
        if "http" in reply:
            return reply["http"], reply.get("body", {})
        return 200, self._completion(reply, f"{number}_{position}", tokens)

    def _flow(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Return the number of a conversation's flow, by its opening."""
        first = next((n for n, one in enumerate(messages) if one["role"] == "assistant"), len(messages))
        opening = "\n".join(_texts(messages[:first]))
        return next((n for n, flow in enumerate(self.flows) if flow.when in opening), len(self.flows) - 1)

    def _refused(self, asked: Mapping[str, Any], problem: str, code: str) -> tuple[int, Mapping[str, Any]]:
        self.questions.append(Question(**asked, refused=problem))
        return 400, {"error": {"message": problem, "type": "invalid_request_error", "code": code}}

    def _completion(self, reply: Mapping[str, Any], id: str, tokens: int) -> Mapping[str, Any]:
        calls = [_call(f"call_{id}_{n}", *one) for n, one in enumerate(reply.get("calls", ()))]
        text = json.dumps(reply["object"], ensure_ascii=False) if "object" in reply else reply.get("text")
        if "answer" in reply and self.ending == "text":
            text = reply["answer"]
        elif "answer" in reply:
            calls = [_call(f"call_{id}", "final_answer", {"answer": reply["answer"]})]
        message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
        finish = reply.get("finish") or ("tool_calls" if calls else "stop")
        answered = len(json.dumps(message)) // BYTES_PER_TOKEN
        usage = {"prompt_tokens": tokens, "completion_tokens": answered, "total_tokens": tokens + answered}
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        head = {"id": id, "object": "chat.completion", "created": 1, "model": "kept"}
        return {**head, "choices": [choice], "usage": usage}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                status, document = await self.reply(await reader.readexactly(size))
                data = json.dumps(document).encode()
                lines = f"HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
                writer.write(lines.encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


@asynccontextmanager
async def open_site(pages: Mapping[str, str] | Path, port: int = 0) -> AsyncGenerator[str]:
    """Give the address of a site on loopback, and serve its pages until the end of the block.

    Args:
        pages: Pages by path, or a folder of them.
        port: Where it is served; any free port by default.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
            body = _page(pages, path.partition("?")[0])
            status = b"404 Not Found" if body is None else b"200 OK"
            kind = (guess_type(path.partition("?")[0])[0] or "text/html").encode()
            head = b"HTTP/1.1 %s\r\ncontent-type: %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            writer.write(head % (status, kind, len(body or b"")) + (body or b""))
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", port) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def _page(pages: Mapping[str, str] | Path, path: str) -> bytes | None:
    """Return the bytes of a page; None for an unknown path."""
    if not isinstance(pages, Path):
        return pages[path].encode() if path in pages else None
    file = (pages / path.lstrip("/")).resolve()
    return file.read_bytes() if file.is_relative_to(pages.resolve()) and file.is_file() else None


def _fitting(replies: Sequence[Mapping[str, Any]], messages: Sequence[Mapping[str, Any]], text: str) -> int:
    """Return the position of the reply for a question like those answered before."""
    said = sum(one["role"] == "assistant" for one in messages)
    if said:
        return said
    fitting = (n for n, one in enumerate(replies) if all(shown in text for shown in one.get("shown", ())))
    return max(fitting, default=len(replies))


def _copied(reply: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return a reply with its copies from a question filled in."""
    filled = json.dumps(reply)
    for name, pattern in reply.get("copies", {}).items():
        found = re.findall(pattern, text)
        filled = filled.replace(f'"{{{name}:n}}"', found[-1] if found else "0")
        filled = filled.replace(f"{{{name}}}", json.dumps(found[-1])[1:-1] if found else "")
    return json.loads(filled)


def _unoffered(reply: Mapping[str, Any], body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the functions called by a reply and not offered by its question."""
    offered = [one["function"]["name"] for one in body.get("tools", ())]
    return tuple(f"the function {name}" for name, _ in reply.get("calls", ()) if offered and name not in offered)


def _call(id: str, name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def _too_long(context: int, tokens: int) -> str:
    return (
        f"This model's maximum context length is {context} tokens. However, your messages resulted in {tokens} tokens."
    )


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of some messages, with the numbers of calls' arguments and results as they stand."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in cast("list[Any]", value):
            yield from _texts(one)
