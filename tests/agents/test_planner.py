"""Test the planner with its offline solver, over an analyzer with scripted replies."""

from pathlib import Path
from typing import Any

import pytest

from tea.testing import platform

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONLY = {"tools": ["calculator"]}  # the scripted analyzer needs no tables
SOURCE = {"source": "task", "detail": "its words"}


def found(answer: Any, *evidence: dict[str, str]) -> dict[str, Any]:
    return _step("done", answer=answer, evidence=list(evidence))


def missed(reason: str) -> dict[str, Any]:
    return _step("done", success=False, reason=reason)


def _step(name: str, **arguments: Any) -> dict[str, Any]:
    words = dict.fromkeys(("thinking", "evaluation", "memory", "next_goal"), "")
    return {**words, "calls": [{"name": name, "arguments": arguments}]}


TOGETHER = {"a.csv, b.csv": [missed("they do not fit together")] * 2}


def planned(stage: Any, outcome: Any) -> list[tuple[str, str]]:
    """The items of the planner's last plan, with their states."""
    notes = [one.data["data"] for one in stage.tea.tracer.records(outcome.run) if one.kind == "note"]
    plan = [one["plan"] for one in notes if one.get("agent") == "planner" and "plan" in one][-1]
    return [(one["item"], one["state"]) for one in plan]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("b\nUS\n")
    return [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]


async def test_the_answer_is_the_analyzers_with_evidence_report_and_plan(stage: Any, files: list[str]) -> None:
    task = "Which country? Please write a report about it."
    outcome = await stage.play({"analyzer": [found("US", SOURCE)]}, task, files=files[:1], **ONLY)
    assert (outcome.status, outcome.answer) == ("done", "US")
    assert stage.requests["analyzer"][0].variables["task"] == "Which country?"
    assert [one.model_dump() for one in outcome.evidence] == [{**SOURCE, "quote": "", "doubt": ""}]
    report = outcome.report.read_text()
    assert "## Answer\n\nUS" in report
    assert "## References" in report
    assert planned(stage, outcome) == [
        ("Find out from a.csv: Which country?", "done"),
        ("Write the report", "done"),
        ("Give the answer", "done"),
    ]
    assert len(stage.requests["planner"]) == 3
    assert (await stage.tea.replay(outcome.run)).answer == "US"


async def test_arithmetic_needs_neither_plan_nor_report(stage: Any) -> None:
    outcome = await stage.play({}, "What is 15% of 80, plus 2?")
    assert outcome.answer == 14
    assert outcome.evidence[0].source == "calculator"
    assert list(stage.workspace(outcome).iterdir()) == []


async def test_arithmetic_takes_the_wanted_form(stage: Any) -> None:
    assert (await stage.play({}, "2 + 3 =", answer={"type": "string"})).answer == "5"
    assert (await stage.play({}, "10 / 4", answer={"type": "integer"})).status == "failed"


async def test_arithmetic_without_a_value_is_given_up(stage: Any) -> None:
    outcome = await stage.play({}, "What is 5 / 0?")
    assert outcome.status == "failed"
    assert "divides by zero" in outcome.reason


async def test_what_the_analyzer_cannot_find_is_given_up_with_its_reason(stage: Any, files: list[str]) -> None:
    scripts = {"analyzer": [missed("no column fits")] * 2}
    outcome = await stage.play(scripts, "How tall is Fuji?", files=files[:1], **ONLY)
    assert (outcome.status, outcome.reason, outcome.report) == ("failed", "no column fits", None)
    assert len(stage.requests["analyzer"]) == 2  # giving up before any call is asked about once


async def test_after_a_failure_over_several_files_each_is_tried_alone_once(stage: Any, files: list[str]) -> None:
    scripts = {"analyzer": TOGETHER | {"a.csv": [missed("not here")] * 2, "b.csv": [found("FR", SOURCE)]}}
    outcome = await stage.play(scripts, "Which country?", files=files, **ONLY)
    assert (outcome.status, outcome.answer) == ("done", "FR")
    asked = [request.variables["files"] for request in stage.requests["analyzer"]]
    alone = sorted(asked[2:])  # the two go side by side, and who gives up before any call is asked once more
    assert (asked[:2], alone) == ([["a.csv", "b.csv"]] * 2, [["a.csv"], ["a.csv"], ["b.csv"]])


async def test_findings_that_contradict_each_other_are_no_answer(stage: Any, files: list[str]) -> None:
    scripts = {"analyzer": TOGETHER | {"a.csv": [found("DE")], "b.csv": [found("FR")]}}
    outcome = await stage.play(scripts, "Which country?", files=files, **ONLY)
    assert (outcome.status, outcome.reason) == ("failed", "they do not fit together")


async def test_independent_questions_become_parts_of_the_plan(stage: Any, files: list[str]) -> None:
    scripts = {"analyzer": {"How many rows?": [found(1, SOURCE)], "Which country?": [found("US")]}}
    outcome = await stage.play(scripts, "How many rows? Which country?", files=files[:1], **ONLY)
    assert outcome.answer == "1. 1\n2. US"
    asked = [request.variables["task"] for request in stage.requests["analyzer"]]
    assert sorted(asked) == ["How many rows?", "Which country?"]
    assert [state for _, state in planned(stage, outcome)] == ["done"] * 3
    assert outcome.report is None


async def test_questions_that_lean_on_each_other_stay_together(stage: Any, files: list[str]) -> None:
    outcome = await stage.play({"analyzer": [found("US, 7")]}, "Which country? How often is it there?", **ONLY)
    assert outcome.answer == "US, 7"
    assert len(stage.requests["analyzer"]) == 1


async def test_the_wanted_form_reaches_the_analyzer(stage: Any, files: list[str]) -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    outcome = await stage.tea.run("Which rows?", files=files[:1], answer=schema, model="offline", **ONLY)
    notes = [one.data for one in stage.tea.tracer.records(outcome.run) if one.kind == "note"]
    entered = [one["data"] for one in notes if one["kind"] == "enter" and "analyzer" in one["data"]["ref"]]
    assert [one["arguments"]["task"]["answer"] for one in entered] == [schema]


async def test_without_a_report_the_answer_still_counts(stage: Any, files: list[str]) -> None:
    scripts = {"analyzer": [found("US")], "reporter": ["no draft", "still none"]}
    outcome = await stage.play(scripts, "Which country? Write a report.", files=files[:1], **ONLY)
    assert (outcome.status, outcome.answer, outcome.report) == ("done", "US", None)
    assert ("Write the report", "failed") in planned(stage, outcome)


async def test_a_planner_played_by_a_script_delegates_and_reports_alike(stage: Any, files: list[str]) -> None:
    findings = "It is so [4](a.csv), and again [2](./a.csv)."
    planner = [_step("analyzer", task="Which country?"), _step("reporter", task=findings), found("US")]
    planner.append(found("US"))
    outcome = await stage.play(
        {"planner": planner, "analyzer": [found("US", SOURCE)]}, "Which country?", **ONLY, files=files
    )
    assert outcome.report.name == "report.md"
    assert "It is so [1](a.csv), and again [1](a.csv)." in outcome.report.read_text()
    assert [one.source for one in outcome.evidence] == ["task"]


async def test_agents_for_commands_and_conversations_are_offered_to_no_model() -> None:
    async with platform() as tea:
        await tea.acp.register(FINDER)
        found = (await tea.run("agent", agent="finder")).answer
    assert {"analyzer", "researcher", "reporter", "browser", "tool_generator"} <= {*found}
    internal = {"agent_generator", "attempts", "judge", "optimiser", "reflector", "scientist", "triage"}
    assert not internal & {*found}


FINDER = '''
from tea import Agent, Context, Result, Task


class Finder(Agent):
    """Find agents."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Find them."""
        return Result(answer=[one["name"] for one in await ctx.acp.retrieve(task.text, 40, among=["*"])])
'''
