"""A scripted research in each mode over documentation packages of Debian, with a real analysis of a real table.

It is killed in each of its phases, taken up by another process, replayed, branched, and compared with its origin.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from debian import ABOUT, CORPORA, PENGUINS, means, platform_at
from research_kit import ran, without_stamps

from tea.journal.compare import compare
from tea.platform import Platform

ONCE = ["planning", "working", "worked", "hypothesis", "reflection", "next plan", "reply"]
TWICE = [*ONCE, "discovery"]  # after the second message
PHASES = {"steering": ONCE, "full": TWICE}
ITERATIONS = {"steering": 1, "full": 2}


def died_in(home: Path, state: Path, mode: str, session: str, known: Sequence[str]) -> str:
    """The next phase with a killed process, empty for one at its end."""
    killed, phase = ran("debian.py", str(home), str(state), mode, session, *known)
    return phase if killed else ""


def read_and_computed(state: Any, *, twice: bool) -> None:
    plan = state["plan"]
    assert any(one["source"].endswith("lang_datefunc.html") for one in plan["lit-0-1"]["sources"])
    for name, mean in means().items():
        assert f"{name} {mean}" in plan["ana-0-1"]["output"]
    assert not twice or any("bisect" in one["source"] for one in plan["lit-1-1"]["sources"])
    assert "lang_datefunc.html" in state["messages"][1]["text"]


async def branched(tea: Platform, origin: Any) -> None:
    """Go on with a branch in another way, and compare it with its origin."""
    branch = await tea.research.branch(origin.conversation, 2)
    copied = await tea.research.status(branch.conversation)
    assert copied.state["messages"] == origin.state["messages"][:2]
    assert copied.state["plan"]["ana-0-1"] == origin.state["plan"]["ana-0-1"]
    other = await tea.research.run("Go another way.", mode="steering", conversation=branch.conversation)
    assert other.state["plan"]["ana-0-1"] == origin.state["plan"]["ana-0-1"]
    assert (await tea.replay(other.run)).ok
    found = compare(*(list(tea.tracer.records(one)) for one in (origin.run, other.run)))
    assert not found.same
    assert found.first is not None
    assert (await tea.research.status(origin.conversation)).state == origin.state


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["steering", "full"])
async def test_a_research_over_documentation_and_a_table_survives_a_kill_in_each_phase(
    mode: str, tmp_path: Path
) -> None:
    assert all(Path(one).is_dir() for one in CORPORA), "run `make corpora`"
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    async with platform_at(home, state) as tea:
        for one in CORPORA:
            await tea.corpus.add(one)
        whole = await tea.research.run(ABOUT, mode=mode, files=[PENGUINS], conversation="whole")
        assert (whole.status, whole.error, whole.iteration) == ("completed", "", ITERATIONS[mode])
        read_and_computed(whole.state, twice=ITERATIONS[mode] > 1)
    phases = list[str]()
    while phase := await asyncio.to_thread(died_in, home, state, mode, "killed", phases):
        phases.append(phase)
    assert sorted(phases) == sorted(PHASES[mode])
    async with platform_at(home, state) as tea:
        ended = await tea.research.status("killed")
        assert (ended.status, ended.iteration) == ("completed", whole.iteration)
        assert without_stamps(ended.state) == without_stamps(whole.state)
        assert (await tea.replay(ended.run)).ok
        await branched(tea, ended)
