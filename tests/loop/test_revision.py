"""Test another look at an answer: words leave it as it is, only another `done` changes it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, observations, step, sum_of, told

from tea.testing import FunctionModel
from tea.types import ModelRequest, ModelResponse, ToolCall


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open() as stage:
        yield stage


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def look(stage: Stage, *replies: Any, **options: Any) -> Any:
    return await stage.play(step(sum_of("3 + 4")), step(done("The sum is 7.")), *replies, reflect=1, **options)


@pytest.mark.parametrize(
    "words", ["The answer holds.", "I checked each step: 3 + 4 = 7. It holds", "Yes, my answer holds!"]
)
async def test_words_after_a_look_leave_the_held_answer(stage: Stage, words: str) -> None:
    outcome, model = await look(stage, words)
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, "The sum is 7.", 3)
    ended = observations(model.requests[2])[1]["calls"][0]
    assert ended["value"] == "held, not delivered yet"
    assert "7.." not in told(model.requests[2])


@pytest.mark.parametrize(
    ("options", "ending"),
    [({"reflect": 1}, "Before your answer is delivered"), ({"budget": {"steps": 2}}, "This is the last question.")],
)
async def test_the_last_step_repeats_the_question_and_its_form(stage: Stage, options: Any, ending: str) -> None:
    form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    replies = [step(sum_of("3 + 4")), *2 * [step(done({"n": 7}))]]
    outcome, model = await stage.play(*replies, task="How much is it?", answer=form, **options)
    assert outcome.answer == {"n": 7}
    last = told(model.requests[-1]).partition(ending)[2]
    assert 'The task was: How much is it?\nIts answer must fit {"type": "object"' in last


@pytest.mark.parametrize("looks", [0, 1, 2])
async def test_an_answer_that_an_agent_did_a_part_of_is_looked_at_as_often_as_was_asked(
    stage: Stage, looks: int
) -> None:
    form = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}
    part = [step(("analyzer", {"task": "Add 3 and 4."})), step(sum_of("3 + 4")), step(done(7))]
    answers = ("seven", "seven pieces", "seven whole pieces")
    ends = [step(done({"n": words})) for words in answers[: looks + 1]]
    outcome, model = await stage.play(*part, *ends, task="How much is it?", answer=form, reflect=looks)
    assert (outcome.answer, len(model.requests)) == ({"n": answers[looks]}, 4 + looks)
    assert (await stage.tea.replay(outcome.run)).answer == outcome.answer


async def test_an_answer_is_looked_at_once_where_the_agent_asked_failed(stage: Stage) -> None:
    part = [step(("analyzer", {"task": "Add 3 and 4."})), step(done(success=False, reason="Nothing is known."))]
    own, form = [step(sum_of("3 + 4")), *3 * [step(done(7))]], {"type": "integer"}
    outcome, model = await stage.play(*part, *own, task="How much is it?", answer=form)
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, 7, 5)
    look = told(model.requests[-1]).rpartition("Before your answer is delivered")[2]
    assert "left open: 'Add 3 and 4.' failed, as Nothing is known. Call what is still needed" in look
    assert 'The task was: How much is it?\nIts answer must fit {"type": "integer"}' in look
    refused, model = await stage.play(step(("analyzer", {})), step(sum_of("3 + 4")), step(done(7)))
    assert (refused.answer, len(model.requests)) == (7, 3)  # nobody was asked


@pytest.mark.parametrize(
    ("doubts", "asked"),
    [
        ("The part to add 3 and 4 failed.", 4),
        ("It is in euros.\nThe sum of 3 and 4 failed, nothing is known of it", 4),
        ("It is assumed that both are in euros.", 5),
    ],
)
async def test_an_answer_whose_doubts_name_what_is_open_is_not_held(stage: Stage, doubts: str, asked: int) -> None:
    part = [step(("analyzer", {"task": "Add 3 and 4."})), step(done(success=False, reason="Nothing is known."))]
    own = [step(sum_of("3 + 4")), *3 * [step(done(7, doubts=doubts))]]
    outcome, model = await stage.play(*part, *own, task="How much is it?", answer={"type": "integer"})
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, 7, asked)
    assert doubts.splitlines()[0].rstrip(".") in outcome.reason


async def test_an_answer_of_the_last_question_is_not_looked_at_again(stage: Stage) -> None:
    part = [step(("analyzer", {"task": "Add 3 and 4."})), step(done(7))]
    outcome, model = await stage.play(*part, step(done(7)), budget={"steps": 3})
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, 7, 3)


async def test_words_that_do_not_confirm_are_asked_about_once(stage: Stage) -> None:
    outcome, model = await look(stage, "It should be 8.", *[step(done("The sum is 8."))] * 2)
    assert "These words neither confirm nor change the held answer" in told(model.requests[3])
    assert "These numbers of the answer stand in no result" in told(model.requests[4])
    assert outcome.answer == "The sum is 8."


@pytest.mark.parametrize(
    "words", ["The answer holds, although n is 1.", "The answer holds, I think. The sum is of two numbers."]
)
async def test_words_that_begin_by_confirming_are_a_remark_on_the_answer(stage: Stage, words: str) -> None:
    outcome, model = await look(stage, words)
    assert (outcome.answer, outcome.reason, len(model.requests)) == ("The sum is 7.", words, 3)
    assert not any(one.doubt for one in outcome.evidence)


@pytest.mark.parametrize(
    "words",
    [
        "I checked, all right.",
        "Yes, I have checked each step, and everything is correct.",
        "All good",
        "The answer is right as it is.",
        "Each step is right, each fact is shown by a result, nothing was left out.",
        "No changes are needed.",
        "I've verified the calculation. **Confirmed.**",
        'I checked it. "The answer holds."',
        '"The answer holds." I checked each step and each fact.',
        "As you asked, I say: \u201cThe answer holds.\u201d",
    ],
)
async def test_words_that_say_it_in_another_way_confirm_and_are_no_remark(stage: Stage, words: str) -> None:
    outcome, model = await look(stage, words)
    assert (outcome.answer, outcome.reason, len(model.requests)) == ("The sum is 7.", "", 3)
    assert not any(one.doubt for one in outcome.evidence)


@pytest.mark.parametrize(
    "words",
    [
        "Everything is right: the result is 7 and the tool is registered.",
        "All results are correct. The sum is of two numbers.",
    ],
)
async def test_words_that_begin_by_agreeing_confirm_with_a_remark(stage: Stage, words: str) -> None:
    outcome, model = await look(stage, words)
    assert (outcome.answer, outcome.reason, len(model.requests)) == ("The sum is 7.", words, 3)


async def test_a_remark_leaves_out_the_confirmation_itself(stage: Stage) -> None:
    outcome, _ = await look(stage, '"The answer holds." I checked each step. The sum is of two numbers.')
    assert (outcome.answer, outcome.reason) == ("The sum is 7.", "The sum is of two numbers.")


@pytest.mark.parametrize(
    "words",
    [
        "The rest is right.",
        "Everything is right, now I will sum it up.",
        "It should be 8, all else is right.",
        "I checked, it is 8. That is right.",
        "I checked, and it isn't right.",
        "I will check each step.",
        "I checked each step.",
        "Is it all right?",
        "The sum of the two numbers is eight, all right.",
    ],
)
async def test_words_that_may_say_anything_else_are_asked_about(stage: Stage, words: str) -> None:
    _, model = await look(stage, words, "The answer holds.")
    assert "These words neither confirm nor change the held answer" in told(model.requests[3])


async def test_words_that_confirm_and_deny_do_not_confirm(stage: Stage) -> None:
    words = "The answer holds, but 7 is wrong."
    outcome, _ = await look(stage, words, words)
    assert "the last look at it did not confirm it" in [one.doubt for one in outcome.evidence]


@pytest.mark.parametrize("words", ["No. This is wrong.", "It should be 8, the rest holds.", "Die Antwort ist falsch."])
async def test_an_answer_that_words_deny_is_delivered_as_unconfirmed(stage: Stage, words: str) -> None:
    outcome, model = await look(stage, words, words)
    assert (outcome.answer, len(model.requests)) == ("The sum is 7.", 4)
    assert "the last look at it did not confirm it" in [one.doubt for one in outcome.evidence]


async def test_the_last_step_repeats_what_a_person_said_since(stage: Stage) -> None:
    told_since: list[str] = []

    async def reply(request: ModelRequest) -> ModelResponse:
        told_since.append(told(request))
        if len(told_since) == 1:
            (run,) = {*stage.tea.tracer.runs()} - known
            await stage.tea.tell(run, "Leave out the north.")
        return ModelResponse(calls=(ToolCall(id="", name="done", arguments={"answer": "the south"}),))

    known = {*stage.tea.tracer.runs()}
    stage.model = FunctionModel(reply)
    await stage.tea.run("Sum it up.", reflect=1)
    assert "The task was: Sum it up.\nLeave out the north." in told_since[-1]


async def test_another_end_changes_the_held_answer(stage: Stage) -> None:
    outcome, _ = await look(stage, step(sum_of("3 + 5")), step(done("The sum is 8.")))
    assert outcome.answer == "The sum is 8."


async def test_an_answer_in_a_form_may_be_given_anew_without_a_call(stage: Stage) -> None:
    form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    outcome, _ = await stage.play(step(done({"n": 7})), '{"n": 8}', reflect=1, answer=form)
    assert outcome.answer == {"n": 8}
