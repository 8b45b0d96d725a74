"""Test the tool `done`."""

import pytest

from tea.platform import Platform

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_done_gives_back_what_it_was_told_with_defaults(tea: Platform) -> None:
    response = await tea.tcp.invoke("done", {"answer": [1, 2], "evidence": [{"source": "a.csv"}]})
    assert response.unwrap() == {
        "answer": [1, 2],
        "success": True,
        "reason": "",
        "evidence": [{"source": "a.csv", "detail": "", "quote": ""}],
    }


async def test_failure_without_a_reason_is_refused(tea: Platform) -> None:
    refused = await tea.tcp.invoke("done", {"success": False, "reason": "  "})
    assert refused.error is not None
    assert refused.error["code"] == "ToolError"
    assert (await tea.tcp.invoke("done", {"success": False, "reason": "no data"})).ok


async def test_evidence_without_a_source_is_refused(tea: Platform) -> None:
    refused = await tea.tcp.invoke("done", {"answer": 1, "evidence": [{"detail": "row 3"}]})
    assert refused.error is not None
    assert refused.error["code"] == "BadArguments"


@pytest.mark.parametrize("given", [{"doubts": "No doubts remain."}, {"reason": "None"}, {"doubts": "n/a"}])
async def test_words_that_name_no_doubt_are_no_remark(tea: Platform, given: dict[str, str]) -> None:
    assert (await tea.tcp.invoke("done", {"answer": 1, **given})).unwrap()["reason"] == ""


@pytest.mark.parametrize("doubts", ["01/02 was read as 1 February.", "No year is given.", "Nothing tells the unit."])
async def test_doubts_are_told_with_an_answer(tea: Platform, doubts: str) -> None:
    assert (await tea.tcp.invoke("done", {"answer": 1, "doubts": doubts})).unwrap()["reason"] == doubts


@pytest.mark.parametrize(
    ("reason", "doubts", "told"),
    [
        ("", "01/02 is 1 February\nNo unit is given", "01/02 is 1 February; No unit is given"),
        ("", "- 01/02 is 1 February.\n\n- No unit is given\n* none", "01/02 is 1 February. No unit is given"),
        ("Rows were counted", "No unit is given", "Rows were counted; No unit is given"),
        ("Is it 5?", "Perhaps 6", "Is it 5? Perhaps 6"),
    ],
)
async def test_doubts_of_several_lines_are_told_apart_in_one(
    tea: Platform, reason: str, doubts: str, told: str
) -> None:
    given = {"answer": 1, "reason": reason, "doubts": doubts}
    assert (await tea.tcp.invoke("done", given)).unwrap()["reason"] == told
