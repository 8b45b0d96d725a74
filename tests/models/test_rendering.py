"""Test results of calls as text for a model."""

import pytest

from tea.models.rendering import result_text


@pytest.mark.parametrize("problem", ["only years are given", "only years are given."])
def test_a_problem_ends_with_a_full_stop_before_its_remedy(problem: str) -> None:
    text = result_text({"ok": False, "value": None, "error": {"problem": problem, "fix": "replan."}})
    assert text == "Error: only years are given. Fix: replan."
