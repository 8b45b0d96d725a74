"""Parts of the retrieval tests: four tools, an agent using one, and the names found by a question."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tea.platform import Platform
from tea.testing import platform

WORDS = {
    "rain": "Forecast the weather of a city for some days.",
    "coins": "Convert money between currencies at the rate of today.",
    "route": "Find the fastest way by train or bus.",
    "recipes": "Suggest a meal from what is in the fridge.",
}
TOOL = '''
from tea import tool


@tool(effects="reads", idempotent=True, network=False, metadata={metadata})
async def {name}(text: str) -> str:
    """{words}

    Args:
        text: What about.
    """
    if text == "fail":
        raise ValueError(text)
    return text
'''
USER = '''
from tea import Agent, Context, Result, Task


class User(Agent):
    """Find a tool, and use it."""

    tools = ()

    async def run(self, ctx: Context, task: Task) -> Result:
        """Use the first of what fits, or one that is named."""
        found = await ctx.tcp.retrieve(task.text, 2)
        name, _, text = task.text.partition("!")
        response = await ctx.tcp.invoke(name if text else str(found[0]["name"]), {"text": text or "x"})
        ok = (response.ok or text == "fail") and not text.endswith("lost")
        return Result(answer=str(found[0]["name"]), ok=ok, reason="as told")
'''


def tool(name: str, words: str = "", **metadata: str) -> str:
    return TOOL.format(name=name, words=words or WORDS[name], metadata=repr(metadata)).lstrip()


@asynccontextmanager
async def stocked() -> AsyncIterator[Platform]:
    """A platform with the four tools."""
    async with platform() as made:
        for name in WORDS:
            await made.tcp.register(tool(name))
        yield made


async def names(tea: Platform, query: str, k: int = 5, **options: Any) -> list[str]:
    return [match.listing.name for match in await tea.tcp.retrieve(query, k, **options)]
