"""Test an agent's knowledge of its model: pinned by the effect of its question."""

from pathlib import Path
from typing import Any

import pytest
from step_kit import PROMPT

from tea.errors import InternalError
from tea.models.config import ModelConfig
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.testing import ScriptedModel, platform

KNOWER = '''
from tea import Agent, Context, Result, Task

TOOLS = [{"name": "done", "description": "End.", "parameters": {"type": "object", "properties": {}}}]


class Knower(Agent):
    """Ask what is known of a model, and perhaps ask it."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Return the facts."""
        facts = [] if task.text == "ask only" else [await ctx.model(), await ctx.model(), await ctx.model("small")]
        if task.text != "facts only":
            await ctx.ask("steps", {"tools": TOOLS}, tool_choice="required")
        return Result(answer=facts)
'''


def effects(tea: Platform, outcome: Outcome) -> list[tuple[str, str]]:
    found: list[Any] = [one.data for one in tea.tracer.records(outcome.run) if one.kind == "start"]
    return [(one["kind"], one["target"]) for one in found]


async def test_facts_are_those_of_the_role_and_cost_a_question_nothing() -> None:
    big = ModelConfig(
        name="big",
        provider="test",
        capabilities=("tools", "vision", "files", "streaming"),
        context=64_000,
        max_output=900,
        fold="summary",
        prices={"input": 1, "output": 1},
    )
    small = ModelConfig(name="small", provider="test")
    async with platform(model=ScriptedModel([])) as tea:
        for config in (big, small):
            tea.models.add(config, ScriptedModel(["words"] * 3))
        tea.models.roles["knower"] = "big"
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(KNOWER)
        both, asked, known = [await tea.run(what, agent="knower") for what in ("both", "ask only", "facts only")]
        first, again, other = both.answer or ({}, {}, {})
        assert first == again == known.answer[0]  # pyright: ignore[reportOptionalSubscript]
        assert first == {
            "name": "big",
            "context": 64_000,
            "max_output": 900,
            "fold": "summary",
            "functions": True,
            "solver": False,
            "senses": ["vision", "files"],
            "streaming": True,
        }
        assert (other["name"], other["context"], other["functions"]) == ("small", 32_000, False)
        found = effects(tea, both)
        assert [one for one in found if one not in effects(tea, asked)] == [("resolve", "model:small")]
        assert found.count(("resolve", "model:knower")) == 1
        for outcome in (both, asked, known):
            assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


async def test_the_offline_solvers_are_no_model(tmp_path: Path) -> None:
    async with Platform(tmp_path, state=tmp_path / "state") as tea:
        await tea.acp.register(KNOWER.replace(', await ctx.model("small")', ""))
        outcome = await tea.run("facts only", agent="knower")
        assert outcome.ok, outcome
        facts: Any = outcome.answer
        assert (facts[0]["name"], facts[0]["solver"], facts[0]["functions"]) == ("offline", True, False)


async def test_a_tool_cannot_ask_what_model_there_is() -> None:
    source = '''
from tea import Context, tool


@tool
async def curious(ctx: Context) -> str:
    """Ask for a model."""
    return (await ctx.model())["name"]
'''
    agent = '''
from tea import Agent, Context, Result, Task


class Asks(Agent):
    """Call the tool."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Return its error."""
        return Result(answer=(await ctx.tcp.invoke("curious", {})).error)
'''
    async with platform(model=ScriptedModel([])) as tea:
        await tea.tcp.register(source)
        await tea.acp.register(agent)
        with pytest.raises(InternalError, match="A tool cannot ask a model"):
            await tea.run("go", agent="asks")


@pytest.mark.parametrize("task", ["both", "ask only"])
async def test_a_wanted_call_is_recorded_and_asked_for(task: str) -> None:
    model = ScriptedModel(["words"])
    async with platform(model=model) as tea:
        tea.models.add(ModelConfig(name="small", provider="test"), model)
        await tea.libraries["prompt"].register(PROMPT)
        await tea.acp.register(KNOWER)
        outcome = await tea.run(task, agent="knower")
        assert outcome.ok, outcome
        assert [one.tool_choice for one in model.requests] == ["required"]
        records: list[Any] = [one.data for one in tea.tracer.records(outcome.run) if one.kind == "start"]
        (question,) = [one["data"] for one in records if one["kind"] == "model"]
        assert question["tool_choice"] == "required"
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
