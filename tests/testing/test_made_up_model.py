"""TestModel: any agent is driven to its end without a script."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from tea import Agent, Context, Result, Task, ask_for, tool
from tea.models.config import ModelConfig
from tea.testing import TestModel, platform
from tea.types import ModelRequest, Response


@dataclass
class City:
    name: str
    people: int
    size: Literal["small", "large"]


@tool(effects="reads", network=False)
async def founded(city: str, exact: bool, about: list[int]) -> str:
    """Tell when a city was founded."""
    return f"{city} {exact} {about}"


@tool(effects="reads", network=False)
def people(city: City) -> int:
    """Count the people of a city."""
    return city.people


class Asker(Agent):
    """Ask for a city."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask."""
        city = await ask_for(ctx, City, "reporter", {"task": task.text})
        return Result(answer=city.size)


def capitals(**more: Any) -> Agent:
    facts = {"name": "capitals", "instructions": "Answer.", "tools": [founded, people], "output": City, **more}
    return Agent(**facts)


def called(model: TestModel) -> list[str]:
    """The calls shown by the last question."""
    return [str(call["name"]) for one in model.requests[-1:] for call in _records(one)]


def _records(request: ModelRequest) -> list[Any]:
    data = [part.data for message in request.messages for part in message.content if part.type == "data"]
    native = [{"name": call.name} for message in request.messages for call in message.calls]
    return native or [call for one in data if isinstance(one, dict) and "thinking" in one for call in one["calls"]]


async def test_each_tool_is_called_once_and_the_answer_has_its_type() -> None:
    model = TestModel()
    async with platform(model=model) as tea:
        outcome = await tea.run("A city?", agent=capitals())
        assert (outcome.status, outcome.answer) == ("done", City("a", 0, "small"))
        assert called(model) == ["founded", "people"]
        assert (await tea.replay(outcome.run)).ok


async def test_the_same_seed_makes_up_the_same_and_another_something_else() -> None:
    answers: list[Any] = []
    for seed in (1, 1, 2, 3, 4):
        async with platform(model=TestModel(seed=seed)) as tea:
            answers.append((await tea.run("A city?", agent=capitals())).answer)
    assert answers[0] == answers[1]
    assert len({str(one) for one in answers}) > 2


@pytest.mark.parametrize(("wanted", "made"), [([], []), (["people"], ["people"]), (["nowhere"], [])])
async def test_which_tools_are_called_can_be_said(wanted: list[str], made: list[str]) -> None:
    model = TestModel(call_tools=wanted, answer={"name": "Rome", "people": 0, "size": "large"})
    async with platform(model=model) as tea:
        assert (await tea.run("A city?", agent=capitals())).answer == City("Rome", 0, "large")
        assert called(model) == made


async def test_many_tools_are_called_over_several_steps_and_a_limit_of_steps_holds() -> None:
    model = TestModel()
    tools = ["founded", "people", "calculator", "read_file", "table_query"]
    async with platform(model=model) as tea:
        for one in (founded, people):
            await tea.tcp.register(one)
        outcome = await tea.run("A city?", agent=capitals(tools=tools))
        assert outcome.ok
        assert called(model) == sorted(tools)
        assert len(model.requests) == 3
        assert (await tea.run("A city?", agent=capitals(tools=tools, max_steps=1))).ok


@pytest.mark.parametrize("agent", ["planner", "analyzer"])
async def test_the_agents_that_ship_are_driven_to_their_end(agent: str) -> None:
    async with platform(model=TestModel()) as tea:
        outcome = await tea.run("Do it.", agent=agent)
        assert outcome.ok, outcome.reason
        assert (await tea.replay(outcome.run)).ok


async def test_agents_that_offer_each_other_come_to_an_end() -> None:
    async with platform(model=TestModel()) as tea:
        await tea.acp.register(Agent(name="left", instructions="Left."))
        await tea.acp.register(Agent(name="right", instructions="Right.", agents=["left"]))
        await tea.acp.update("left", Agent(name="left", instructions="Left.", agents=["right", "left"]))
        outcome = await asyncio.wait_for(tea.run("Do it.", agent="left"), 60)
        assert outcome.ok


async def test_a_question_that_is_no_step_gets_a_value_of_its_schema() -> None:
    async with platform(model=TestModel()) as tea:
        assert (await tea.run("A city?", agent=Asker)).answer == "small"


async def test_a_question_without_a_schema_gets_words() -> None:
    async def no_tool(ref: str, variables: Any) -> Response:
        raise AssertionError(ref)

    response = await TestModel().complete(ModelRequest(), ModelConfig(name="it", provider="test"), no_tool)
    assert (response.text, response.answered_by) == ("a", "it")
