"""Python's collector while platforms are open."""

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
from loop_kit import Stage, done, step, sum_of

from tea.journal.conversation import Chains
from tea.kernel.collector import YOUNG
from tea.kernel.scheduler import Scheduler
from tea.platform import Platform
from tea.runs.run import Run

RARE = (YOUNG, 10, 10)


@pytest.fixture(autouse=True)
def threshold() -> Generator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


async def test_the_collector_is_asked_less_often_until_the_last_platform_closes(tmp_path: Path) -> None:
    first, second = Platform(tmp_path / "first"), Platform(tmp_path / "second")
    async with first:
        assert gc.get_threshold() == RARE
        await second.__aenter__()
    assert gc.get_threshold() == RARE
    await second.__aexit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("own", [0, 10 * YOUNG])
async def test_a_threshold_of_the_program_s_own_stays(tmp_path: Path, own: int) -> None:
    gc.set_threshold(own, 5, 5)
    async with Platform(tmp_path):
        assert gc.get_threshold() == (own, 5, 5)
    assert gc.get_threshold() == (own, 5, 5)


async def test_what_the_program_sets_meanwhile_stays(tmp_path: Path) -> None:
    async with Platform(tmp_path):
        gc.set_threshold(2000, 10, 10)
    assert gc.get_threshold() == (2000, 10, 10)


async def test_what_the_program_sets_between_two_platforms_is_what_it_gets_back(tmp_path: Path) -> None:
    first, second = Platform(tmp_path / "first"), Platform(tmp_path / "second")
    await first.__aenter__()
    gc.set_threshold(2000, 10, 10)
    async with second:
        assert gc.get_threshold() == RARE
        await first.__aexit__(None, None, None)
        assert gc.get_threshold() == RARE
    assert gc.get_threshold() == (2000, 10, 10)


async def test_a_platform_that_fails_to_close_gives_the_collector_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> None:
        raise OSError("no way")

    tea = Platform(tmp_path)
    monkeypatch.setattr(tea.models, "close", broken)
    with pytest.raises(OSError, match="no way"):
        async with tea:
            pass
    assert gc.get_threshold() == (700, 10, 10)


async def test_what_a_run_held_goes_when_it_has_ended_without_the_collector() -> None:
    async with Stage.open() as stage:
        for _ in range(2):
            gc.collect()
            gc.disable()
            try:
                outcome, _ = await stage.play(step(sum_of("1 / 0")), step(sum_of("1 + 1")), step(done("a")))
                left = [one for one in gc.get_objects() if type(one) in (Run, Scheduler, Chains)]
            finally:
                gc.enable()
            assert (outcome.answer, left) == ("a", [])
