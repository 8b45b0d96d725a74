"""CPU of one journaled call of a tool, and of the same call through the protocol without a journal.

    python benchmarks/effects.py [CALLS]

The tool validates one argument and returns it. `bare` awaits the same function behind `pydantic.validate_call`, its
argument and its result checked, and nothing else; `bare, of JSON` validates the argument as JSON text, as it comes
from a model, and writes the result so. They take turns in one process; each figure is the median of many rounds, from
two seconds after the tool was registered, when its version is remembered.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

from pydantic import TypeAdapter, validate_call
from pydantic_core import to_json

from tea.platform import Platform
from tea.testing import platform

SETTLED, ROUNDS = 2.2, 25
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


@validate_call(validate_return=True)
async def echo(text: str) -> str:
    """Return a text."""
    return text


async def unchecked(text: str) -> str:
    """Return a text."""
    return text


async def bare(calls: int) -> None:
    """Await the function behind its validation."""
    for number in range(calls):
        await echo(text=str(number))


async def bare_json(calls: int) -> None:
    """Await the function behind JSON text."""
    for number in range(calls):
        given = ARGUMENTS.validate_json(to_json({"text": str(number)}))
        RESULT.dump_python(await unchecked(**given), mode="json")


async def cpu(work: Callable[[], Awaitable[object]]) -> float:
    """Return this process's CPU seconds for `work`."""
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
        "bare, of JSON": await cpu(lambda: bare_json(calls)) / calls * 1e6,
        "journaled": await cpu(lambda: tea.run(str(calls), agent="caller")) / calls * 1e6,
        "direct": await cpu(direct) / calls * 1e6,
    }


async def medians(calls: int) -> dict[str, float]:
    """Return CPU microseconds per call, the medians of all rounds."""
    async with platform() as tea:
        await tea.tcp.register(ECHO)
        await tea.acp.register(CALLER)
        await measure(tea, max(10, calls // 10))
        await asyncio.sleep(SETTLED)
        rounds = [await measure(tea, calls) for _ in range(ROUNDS)]
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


async def main(calls: int) -> None:
    """Print the table."""
    found = await medians(calls)
    print(f"{'call':15}{'CPU us':>10}{'times bare':>12}")
    for name, microseconds in found.items():
        print(f"{name:15}{microseconds:10.2f}{microseconds / found['bare']:12.2f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
