"""Test results of calls as text for a model."""

import pytest

from tea.models.rendering import result_text


@pytest.mark.parametrize("problem", ["only years are given", "only years are given."])
def test_a_problem_ends_with_a_full_stop_before_its_remedy(problem: str) -> None:
    text = result_text({"ok": False, "value": None, "error": {"problem": problem, "fix": "replan."}})
    assert text == "Error: only years are given. Fix: replan."


def test_a_result_of_an_agent_is_shown_without_its_empty_members() -> None:
    evidence = {"source": "t.csv", "detail": "", "quote": "7 lamps", "doubt": ""}
    value = {"answer": 7, "ok": True, "reason": "", "evidence": [evidence], "report": None, "exhausted": False}
    text = result_text({"ok": True, "value": value, "error": None})
    assert "7 lamps" in text
    assert not any(word in text for word in ("reason", "report", "exhausted", "detail", "doubt"))
    assert "exhausted" in result_text({"ok": True, "value": {"answer": 7, "exhausted": False}, "error": None})
