"""Test looks at the locked part: counted in the lineage of the task set, warned of, and refused in the end."""

from pathlib import Path
from typing import Any

import pytest
from speller_kit import AGENT, PROMPT, WORDS, campaign, platform

from tea import Platform
from tea.errors import BadInput
from tea.evaluate import TaskSet
from tea.evaluate.ledger import own_ledger
from tea.evolve.campaign import LEAST_LOCKED, MOST_LOCKED_LOOKS, Limits, Report
from tea.source.seal import Seal
from tea.store.evaluations import FileEvaluations

SIZES = {"train": 3, "gate": 20, "locked": LEAST_LOCKED}
MOST_RUNS = 150  # enough for a promotion, and for a part of the look behind it


def with_locked() -> TaskSet:
    words = [
        f"{WORDS[one % len(WORDS)]}{chr(97 + one // 26)}{chr(97 + one % 26)}" for one in range(sum(SIZES.values()))
    ]
    parts = [part for part, size in SIZES.items() for _ in range(size)]
    return TaskSet.of(
        [{"task": word, "expected": word.upper(), "scorer": "exact", "split": part}
         for word, part in zip(words, parts, strict=True)],
        name="words",
    )  # fmt: skip


def looks(tea: Platform, more: int = 0, seal: Seal | None = None) -> int:
    """Count the looks in the set's ledger, after those of another campaign are written into it."""
    store = FileEvaluations(tea.home / "traces" / "evolution")
    with own_ledger(store, with_locked().digest[:16], seal or tea.seal) as ledger:
        for _ in range(more):
            ledger.append({"what": "locked", "campaign": "another", "use": {}})
        ledger.sync()
        return sum(one["what"] == "locked" for one in ledger.lines())


async def looked(folder: Path, before: int, runs: int | None = MOST_RUNS, **options: Any) -> tuple[int, Report, str]:
    """Return the looks counted, the report, and the words of a campaign behind so many looks of others."""
    told: list[str] = []
    async with platform(folder) as tea:
        await tea.acp.register(AGENT)
        await tea.libraries["prompt"].register(PROMPT)
        looks(tea, before)
        report = await campaign(tea, tasks=with_locked(), told=told, **options).run(Limits(tests=1, runs=runs))
        assert report.accepted == 1, told
        return looks(tea), report, "\n".join(told)


async def test_a_second_campaign_that_looks_at_the_locked_tasks_is_warned_of(tmp_path: Path) -> None:
    count, _, told = await looked(tmp_path, 1)
    assert count == 2
    warning = "the locked part was looked at 1 times before; its figures count less now"
    assert told.index(warning) < told.index("baseline 0.0 %")  # before anything is paid for


async def test_a_fourth_campaign_is_refused_before_any_run_unless_the_operator_wants_it(tmp_path: Path) -> None:
    async with platform(tmp_path / "refused") as tea:
        await tea.acp.register(AGENT)
        await tea.libraries["prompt"].register(PROMPT)
        looks(tea, MOST_LOCKED_LOOKS)
        with pytest.raises(BadInput, match="other campaigns looked at them 3 times") as refused:
            await campaign(tea, tasks=with_locked()).run(Limits(tests=1))
        assert "--reuse-locked" in refused.value.fix
        assert (looks(tea), tea.tracer.runs()) == (MOST_LOCKED_LOOKS, [])
    count, _, told = await looked(tmp_path / "again", MOST_LOCKED_LOOKS, reuse_locked=True)
    assert count == MOST_LOCKED_LOOKS + 1
    assert "used up" not in told


@pytest.mark.slow
async def test_first_and_last_version_are_compared_on_the_locked_tasks_once(tmp_path: Path) -> None:
    _, report, told = await looked(tmp_path, 0, runs=None)
    assert report.locked is not None
    assert (report.locked["tasks"], report.locked["before"], report.locked["after"]) == (LEAST_LOCKED, 0.0, 1.0)
    assert "looked at" not in told
    async with platform(tmp_path) as tea:
        again = await campaign(tea, tasks=with_locked()).run(Limits(tests=1))
        assert (again.locked, looks(tea)) == (None, 1)


async def test_looks_that_another_account_wrote_down_refuse_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    async with platform(tmp_path) as tea:
        await tea.acp.register(AGENT)
        await tea.libraries["prompt"].register(PROMPT)
        looks(tea, MOST_LOCKED_LOOKS, Seal(tmp_path / "elsewhere"))
        await campaign(tea, tasks=with_locked(), told=told).run(Limits(tests=1, runs=1))
    assert "3 lines of the ledger were not written by this account, and do not count" in told
    assert not any("looked at" in one for one in told)
