"""The fields of a wanted object: their status, the nudge for open ones, and the best object at the end."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, step, told

from tea import ToolError, tool

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"name": TEXT, "founded": {"type": ["integer", "null"]}, "head": TEXT, "people": NUMBER},
    "required": ["name", "founded", "head", "people"],
    "additionalProperties": False,
}
WHOLE = {"name": "Oslo", "founded": 1040, "head": "Ann", "people": 700_000}


@tool(effects="reads", idempotent=True, metadata={"needs": "search"})
async def seek(query: str) -> str:
    """Search for a query."""
    if "unreachable" in query:
        raise ToolError("No engine answered.", fix="try again later.")
    return f"Nothing about {query}."


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open(seek) as stage:
        yield stage


def drafted(**fields: Any) -> tuple[str, dict[str, Any]]:
    return "draft", {"fields": fields}


async def test_an_open_field_is_asked_about_once_and_then_told_as_a_gap(stage: Stage) -> None:
    open_ = {**WHOLE, "founded": None, "head": "Unknown"}
    outcome, model = await stage.play(step(done(open_)), step(done(open_)), answer=FORM)
    assert "These fields of the answer have no value yet: founded, head." in told(model.requests[1])
    assert (outcome.ok, outcome.answer, outcome.partial) == (True, open_, True)
    assert outcome.gaps == ("'founded' is not known", "'head' is not known")


async def test_a_whole_answer_is_not_asked_about(stage: Stage) -> None:
    outcome, model = await stage.play(step(done(WHOLE)), answer=FORM)
    assert (len(model.requests), outcome.gaps, outcome.partial) == (1, (), False)


async def test_a_field_that_was_given_up_is_not_asked_about(stage: Stage) -> None:
    answer = {**WHOLE, "founded": None}
    outcome, model = await stage.play(step(drafted(founded=None)), step(done(answer)), answer=FORM)
    assert len(model.requests) == 2
    assert outcome.gaps == ("'founded' is not known",)


def sought(query: str) -> tuple[str, dict[str, Any]]:
    return "seek", {"query": query}


async def test_fields_that_no_search_found_are_given_up_after_twelve_and_hold_back_no_end(
    stage: Stage,
) -> None:  # 001: 9
    answer = {**WHOLE, "founded": None, "head": "unknown"}
    searches = [step(sought(f"head {number}")) for number in range(12)]
    outcome, model = await stage.play(
        step(drafted(name="Oslo", people=700_000)), *searches, step(done(answer)), answer=FORM, tools=["seek"]
    )
    assert "given up" not in told(model.requests[12])
    assert "- head: given up after 12 searches that found no field" in told(model.requests[13])
    assert (outcome.ok, len(model.requests)) == (True, 14)
    assert outcome.gaps == ("'founded' is not known after 12 searches", "'head' is not known after 12 searches")


async def test_a_search_that_failed_gives_no_field_up(stage: Stage) -> None:
    outcome, model = await stage.play(
        step(drafted(name="Oslo"), sought("a"), sought("unreachable b"), sought("unreachable c")),
        step(sought("d")),
        step(done({**WHOLE, "founded": None, "head": "Ann", "people": 3})),
        answer=FORM,
        tools=["seek"],
        settings={"planner.unknown_after": 2},
    )
    assert ["given up" in told(request) for request in model.requests] == [False, False, True]
    assert outcome.gaps == ("'founded' is not known after 2 searches",)


async def test_a_found_field_starts_the_count_anew_and_a_given_up_one_can_still_be_found(stage: Stage) -> None:
    outcome, model = await stage.play(
        step(sought("a"), sought("b of 3")),
        step(drafted(name="Oslo"), sought("c"), sought("d")),
        step(sought("d"), drafted(name="Oslo")),  # neither a new search nor a new field
        step(sought("e")),
        step(drafted(head="Ann")),
        step(done({**WHOLE, "founded": None, "people": 3})),
        answer=FORM,
        tools=["seek"],
        settings={"planner.unknown_after": 3},
    )
    assert ["given up" in told(request) for request in model.requests] == [False, False, False, False, True, True]
    assert all(f"- {name}: given up after 3 searches" in told(model.requests[4]) for name in ("founded", "head"))
    assert '- head: "Ann"' in told(model.requests[5])
    assert outcome.gaps == ("'founded' is not known after 3 searches",)


async def test_the_status_of_each_field_stands_at_the_end_of_the_question(stage: Stage) -> None:
    _, model = await stage.play(step(drafted(name="Oslo", founded=None)), step(done(WHOLE)), answer=FORM)
    assert 'Fields of the answer:\n- name: "Oslo"\n- founded: given up\n- head: missing\n- people: missing' in told(
        model.requests[1]
    )


async def test_drafted_fields_are_added_to_an_end_that_leaves_them_out(stage: Stage) -> None:
    rest = {"founded": 1040, "head": "Ann"}
    calls = (drafted(name="Oslo", people=1), ("done", {"answer": {**rest, "people": 700_000}}))
    outcome, model = await stage.play(step(*calls), answer=FORM)
    assert (outcome.answer, len(model.requests)) == (WHOLE, 1)


async def test_a_draft_is_listed_once_and_an_optional_field_may_be_left_out(stage: Stage) -> None:
    form = {**FORM, "required": ["name", "people"]}
    _, model = await stage.play(step(drafted(name="Oslo")), step(done(WHOLE)), answer=form)
    said = told(model.requests[1])
    assert "Kept: name." in said
    assert said.count('- name: "Oslo"') == 1
    assert "- head: open, may be left out\n- people: missing" in said


async def test_a_field_that_does_not_fit_is_refused(stage: Stage) -> None:
    wrong = [drafted(people="many"), drafted(size=3), ("draft", {"fields": {}})]
    _, model = await stage.play(*(step(one) for one in wrong), step(done(WHOLE)), answer=FORM)
    seen = told(model.requests[3])
    for words in ("'people' does not fit", "'size' is not a field", "No field is given"):
        assert words in seen, words


async def test_an_answer_without_fields_takes_no_draft(stage: Stage) -> None:
    _, model = await stage.play(step(drafted(name="Oslo")), step(done(1)), answer=NUMBER)
    assert "The answer has no fields" in told(model.requests[1])
    assert "draft" not in {one["name"] for one in model.requests[0].tools}


async def test_a_budget_that_ends_leaves_the_best_answer_in_the_form(stage: Stage) -> None:
    outcome, _ = await stage.play(
        step(drafted(name="Oslo", people=700_000)), step(("note", {"fact": "x"})), answer=FORM, budget={"steps": 2}
    )
    assert (outcome.status, outcome.exit_code) == ("exhausted", 5)
    assert outcome.answer == {"name": "Oslo", "founded": None, "head": "unknown", "people": 700_000}
    assert outcome.gaps == ("'founded' is not known", "'head' is not known")


async def test_a_last_answer_that_does_not_fit_lends_its_good_fields(stage: Stage) -> None:
    unfit = step(done({**WHOLE, "people": "many"}))
    outcome, _ = await stage.play(unfit, unfit, unfit, answer=FORM, budget={"steps": 2})
    assert outcome.status == "exhausted"
    assert outcome.answer == {"name": "Oslo", "founded": 1040, "head": "Ann"}
    assert outcome.gaps == ("'people' is not known",)
