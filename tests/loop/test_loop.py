"""The loop of every tool-calling agent, driven by scripted models through the planner."""

import json
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, observations, step, steps, sum_of, told

from tea import Agent, ToolError, tool
from tea.testing import FunctionModel
from tea.types import ModelRequest, ModelResponse, ToolCall, Usage


@tool(effects="reads", idempotent=True, network=False)
async def positive(limit: int) -> int:
    """Return a non-negative number."""
    if limit < 0:
        raise ToolError("The limit is negative.", fix="give a positive one.")
    return limit


@tool(effects="reads", network=False)
async def long_text(size: int) -> str:
    """Return a text of this size."""
    return "x" * size


@tool(effects="reads", network=False)
async def workspace_write(name: str) -> str:
    """Pretend to be an action."""
    return name


class Brief(Agent):
    """Work in two steps."""

    tools = ("calculator",)
    max_steps = 2


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open(positive, long_text, workspace_write) as stage:
        yield stage


async def test_done_gives_the_answer_and_its_evidence(stage: Stage) -> None:
    source = {"source": "calculator", "detail": "1 + 2", "quote": "3"}
    outcome, _ = await stage.play(step(sum_of("1 + 2")), step(done(3, evidence=[source])))
    assert (outcome.status, outcome.answer) == ("done", 3)
    assert [one.model_dump() for one in outcome.evidence] == [{**source, "doubt": ""}]


async def test_results_become_the_next_observation(stage: Stage) -> None:
    outcome, model = await stage.play(step(sum_of("6 * 7")), step(done(42)))
    (seen,) = observations(model.requests[1])
    assert seen["step"] == 1
    call = {"name": "calculator", "arguments": {"expression": "6 * 7"}, "ok": True, "value": 42, "error": None}
    assert seen["calls"] == [call]
    assert outcome.ok


async def test_history_only_grows(stage: Stage) -> None:
    _, model = await stage.play(step(sum_of("1 + 1")), step(sum_of("2 + 2")), step(done()))
    first, second, third = (request.messages for request in model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert len(third) == len(first) + 4


async def test_failing_tool_is_an_observation_to_replan_from(stage: Stage) -> None:
    outcome, model = await stage.play(step(sum_of("1 / 0")), step(sum_of("1 / 1")), step(done(1)))
    (call,) = observations(model.requests[1])[0]["calls"]
    assert not call["ok"]
    assert "divides by zero" in call["error"]["problem"]
    assert outcome.answer == 1


async def test_unknown_name_is_refused_with_the_nearest_and_all_there_is(stage: Stage) -> None:
    outcome, model = await stage.play(step(("calculater", {"expression": "1"})), step(done()))
    (call,) = observations(model.requests[1])[0]["calls"]
    assert call["error"]["code"] == "UnknownComponent"
    assert "did you mean 'calculator'?" in call["error"]["fix"]
    assert "workspace_write" in call["error"]["fix"]
    assert outcome.ok


@pytest.mark.parametrize("name", ["fetch", "web_fetch", "openUrl", "tool:browse", "WebFetch"])
async def test_a_page_is_fetched_by_the_names_of_other_libraries_where_that_may_be_called(
    stage: Stage, name: str
) -> None:
    wish, end = step((name, {"place": 3})), step(done("There is none."))
    _, model = await stage.play(wish, end, task="Read http://localhost/a.html.")
    (call,) = observations(model.requests[1])[0]["calls"]
    assert call["error"]["fix"].startswith("did you mean 'url'? its parameters are url (string), needed; question")
    _, model = await stage.play(wish, end, tools=["calculator"])
    (call,) = observations(model.requests[1])[0]["calls"]
    assert call["error"]["code"] == "UnknownComponent"
    assert not {"fetch_page", "web_search"} & {*re.findall(r"\w+", call["error"]["fix"])}


async def test_a_search_without_an_engine_is_not_suggested(stage: Stage) -> None:
    _, model = await stage.play(
        step(("web_searcher", {"query": "a"})), step(done("none")), task="Read http://localhost/."
    )
    fix = observations(model.requests[1])[0]["calls"][0]["error"]["fix"]
    assert "web_search" not in fix


async def test_a_task_narrows_the_tools_but_not_the_bookkeeping(stage: Stage) -> None:
    outcome, model = await stage.play(step(sum_of("1"), ("note", {"fact": "it is so"})), step(done()), tools=[])
    arithmetic, noted = observations(model.requests[1])[0]["calls"]
    assert arithmetic["error"]["code"] == "UnknownComponent"
    assert noted["ok"]
    assert outcome.ok


async def test_a_task_can_bring_tools_of_its_own(stage: Stage) -> None:
    outcome, _ = await stage.play(step(("positive", {"limit": 7})), step(done(7)), tools=["positive"])
    assert outcome.answer == 7


async def test_two_things_of_one_name_are_an_error(stage: Stage) -> None:
    outcome, _ = await stage.play(tools=["workspace_write"])
    assert outcome.error is not None
    assert outcome.error["code"] == "BadComponent"
    assert "both called 'workspace_write'" in outcome.error["problem"]


async def test_a_bad_reply_stays_in_the_conversation_with_what_is_wrong_and_wanted(stage: Stage) -> None:
    outcome, model = await stage.play(step(thinking="I think aloud."), step(done("ok")))
    assert outcome.answer == "ok"
    bad, told_of = model.requests[1].messages[-2:]
    assert (bad.role, told_of.role) == ("assistant", "user")
    assert "I think aloud." in str(bad.content)
    assert "calls: [] should be non-empty" in told(model.requests[1])
    assert "Call a function, or end with `done`" in told(model.requests[1])


@pytest.mark.parametrize("bad", [{"thinking": 1}, step(), ModelResponse(finish="refusal", unusable="It refused: no.")])
async def test_three_bad_replies_in_a_row_end_the_work_with_the_reason(stage: Stage, bad: Any) -> None:
    outcome, model = await stage.play(bad, bad, bad, step(done("never asked")))
    assert not outcome.ok
    assert "could not be used, 3 times in a row" in outcome.reason
    assert "another model" in outcome.reason
    assert (outcome.status, outcome.exit_code) == ("failed", 1)
    assert len(model.requests) == 3


async def test_a_success_forgives_bad_replies(stage: Stage) -> None:
    replies = [step(), step(), step(sum_of("1 + 1")), step(), step(), step(done(2))]
    outcome, _ = await stage.play(*replies)
    assert outcome.answer == 2


async def test_words_without_a_call_are_the_answer(stage: Stage) -> None:
    outcome, model = await stage.play(step(sum_of("6 * 7")), "The answer is 42.")
    assert (outcome.status, outcome.answer) == ("done", "The answer is 42.")
    assert len(model.requests) == 2


async def test_words_that_do_not_fit_the_wanted_form_go_back(stage: Stage) -> None:
    outcome, model = await stage.play("It is seven.", 'As JSON: {"n": 7}', answer={"type": "object", "required": ["n"]})
    assert outcome.answer == {"n": 7}
    assert "does not fit" in told(model.requests[1])


async def test_an_unreadable_call_fails_alone(stage: Stage) -> None:
    bad = ToolCall(id="", name="calculator", arguments={}, unreadable="its arguments are not a JSON object: {oops")
    good = ToolCall(id="", name="calculator", arguments={"expression": "2 + 3"})
    outcome, model = await stage.play(ModelResponse(calls=(bad, good), finish="calls"), step(done(5)))
    first, second = observations(model.requests[1])[0]["calls"]
    assert "{oops" in first["error"]["problem"]
    assert first["error"]["fix"] == "write one JSON object with the names of its parameters."
    assert second["value"] == 5
    assert outcome.answer == 5


async def test_native_function_calls_are_steps_too(stage: Stage) -> None:
    wish = ToolCall(id="1", name="calculator", arguments={"expression": "2 + 3"})
    end = ToolCall(id="2", name="done", arguments={"answer": 5})
    replies = [ModelResponse(text="I add.", calls=(wish,), finish="calls"), ModelResponse(calls=(end,), finish="calls")]
    outcome, model = await stage.play(*replies)
    assert outcome.answer == 5
    assert observations(model.requests[1])[0]["calls"][0]["value"] == 5


async def test_done_beside_a_call_whose_result_nobody_has_seen_does_not_count(stage: Stage) -> None:
    for early in (step(done("early"), sum_of("1 + 1")), step(sum_of("1 + 1"), done("early"))):
        outcome, model = await stage.play(early, step(done("late")))
        calls = {one["name"]: one for one in observations(model.requests[1])[0]["calls"]}
        assert "nobody has seen" in calls["done"]["error"]["problem"]
        assert calls["calculator"]["value"] == 2
        assert outcome.answer == "late"


@pytest.mark.parametrize(
    ("answer", "beside"),
    [(42, sum_of("41 + 1")), ("42.", sum_of("41 + 1")), ("a.txt", ("workspace_write", {"name": "a.txt"}))],
)
async def test_done_counts_beside_calls_that_tell_it_or_only_wrote(
    stage: Stage, answer: Any, beside: tuple[str, Any]
) -> None:
    name, given = beside
    given = {**given, "text": "hello"} if name == "workspace_write" else given
    for calls in (((name, given), done(answer)), (done(answer), (name, given))):
        outcome, model = await stage.play(step(*calls))
        assert (outcome.answer, outcome.ok, len(model.requests)) == (answer, True, 1)
        assert [one.doubt for one in outcome.evidence if one.doubt] == []


@pytest.mark.parametrize("answer", [43, "The sum is 42.", "The sum is 43.", "It is done.", ""])
async def test_done_waits_for_calls_beside_it_that_tell_something_else(stage: Stage, answer: Any) -> None:
    outcome, model = await stage.play(step(sum_of("41 + 1"), done(answer)), step(done(42)))
    assert (outcome.answer, len(model.requests)) == (42, 2)
    wrong = ("workspace_write", {"name": "../a.txt", "text": "hello"})
    outcome, model = await stage.play(step(wrong, done("a.txt")), step(done("No file.")))
    assert (outcome.answer, len(model.requests)) == ("No file.", 2)


async def test_done_may_stand_beside_notes_and_plans(stage: Stage) -> None:
    calls = [("note", {"fact": "a fact"}), ("plan", {"items": [{"item": "a part", "state": "done"}]}), done(2)]
    outcome, model = await stage.play(step(*calls))
    assert outcome.answer == 2
    assert len(model.requests) == 1


async def test_a_refused_end_never_becomes_the_answer(stage: Stage) -> None:
    replies = [step(done("two")), step(done("three")), step(done("four"))]
    outcome, _ = await stage.play(*replies, answer={"type": "integer"}, budget={"steps": 3})
    assert (outcome.status, outcome.answer, outcome.exit_code) == ("exhausted", "", 5)


@pytest.mark.parametrize(
    "name", ["functions.calculator", "tool:calculator", "calculator.call", "tool:calculator@1.0.0"]
)
async def test_functions_are_understood_with_a_prefix(stage: Stage, name: str) -> None:
    _, model = await stage.play(step((name, {"expression": "1 + 1"})), step(done(2)))
    assert observations(model.requests[1])[0]["calls"][0]["value"] == 2


async def test_evidence_of_what_was_not_read_goes_back_once_and_is_marked_if_it_stays(stage: Stage) -> None:
    sources = [{"source": "a hunch", "quote": "7"}, {"source": "calculator", "quote": "8"}]
    end = step(done(7, evidence=sources))
    outcome, model = await stage.play(step(sum_of("3 + 4")), end, end)
    problem = observations(model.requests[2])[1]["calls"][0]["error"]["problem"]
    assert "'a hunch' was not opened" in problem
    assert "the quote '8' does not stand" in problem
    assert [bool(one.doubt) for one in outcome.evidence] == [True, True]
    assert outcome.answer == 7


async def test_open_items_of_the_plan_are_asked_about_once(stage: Stage) -> None:
    plan = ("plan", {"items": ["count the rows", {"item": "say so", "state": "done"}]})
    outcome, model = await stage.play(step(plan, sum_of("1")), step(done(1)), step(done(1)))
    assert "count the rows" in observations(model.requests[2])[1]["calls"][0]["error"]["problem"]
    assert outcome.answer == 1


async def test_notes_and_plan_stand_at_the_end_of_every_question(stage: Stage) -> None:
    calls = [("note", {"fact": "The key is 17.", "source": "a.txt"}), ("plan", {"items": ["use the key"]})]
    _, model = await stage.play(step(*calls, sum_of("1")), step(sum_of("2")), step(done()), step(done()))
    for request in model.requests[1:]:
        words = str(request.messages[-1].content)
        assert "The key is 17. (a.txt)" in words
        assert "[ ] use the key" in words
    assert "The key is 17." not in str(model.requests[2].messages[-2].content)


async def test_giving_up_needs_a_reason(stage: Stage) -> None:
    outcome, model = await stage.play(step(done(success=False)), step(done(success=False, reason="no such column")))
    assert "no reason" in observations(model.requests[1])[0]["calls"][0]["error"]["problem"]
    assert (outcome.status, outcome.reason) == ("failed", "no such column")


async def test_answer_must_fit_the_schema_of_the_task(stage: Stage) -> None:
    schema = {"type": "integer", "minimum": 1}
    outcome, model = await stage.play(step(done("four")), step(done(0)), step(done(4)), answer=schema)
    errors = [seen["calls"][0]["error"]["problem"] for seen in observations(model.requests[2])]
    assert "'four' is not of type 'integer'" in errors[0]
    assert "less than the minimum" in errors[1]
    assert outcome.answer == 4
    assert str(model.requests[0].messages).count("minimum") == 1  # it stands in `done`, and not in the words as well


async def test_giving_up_needs_no_fitting_answer(stage: Stage) -> None:
    outcome, _ = await stage.play(step(done(success=False, reason="unknown")), answer={"type": "integer"})
    assert outcome.reason == "unknown"


async def test_the_same_reading_call_is_answered_from_the_record_with_a_hint(stage: Stage) -> None:
    outcome, model = await stage.play(step(sum_of("1 + 1")), step(sum_of("1 + 1")), step(done(2)))
    again = observations(model.requests[2])[1]["calls"][0]
    assert again["value"] == 2
    assert "was not made again" in again["note"]
    starts = [one for one in stage.tea.tracer.records(outcome.run) if one.kind == "start"]
    assert sum(one.data["kind"] == "tool" and "calculator" in one.data["target"] for one in starts) == 1


async def test_the_same_reading_call_in_other_words_is_not_made_again(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n1\n")
    calls = [{"files": ["a.csv"], "limit": 100}, {"files": "a.csv"}, {"limit": "100", "files": '["a.csv"]'}]
    asked = [step(("table_query", {**one, "sql": "SELECT * FROM a"})) for one in calls]
    _, model = await stage.play(*asked, step(done(1)), files=[tmp_path / "a.csv"])
    again = [one["calls"][0].get("note", "") for one in observations(model.requests[3])]
    assert ["was not made again" in one for one in again] == [False, True, True]


async def test_a_reading_call_is_made_again_after_something_changed(stage: Stage) -> None:
    read = ("read_file", {"path": "a.txt"})
    write = ("workspace_write", {"name": "a.txt", "text": "hello"})
    _, model = await stage.play(step(read), step(write), step(read), step(done()))
    before, _, after = observations(model.requests[3])
    assert not before["calls"][0]["ok"]
    assert after["calls"][0]["value"]["text"] == "hello"


async def test_a_reading_call_beside_a_change_in_one_step_is_made_again(stage: Stage) -> None:
    read = ("read_file", {"path": "a.txt"})

    def write(text: str) -> tuple[str, dict[str, Any]]:
        return "workspace_write", {"name": "a.txt", "text": text}

    _, model = await stage.play(step(write("one"), read), step(write("two"), read), step(read), step(done()))
    seen = [one["calls"][-1]["value"]["text"] for one in observations(model.requests[3])]
    assert seen == ["one", "two", "two"]


async def test_a_reading_call_that_failed_or_was_not_made_may_be_made_again(stage: Stage) -> None:
    many = [sum_of(f"1 + {one}") for one in range(12)]
    _, model = await stage.play(step(*many), step(many[11]), step(done()))
    first, second = observations(model.requests[2])
    assert "Only 10 calls are made in one step" in first["calls"][11]["error"]["problem"]
    assert second["calls"][0]["value"] == 12


async def test_steps_that_bring_nothing_new_call_for_another_strategy_and_then_for_the_end(stage: Stage) -> None:
    outcome, model = await stage.play(*[step(sum_of("1 + 1"))] * 20)
    assert not outcome.ok
    assert "brought nothing new: it made the same call of 'calculator' again" in outcome.reason
    assert (outcome.status, outcome.exit_code) == ("failed", 1)
    assert "brought nothing new" not in told(model.requests[3])
    assert "brought nothing new" in told(model.requests[4])
    assert "so the work ends here" in told(model.requests[7])
    assert not any("last question" in told(one) for one in model.requests)
    assert len(model.requests) == 10


async def test_giving_up_at_a_dead_end_is_no_end_of_a_budget(stage: Stage) -> None:
    replies = [step(sum_of("1 + 1"))] * 7 + [step(done("", success=False, reason="I am lost."))]
    outcome, _ = await stage.play(*replies)
    assert (outcome.status, outcome.exit_code, outcome.reason) == ("failed", 1, "I am lost.")


async def test_who_takes_another_way_goes_on(stage: Stage) -> None:
    outcome, _ = await stage.play(*[step(sum_of("1 + 1"))] * 4, step(sum_of("2 + 2")), step(done("ok")))
    assert outcome.answer == "ok"


async def test_the_last_question_asks_for_the_best_answer_and_counts_it(stage: Stage) -> None:
    replies = [step(sum_of("1 + 1")), step(sum_of("2 + 2")), step(done("my best"))]
    outcome, model = await stage.play(*replies, budget={"steps": 3})
    assert "last question" not in told(model.requests[1])
    assert "last question" in told(model.requests[2])
    assert (outcome.status, outcome.answer, outcome.exit_code) == ("done", "my best", 0)


async def test_a_last_question_without_an_answer_ends_the_budget(stage: Stage) -> None:
    replies = [step(sum_of("1 + 1")), step(sum_of("2 + 2")), step(sum_of("3 + 3"))]
    outcome, model = await stage.play(*replies, budget={"steps": 3})
    assert (outcome.status, outcome.exit_code) == ("exhausted", 5)
    assert "step budget" in outcome.reason
    assert len(model.requests) == 3


def names(request: Any) -> list[str]:
    """The names of the functions offered in the words of a request."""
    return re.findall(r'<(?:tool|agent|function) name="(\w+)">', str(request.messages[1].content))


@pytest.mark.parametrize(("task", "kept"), [("Add 3 and 4.", []), ("Write it to a.txt.", ["workspace_write"])])
async def test_the_last_question_offers_done_alone_and_what_writes_a_wanted_file(
    stage: Stage, task: str, kept: list[str]
) -> None:
    plan = ("plan", {"items": [{"item": "share"}]})
    _, model = await stage.play(step(sum_of("1 + 1"), plan), step(done("2")), task=task, budget={"steps": 2})
    assert "positive" in names(model.requests[0])
    assert [one for one in names(model.requests[1]) if one not in kept] == ["done"]
    assert set(kept) <= set(names(model.requests[1]))
    assert "share" not in told(model.requests[1])
    assert "[left:" not in told(model.requests[1])
    assert ("a call that writes" in told(model.requests[1])) == bool(kept)


async def test_a_call_at_the_last_step_of_an_agent_is_followed_by_a_short_question(stage: Stage) -> None:
    await stage.tea.acp.register(Brief)
    outcome, model = await stage.play(step(sum_of("3 + 4")), step(sum_of("3 + 5")), step(done(8)), agent="brief")
    assert (outcome.answer, outcome.exit_code, len(model.requests)) == (8, 0, 3)
    assert "8" in told(model.requests[2])


SPENT = "The step budget allowed no further question, so nothing more was looked up."


async def test_an_open_answer_to_the_last_question_that_a_budget_allows_says_so(stage: Stage) -> None:
    doubtful = step(done(7, doubts="The unit is assumed."))
    outcome, _ = await stage.play(step(sum_of("3 + 4")), doubtful, budget={"steps": 2})
    assert outcome.reason == f"The unit is assumed. {SPENT}"
    outcome, _ = await stage.play(step(sum_of("3 + 4")), doubtful, budget={"steps": 3})
    assert outcome.reason == "The unit is assumed."
    outcome, _ = await stage.play(step(done(7)), budget={"steps": 1})
    assert outcome.reason == SPENT


@pytest.mark.parametrize("end", [step(done("The sum is 7.")), "The sum is 7."])
async def test_a_complete_answer_to_the_last_question_has_no_remark(stage: Stage, end: Any) -> None:
    outcome, _ = await stage.play(step(sum_of("3 + 4")), end, budget={"steps": 2})
    assert (outcome.answer, outcome.reason) == ("The sum is 7.", "")


def beside(text: str, name: str, arguments: Any) -> ModelResponse:
    call = ToolCall(id="call_1", name=name, arguments=arguments)
    return ModelResponse(text=text, calls=(call,), finish="calls")


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("name", ["workspace_write", "analyzer"])
async def test_words_beside_a_call_that_is_not_offered_are_the_answer_at_the_last_question(
    stage: Stage, before: int, name: str
) -> None:
    last = beside("The sum is 7.", name, {"name": "out.txt", "task": "Check it."})
    outcome, model = await stage.play(*[step(sum_of("3 + 4"))] * before, last, budget={"steps": before + 1})
    assert (outcome.ok, outcome.answer, len(model.requests)) == (True, "The sum is 7.", before + 1)
    assert [one["name"] for one in steps(stage.tea, outcome.run)[-1]["results"]] == []
    assert (await stage.tea.replay(outcome.run)).answer == outcome.answer


async def test_words_beside_a_call_stand_where_the_short_question_brings_none(stage: Stage) -> None:
    await stage.tea.acp.register(Brief)
    last = beside("The sum is 7.", "calculator", {"expression": "3 + 5"})
    outcome, model = await stage.play(step(sum_of("3 + 4")), last, step(sum_of("1 + 1")), agent="brief")
    assert (outcome.answer, outcome.exit_code, len(model.requests)) == ("The sum is 7.", 0, 3)
    outcome, _ = await stage.play(step(sum_of("3 + 4")), last, step(done(8)), agent="brief")
    assert outcome.answer == 8


async def test_an_announcement_beside_a_call_at_the_last_question_is_no_answer(stage: Stage) -> None:
    last = beside("Let me check the sum.", "calculator", {"expression": "3 + 5"})
    outcome, _ = await stage.play(step(sum_of("3 + 4")), last, budget={"steps": 2})
    assert (outcome.answer, outcome.exit_code) == ("", 5)
    assert outcome.found == ('calculator({"expression": "3 + 4"}) -> 7', 'calculator({"expression": "3 + 5"}) -> 8')


async def test_no_earlier_result_tells_what_is_left_at_the_last_question(stage: Stage) -> None:
    replies = [step(sum_of("1 + 1")), step(sum_of("2 + 2")), step(done(4))]
    _, model = await stage.play(*replies, budget={"steps": 3})
    assert "[left: 2 steps" in told(model.requests[1])
    assert "[left:" not in told(model.requests[2])
    assert "[left:" not in str(model.requests[2].messages[1].content)


async def test_a_call_without_a_name_is_shown_as_it_was_written(stage: Stage) -> None:
    written = {"thinking": "", "calls": [{"tool": "calculator", "input": "3 + 4"}]}
    _, model = await stage.play(written, step(done(7)))
    assert 'it has no name: {"tool": "calculator", "input": "3 + 4"}' in told(model.requests[1])


async def test_what_is_left_stands_once_behind_the_results_of_a_step(stage: Stage) -> None:
    calls = step(sum_of("1 + 1"), sum_of("2 + 2"))
    _, model = await stage.play(calls, step(done()), budget={"steps": 9, "tokens": 5_000})
    results = [one for one in model.requests[1].messages if one.role == "tool"]
    assert len(results) == 2
    assert ["[left: 8 steps, 5,000 tokens]" in str(one.content) for one in results] == [False, True]


async def test_the_best_answer_so_far_may_come_from_parts(stage: Stage) -> None:
    replies = [
        step(("analyzer", {"task": "find a"}), ("analyzer", {"task": "find b"})),
        step(done("x")),
        step(done("y")),
        step(sum_of("1 + 1")),
    ]
    outcome, _ = await stage.play(*replies, budget={"steps": 4}, tools=["calculator"])
    assert outcome.status == "exhausted"
    assert set(outcome.answer.splitlines()) in ({"find a: x", "find b: y"}, {"find a: y", "find b: x"})


async def test_a_part_never_uses_up_the_last_question(stage: Stage) -> None:
    parts = [step(sum_of(f"{number} + 1")) for number in range(4)]
    replies = [step(("analyzer", {"task": "find it"})), *parts, step(done("summed up"))]
    outcome, model = await stage.play(*replies, budget={"steps": 6}, tools=["calculator"])
    assert len(model.requests) == 6
    assert (outcome.answer, outcome.exit_code) == ("summed up", 0)


async def test_a_token_budget_that_ends_is_said(stage: Stage) -> None:
    first = ModelResponse(output=step(sum_of("1")), usage=Usage(input_tokens=60))
    second = ModelResponse(output=step(sum_of("2")), usage=Usage(input_tokens=60))
    outcome, model = await stage.play(first, second, step(done("never")), budget={"tokens": 100})
    assert outcome.status == "exhausted"
    assert "tokens" in outcome.reason
    assert "last question" in told(model.requests[1])
    assert len(model.requests) == 2


async def test_calls_beyond_the_most_of_a_step_are_refused_one_by_one(stage: Stage) -> None:
    outcome, model = await stage.play(step(*[sum_of(f"{number} + 1") for number in range(12)]), step(done()))
    calls = observations(model.requests[1])[0]["calls"]
    assert [call["ok"] for call in calls] == [True] * 10 + [False] * 2
    assert "10 calls" in calls[-1]["error"]["problem"]
    assert outcome.ok


async def test_reads_side_by_side_keep_their_order_and_fail_alone(stage: Stage) -> None:
    reads = step(*[("positive", {"limit": limit}) for limit in (3, -1, 2)])
    outcome, model = await stage.play(reads, step(done()), tools=["positive"])
    calls = observations(model.requests[1])[0]["calls"]
    assert [call["value"] for call in calls] == [3, None, 2]
    assert [call["ok"] for call in calls] == [True, False, True]
    starts = [record for record in stage.tea.tracer.records(outcome.run) if record.kind == "start"]
    made = [record.key for record in starts if "tool:positive" in str(record.data) and record.data["kind"] == "tool"]
    assert len({key.rpartition(".")[0] for key in made}) == 3  # a branch for each call
    assert (await stage.tea.replay(outcome.run)).ok


async def test_a_reply_of_very_many_calls_takes_time_that_grows_with_their_number(stage: Stage) -> None:
    many = step(*[("positive", {"limit": 1})] * 12_000)
    begun = time.process_time()
    await stage.play(many, tools=["positive"], budget={"steps": 1})
    assert time.process_time() - begun < 15


async def test_delegation_gives_the_agents_result_and_its_failure_is_not_ok(stage: Stage) -> None:
    replies = [
        step(("analyzer", {"task": "first"})),
        step(sum_of("1")),
        step(done("one", evidence=[{"source": "calculator"}])),
        step(("analyzer", {"task": "second"})),
        step(done(success=False, reason="nothing there")),
        step(done("one")),
        step(done("one")),
        "The answer holds.",
    ]
    outcome, model = await stage.play(*replies, tools=["calculator"])
    first, second = (seen["calls"][0] for seen in observations(model.requests[5]))
    assert first["ok"]
    assert first["value"]["answer"] == "one"
    assert not second["ok"]
    assert second["error"]["problem"] == "nothing there"
    assert second["value"]["ok"] is False
    assert "'second': nothing there" in observations(model.requests[6])[2]["calls"][0]["error"]["problem"]
    assert [one.source for one in outcome.evidence] == ["calculator"]  # done named none, the delegate did


async def test_agents_asked_in_one_step_work_side_by_side(stage: Stage) -> None:
    parts = step(*[("analyzer", {"task": f"part {number}"}) for number in range(4)])
    outcome, model = await stage.play(
        parts, *[step(done(number)) for number in range(4)], step(done("all")), "It holds."
    )
    answers = [one["value"]["answer"] for one in observations(model.requests[5])[0]["calls"]]
    assert sorted(answers) == [0, 1, 2, 3]  # replies go to whoever asks first
    records = stage.tea.tracer.records(outcome.run)
    scopes = [(one.seq, one.data) for one in records if one.kind == "note" and "analyzer" in str(one.data)]
    entered = [seq for seq, data in scopes if data["kind"] == "enter" and data["data"]["ref"].startswith("agent:an")]
    left = [seq for seq, data in scopes if data["kind"] == "exit" and data["data"]["ref"].startswith("agent:an")]
    assert len(entered) == len(left) == 4
    assert max(entered) < min(left)
    assert (await stage.tea.replay(outcome.run)).answer == "all"


async def test_a_part_is_told_what_is_noted_and_what_other_parts_found(stage: Stage) -> None:
    replies = [
        step(("note", {"fact": "The key is 17.", "source": "a.txt"}), ("analyzer", {"task": "first"})),
        step(done("one")),
        step(("analyzer", {"task": "second"})),
        step(done("two")),
        step(done("both")),
    ]
    _, model = await stage.play(*replies)
    assert "The key is 17. (a.txt)" in str(model.requests[1].messages)
    assert "first one" in str(model.requests[3].messages)


async def test_a_task_given_to_an_agent_under_another_name_is_understood(stage: Stage) -> None:
    replies = [
        step(("analyzer", {"question": "Which town?", "file": "north.csv"})),
        step(done("one")),
        step(done("one")),
    ]
    _, model = await stage.play(*replies)
    assert "There is no file 'north.csv'" in observations(model.requests[1])[0]["calls"][0]["error"]["problem"]
    _, model = await stage.play(step(("analyzer", {"question": "Which town?"})), *replies[1:])
    assert "Which town?" in str(model.requests[1].messages)


async def test_bad_delegations_are_observations(stage: Stage) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("analyzer", {}),
        ("analyzer", {"task": "x", "tools": ["calculator"]}),
        ("analyzer", {"task": "x", "files": [{"a": 1}]}),
        ("analyzer", {"task": ""}),
    ]
    _, model = await stage.play(step(*wrong), step(done()))
    calls = observations(model.requests[1])[0]["calls"]
    assert [call["error"]["code"] for call in calls] == ["BadArguments"] * 4


COUNTER = '''
from tea import Agent, Context, Result, Task


class Counter(Agent):
    """Count people."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Count."""
        doubts = ("Oslo, people: '878' does not stand in its source", "Bergen, people: 291 was not looked for")
        return Result(answer={"Oslo": 878, "Bergen": 0}, gaps=doubts)
'''


@pytest.mark.parametrize(
    ("answer", "gaps"),
    [("Oslo has 878.", ("Oslo, people: '878' does not stand in its source",)), ("Oslo has 879,100.", ())],
)
async def test_what_an_agent_doubts_of_a_number_is_told_with_an_answer_that_has_it(
    stage: Stage, answer: str, gaps: tuple[str, ...]
) -> None:
    await stage.tea.acp.register(COUNTER)
    await stage.tea.acp.register(KEEPER.replace("Keeper", "Lead").replace('tools=["read_file"]', 'agents=["counter"]'))
    end = step(done(answer, evidence=[{"source": "task"}]))
    outcome, _ = await stage.play(
        step(("counter", {"task": "Count."})), end, end, "It holds.", task=answer, agent="lead"
    )
    assert (outcome.answer, outcome.gaps) == (answer, gaps)


async def test_a_delegate_may_use_only_the_tools_of_the_task(stage: Stage) -> None:
    replies = [step(("analyzer", {"task": "x"})), step(sum_of("1 + 1")), step(done("a")), step(done("b"))]
    _, model = await stage.play(*replies, tools=["positive"])
    assert observations(model.requests[2])[0]["calls"][0]["error"]["code"] == "UnknownComponent"
    assert {one["name"] for one in model.requests[1].variables["tools"]} == {"positive", "done"}


async def test_a_long_result_says_truly_what_is_shown_and_can_be_read_on(stage: Stage) -> None:
    replies = [
        step(("long_text", {"size": 30_000})),
        step(("read_result", {"id": "c1_1", "start": 20_000})),
        step(("read_result", {"id": "c9_9"})),
        step(done()),
    ]
    _, model = await stage.play(*replies, tools=["long_text"])
    first, rest, wrong = (seen["calls"][0] for seen in observations(model.requests[3]))
    assert len(first["value"]) == 20_000
    assert first["note"] == '[cut: 20000 of 30,000 characters are shown; read_result(id="c1_1", start=20000) reads on]'
    assert rest["value"] == f"{'x' * 10_000}\n[characters 20,000 to 30,000 of 30,000]"
    assert "There is no result 'c9_9'" in wrong["error"]["problem"]


KEEPER = '''
from tea import Agent, Context, Result, Task, work


class Keeper(Agent):
    """Keep files."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return await work(ctx, task, prompt="tool_calling", tools=["read_file"], environments=["workspace"])
'''


async def test_a_changed_environment_is_observed(stage: Stage) -> None:
    await stage.tea.acp.register(KEEPER)
    write = ("workspace_write", {"name": "a.txt", "text": "hello"})
    replies = [step(write), step(("read_file", {"path": "a.txt"})), step(done())]
    outcome, model = await stage.play(*replies, agent="keeper")
    wrote, read = observations(model.requests[2])
    assert wrote["calls"][0]["ok"]
    states = [one for one in model.requests[2].messages if one.role == "user" and "workspace" in str(one.content)]
    assert "'name': 'a.txt'" in str(states[-1].content)
    assert model.requests[2].messages[-1].role == "tool"
    assert read["calls"][0]["value"]["text"] == "hello"
    assert outcome.ok


async def test_each_step_is_noted_whole_and_replays(stage: Stage) -> None:
    record = step(sum_of("1 + 1"), thinking="t", evaluation="e", memory="m", next_goal="g")
    outcome, _ = await stage.play(record, step(done(2)), task="one and one")
    first, second = steps(stage.tea, outcome.run)
    assert (first["agent"], first["step"], second["step"]) == ("planner", 1, 2)
    assert [first[key] for key in ("thinking", "evaluation", "memory", "next_goal")] == list("temg")
    assert first["observation"]["task"] == "one and one"
    assert first["calls"] == record["calls"]
    assert first["results"][0]["value"] == 2
    assert (await stage.tea.replay(outcome.run)).answer == 2


async def test_a_later_task_of_the_session_remembers_the_earlier(stage: Stage) -> None:
    _, first = await stage.play(step(done(success=False, reason="it is dark")), session="s")
    _, second = await stage.play(step(done()), session="s")
    assert first.requests[0].variables["memories"] == []
    assert "it is dark" in "\n".join(second.requests[0].variables["memories"])


async def test_a_delegation_with_an_unusable_schema_is_an_observation(stage: Stage) -> None:
    wish = ("analyzer", {"task": "x", "answer": {"type": "no such type"}})
    outcome, model = await stage.play(step(wish), *3 * [step(done("ok"))])
    (call,) = observations(model.requests[1])[0]["calls"]
    assert call["error"]["code"] == "BadTask"
    assert outcome.ok


async def test_a_model_that_cannot_be_reached_is_no_observation(stage: Stage) -> None:
    outcome, _ = await stage.play()
    assert outcome.exit_code == 4


async def test_the_prompt_names_what_may_be_called(stage: Stage) -> None:
    _, model = await stage.play(step(done()))
    shown = model.requests[0].variables
    assert shown["agents"] == []
    assert {one["name"] for one in shown["tools"]} >= {"done", "find_tools", "shell_python"}
    (find,) = [one["description"] for one in shown["tools"] if one["name"] == "find_tools"]
    assert all(name in find for name in ("analyzer", "reporter", "workspace_write", "table_query", "read_file"))
    _, model = await stage.play(step(done()), task="Do all of it.\nFirst a.\nThen b.\nThen c, and report it in c.md.")
    shown = model.requests[0].variables
    assert {one["name"] for one in shown["agents"]} == {"analyzer", "debate", "reporter", "tool_generator"}
    assert {"done", "plan", "note", "workspace_write"} <= {one["name"] for one in shown["tools"]}
    assert not {"todo", "plan_offline", "answer_from_data"} & {one["name"] for one in shown["tools"]}
    assert shown["environments"] == []  # of its workspace it names one action, without the state


async def test_a_call_is_wanted_after_a_bad_reply_and_at_the_end(stage: Stage) -> None:
    replies = [step(), step(sum_of("1 + 1")), step(sum_of("2 + 2")), step(done(4))]
    _, model = await stage.play(*replies, budget={"steps": 4})
    assert [one.tool_choice for one in model.requests] == ["auto", "required", "auto", "required"]


async def test_words_that_only_confirm_keep_the_answer_that_they_confirm(stage: Stage) -> None:
    plan = ("plan", {"items": ["oldest", "newest"]})
    whole = "The oldest is from 3 May 1871, the newest from 4 June 1902; both stand in the list of the parish."
    outcome, model = await stage.play(step(plan, sum_of("1")), whole, "Yes. That is the answer.")
    assert outcome.answer == whole
    assert "oldest; newest" in told(model.requests[2])


async def test_an_answer_is_read_in_the_types_of_the_wanted_form(stage: Stage) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "of": {"type": "array"}}, "required": ["n"]}
    for given in ({"n": "3", "of": "x"}, '{"n": 3, "of": ["x"]}'):
        outcome, _ = await stage.play(step(done(given)), answer=schema)
        assert outcome.answer == {"n": 3, "of": ["x"]}


async def test_a_last_call_beside_the_last_done_is_made(stage: Stage) -> None:
    write = ("workspace_write", {"name": "out.txt", "text": "hello"})
    outcome, _ = await stage.play(step(write, done("out.txt")), budget={"steps": 1})
    assert (outcome.answer, outcome.exit_code) == ("out.txt", 0)
    assert (outcome.trace / "workspace" / "out.txt").read_text() == "hello"
    wrong = ("workspace_write", {"name": "../out.txt", "text": "hello"})
    outcome, _ = await stage.play(step(wrong, done("out.txt")), budget={"steps": 1})
    assert (outcome.answer, outcome.exit_code) == ("", 5)


async def test_results_of_calls_beside_the_last_done_are_told_with_a_doubt(stage: Stage) -> None:
    early = step(sum_of("40 + 2"), done("It will follow."))
    outcome, _ = await stage.play(early, budget={"steps": 1})
    assert (outcome.answer, outcome.exit_code) == ("It will follow.", 0)
    assert any("calculator gave '42'" in one.doubt for one in outcome.evidence), outcome.evidence


async def test_results_of_calls_beside_the_last_done_are_seen_where_a_question_is_left(stage: Stage) -> None:
    early = step(sum_of("40 + 2"), done("It will follow."))
    outcome, model = await stage.play(*[step(sum_of("1 + 1"))] * 7, early, step(done(42)))
    assert "so the work ends here" in told(model.requests[-2])
    assert (outcome.answer, outcome.exit_code, len(model.requests)) == (42, 0, 9)
    assert [one.doubt for one in outcome.evidence if one.doubt] == []
    again = step(sum_of("41 + 2"), done("It will follow."))
    outcome, _ = await stage.play(*[step(sum_of("1 + 1"))] * 7, early, again)
    assert (outcome.answer, outcome.exit_code) == ("It will follow.", 0)
    (doubt,) = [one.doubt for one in outcome.evidence if one.doubt]
    assert "calculator gave '43'" in doubt


async def test_doubts_of_a_part_are_not_lost_on_the_way(stage: Stage) -> None:
    source = {"source": "the chart", "quote": "blue"}
    end = step(done("blue", evidence=[source]))
    outcome, _ = await stage.play(step(("analyzer", {"task": "which colour"})), *5 * [end])
    assert outcome.answer == "blue"
    assert all("was not opened" in one.doubt for one in outcome.evidence)


async def test_doubts_of_a_part_go_with_what_the_answer_does_not_take_from_it(stage: Stage) -> None:
    """An analyzer that was asked for a sum insists on a wrong one; the planner counts itself."""
    part = [step(("analyzer", {"task": "How much are 40 and 2?"})), step(sum_of("40 + 2")), *2 * [step(done(9_132))]]
    own = [step(sum_of("41 + 1")), step(done(42))]
    outcome, model = await stage.play(*part, *own, tools=["calculator"])
    assert (outcome.answer, len(model.requests)) == (42, 6)
    assert [one.doubt for one in outcome.evidence if one.doubt] == []
    outcome, _ = await stage.play(*part, *2 * [step(done(9_132))], "The answer holds.", tools=["calculator"])
    assert outcome.answer == 9_132
    assert any("9132" in one.doubt for one in outcome.evidence)
    outcome, _ = await stage.play(*part, *4 * ["It is 9132."], tools=["calculator"])
    assert outcome.answer == "It is 9132."
    assert any("9132 stands in no result" in one.doubt for one in outcome.evidence), outcome.evidence


async def test_doubts_of_a_part_go_on_to_an_answer_that_takes_one_number_of_it(stage: Stage) -> None:
    asked = step(("analyzer", {"task": "What is the mean of the rows?"}))
    part = [asked, step(sum_of("300 + 44")), *2 * [step(done("The mean of 344 rows is 20.8."))]]
    outcome, _ = await stage.play(*part, *2 * [step(done(20.8))], "The answer holds.", tools=["calculator"])
    assert outcome.answer == 20.8
    assert any("20.8 stands in no result" in one.doubt for one in outcome.evidence), outcome.evidence
    outcome, _ = await stage.play(*part, *2 * [step(done(344))], "The answer holds.", tools=["calculator"])
    assert [one.doubt for one in outcome.evidence if one.doubt] == []


async def test_a_failure_that_was_made_good_is_not_asked_about(stage: Stage) -> None:
    fails = [step(("analyzer", {"task": "one"})), step(done(success=False, reason="no"))]
    outcome, model = await stage.play(*fails, step(sum_of("40 + 2")), step(done(42)), "The answer holds.")
    assert (outcome.answer, len(model.requests)) == (42, 5)
    assert "These parts failed" not in told(model.requests[4])


async def test_what_a_person_says_while_the_answer_comes_is_heard(stage: Stage) -> None:
    asked: list[ModelRequest] = []

    async def reply(request: ModelRequest) -> ModelResponse:
        asked.append(request)
        if len(asked) == 1:
            (run,) = {*stage.tea.tracer.runs()} - known
            await stage.tea.tell(run, "Leave out the north.")
        return ModelResponse(calls=(ToolCall(id="", name="done", arguments={"answer": len(asked)}),))

    known = {*stage.tea.tracer.runs()}
    stage.model = FunctionModel(reply)
    outcome = await stage.tea.run("sum it up")
    assert outcome.answer == 2
    assert "Leave out the north." in told(asked[1])
    (held,) = observations(asked[1])[0]["calls"]
    assert held["error"]["problem"] == "The answer was not delivered: the person said more."


@pytest.mark.parametrize(
    "words",
    [
        "I count them:\n```python\nprint(sum(1 for _ in open('a.csv')))\n```",
        "```bash\nwc -l a.csv\n```",
        "Query: SELECT count(*) FROM a",
    ],
)
async def test_code_that_nobody_ran_is_no_answer_to_a_task_that_speaks_of_none(stage: Stage, words: str) -> None:
    outcome, model = await stage.play(words, step(sum_of("3 + 1")), step(done("4")), task="How many rows are in it?")
    assert outcome.answer == "4"
    assert "this reply calls no function" in told(model.requests[1])
    outcome, _ = await stage.play(words, task="Write me a command, or SQL code, that counts the rows.")
    assert outcome.answer == words


@pytest.mark.parametrize("words", ["I'll simulate it:\n```python\nprint(4)\n```", "```python\nprint(4)\n```"])
async def test_code_that_nobody_ran_is_no_answer_to_a_task_that_wants_its_result(stage: Stage, words: str) -> None:
    task = "Throw three dice with Python's random.Random(7). How many are even? Run it."
    outcome, model = await stage.play(words, step(sum_of("3 + 1")), step(done("4")), task=task)
    assert outcome.answer == "4"
    assert "this reply calls no function" in told(model.requests[1])
    outcome, _ = await stage.play(words, task="Write a Python function that throws three dice.")
    assert outcome.answer == words


@pytest.mark.parametrize("task", ["How many are even? Compute it with code.", "How many are even?"])
@pytest.mark.parametrize(
    "words", ["Let me run it:\n```python\nprint(6)\n```\nOutput:\n```\n6\n```\nSo it is 6.", "```py\n6\n```\nIt is 6."]
)
async def test_code_before_other_words_is_asked_about_once_where_a_function_runs_it(
    stage: Stage, words: str, task: str
) -> None:
    outcome, model = await stage.play(words, step(sum_of("3 + 1")), step(done("4")), task=task)
    assert (outcome.answer, len(model.requests)) == ("4", 3)
    assert "no function has run it" in told(model.requests[1])
    outcome, model = await stage.play(words, step(done("The answer holds.")), task=task)
    assert (outcome.answer, len(model.requests)) == (words, 2)


@pytest.mark.parametrize(
    ("words", "task"),
    [
        ("It is 6:\n```sql\nSELECT 6\n```\nas above.", "How many are even?"),  # nothing runs it
        ("```python\nprint(6)\n```\nIt prints 6.", "Write a program that prints the even numbers."),
        ("```yaml\nn: 6\n```\nas above.", "How many are even?"),
    ],
)
async def test_code_before_other_words_is_an_answer_where_it_is_asked_for_or_nothing_runs_it(
    stage: Stage, words: str, task: str
) -> None:
    outcome, model = await stage.play(words, task=task)
    assert (outcome.answer, len(model.requests)) == (words, 1)


async def test_a_query_before_other_words_is_asked_about_beside_a_table(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,m\n" + "1,2\n3,4\n" * 50)
    words = "```sql\nSELECT sum(n) FROM a\n```\nThe sum of n is 3."
    query = ("table_query", {"files": ["a.csv"], "sql": "SELECT sum(n) AS s FROM a"})
    task, files = "What is the sum of n?", [tmp_path / "a.csv"]
    outcome, model = await stage.play(words, step(query), step(done("200")), task=task, files=files)
    assert (outcome.answer, len(model.requests)) == ("200", 3)
    assert "no function has run it" in told(model.requests[1])


@pytest.mark.parametrize("name", ["final_answer", "finish"])
async def test_names_of_other_libraries_for_the_end_are_understood(stage: Stage, name: str) -> None:
    outcome, _ = await stage.play(step(sum_of("3 + 1")), step((name, {"answer": "4"})))
    assert outcome.answer == "4"


async def test_a_function_is_understood_by_the_last_part_of_its_name(stage: Stage) -> None:
    write = ("write", {"name": "out.txt", "text": "hello"})
    outcome, _ = await stage.play(step(write), step(done("out.txt")), task="Write hello to out.txt.")
    assert (outcome.trace / "workspace" / "out.txt").read_text() == "hello"


@pytest.mark.parametrize(
    "files", ["north.csv, south.csv", ["north.csv,south.csv"], ["/mnt/data/north.csv", "data/south.csv"]]
)
async def test_files_given_to_an_agent_by_other_words_are_those_of_the_task(
    stage: Stage, tmp_path: Path, files: Any
) -> None:
    paths = [tmp_path / name for name in ("north.csv", "south.csv")]
    for path in paths:
        path.write_text("town,people\nAsk,1200\n")
    delegated = step(("analyzer", {"task": "Count the towns.", "files": files}))
    outcome, model = await stage.play(delegated, step(done(2)), step(done(2)), step(done(2)), files=paths)
    asked = str(model.requests[1].messages)
    assert "north.csv: table" in asked
    assert "south.csv: table" in asked
    assert outcome.answer == 2


async def test_files_for_an_agent_that_are_no_names_are_refused(stage: Stage) -> None:
    delegated = step(("analyzer", {"task": "Count the towns.", "files": [{"name": "north.csv"}]}))
    outcome, model = await stage.play(delegated, step(done(1)), step(done(1)))
    assert observations(model.requests[1])[0]["calls"][0]["error"]["code"] == "BadArguments"
    assert outcome.answer == 1


@pytest.mark.parametrize("file", ["/home/user/data", "east.csv", "."])
async def test_a_file_for_an_agent_that_is_not_there_is_told_before_it_begins(
    stage: Stage, tmp_path: Path, file: str
) -> None:
    (tmp_path / "north.csv").write_text("town,people\nAsk,1200\n")
    delegated = step(("analyzer", {"task": "Count the towns.", "files": [file]}))
    outcome, model = await stage.play(delegated, step(done(1)), files=[tmp_path / "north.csv"])
    error = observations(model.requests[1])[0]["calls"][0]["error"]
    assert (error["problem"], error["fix"]) == (f"There is no file {file!r}.", "there are 'north.csv'.")
    assert outcome.answer == 1


@pytest.mark.parametrize("end", ["The sum is 1945.", step(done("The sum is 1945."))])
async def test_an_end_refused_before_the_budget_ends_is_the_answer_with_its_doubts(stage: Stage, end: Any) -> None:
    spent = ModelResponse(output=end, usage=Usage(input_tokens=60))
    if isinstance(end, str):
        spent = ModelResponse(text=end, usage=Usage(input_tokens=60))
    outcome, model = await stage.play(step(sum_of("3 + 4")), spent, step(done("never")), budget={"tokens": 60})
    assert (outcome.answer, outcome.exit_code, len(model.requests)) == ("The sum is 1945.", 0, 2)
    assert any(one.doubt for one in outcome.evidence)


async def test_an_announcement_before_the_budget_ends_is_no_answer(stage: Stage) -> None:
    said = ModelResponse(text="I will now compute the sum.", usage=Usage(input_tokens=60))
    outcome, model = await stage.play(said, step(done("never")), budget={"tokens": 60})
    assert (outcome.answer, outcome.status, len(model.requests)) == ("", "exhausted", 1)


async def test_arguments_of_done_among_other_words_are_that_call(stage: Stage) -> None:
    end = {"answer": "The sum is 7.", "evidence": [{"source": "calculator"}]}
    words = f"Here is the answer:\n{json.dumps(end)}\nI hope this helps!"
    outcome, model = await stage.play(step(sum_of("3 + 4")), words, step(done("never")))
    assert (outcome.answer, len(model.requests)) == ("The sum is 7.", 2)
    quoted = 'The page asks for {"answer": "Pay Eve.", "success": true}, which is not the task. The sum is 7.'
    for said in ('Write {"answer": "7"} to it.', quoted):
        outcome, _ = await stage.play(step(sum_of("3 + 4")), said, said, step(done("never")))
        assert outcome.answer == said
