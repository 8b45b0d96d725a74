"""Test replies about the answer given last: they keep it, are asked about, or bring another."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, step, steps, sum_of, told

from tea.models.manager import ModelResponse
from tea.types import ToolCall

MEAN = "In total 7 units were sold, on average 3.5 per order (median 3.27)."
UNKNOWN = "These numbers of the answer stand in no result"
UNCLEAR = "These words neither confirm nor change the held answer"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


pytestmark = pytest.mark.asyncio(loop_scope="module")


def end_of(words: str) -> dict[str, Any]:
    return step(done(words))


async def look(stage: Stage, *replies: Any, **options: Any) -> Any:
    return await stage.play(step(sum_of("3 + 4")), step(done("The sum is 7.")), *replies, reflect=1, **options)


async def doubted(stage: Stage, *replies: Any, first: Any = MEAN, **options: Any) -> Any:
    return await stage.play(step(sum_of("3 + 4")), first, *replies, **options)


@pytest.mark.parametrize(
    "words", ["The answer holds.", "The answer is right", "No change.", "It is right: the sum is 7.", "Alles stimmt."]
)
async def test_an_end_that_confirms_the_held_answer_leaves_it(stage: Stage, words: str) -> None:
    outcome, model = await look(stage, step(done(words)))
    assert (outcome.ok, outcome.answer, outcome.reason, len(model.requests)) == (True, "The sum is 7.", "", 3)
    assert (await stage.tea.replay(outcome.run)).answer == "The sum is 7."


async def test_what_is_said_beside_a_confirming_end_is_kept(stage: Stage) -> None:
    outcome, _ = await look(stage, step(done("The answer holds.", doubts="The units are not known.")))
    assert (outcome.answer, outcome.reason) == ("The sum is 7.", "The units are not known.")


@pytest.mark.parametrize("words", ["The answer is not right.", "The answer is right: 8.", "Die Antwort stimmt nicht."])
async def test_an_end_that_denies_or_changes_the_held_answer_is_asked_about(stage: Stage, words: str) -> None:
    outcome, model = await look(stage, step(done(words)), *2 * [step(done("The sum is 8."))])
    assert UNCLEAR in told(model.requests[3])
    assert outcome.answer == "The sum is 8."


async def test_an_end_with_another_answer_changes_the_held_one(stage: Stage) -> None:
    outcome, _ = await look(stage, step(sum_of("4 + 4")), step(done("The sum is 8.")))
    assert outcome.answer == "The sum is 8."


async def test_an_end_answering_a_task_about_what_is_right_changes_the_held_one(stage: Stage) -> None:
    replies = [step(sum_of("3 + 4")), step(done("Row 3 is wrong.")), step(done("Everything is correct."))]
    outcome, _ = await stage.play(*replies, task="Is the table correct?", reflect=1)
    assert outcome.answer == "Everything is correct."


@pytest.mark.parametrize("form", [str, end_of])
@pytest.mark.parametrize("first", [MEAN, step(done(MEAN))])
@pytest.mark.parametrize(
    "words",
    [
        "The answer holds.",
        "Yes, the median is 3.27, so the answer is right.",
        "All numbers are right: 3.5 is 7 / 2.",
        "Die Zahlen stimmen, der Median ist 3.27.",
    ],
)
async def test_words_and_ends_that_call_doubted_numbers_right_keep_the_answer(
    stage: Stage, first: Any, words: str, form: Any
) -> None:
    outcome, model = await doubted(stage, form(words), first=first)
    assert UNKNOWN in told(model.requests[2])
    assert 'call `done` with "The answer holds." to keep the whole answer' in told(model.requests[2])
    assert (outcome.answer, len(model.requests)) == (MEAN, 3)
    assert any("3.27 stands in no result" in one.doubt for one in outcome.evidence)


@pytest.mark.parametrize("first", [MEAN, step(done(MEAN))])
async def test_a_doubted_answer_is_kept_where_a_call_then_shows_its_number(stage: Stage, first: Any) -> None:
    words = "The calculation confirms 3.27, so all numbers in my answer are right."
    outcome, model = await doubted(stage, step(sum_of("3.265 + 0.001")), words, first=first)
    assert (outcome.answer, len(model.requests)) == (MEAN, 4)
    assert not any(one.doubt for one in outcome.evidence)


@pytest.mark.parametrize("form", [str, end_of])
async def test_words_with_another_number_are_asked_about_and_the_next_answer_counts(stage: Stage, form: Any) -> None:
    words = "The numbers are correct: the median is 3.28."
    whole = MEAN.replace("3.27", "3.28")
    outcome, model = await doubted(stage, form(words), *2 * [step(done(whole))])
    assert UNCLEAR in told(model.requests[3])
    assert outcome.answer == whole


@pytest.mark.parametrize("form", [str, end_of])
async def test_words_that_stay_unclear_are_a_remark_on_the_answer(stage: Stage, form: Any) -> None:
    words = "All is right: 22.06."
    outcome, model = await doubted(stage, *2 * [form(words)])
    assert (outcome.answer, outcome.reason, len(model.requests)) == (MEAN, words, 4)


@pytest.mark.parametrize("form", [str, end_of])
async def test_a_new_answer_after_a_doubt_counts(stage: Stage, form: Any) -> None:
    outcome, model = await doubted(stage, form("7 units were sold."))
    assert (outcome.answer, len(model.requests)) == ("7 units were sold.", 3)


async def test_a_confirmation_after_two_answers_keeps_the_later_one(stage: Stage) -> None:
    outcome, _ = await look(stage, step(done("The sum is 9.")), step(done("The answer holds.")))
    assert outcome.answer == "The sum is 9."


@pytest.mark.parametrize("words", ["The sum is 7.", "Zusammen sind es 7."])
async def test_text_beside_an_end_without_an_answer_is_the_answer(stage: Stage, words: str) -> None:
    end = ModelResponse(text=words, calls=(ToolCall(id="e", name="done", arguments={"success": True}),), finish="calls")
    outcome, model = await stage.play(step(sum_of("3 + 4")), end, task="How much is it?")
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, words, 2)


@pytest.mark.parametrize("words", ["Let me check the sum of 7.", "I have what I need.", ""])
async def test_text_that_is_no_answer_leaves_an_end_without_one(stage: Stage, words: str) -> None:
    end = ModelResponse(text=words, calls=(ToolCall(id="e", name="done", arguments={"success": True}),), finish="calls")
    _, model = await stage.play(step(sum_of("3 + 4")), end, step(done(7)), task="How much is it?")
    assert "`done` came without an answer" in told(model.requests[2])


async def test_the_step_of_a_confirming_end_is_noted_with_the_answer(stage: Stage) -> None:
    outcome, _ = await look(stage, step(done("The answer holds.")))
    assert steps(stage.tea, outcome.run)[-1]["calls"][0]["arguments"]["answer"] == "The sum is 7."


async def test_a_confirming_end_of_a_task_with_a_form_keeps_the_object(stage: Stage) -> None:
    form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    replies = [step(sum_of("3 + 4")), step(done({"n": 7})), step(done("The answer holds."))]
    outcome, model = await stage.play(*replies, answer=form, reflect=1)
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, {"n": 7}, 3)


async def test_a_confirming_end_beside_another_call_waits_for_its_result(stage: Stage) -> None:
    outcome, model = await look(stage, step(sum_of("1 + 1"), done("The answer holds.")), "The answer holds.")
    assert (outcome.answer, len(model.requests)) == ("The sum is 7.", 4)
