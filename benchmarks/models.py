"""CPU per step of a tool-calling conversation with a model on loopback: aiohttp, the SDK, and our adapter.

Usage: python benchmarks/models.py [STEPS ...]
The server is a process of its own, so its CPU does not count. Every way sends the same growing conversation.
Whole runs are measured by `overhead.py`.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from _loopback import serve

from tea.models.config import ModelConfig
from tea.models.connect import connect
from tea.models.presets import local
from tea.types import JsonObject, Message, ModelRequest, Response, TextPart, ToolCall

RESULT = "The sum of the first numbers is forty-two, and the rest of this sentence is what tools usually say. " * 4
TOOLS = 20
ROUNDS = 3


def tools(count: int) -> list[dict[str, Any]]:
    """Functions on offer, of ordinary size."""
    parameters = {"type": "object", "properties": {"expression": {"type": "string", "description": "What to compute."}}}
    return [
        {"type": "function", "function": {"name": f"tool_{i:03}", "description": "Compute.", "parameters": parameters}}
        for i in range(count)
    ]


def reply(body: bytes) -> tuple[int, bytes]:
    """Return a completion with a function call, at once, for any request."""
    call = {"name": "tool_001", "arguments": '{"expression": "6 * 7"}'}
    calls = [{"id": "call_1", "type": "function", "function": call}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    return 0, json.dumps({**head, "choices": [choice], "usage": usage}).encode()


@asynccontextmanager
async def server() -> AsyncGenerator[str]:
    """Give the address of a server in another process."""
    process = await asyncio.create_subprocess_exec(sys.executable, __file__, "--serve", stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        await process.wait()


async def by_aiohttp(url: str, steps: int) -> None:
    """Measure the least cost of a step in Python: everything is encoded anew each time."""
    import aiohttp

    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    async with aiohttp.ClientSession() as session:
        for _ in range(steps):
            data = json.dumps({"model": "m", "messages": messages, "tools": tools(TOOLS)}).encode()
            async with session.post(f"{url}/chat/completions", data=data) as response:
                said = json.loads(await response.read())["choices"][0]["message"]
            messages += [said, {"role": "tool", "tool_call_id": "call_1", "content": RESULT}]


async def by_sdk(url: str, steps: int) -> None:
    """The SDK's ordinary call."""
    import openai

    messages: list[Any] = [{"role": "user", "content": "go"}]
    async with openai.AsyncOpenAI(api_key="none", base_url=url) as client:
        for _ in range(steps):
            answer = await client.chat.completions.create(model="m", messages=messages, tools=tools(TOOLS))  # pyright: ignore[reportArgumentType]
            messages += [
                answer.choices[0].message.model_dump(exclude_none=True),
                {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
            ]


async def by_adapter(url: str, steps: int) -> None:
    """Our adapter alone."""

    async def no_tool(ref: str, arguments: JsonObject) -> Response:
        raise AssertionError(ref)

    config: ModelConfig = local("m", url, "m")
    model = connect(config, lambda name: None)
    messages = (Message(role="user", content=(TextPart(text="go"),)),)
    offered = tuple(tools(TOOLS))
    for _ in range(steps):
        answer = await model.complete(ModelRequest(messages=messages, tools=offered), config, no_tool)
        said = Message(role="assistant", content=(), calls=(ToolCall(id="call_1", **_plain(answer.calls[0])),))
        messages = (*messages, said, Message(role="tool", content=(TextPart(text=RESULT),), call_id="call_1"))
    await model.close()


def _plain(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments}


Way = Callable[[str, int], Awaitable[None]]


async def measured(ways: Mapping[str, Way], url: str, steps: int) -> list[float]:
    """Return the CPU milliseconds per step of each way, the least of some interleaved rounds."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            begun = time.process_time()
            await way(url, steps)
            best[name] = min(best[name], (time.process_time() - begun) / steps * 1000)
    return list(best.values())


async def main(*counts: int) -> None:
    """Print a row for each number of steps."""
    async with server() as url:
        ways: dict[str, Way] = {"aiohttp": by_aiohttp, "SDK": by_sdk, "adapter": by_adapter}
        for way in ways.values():
            await way(url, 2)
        print(f"| steps | {' | '.join(ways)} |\n|---{'|---' * len(ways)}|")
        for count in counts:
            row = await measured(ways, url, count)
            print(f"| {count} | {' | '.join(f'{one:.2f}' for one in row)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        asyncio.run(serve(reply))
    else:
        asyncio.run(main(*map(int, sys.argv[1:] or ["20"])))
