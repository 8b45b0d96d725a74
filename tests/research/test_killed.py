"""A research with a killed process: another process resumes it and comes to the same end."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from killed import SESSION, steady
from research_kit import ran, without_stamps

from tea.platform import Platform
from tea.research.research import Research
from tea.runs.policy import AllowTrusted

PHASES = ("planning", "working", "worked", "hypothesis", "reflection", "discovery", "next plan", "decision", "reply")


def platform_at(folder: Path, verdict: str = "") -> Platform:
    return Platform(folder / "home", model=steady(verdict), policy=AllowTrusted(), state=folder / "state")


def killed_in(folder: Path, phase: str, times: int, *verdict: str) -> None:
    (folder / "home").mkdir()
    killed, _ = ran("killed.py", str(folder / "home"), str(folder / "state"), phase, str(times), *verdict)
    assert killed == (phase != "never")


async def taken_up(folder: Path) -> Any:
    """The state after another process has resumed and replayed the killed run."""
    async with platform_at(folder) as tea:
        before = await tea.research.status(SESSION)
        assert before.status in ("interrupted", "queued")
        again = await tea.research.start("Something else", conversation=SESSION)
        assert (again.run, again.deduplicated) == (before.run, True)
        (found,) = await tea.research.resume()
        assert (found.run, found.status, found.iteration) == (before.run, "completed", 3)
        assert (await tea.replay(found.run)).ok
        return found.state


@pytest.mark.slow
async def test_a_killed_research_is_taken_up_and_loses_nothing(tmp_path: Path) -> None:
    killed_in(tmp_path, "hypothesis", 2)
    state = await taken_up(tmp_path)
    assert sorted(state["plan"]) == ["ana-0-1", "ana-1-1", "ana-2-1", "lit-0-1", "lit-1-1", "lit-2-1"]
    assert [one["status"] for one in state["messages"]] == ["completed"] * 4
    assert [one["claim"] for one in state["discoveries"]] == ["lit-0-1 ana-0-1 lit-1-1 ana-1-1", "lit-2-1 ana-2-1"]


@pytest.mark.slow
async def test_a_research_that_waits_for_the_person_survives_a_kill_and_any_time(tmp_path: Path) -> None:  # 003: 14
    killed_in(tmp_path, "waiting", 1, "no verdict")
    async with platform_at(tmp_path, "no verdict") as tea:
        assert (await tea.research.status(SESSION)).status == "interrupted"
        (waiting,) = await tea.research.resume()
        assert (waiting.status, waiting.iteration, waiting.questions[0].choices) == ("waiting", 2, ("continue", "stop"))
    async with platform_at(tmp_path, "no verdict") as tea:
        later = Research(tea, clock=lambda: datetime.now(UTC) + timedelta(days=30))
        assert (await later.start("Something else", conversation=SESSION)).run == waiting.run
        assert await later.resume() == []  # only the person can take it up
        ended = await later.answer(SESSION, "stop")
        assert (ended.status, ended.iteration, ended.state["decision"]["by"]) == ("completed", 2, "person")
        assert (await tea.replay(ended.run)).ok


@pytest.mark.slow
async def test_a_research_killed_in_any_phase_comes_to_the_same_end(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    killed_in(whole, "never", 1)
    async with platform_at(whole) as tea:
        expected = without_stamps((await tea.research.status(SESSION)).state)
    for phase in PHASES:
        for times in (1,) if phase == "planning" else (1, 2):
            folder = tmp_path / f"{phase.replace(' ', '-')}{times}"
            folder.mkdir()
            if (phase, times) != ("decision", 2):
                killed_in(folder, phase, times)
                assert without_stamps(await taken_up(folder)) == expected, (phase, times)
