"""Provide a platform with a script for each prompt, or its offline solver."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest_asyncio

from tea.models.manager import Adapter, CallTool, ModelConfig
from tea.models.offline import OfflineModel
from tea.runs.outcome import Outcome
from tea.testing import ScriptedModel, platform
from tea.types import ModelRequest, ModelResponse


class Stage:
    """A platform with the answerer of each prompt; a prompt without a script goes to its solver."""

    def __init__(self) -> None:
        self.requests: dict[str, list[ModelRequest]] = defaultdict(list)
        self._scripts: dict[str, Adapter | dict[str, ScriptedModel]] = {}

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        name = str(request.prompt).removeprefix("prompt:").partition("@")[0]
        self.requests[name].append(request)
        found = self._scripts.get(name, OfflineModel())
        if isinstance(found, dict):
            asked = request.variables["task"], ", ".join(request.variables.get("files", ()))
            found = next(found[one] for one in asked if one in found)
        return await found.complete(request, config, call_tool)

    async def play(
        self, scripts: Mapping[str, list[Any] | Mapping[str, list[Any]]], task: str, **options: Any
    ) -> Outcome:
        """Run a task with these replies by prompt; by task or files, too, for agents side by side.

        The planner gives its last one again when it is asked for it anew.
        """
        self.requests.clear()
        self._scripts = {
            name: {task: ScriptedModel(one) for task, one in replies.items()}
            if isinstance(replies, Mapping)
            else ScriptedModel([*replies, *(replies[-1:] if name == "planner" else ())])
            for name, replies in scripts.items()
        }
        return await self.tea.run(task, **options)

    def workspace(self, outcome: Outcome) -> Path:
        return outcome.trace / "workspace"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    async with platform(model=stage) as stage.tea:
        yield stage
