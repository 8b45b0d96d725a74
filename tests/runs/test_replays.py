"""Test replays of the bundled agents: the same, under any later current versions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from journals import DOUBLE, WORKER

from tea.journal.history import pins_of
from tea.platform import Platform
from tea.refs import Ref
from tea.testing import platform

CITIES = "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\nRome,Italy,2800000\n"
TASKS = {
    "planner": "How many rows does cities.csv have?",
    "analyzer": "Which city has the most people?",
    "reporter": "Write the report: Rome has 2800000 people, as cities.csv says.",
}


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as made:
        yield made


@pytest.mark.parametrize("agent", TASKS)
async def test_a_bundled_agent_replays_when_all_that_it_used_is_gone(tea: Platform, tmp_path: Path, agent: str) -> None:
    data = tmp_path / "cities.csv"
    data.write_text(CITIES)
    outcome = await tea.run(TASKS[agent], agent=agent, files=[data])
    assert outcome.ok, outcome.reason
    used = {Ref.parse(pin.asked) for pin in pins_of(tea.tracer.records(outcome.run))}
    assert {"agent", "prompt", "tool"} <= {ref.kind for ref in used}
    for ref in used:
        await tea.libraries[ref.kind].unregister(ref.name)
    again = await tea.replay(outcome.run)
    assert (again.answer, again.status, again.cost) == (outcome.answer, outcome.status, outcome.cost)


async def test_a_replay_takes_what_was_pinned_though_the_alias_that_chose_it_moved(tea: Platform) -> None:
    await tea.tcp.register(DOUBLE)
    await tea.acp.register(WORKER)
    await tea.tcp.alias("double@1.0.0", "prod")
    outcome = await tea.run("21", agent="worker", use={"tool:double": "prod"})
    await tea.tcp.update("double", DOUBLE.replace("* 2", "* 3"), version="2.0.0")
    await tea.tcp.alias("double@2.0.0", "prod")
    assert (await tea.replay(outcome.run)).answer == outcome.answer
