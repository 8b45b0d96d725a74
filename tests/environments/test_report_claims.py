"""Sentences of a report without a need of a source, and the differences of cited numbers."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tea.platform import Platform
from tea.testing import platform

pytestmark = pytest.mark.asyncio(loop_scope="module")

PIER = "The pier will cost 2.3 million; in March it was 1.8 million. They approved 2.0 million on 14 May 2025.\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


async def completed(tea: Platform, text: str) -> Any:
    (await tea.ecp.invoke("report#add", {"text": text}, session="s")).unwrap()
    return (await tea.ecp.invoke("report#complete", {"title": "T"}, session="s")).unwrap()


@pytest.mark.parametrize(
    "text",
    [
        "## What next\n\n- Look at Oslo without desks.",
        "## What's next?\n\nThe budgets of both cities are compared.",
        "## Findings\n\nLook at Oslo without desks.",
        "## Findings\n\nCompare the budgets of both cities with each other.",
        "## Findings\n\nWe recommend a second look at the desks.",
        "## Findings\n\nOf the two the more recent is ranked first.",
        "## Findings\n\nThe more recent source is ranked first.",
        "## Findings\n\nNone of them is ranked first, as both are of one day.",
        "## Findings\n\nSources disagree; the newer one counts more.",
        "## Question\n\nRevenue of 2025 by month and by shop, with two charts.",
        "## The task\n\nFind the 3 largest shops of the year 2025.",
        "## Frage\n\nDer Umsatz des Jahres 2025 nach Monaten.",
        "## Findings\n\nHow many of the 55 berths are let this year?",
    ],
)
async def test_what_says_nothing_of_the_matter_needs_no_source(tea: Platform, folder: Path, text: str) -> None:
    assert (await completed(tea, text))["unsourced"] == []


@pytest.mark.parametrize(
    "claim",
    [
        "Norway is ranked first of all countries.",
        "The most recent census is ranked highest by experts.",
        "Compared with Oslo the budget is small.",
        "Look at Oslo: it has 700,000 people.",
        "The newest ships count more passengers than berths.",
    ],
)
async def test_words_alike_about_the_matter_are_claims(tea: Platform, folder: Path, claim: str) -> None:
    assert (await completed(tea, f"## Findings\n\n{claim}"))["unsourced"] == [claim]


async def test_a_number_below_another_heading_than_the_question_needs_a_source(tea: Platform, folder: Path) -> None:
    claim = "They found 413 berths in the whole harbour."
    made = await completed(tea, f"## Question\n\nHow many?\n\n## Method\n\n{claim}")
    assert made["unsourced"] == [claim]


@pytest.mark.parametrize(
    ("sentence", "doubts"),
    [
        ("Does the council pay the 0.3 million that are missing [1](pier.md)?", []),
        ("Since March it rose by 0.5 million [1](pier.md).", []),
        ("Does the council pay the 0.4 million that are missing [1](pier.md)?", ["0.4"]),
        ("In all it is 4.3 million [1](pier.md).", ["4.3"]),
    ],
)
async def test_a_difference_of_two_numbers_cited_elsewhere_in_the_report_is_known(
    tea: Platform, folder: Path, sentence: str, doubts: list[str]
) -> None:
    (folder / "pier.md").write_text(PIER)
    told = (
        "They approved 2.0 million on 14 May 2025 [1](pier.md).\n\n- In March it was 1.8 million [1](pier.md).\n"
        "- In May it was 2.3 million [1](pier.md).\n\n"
    )
    made = await completed(tea, f"{told}## Open\n\nMuch stays open.\n\n{sentence}")
    assert [one["value"] for one in made["doubts"]] == doubts
