"""Insights: with source and uses, confirmed or contradicted by outcomes, forgotten by rule or by a person."""

import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tea.memory.insights import TOLD, insight_id, learned
from tea.testing import FunctionModel, platform
from tea.types import ModelRequest, ModelResponse, ToolCall

TEXT = "Look first."


def insight(text: str = TEXT, task: str = "t1") -> dict[str, Any]:
    return {"agent": "planner", "task": task, "kind": "insight", "data": {"text": text}}


def result(ok: bool, *told: str) -> dict[str, Any]:
    data = {"ok": ok, TOLD: [insight_id(one) for one in told]}
    return {"agent": "planner", "task": "t", "kind": "result", "data": data}


def forgotten(text: str = TEXT) -> dict[str, Any]:
    return {"agent": "", "task": "", "kind": "forgotten", "data": {"insight": insight_id(text)}}


def one(*events: dict[str, Any]) -> Any:
    [found] = learned("s", events, [event["data"].get("text", "") for event in events])
    return found


def test_an_insight_has_its_source_and_counts() -> None:
    found = one(insight(), insight(task="t2"), result(True, TEXT), result(False, TEXT))
    assert (found.agent, found.task, found.recorded) == ("planner", "t1", 2)
    assert (found.uses, found.confirmed, found.contradicted, found.forgotten) == (2, 1, 1, "")


def test_what_outcomes_contradict_is_forgotten() -> None:
    failures = [result(False, TEXT)] * 3
    assert one(insight(), *failures).forgotten == "3 tasks that were told it failed, 0 succeeded"
    assert one(insight(), *failures, *[result(True, TEXT)] * 2).forgotten == ""


def test_a_person_forgets_until_it_is_learned_again() -> None:
    assert one(insight(), forgotten()).forgotten == "a person forgot it"
    assert one(insight(), forgotten(), insight()).forgotten == ""


def test_what_nobody_is_told_for_long_is_forgotten() -> None:
    assert one(insight(), *[result(True, "Other.")] * 50).forgotten == "50 tasks did without it"
    assert one(insight(), *[result(True, "Other.")] * 49, result(True, TEXT)).forgotten == ""
    assert one(*[result(True, "Other.")] * 40, insight(), *[result(True, "Other.")] * 49).forgotten == ""


def test_many_outcomes_of_many_insights_are_counted_in_linear_time() -> None:
    events = [*(insight(str(number)) for number in range(6_000)), *[result(True, "0", "1")] * 6_000]
    begun = time.process_time()
    found = learned("s", events, [event["data"].get("text", "") for event in events])
    assert time.process_time() - begun < 1
    assert [(one.confirmed, one.forgotten) for one in found[:3]] == [
        (6_000, ""),
        (6_000, ""),
        (0, "6000 tasks did without it"),
    ]


@given(st.lists(st.sampled_from([insight(), result(True, TEXT), result(False, TEXT), forgotten()]), max_size=12))
def test_uses_are_confirmed_or_contradicted(events: list[dict[str, Any]]) -> None:
    for found in learned("s", events, [event["data"].get("text", "") for event in events]):
        assert found.uses == found.confirmed + found.contradicted <= len(events)


async def test_a_failed_task_teaches_the_next_ones_until_it_is_contradicted() -> None:
    asked: list[str] = []

    def model(request: ModelRequest) -> ModelResponse:
        asked.append("\n".join(str(one) for one in request.variables.get("memories", ())))
        call = ToolCall(id="d", name="done", arguments={"success": False, "reason": "no way"})
        return ModelResponse(calls=(call,), finish="calls")

    async with platform(model=FunctionModel(model)) as tea:
        for number in range(5):
            await tea.run(f"Task {number}?", session="s")
        found = tea.memory.learned("s")
        assert [one.uses for one in found] == [3, 3, 2, 1, 0]
        assert [bool(one.forgotten) for one in found] == [True, True, False, False, False]
        assert "could not do 'Task 0?'" in asked[3]
        tea.memory.drop("s", found[3].id)
        assert tea.memory.learned("s")[3].forgotten == "a person forgot it"
