"""The offline model is one adapter among others: nothing else in a run knows which model answered."""

import json
from pathlib import Path
from typing import Any

from journals import records

from tea.testing import ScriptedModel, platform
from tea.types import ModelResponse

TABLE = "city,people\nOslo,709000\nBergen,291000\nTrondheim,212000\n"


def steady(folder: Path) -> list[str]:
    """The records but for what may differ: times, ids, model configuration, pins and inner evidence."""
    kept: list[str] = []
    for record in records(folder):
        data = record["data"]
        if record["kind"] in ("run", "evidence", "end"):
            continue
        if str(data.get("target", "")).startswith("model:"):
            data["target"] = "model"
        same = {"kind": record["kind"], "key": record["key"], "agent": record["agent"], "data": data}
        kept.append(json.dumps(same, sort_keys=True).replace(folder.name, "RUN"))
    return kept


def replies(folder: Path) -> list[ModelResponse]:
    started: list[str] = []
    given: dict[str, Any] = {}
    for record in records(folder):
        if record["kind"] == "start" and record["data"]["kind"] == "model":
            started.append(record["key"])
        elif record["kind"] == "done" and record["key"] in started:
            given[record["key"]] = record["data"]["data"]["response"]
    return [ModelResponse.model_validate(given[key]) for key in started]


async def test_offline_replies_fed_back_through_a_script_give_an_equal_journal(tmp_path: Path) -> None:
    table = tmp_path / "cities.csv"
    table.write_text(TABLE)
    async with platform() as tea:
        offline = await tea.run("Which city has the most people?", files=[table])
        assert offline.ok, offline.reason
        first, script = steady(offline.trace), replies(offline.trace)
    async with platform(model=ScriptedModel(script)) as tea:
        scripted = await tea.run("Which city has the most people?", files=[table])
        second = steady(scripted.trace)
    assert scripted.answer == offline.answer == "Oslo"
    without_configuration = [[line for line in lines if '"provider"' not in line] for lines in (first, second)]
    assert without_configuration[0] == without_configuration[1]
