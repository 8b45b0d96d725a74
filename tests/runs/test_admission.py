"""Admission: the looks of a run before it begins."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tea.testing import platform

ANSWERER = '''
from tea import Agent, Context, Result, Task


class Answerer(Agent):
    """Answer."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return Result(answer=task.text)
'''


async def test_a_warm_run_looks_at_its_surroundings_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    async with platform() as tea:
        await tea.acp.register(ANSWERER)
        await tea.run("yes", agent="answerer")
        before, works = asyncio.to_thread, list[str]()

        async def counted(function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
            works.append(repr(function))
            return await before(function, *given, **named)

        monkeypatch.setattr(asyncio, "to_thread", counted)
        for _ in range(40):  # nothing is remembered of what changed a moment ago: file times tell too little apart
            works.clear()
            assert (await tea.run("yes", agent="answerer")).answer == "yes"
            if len(works) <= 4:
                break
            await asyncio.sleep(0.1)
    assert len(works) <= 4, works  # the look, the journal, what the run remembers, what it left
