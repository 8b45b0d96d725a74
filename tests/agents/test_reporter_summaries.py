"""The reporter: the numbers of its summary are compared as those of the report are."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHOPS = "shop,revenue\nBergen,69936.96\nOslo,96788.27\nStavanger,77792.93\nTrondheim,87912.08\n"


async def gaps_of(stage: Any, summary: str, markdown: str, *files: Path, task: str = "Report.") -> tuple[str, ...]:
    draft = {"title": "T", "summary": summary, "markdown": markdown}
    outcome = await stage.play({"reporter": [draft]}, task, agent="reporter", files=files)
    assert outcome.ok, outcome.reason
    return tuple(outcome.gaps)


@pytest.mark.parametrize(
    ("summary", "number"),
    [
        ("All shops together earned 450,123.45 NOK.", "450,123.45"),
        ("Oslo earned 96,788.27 NOK, more than the 87,921.08 NOK of Trondheim.", "87,921.08"),
        ("Oslo earned about 98 thousand.", "98"),
        ("Oslo earned about 96,000.", "96,000"),
        ("It was written on 3 March 2024, and covers 4 shops.", "3 March 2024"),
    ],
)
async def test_a_number_said_only_in_the_summary_is_told(stage: Any, tmp_path: Path, summary: str, number: str) -> None:
    (tmp_path / "shops.csv").write_text(SHOPS)
    body = "## Answer\n\nOslo earned 96788.27 [1](shops.csv), the most of all."
    gaps = await gaps_of(stage, summary, body, tmp_path / "shops.csv")
    assert gaps == (f"the summary says {number}, which neither the sources nor the report say",)


@pytest.mark.parametrize(
    "summary",
    [
        "Oslo earned 96,788.27 NOK.",
        "All shops together earned 332,430.24 NOK, Oslo 8,876.19 NOK more than Trondheim.",
        "Oslo has 29.1 % of the revenue of all shops, about 97 thousand.",
        "Oslo earned the most of the four shops, and Bergen the least. No chart was drawn.",
        "The goal of 90000 NOK was reached by Oslo alone, in 2025.",
        "The 4 shops earned between 70 thousand and 97,000, in 2 of them more than 87,900.",
        "The mean of all shops is 83,107.56.",
    ],
)
async def test_a_summary_of_what_sources_report_and_task_say_is_in_no_gap(
    stage: Any, tmp_path: Path, summary: str
) -> None:
    (tmp_path / "shops.csv").write_text(SHOPS)
    body = "## Answer\n\nOslo earned 96788.27 [1](shops.csv), the most of all."
    task = "Report on the revenue in 2025; the goal was 90,000 NOK."
    assert await gaps_of(stage, summary, body, tmp_path / "shops.csv", task=task) == ()


async def test_a_summary_may_tell_of_a_file_that_the_report_does_not_cite(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "shops.csv").write_text(SHOPS)
    assert await gaps_of(stage, "Oslo earned 96,788.27 NOK.", "Fine.", tmp_path / "shops.csv") == ()
