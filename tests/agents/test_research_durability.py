"""Research replayed, forked in its middle, killed, or answered by a misbehaving model."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from killing import share_sources
from researcher_kit import PLAYS, Script, world

from tea.models.manager import ModelConfig
from tea.testing import ChaosModel

PROCESS = Path(__file__).with_name("research_process.py")
CHAOS = ModelConfig(name="chaos", provider="given", capabilities=("tools",))
RUNS = int(os.environ.get("TEA_TEST_CHAOS", "100"))


@pytest.mark.parametrize("name", PLAYS)
async def test_research_is_replayed_and_forked_in_its_middle(name: str, tmp_path: Path) -> None:
    play = PLAYS[name]
    model = Script(**play.replies)
    async with world(tmp_path, model, play.pages, play.found, play.docs) as (tea, made):
        outcome = await tea.run(play.task, agent="researcher")
        assert (outcome.ok, outcome.answer) == (True, play.answer)
        asked, searches = sum(model.asked().values()), len(made.searches)
        again = await tea.replay(outcome.run)
        assert again.to_json() == outcome.to_json()
        assert (sum(model.asked().values()), len(made.searches)) == (asked, searches)
        keys = [record.key for record in tea.tracer.records(outcome.run) if record.kind == "done"]
        fork = await tea.fork(outcome.run, at=keys[len(keys) // 2])
        assert (fork.answer, fork.gaps, fork.evidence) == (outcome.answer, outcome.gaps, outcome.evidence)
        assert asked < sum(model.asked().values()) < 2 * asked  # the first half was taken over


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYS)
async def test_research_that_is_killed_goes_on_to_the_same_end(name: str, tmp_path: Path, machine: Path) -> None:
    play, chance = PLAYS[name], random.Random(name)
    async with world(tmp_path / "whole", Script(**play.replies), play.pages, play.found, play.docs) as (tea, _):
        outcome = await tea.run(play.task, agent="researcher")
        length = len(list(tea.tracer.records(outcome.run)))
    for number in range(3):
        home, records = tmp_path / str(number), chance.randint(3, length - 2)
        share_sources(home / "state", machine)
        command = [sys.executable, PROCESS, home, name, str(records)]
        kits = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        process = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, timeout=120, env=kits, check=False
        )
        assert process.returncode == -signal.SIGKILL, process.stderr
        model = Script(**play.replies)
        async with world(home, model, play.pages, play.found, play.docs, port=_port(home)) as (tea, _):
            resumed = await tea.resume("last")
            assert (resumed.ok, resumed.answer) == (True, play.answer), records
            assert (await tea.replay(resumed.run)).to_json() == resumed.to_json()


def _port(home: Path) -> int:
    return int((home / "port").read_text())


@pytest.mark.slow
async def test_a_model_that_misbehaves_breaks_no_research(tmp_path: Path) -> None:
    play = PLAYS["answer"]
    async with world(tmp_path, None, play.pages, play.found, play.docs) as (tea, _):
        codes = list[int]()
        for seed in range(RUNS):
            tea.models.add(CHAOS, ChaosModel(seed))
            form: Any = [{}, {"answer": {"type": "integer"}}, {"answer": PLAYS["list"].form}][seed % 3]
            async with asyncio.timeout(120):
                budget = {"steps": 4 + seed % 12}
                outcome = await tea.run(f"{play.task} {seed}", agent="researcher", model="chaos", budget=budget, **form)
                again = await tea.replay(outcome.run)
            assert (again.status, again.reason, again.cost) == (outcome.status, outcome.reason, outcome.cost)
            assert json.dumps(again.to_json(), sort_keys=True) == json.dumps(outcome.to_json(), sort_keys=True)
            codes.append(outcome.exit_code)
    assert {*codes} <= {0, 1, 4, 5}
