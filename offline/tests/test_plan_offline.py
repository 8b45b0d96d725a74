"""Test the planner's solver: its reading of tasks and of earlier steps."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tea.protocols.tcp import TCPServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

Next = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@pytest.fixture(scope="module")
def next_step(tools: TCPServer) -> Next:
    async def next_step(task: str, **known: Any) -> dict[str, Any]:
        return (await tools.invoke("plan_offline", {"task": task, **known})).unwrap()

    return next_step


def seen(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"step": 1, "calls": [{"arguments": {}, "value": None, "error": None, **call} for call in calls]}


@pytest.mark.parametrize(
    ("task", "expression"),
    [
        ("What is 2 + 2?", "2 + 2"),
        ("what's 1,234 * 5", "1234 * 5"),
        ("Calculate 3 × (4 − 1) ÷ 2.", "3 * (4 - 1) / 2"),
        ("How much is 12% of 250?", "12 / 100 * 250"),
        ("What is 15% of 80, plus 2?", "15 / 100 * 80 + 2"),
        ("What is the square root of 144?", "sqrt(144)"),
        ("three times four", "3 * 4"),
        ("2^10", "2**10"),
        ("What is 7 squared minus nine?", "7 ** 2 - 9"),
        ("What is 10 / 3 rounded to two decimal places?", "round(10 / 3, 2)"),
        ("What is the average of 4 and 7?", "((4 + 7) / 2)"),
        ("max(3, 4) * 2", "max(3, 4) * 2"),
        ("17 mod 5", "17 % 5"),
        ("Could you please tell me what is 17% of 2,340?", "17 / 100 * 2340"),
        ("multiply 12 by 3 and then subtract 6", "(12 * 3) - 6"),
        ("What is 3/8 of 240?", "3 / 8 * 240"),
        ("By what percentage is 120 more than 80?", "100 * (120 - 80) / 80"),
        ("What percent of 80 is 20?", "100 * 20 / 80"),
        ("What is the sum of 3, 4 and -5? Round to the nearest integer.", "round((3 + 4 + (-5)), 0)"),
        ("What is -3 squared?", "(-3) ** 2"),
        ("I buy 17 tickets at 2.25 dollars each. How much do I pay?", "17 * 2.25"),
        ("A jacket costs 80 euros and is reduced by 25%. What does it cost now?", "80 * (1 - 25 / 100)"),
        ("Ada has 12 apples and gives away 5. How many are left?", "12 - 5"),
        ("How many minutes are there in 2.5 hours?", "2.5 * 3600 / 60"),
    ],
)
async def test_arithmetic_goes_to_the_calculator(next_step: Next, task: str, expression: str) -> None:
    step = await next_step(task, files=["a.csv"])
    assert step["calls"] == [{"name": "calculator", "arguments": {"expression": expression}}]


@pytest.mark.parametrize(
    "task",
    [
        "How many rows has the table?",
        "What is the sum of the column price?",
        "What is 5% of the total in a.csv?",
        "What happened on 2024-05-01?",
        "2024-05-01",
        "What is 42?",
        "1, 2",
        "2 + apples",
        "What is the difference between DNA and RNA?",
        "4 +",
        "9" * 600 + " + 1",
    ],
)
async def test_everything_else_goes_to_the_analyzer(next_step: Next, task: str) -> None:
    step = await next_step(task, files=["a.csv"])
    assert [call["name"] for call in step["calls"]] == ["analyzer"]
    assert step["calls"][0]["arguments"] == {"task": task, "files": ["a.csv"]}


async def test_a_value_is_told_without_what_computing_made_up(next_step: Next) -> None:
    made = {
        "name": "calculator",
        "ok": True,
        "arguments": {"expression": "17.1 / 100 * 50"},
        "value": 8.549999999999999,
    }
    step = await next_step("What is 17.1% of 50?", history=[seen(made)])
    assert step["calls"][0]["arguments"]["answer"] == 8.55


async def test_a_call_that_broke_off_is_made_once_more(next_step: Next) -> None:
    late = {"name": "analyzer", "ok": False, "error": {"code": "CallTimeout", "problem": "late", "fix": "wait"}}
    asked = "How many? Write a report."
    begun = await next_step(asked, files=["a.csv"])
    planned = {"name": "plan", "ok": True, "arguments": begun["calls"][0]["arguments"]}
    again = await next_step(asked, files=["a.csv"], history=[seen(planned, late)])
    assert [call["name"] for call in again["calls"]] == ["plan", "analyzer"]
    states = [one["state"] for one in again["calls"][0]["arguments"]["items"]]
    assert states == ["failed", "open", "open", "open"]
    end = await next_step("How many?", files=["a.csv"], history=[seen(late), seen(late)])
    assert end["calls"][-1] == {"name": "done", "arguments": {"success": False, "reason": "late"}}


async def test_without_a_plan_the_work_goes_on(next_step: Next) -> None:
    refused = {"name": "plan", "ok": False, "error": {"code": "UnknownComponent", "problem": "no", "fix": "none"}}
    value = {"answer": 7, "evidence": [], "reason": ""}
    found = {"name": "analyzer", "ok": True, "arguments": {"task": "How many?", "files": []}, "value": value}
    step = await next_step("How many? Then give me a report.", history=[seen(refused, found)])
    assert [call["name"] for call in step["calls"]] == ["reporter"]
    step = await next_step("How many?", history=[seen(found)])
    assert [call["name"] for call in step["calls"]] == ["done"]


async def test_a_refused_end_is_tried_alone_and_then_given_up(next_step: Next) -> None:
    error = {"code": "ToolError", "problem": "The answer does not fit.", "fix": "x"}
    refused = {"name": "done", "ok": False, "arguments": {"answer": 7}, "error": error}
    again = await next_step("How many?", history=[seen(refused)])
    assert again["calls"] == [{"name": "done", "arguments": {"answer": 7}}]
    end = await next_step("How many?", history=[seen(refused), seen(refused)])
    assert end["calls"][0]["arguments"]["success"] is False


@given(task=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_task_gets_a_step(next_step: Next, task: str) -> None:
    step = await next_step(task)
    assert step["calls"]
