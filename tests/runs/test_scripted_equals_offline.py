"""The offline model is one adapter among others: the same replies lead to the same steps."""

from pathlib import Path
from typing import Any

from journals import records

from tea.testing import ScriptedModel, platform
from tea.types import ModelResponse

TABLE = "city,people\nOslo,709000\nBergen,291000\nTrondheim,212000\n"


def steps(folder: Path) -> list[Any]:
    """Each agent's acts, step by step; a model is told more beside the task than a solver."""
    notes = [one["data"]["data"] for one in records(folder) if one["data"].get("kind") == "step"]
    return [{key: one[key] for key in ("agent", "step", "thinking", "next_goal", "calls", "results")} for one in notes]


def replies(folder: Path) -> list[ModelResponse]:
    started: list[str] = []
    given: dict[str, Any] = {}
    for record in records(folder):
        if record["kind"] == "start" and record["data"]["kind"] == "model":
            started.append(record["key"])
        elif record["kind"] == "done" and record["key"] in started:
            given[record["key"]] = record["data"]["data"]["response"]
    return [ModelResponse.model_validate(given[key]) for key in started]


async def test_offline_replies_fed_back_through_a_script_give_the_same_steps(tmp_path: Path) -> None:
    table = tmp_path / "cities.csv"
    table.write_text(TABLE)
    async with platform() as tea:
        offline = await tea.run("Which city has the most people?", files=[table])
        assert offline.ok, offline.reason
        first, script = steps(offline.trace), replies(offline.trace)
    async with platform(model=ScriptedModel(script)) as tea:
        scripted = await tea.run("Which city has the most people?", files=[table])
        second = steps(scripted.trace)
    assert scripted.answer == offline.answer == "Oslo"
    assert first == second
