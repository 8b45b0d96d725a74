"""An agent that is declared by a call: its tool is a function, its answers are values of a type."""

import asyncio
from dataclasses import dataclass

from tea import Agent
from tea.testing import TestModel, platform

PEOPLE = {"Lima": 10_092_000, "Oslo": 717_710, "Paris": 2_048_472}


@dataclass
class City:
    """A city, and how many people live there."""

    name: str
    people: int


def people(city: str) -> int:
    """Tell how many people live in a city, 0 where nobody knows.

    Args:
        city: Its name in English.
    """
    return PEOPLE.get(city, 0)


capitals = Agent(
    name="capitals",
    instructions="Answer questions about capitals. Look numbers up, never guess them.",
    tools=[people, "calculator"],
    output=City,
)


async def main() -> None:
    """Try the agent out without a model: each tool is called, and the answer is made up."""
    async with platform(model=TestModel()) as tea:
        outcome = await tea.run("How many people live in the capital of Peru?", agent=capitals)
        print(outcome.status, outcome.answer)
        print((await tea.acp.register(capitals)).ref)
        print((await tea.tcp.invoke("people", {"city": "Lima"})).value)


asyncio.run(main())
