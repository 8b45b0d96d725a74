"""CPU of one journaled call of a tool, and of the same call through the protocol without a journal.

    python benchmarks/effects.py [CALLS]

The tool validates one argument and returns it. `bare` awaits the same function behind the same pydantic
validation, nothing else. The three take turns in one process; each figure is the median of five rounds, from two
seconds after the tool was registered, when its version is remembered.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

from pydantic import TypeAdapter
from pydantic_core import to_json

from tea.runtime.platform import Platform
from tea.testing import platform

SETTLED = 2.2
ARGUMENTS, RESULT = TypeAdapter(dict[str, str]), TypeAdapter(str)

ECHO = '''
from tea import tool


@tool(effects="reads", idempotent=True)
async def echo(text: str) -> str:
    """Return a text."""
    return text
'''

CALLER = '''
from tea import Agent, Context, Result, Task


class Caller(Agent):
    """Call the tool so many times."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        for number in range(int(task.text)):
            await ctx.tcp.invoke("echo", {"text": str(number)})
        return Result(answer=task.text)
'''


async def echo(text: str) -> str:
    """Return a text."""
    return text


async def bare(calls: int) -> None:
    """Await the function behind its validation."""
    for number in range(calls):
        given = ARGUMENTS.validate_json(to_json({"text": str(number)}))
        RESULT.dump_python(await echo(**given), mode="json")


async def cpu(work: Callable[[], Awaitable[object]]) -> float:
    """Return the CPU seconds that this process needs for `work`."""
    start = time.process_time()
    await work()
    return time.process_time() - start


async def measure(tea: Platform, calls: int) -> dict[str, float]:
    """Return CPU microseconds per call."""

    async def direct() -> None:
        for number in range(calls):
            await tea.tcp.invoke("echo", {"text": str(number)})

    return {
        "bare": await cpu(lambda: bare(calls)) / calls * 1e6,
        "journaled": await cpu(lambda: tea.run(str(calls), agent="caller")) / calls * 1e6,
        "direct": await cpu(direct) / calls * 1e6,
    }


async def medians(calls: int) -> dict[str, float]:
    """Return CPU microseconds per call, the medians of five rounds."""
    async with platform() as tea:
        await tea.tcp.register(ECHO)
        await tea.acp.register(CALLER)
        await measure(tea, max(10, calls // 10))
        await asyncio.sleep(SETTLED)
        rounds = [await measure(tea, calls) for _ in range(5)]
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


async def main(calls: int) -> None:
    """Print the table."""
    found = await medians(calls)
    print(f"{'call':12}{'CPU us':>10}{'times bare':>12}")
    for name, microseconds in found.items():
        print(f"{name:12}{microseconds:10.1f}{microseconds / found['bare']:12.1f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
