"""Test written arithmetic: equations of answers, and tasks asking for one sum alone."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from loop_kit import Stage, done, step, told

from tea.loop.sums import wrong_sums

TASK = "What is 4817 * 3923 + 58?"
MAKES = "4817 * 3923 + 58 makes 18897149, not 18896349"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("first", ["4817 * 3923 + 58 = 18896349", "18896349", step(done("18896349"))])
async def test_a_wrong_sum_is_asked_about_with_its_value(stage: Stage, first: object) -> None:
    outcome, model = await stage.play(first, step(done("18897149")), task=TASK)
    assert MAKES in told(model.requests[1])
    assert (outcome.answer, outcome.ok, outcome.evidence) == ("18897149", True, ())


@pytest.mark.asyncio(loop_scope="module")
async def test_a_wrong_sum_given_again_is_in_doubt(stage: Stage) -> None:
    outcome, model = await stage.play("18896349", step(done("18896349")), task=TASK)
    assert len(model.requests) == 2
    assert [one.doubt for one in outcome.evidence] == [MAKES]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("answer", ["18897149", "18,897,149", "4817 * 3923 + 58 = 18897149"])
async def test_a_right_sum_is_delivered_at_once(stage: Stage, answer: str) -> None:
    outcome, model = await stage.play(answer, task=TASK)
    assert (outcome.answer, len(model.requests)) == (answer, 1)


@pytest.mark.parametrize(
    ("answer", "task"),
    [
        ("**4817 \u00d7 3923 + 58 = 18896349**", TASK),
        ("The result is 18896349.", TASK),
        ("The result is 18896349.", "Calculate 4817 * 3923 + 58. Answer only with the number."),
        (r"\(4817 \times 3923 = 18896291\), so it is 18896349.", TASK),
        ("- 12 + 30 = 43", "How many are there?"),
        ("12 + 30 = 40 + 1 = 41", "How many are there?"),
        ("Es sind 3,5 * 2 = 8,5 km.", "Wie weit ist es?"),
        ("10 / 3 = 3.34", "What is it?"),
    ],
)
def test_a_wrong_sum_is_found(answer: str, task: str) -> None:
    assert "makes" in wrong_sums(answer, task)


@pytest.mark.parametrize(
    ("answer", "task"),
    [
        ("12 + 30 = 42 and 10 / 3 = 3.33, 10 / 4 = 2.5 EUR", "How many are there?"),
        ("- 12 + 30 = 42", "How many are there?"),
        ("2 * 3 + 4 = 6 + 4 = 10", "How many are there?"),
        ("22.06 * 152 = 3352.5", "What is the total?"),
        ("17 / 25 = 68 %", "What is the share?"),
        ("3500000 + 200000 = 3.7 million", "What is the total?"),
        ("45 + 45 = 1 h 30 min", "How long is it?"),
        ("17 / 5 = 3 remainder 2", "What is it?"),
        ("1.250 * 2 = 2.500", "Wie viel ist es?"),
        ("4 817 * 2 = 9634", "How many?"),
        ("a + 3 * 2 = 7", "What is a?"),
        ("5! + 3 * 2 = 126", "What is it?"),
        ("sqrt(9) + 3 * 2 = 9", "What is it?"),
        ("log(8) * 2 = 6", "What is it?"),
        ("2024-06-06 - 2024-05-01 = 36", "How many days?"),
        ("10:30 - 9:00 = 1.5 h", "How long?"),
        ("2 + 2 = 5 is wrong.", "Is it right?"),
        ("2 + 2 = 5", "Who wrote 2 + 2 = 5?"),
        ("In binary 1 + 1 = 10.", "What is 1 + 1 in binary?"),
        ("1.5 * 10 = 1.5e1", "What is it?"),
        ("It is about 18.9 million.", TASK),
        ("x = 3 + 4 == 8", "What is it?"),
        ("2023", "When did 3 + 4 of them leave?"),
        ("8", "Round 15 / 2."),
        ("33.33", "What is 100 / 3? Use two decimals."),
        ("-2^2 = 4", "What is it?"),
        ("8 / 2(2 + 2) = 16", "What is it?"),
        ("9999^99999 = 5", "What is it?"),
        ("1 / 0 = 5", "What is it?"),
    ],
)
def test_other_words_hold_no_wrong_sum(answer: str, task: str) -> None:
    assert wrong_sums(answer, task) == ""
