"""Test the exchange with inspect_ai; `benchmarks/in_inspect.py` runs inspect_ai itself."""

import ast
import json
from pathlib import Path

import pytest

import tea.evaluate.inspect_agent
from tea.evaluate import Evaluation, Plan, ScoredRun, TaskSet, summarise
from tea.evaluate.inspect_agent import outcome_of
from tea.evaluate.inspect_log import inspect_log_of


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (json.dumps({"ok": True, "answer": "42"}), ("42", "")),
        (json.dumps({"ok": True, "answer": {"a": 1}}), ('{"a": 1}', "")),
        (json.dumps({"ok": False, "answer": "42", "reason": "no idea"}), ("", "no idea")),
        (json.dumps({"error": {"code": "ProviderError"}}), ("", "the run failed")),
        ("", ("", "tea printed no outcome")),
        ("[1]", ("", "tea printed no outcome")),
    ],
)
def test_a_failed_run_gives_inspect_no_answer(printed: str, expected: tuple[str, str]) -> None:
    assert outcome_of(printed) == expected


def test_the_agent_for_inspect_needs_nothing_of_tea() -> None:
    source = Path(tea.evaluate.inspect_agent.__file__).read_text()
    modules = [node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    assert not any(str(one).startswith("tea") for one in modules)


def test_a_log_holds_every_run_with_the_score_that_was_measured() -> None:
    tasks = TaskSet.of([{"task": "a?", "expected": "a", "id": "one"}])
    base = {"id": "one", "usd": None, "tokens": 5, "steps": 1, "seconds": 1.5, "cluster": "c"}
    runs = (
        ScoredRun(**base, epoch=1, score=1.0, kind="", status="done", answer="a", reason="", run="r1"),
        ScoredRun(**base, epoch=2, score=0.0, kind="failed", status="failed", answer="a", reason="no", run="r2"),
    )
    found = Evaluation(
        id="abc", name="set", set_digest=tasks.digest, plan=Plan(), plan_digest="d", epochs=2, series="", runs=runs,
        components={}, model={}, begun="2026-01-01T00:00:00.000Z",
    )  # fmt: skip
    log = inspect_log_of(found, summarise(found), {one.id: one.task for one in tasks.tasks})
    assert log["results"]["scores"][0]["metrics"]["accuracy"]["value"] == 0.5
    assert [one["scores"]["tea"]["value"] for one in log["samples"]] == [1.0, 0.0]
    assert [one["output"]["choices"][0]["message"]["content"] for one in log["samples"]] == ["a", ""]
    assert (log["samples"][0]["input"], log["samples"][0]["target"]) == ("a?", "a")
    json.dumps(log, allow_nan=False)
