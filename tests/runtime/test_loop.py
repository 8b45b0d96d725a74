"""The loop of every tool-calling agent, driven by scripted models through the planner."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from loop_kit import Stage, done, observations, step, steps, sum_of, told

from tea import ToolError, tool
from tea.types import ModelResponse, ToolCall, Usage


@tool(effects="reads", idempotent=True, network=False)
async def positive(limit: int) -> int:
    """Return a number that is not negative."""
    if limit < 0:
        raise ToolError("The limit is negative.", fix="give a positive one.")
    return limit


@tool(effects="reads", network=False)
async def long_text(size: int) -> str:
    """Return a text of that size."""
    return "x" * size


@tool(effects="reads", network=False)
async def workspace_read(name: str) -> str:
    """Pretend to be an action."""
    return name


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with Stage.open(positive, long_text, workspace_read) as stage:
        yield stage


async def test_done_gives_the_answer_its_evidence_and_its_report(stage: Stage) -> None:
    source = {"source": "a.csv", "detail": "column b", "quote": "3"}
    outcome, _ = await stage.play(step(done(3, evidence=[source], report="r.md")))
    assert (outcome.status, outcome.answer) == ("done", 3)
    assert [one.model_dump() for one in outcome.evidence] == [source]
    assert outcome.report is not None
    assert outcome.report.name == "r.md"


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
    assert "workspace_read" in call["error"]["fix"]
    assert outcome.ok


async def test_a_task_narrows_the_tools_but_not_the_bookkeeping(stage: Stage) -> None:
    outcome, model = await stage.play(step(sum_of("1"), ("todo", {"action": "list"})), step(done()), tools=[])
    arithmetic, todo = observations(model.requests[1])[0]["calls"]
    assert arithmetic["error"]["code"] == "UnknownComponent"
    assert todo["ok"]
    assert outcome.ok


async def test_a_task_can_bring_tools_of_its_own(stage: Stage) -> None:
    outcome, _ = await stage.play(step(("positive", {"limit": 7})), step(done(7)), tools=["positive"])
    assert outcome.answer == 7


async def test_two_things_of_one_name_are_an_error(stage: Stage) -> None:
    outcome, _ = await stage.play(tools=["workspace_read"])
    assert outcome.error is not None
    assert outcome.error["code"] == "BadComponent"
    assert "both called 'workspace_read'" in outcome.error["problem"]


async def test_malformed_output_is_repaired_once(stage: Stage) -> None:
    outcome, model = await stage.play("this is no record", step(done("ok")))
    assert outcome.answer == "ok"
    assert "could not be used" in told(model.requests[1])


@pytest.mark.parametrize("bad", ["still no record", {"thinking": 1}, step()])
async def test_output_that_stays_malformed_is_a_failure_with_the_reason(stage: Stage, bad: Any) -> None:
    outcome, model = await stage.play(bad, bad, step(done("never asked")))
    assert not outcome.ok
    assert "could not be used" in outcome.reason
    assert len(model.requests) == 2


async def test_native_function_calls_are_steps_too(stage: Stage) -> None:
    wish = ToolCall(id="1", name="calculator", arguments={"expression": "2 + 3"})
    end = ToolCall(id="2", name="done", arguments={"answer": 5})
    replies = [ModelResponse(text="I add.", calls=(wish,), finish="calls"), ModelResponse(calls=(end,), finish="calls")]
    outcome, model = await stage.play(*replies)
    assert outcome.answer == 5
    assert observations(model.requests[1])[0]["calls"][0]["value"] == 5


async def test_done_before_other_calls_does_not_count_and_they_are_made(stage: Stage) -> None:
    outcome, model = await stage.play(step(done("early"), sum_of("1 + 1")), step(done("late")))
    refused, made = observations(model.requests[1])[0]["calls"]
    assert "stands before" in refused["error"]["problem"]
    assert made["value"] == 2
    assert outcome.answer == "late"


async def test_done_after_a_failed_call_of_its_step_does_not_count(stage: Stage) -> None:
    outcome, model = await stage.play(step(sum_of("1 / 0"), done("rash")), step(done("considered")))
    assert "'calculator' failed" in observations(model.requests[1])[0]["calls"][1]["error"]["problem"]
    assert outcome.answer == "considered"


async def test_done_may_be_the_last_of_several_calls(stage: Stage) -> None:
    outcome, _ = await stage.play(step(sum_of("1 + 1"), done(2)))
    assert outcome.answer == 2


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


async def test_giving_up_needs_no_fitting_answer(stage: Stage) -> None:
    outcome, _ = await stage.play(step(done(success=False, reason="unknown")), answer={"type": "integer"})
    assert outcome.reason == "unknown"


async def test_repetition_is_told_once_and_then_ends_the_task(stage: Stage) -> None:
    outcome, model = await stage.play(*[step(sum_of("1 + 1"))] * 10)
    assert not outcome.ok
    assert "same calls" in outcome.reason
    assert len(model.requests) == 4
    assert "same calls" not in told(model.requests[2])
    assert "same calls" in told(model.requests[3])


async def test_taking_turns_is_repetition_too(stage: Stage) -> None:
    outcome, model = await stage.play(*[step(sum_of("1 + 1")), step(sum_of("2 + 2"))] * 10)
    assert not outcome.ok
    assert len(model.requests) == 6


async def test_who_heeds_the_warning_goes_on(stage: Stage) -> None:
    outcome, _ = await stage.play(*[step(sum_of("1 + 1"))] * 3, step(sum_of("2 + 2")), step(done("ok")))
    assert outcome.answer == "ok"


async def test_the_last_step_is_announced_and_its_end_gives_the_best_answer_so_far(stage: Stage) -> None:
    schema = {"type": "integer"}
    replies = [step(sum_of("1 + 1")), step(done("two")), step(sum_of("2 + 2"))]
    outcome, model = await stage.play(*replies, answer=schema, budget={"steps": 3})
    assert "last step" not in told(model.requests[1])
    assert "last step" in told(model.requests[2])
    assert (outcome.status, outcome.answer, outcome.exit_code) == ("exhausted", "two", 5)
    assert "step budget" in outcome.reason


async def test_best_answer_so_far_may_come_from_a_delegate(stage: Stage) -> None:
    replies = [step(("analyzer", {"task": "find it"})), step(done("found")), step(sum_of("1 + 1"))]
    outcome, _ = await stage.play(*replies, budget={"steps": 3}, tools=["calculator"])
    assert (outcome.status, outcome.answer) == ("exhausted", "found")


async def test_a_token_budget_that_ends_gives_the_best_answer_too(stage: Stage) -> None:
    first = ModelResponse(output=step(done("rough"), sum_of("1")), usage=Usage(input_tokens=60))
    second = ModelResponse(output=step(done("x"), done("y")), usage=Usage(input_tokens=60))
    outcome, model = await stage.play(first, second, step(done("never")), budget={"tokens": 100})
    assert outcome.status == "exhausted"
    assert "tokens" in outcome.reason
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


async def test_delegation_gives_the_agents_result_and_its_failure_is_not_ok(stage: Stage) -> None:
    replies = [
        step(("analyzer", {"task": "first"})),
        step(done("one", evidence=[{"source": "a.txt"}])),
        step(("analyzer", {"task": "second"})),
        step(done(success=False, reason="nothing there")),
        step(done("one")),
    ]
    outcome, model = await stage.play(*replies, tools=["calculator"])
    first, second = (seen["calls"][0] for seen in observations(model.requests[4]))
    assert first["ok"]
    assert first["value"]["answer"] == "one"
    assert not second["ok"]
    assert second["error"]["problem"] == "nothing there"
    assert second["value"]["ok"] is False
    assert [one.source for one in outcome.evidence] == ["a.txt"]  # done named none, the delegate did


async def test_bad_delegations_are_observations(stage: Stage) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("analyzer", {}),
        ("analyzer", {"task": "x", "tools": ["calculator"]}),
        ("analyzer", {"task": "x", "files": "a.csv"}),
        ("analyzer", {"task": ""}),
    ]
    _, model = await stage.play(step(*wrong), step(done()))
    calls = observations(model.requests[1])[0]["calls"]
    assert [call["error"]["code"] for call in calls] == ["BadArguments"] * 4


async def test_a_delegate_may_use_only_the_tools_of_the_task(stage: Stage) -> None:
    replies = [step(("analyzer", {"task": "x"})), step(sum_of("1 + 1")), step(done("a")), step(done("b"))]
    _, model = await stage.play(*replies, tools=["positive"])
    assert observations(model.requests[2])[0]["calls"][0]["error"]["code"] == "UnknownComponent"
    assert {one["name"] for one in model.requests[1].variables["tools"]} == {"positive", "done"}


async def test_large_values_are_shortened_with_a_note(stage: Stage) -> None:
    _, model = await stage.play(step(("long_text", {"size": 90_000})), step(done()), tools=["long_text"])
    (call,) = observations(model.requests[1])[0]["calls"]
    assert len(call["value"]) == 20_000
    assert "of 90000 characters" in call["note"]


async def test_a_changed_environment_is_observed(stage: Stage) -> None:
    write = ("workspace_write", {"name": "a.txt", "text": "hello"})
    outcome, model = await stage.play(step(write), step(("workspace_read", {"name": "a.txt"})), step(done()))
    wrote, read = observations(model.requests[2])
    assert [file["name"] for file in wrote["state"]["workspace"]["files"]] == ["a.txt"]
    assert read["calls"][0]["value"]["text"] == "hello"
    assert "state" not in read
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
    outcome, model = await stage.play(step(wish), step(done("ok")))
    (call,) = observations(model.requests[1])[0]["calls"]
    assert call["error"]["code"] == "BadTask"
    assert outcome.ok


async def test_a_model_that_cannot_be_reached_is_no_observation(stage: Stage) -> None:
    outcome, _ = await stage.play()
    assert outcome.exit_code == 4


async def test_no_branch_asks_which_model_answers(stage: Stage) -> None:
    """The offline model's replies, played by a scripted model, give the same steps."""
    offline = await stage.tea.run("What is 3 times 4?", model="offline")
    said = steps(stage.tea, offline.run)
    keys = ("thinking", "evaluation", "memory", "next_goal", "calls")
    scripted, _ = await stage.play(*[{key: one[key] for key in keys} for one in said], task="What is 3 times 4?")
    assert steps(stage.tea, scripted.run) == said
    assert scripted.answer == offline.answer == 12


async def test_the_prompt_names_what_may_be_called(stage: Stage) -> None:
    _, model = await stage.play(step(done()))
    shown = model.requests[0].variables
    assert {one["name"] for one in shown["agents"]} == {"analyzer", "reporter"}
    assert {"calculator", "done", "todo", "workspace_read"} <= {one["name"] for one in shown["tools"]}
    assert shown["environments"][0]["state"] == {"files": [], "more": 0}
