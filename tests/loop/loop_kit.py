"""Scripts for the loop's tests: step records, and the messages shown to a model."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tea.loop.observation import Observation
from tea.models.manager import Adapter, CallTool, ModelConfig
from tea.models.offline import observations as seen_by_solvers
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.testing import ScriptedModel, platform
from tea.types import JsonObject, ModelRequest, ModelResponse, TextPart


def step(*calls: tuple[str, Mapping[str, Any]], **words: str) -> dict[str, Any]:
    """A step record of these calls."""
    texts = {"thinking": "", "evaluation": "", "memory": "", "next_goal": "", **words}
    return {**texts, "calls": [{"name": name, "arguments": dict(arguments)} for name, arguments in calls]}


def done(answer: Any = "It is done.", **more: Any) -> tuple[str, dict[str, Any]]:
    return "done", {"answer": answer, **more}


def sum_of(expression: str) -> tuple[str, dict[str, Any]]:
    return "calculator", {"expression": expression}


class Stage:
    """A platform with another model for each play."""

    tea: Platform

    def __init__(self) -> None:
        self.model: Adapter = ScriptedModel([])

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        return await self.model.complete(request, config, call_tool)

    async def play(self, *replies: Any, task: str = "a task", **options: Any) -> tuple[Outcome, ScriptedModel]:
        """Run the planner with a model of these replies."""
        self.model = model = ScriptedModel(replies)
        return await self.tea.run(task, **options), model

    @classmethod
    @asynccontextmanager
    async def open(cls, *tools: Any) -> AsyncIterator["Stage"]:
        stage = cls()
        async with platform(model=stage) as stage.tea:
            for one in tools:
                await stage.tea.tcp.register(one)
            yield stage


def observations(request: ModelRequest) -> list[Any]:
    """Return the results shown to the model, step by step."""
    return [step for step in seen_by_solvers(request) if "calls" in step]


def told(request: ModelRequest) -> str:
    """The words of the user side after the prompt's own, and notes beside results."""
    parts = [part for message in request.messages[2:] if message.role in ("user", "tool") for part in message.content]
    texts = [part.text if isinstance(part, TextPart) else str(part.data) for part in parts if part.type != "image"]
    return "\n".join(texts)


def steps(tea: Platform, run: str) -> list[Any]:
    """The step records of a run's journal."""
    notes = [record.data for record in tea.tracer.records(run) if record.kind == "note"]
    return [note["data"] for note in notes if note["kind"] == "step"]


class Names:
    """Functions known by their names."""

    def runs(self) -> tuple[bool, bool]:
        return True, True

    def written_by(self, outcome: Observation) -> JsonObject | None:
        return outcome.arguments if outcome.name.startswith("workspace_") else None

    def reads(self, name: str) -> bool:
        return name in ("fetch_page", "read_file", "table_query", "web_search")
