"""Declared agents and agents without a `run` of their own, at work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

import tea
from tea import Agent, Context, Result, Task
from tea.errors import BadInput, BadTask, ProviderError, UnknownComponent
from tea.models.manager import Adapter, ModelConfig
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.testing import ScriptedModel, platform
from tea.types import ModelRequest, ModelResponse, TextPart, ToolCall


@dataclass
class City:
    name: str
    people: int


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def _is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("is odd")
        return number


def people(city: str) -> int:
    """Count the people of a city."""
    return len(city)


class Counter(Agent):
    """Count with its declared tools."""

    tools = ("calculator", "done")
    environments = ("workspace",)
    max_steps = 7


class Teller(Agent):
    """Tell its declaration."""

    tools = ("calculator",)
    agents = ("planner",)
    prompt = "planner"
    output = None

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell."""
        return Result(answer=dict(ctx.declared))


class Careful(Counter):
    """Count, and look at the answer."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work as others do."""
        result = await super().run(ctx, task)
        return Result(answer=[result.answer])


def call(name: str, **arguments: Any) -> ModelResponse:
    return ModelResponse(calls=(ToolCall(id="x", name=name, arguments=arguments),))


def capitals(**more: Any) -> Agent:
    facts = {"name": "capitals", "instructions": "Be {{ exact }}.", "tools": [people, "calculator"], **more}
    return Agent(**facts)


def told(request: ModelRequest) -> str:
    (part,) = request.messages[0].content
    assert isinstance(part, TextPart)
    return part.text


def offered(request: ModelRequest) -> list[str]:
    return [str(one["name"]) for one in request.tools]


async def test_a_declared_agent_works_and_who_gave_it_gets_a_value_of_its_type() -> None:
    model = ScriptedModel([call("people", city="Rome"), call("done", answer={"name": "Rome", "people": 4})])
    async with platform(model=model) as stage:
        outcome = await stage.run("Rome?", agent=capitals(output=City))
        assert outcome.answer == City("Rome", 4)
        assert told(model.requests[0]).startswith("Be {{ exact }}.\n")
        assert {"people", "calculator", "done"} <= {*offered(model.requests[0])}
        (end,) = [one for one in model.requests[0].tools if one["name"] == "done"]
        assert end["parameters"]["properties"]["answer"]["title"] == "City"
        again = await stage.replay(outcome.run)
        assert again.answer == {"name": "Rome", "people": 4}
        assert json.loads(json.dumps(outcome.to_json())) == again.to_json()


async def test_an_answer_of_another_form_is_refused_and_one_that_the_task_names_counts() -> None:
    replies = [call("done", answer="Rome"), call("done", answer={"name": "Rome", "people": 4}), call("done", answer=7)]
    model = ScriptedModel(replies)
    async with platform(model=model) as stage:
        assert (await stage.run("Rome?", agent=capitals(output=City))).answer == City("Rome", 4)
        assert len(model.requests) == 2
        named = await stage.run("Rome?", agent=capitals(output=City), answer={"type": "integer"})
        assert (named.status, named.answer) == ("done", 7)


async def test_an_answer_that_only_the_type_refuses_is_no_success() -> None:
    async with platform(model=ScriptedModel([call("done", answer={"number": 3})])) as stage:
        outcome = await stage.run("Even?", agent=capitals(output=Even))
        assert (outcome.status, outcome.answer) == ("failed", {"number": 3})
        assert "is odd" in outcome.reason


async def test_each_of_several_declarations_of_a_name_works_as_it_says() -> None:
    model = ScriptedModel([call("done", answer=number) for number in range(4)])
    first, second = capitals(), capitals(instructions="Be quick.")
    async with platform(model=model) as stage:
        runs = [await stage.run("Rome?", agent=one) for one in (first, second, first, second)]
        words = [told(request).partition("\n")[0] for request in model.requests]
        assert words == ["Be {{ exact }}.", "Be quick.", "Be {{ exact }}.", "Be quick."]
        assert len(await stage.libraries["prompt"].history("capitals")) == 2
        assert [(await stage.replay(one.run)).answer for one in runs] == [0, 1, 2, 3]


async def test_a_declared_agent_delegates_to_a_declared_agent() -> None:
    replies = [call("helper", task="Help."), call("done", answer="helped"), call("done", answer="all")]
    model = ScriptedModel(replies)
    helper = Agent(name="helper", instructions="Help others.", tools=[people])
    async with platform(model=model) as stage:
        outcome = await stage.run("Work.", agent=capitals(agents=[helper]))
        assert outcome.answer == "all"
        assert told(model.requests[1]).startswith("Help others.")
        assert "people" in offered(model.requests[1])


async def test_the_short_way_takes_one_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEA_STATE", str(tmp_path / "state"))
    model: Adapter = ScriptedModel([call("done", answer=[1]), call("done", answer=[2])])
    agent = capitals(output=tuple[int])
    assert (await tea.run("One?", agent=agent, home=tmp_path, model=model)).answer == (1,)
    events = [one async for one in tea.stream("Two?", agent=agent, home=tmp_path, model=model)]
    assert isinstance(events[-1], Outcome)
    assert events[-1].answer == (2,)


async def test_a_task_that_cannot_be_used_registers_nothing() -> None:
    async with platform() as stage:
        with pytest.raises(BadTask):
            await stage.run("", agent=capitals())
        with pytest.raises(UnknownComponent):
            await stage.acp.info("capitals")


async def test_a_class_without_a_run_works_with_what_it_declares() -> None:
    model = ScriptedModel([call("done", answer=1), call("done", answer=2)])
    async with platform(model=model) as stage:
        assert (await stage.run("Count.", agent=Counter)).answer == 1
        assert (await stage.run("Count.", agent="counter")).answer == 2
        assert (model.requests[0].variables["max_steps"], model.requests[0].prompt) == (7, "prompt:tool_calling@1.0.0")
        assert {"calculator", "done", "workspace_read"} <= {*offered(model.requests[0])}


async def test_a_run_of_its_own_may_call_the_one_it_would_have() -> None:
    async with platform(model=ScriptedModel([call("done", answer=1)])) as stage:
        assert (await stage.run("Count.", agent=Careful)).answer == [1]


async def test_an_agent_that_no_platform_made_says_so() -> None:
    with pytest.raises(tea.TeaError, match=r"Counter\(\) was not made by a platform"):
        await Counter().run(None, Task(text="x"))  # type: ignore[arg-type]


async def test_the_context_tells_what_the_agent_that_works_declares() -> None:
    async with platform() as stage:
        declared = {"tools": ["calculator"], "agents": ["planner"], "environments": [], "prompt": "planner"}
        outcome = await stage.run("Tell.", agent=Teller)
        assert outcome.answer == {**declared, "max_steps": 50, "output": None}


def config(name: str) -> ModelConfig:
    return ModelConfig(name=name, provider="test")


async def asked(stage: Platform, **options: Any) -> str:
    outcome = await stage.run("Which?", agent=capitals(model="small"), **options)
    return str(outcome.answer)


async def test_the_model_that_an_agent_names_answers_unless_the_run_or_the_operator_names_another(
    tmp_path: Path,
) -> None:
    async with Platform(tmp_path, state=tmp_path / "state") as stage:
        with pytest.raises(ProviderError, match="No model is configured as 'small'"):
            await asked(stage)
        with pytest.raises(BadInput, match="There is no run"):
            stage.tracer.find("last")
        for name in ("big", "small", "other"):
            stage.models.add(config(name), ScriptedModel([call("done", answer=name)] * 3))
        stage.models.chosen = "big"
        assert await asked(stage) == "small"
        assert await asked(stage, model="other") == "other"
        stage.models.roles = {"capitals": "big"}
        assert await asked(stage) == "big"


async def test_what_answers_in_place_of_the_models_answers_for_the_one_that_an_agent_names() -> None:
    async with platform(model=ScriptedModel([call("done", answer="given")])) as stage:
        assert await asked(stage) == "given"
