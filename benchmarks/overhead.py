"""CPU of an agent's step: `tea.run` against a bare loop over the same SDK and the same server, and against others.

    python benchmarks/overhead.py [--peers PYTHON] [--rounds 3] [--only steps,tools,runs]

The server, on loopback, and every way are processes of their own; the ways take turns in one go. A step is one question
to the model and, but for the last, one call of a tool that does nothing. `--peers` is a Python in whose environment
openai-agents, pydantic-ai-slim[openai], langgraph, langchain and langchain-openai are installed.
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from _loopback import serve

WAYS = Path(__file__).with_name("_overhead_ways.py")
OWN, PEERS = ("SDK", "tea.run"), ("openai-agents", "pydantic-ai", "langgraph")
STEPS, TOOLS, RUNS = (10, 20, 50, 200), (1, 50, 500), (1, 50, 200, 500)
LATENCY = 50
_TOLD = re.compile(rb"K=(\d+) L=(\d+)")
_SAID = re.compile(rb'"role": ?"assistant"')
Worker = asyncio.subprocess.Process


def reply(body: bytes) -> tuple[int, bytes]:
    """Return how long an answer takes, and the answer."""
    told = _TOLD.search(body)
    assert told is not None
    number = len(_SAID.findall(body))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if number < int(told[1]) - 1:
        message["tool_calls"] = [_call(number, "noop", {"x": number, "note": "step"})]
    elif re.search(rb'"name": ?"done"', body):
        message["tool_calls"] = [_call(number, "done", {"answer": "done"})]
    else:
        message["content"] = "done"
    finish = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return int(told[2]), json.dumps(answer).encode()


def _call(number: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number:06}", "type": "function", "function": function}


@asynccontextmanager
async def started(*command: str) -> AsyncGenerator[Worker]:
    """Give a listening process, and end it."""
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=2**24)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def took(worker: Worker, tools: int, steps: int, runs: int, latency: int) -> dict[str, Any]:
    """Return the cost of one job of a way."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    job = {"tools": tools, "steps": steps, "runs": runs, "latency": latency}
    worker.stdin.write(json.dumps(job).encode() + b"\n")
    line = await worker.stdout.readline()
    assert line, "the way ended; its words stand above"
    return json.loads(line)


async def best(workers: Mapping[str, Worker], rounds: int, *job: int) -> dict[str, dict[str, Any]]:
    """Return each way's round of the least CPU."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in workers}
    for _ in range(rounds):
        for name, worker in workers.items():
            found[name].append(await took(worker, *job))
    return {name: min(some, key=lambda one: one["cpu"]) for name, some in found.items()}


def row(label: Any, figures: Mapping[str, float], extra: str = "") -> None:
    """Print a line of a table, each figure with its ratio to the SDK's."""
    cells = [f"{value:.2f} ({value / figures['SDK']:.3f})" for value in figures.values()]
    print(f"| {label} | {' | '.join(cells)} |{extra}", flush=True)


def header(first: str, names: Mapping[str, Any], extra: str = "") -> None:
    """Print the head of a table."""
    print(f"\n| {first} | {' | '.join(names)} |{extra}\n|---{'|---' * len(names)}|{'---|' if extra else ''}")


async def measure(workers: Mapping[str, Worker], rounds: int, only: set[str]) -> None:
    """Print the tables."""
    for name in workers:
        await took(workers[name], 1, 2, 1, 0)
    if "steps" in only:
        header("steps, CPU ms a step", workers, " tea's last step to its first |")
        for steps in STEPS:
            found = await best(workers, rounds, 1, steps, 1, 0)
            gaps = found["tea.run"]["gaps"]
            few = max(1, min(10, len(gaps) // 3))
            ratio = statistics.median(gaps[-few:]) / statistics.median(gaps[1 : 1 + few])
            row(steps, {name: one["cpu"] / steps * 1000 for name, one in found.items()}, f" {ratio:.2f} |")
    if "tools" in only:
        header("tools, CPU ms a step of 20", workers)
        for tools in TOOLS:
            await best(workers, 1, tools, 2, 1, 0)
            found = await best(workers, rounds, tools, 20, 1, 0)
            row(tools, {name: one["cpu"] / 20 * 1000 for name, one in found.items()})
    if "runs" in only:
        header("runs at once, seconds for ten steps each", workers)
        took_cpu: list[dict[str, float]] = []
        for runs in RUNS:
            found = await best(workers, 1 if runs > 50 else rounds, 1, 10, runs, LATENCY)
            row(runs, {name: one["wall"] for name, one in found.items()})
            took_cpu.append({name: one["cpu"] for name, one in found.items()})
        header("the same, seconds of CPU", workers)
        for runs, figures in zip(RUNS, took_cpu, strict=True):
            row(runs, figures)


async def main() -> None:
    """Start the server and the ways, and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", help="Python whose environment has the other libraries.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="steps,tools,runs")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        await serve(reply)
        return
    pythons: dict[str, str] = dict.fromkeys(OWN, sys.executable)
    pythons |= dict.fromkeys(PEERS, str(chosen.peers)) if chosen.peers else {}
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(started(sys.executable, __file__, "--serve"))
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(await server.stdout.readline())}/v1"
        workers = {
            name: await stack.enter_async_context(started(python, str(WAYS), name, url))
            for name, python in pythons.items()
        }
        await measure(workers, chosen.rounds, set(chosen.only.split(",")))


if __name__ == "__main__":
    asyncio.run(main())
