"""Test the self-check: at least sixty cases against every level of this machine, and none claims too much."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tea.sandbox.check import LIMITS, Checked, check
from tea.sandbox.inside.attempts import ATTACKS
from tea.sandbox.levels import Level, terms_of
from tea.sandbox.scene import planted
from tea.sandbox.settings import LEVELS, LevelName
from tea.sandbox.trials import TRIALS, Stage


async def checked(level: Level, *, heavy: bool) -> list[Checked]:
    return [one async for one in check(level, heavy=heavy)]


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one == LEVELS[-1] else pytest.mark.slow) for one in LEVELS]
)
async def test_no_level_claims_more_than_it_holds(name: LevelName, levels: Mapping[LevelName, Level]) -> None:
    level = levels[name]
    if not level.present:
        assert level.problem
        return
    found = await checked(level, heavy=False)
    assert [one for one in found if not one.agrees] == []
    assert len(found) >= 60
    assert {one.name for one in found} == {*ATTACKS, "untouched", *(n for n, one in TRIALS.items() if not one.heavy)}
    assert all(one.detail for one in found if one.outcome == "absent")


@pytest.mark.slow
@pytest.mark.parametrize("name", LEVELS)
async def test_bombs_and_storms_cost_no_more_than_the_limits(
    name: LevelName, levels: Mapping[LevelName, Level]
) -> None:
    level = levels[name]
    if not level.present:
        assert level.problem
        return
    found = await checked(level, heavy=True)
    assert [one for one in found if not one.agrees] == []
    assert {one.name for one in found} >= TRIALS.keys()


@pytest.mark.slow
async def test_a_level_that_claims_too_much_is_found_out(levels: Mapping[LevelName, Level]) -> None:
    level = levels["rlimits"]
    boasting = Level(name="rlimits", present=True, claims={**level.claims, "fs": True, "net": True})
    wrong = {one.name for one in await checked(boasting, heavy=False) if not one.agrees}
    assert {"read_outside", "read_key", "read_journal", "tcp", "udp", "unix_path", "untouched"} <= wrong


def test_every_kind_of_wall_is_attacked_in_several_ways() -> None:
    claims = [one.claim for one in ATTACKS.values()]
    assert {claim: claims.count(claim) >= 5 for claim in ("fs", "net", "pids", "memory", "syscalls", "limits")} == (
        dict.fromkeys(("fs", "net", "pids", "memory", "syscalls", "limits"), True)
    )


async def test_a_folder_with_a_module_of_its_own_is_no_place_to_import_from(
    levels: Mapping[LevelName, Level], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("open('ran', 'w').close()\nraise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    level = levels["rlimits"]
    with planted() as scene:
        terms = terms_of(level.name, str(scene.workspace), LIMITS, level.claims, ["input.txt"])
        stage = Stage(scene=scene, level=level.name, limits=LIMITS, terms=terms, facts=scene.facts)
        assert "the host did not start" not in await TRIALS["left_after_the_host"].run(stage)
    assert not (tmp_path / "ran").exists()
