"""`tea new` and `tea tools usage` on the command line, without a model; with one: tests/models/test_new.py."""

import pytest

from conftest import Tea


@pytest.mark.parametrize("kind", ["tool", "agent", "workflow"])
def test_without_a_model_nothing_is_made_and_one_line_says_so(tea: Tea, kind: str) -> None:
    tea("new", kind, "count vowels").refused(4, "No model is configured", "--model")
    assert "vowels" not in tea("list", "tool").out
    assert tea("runs", "--json").data["runs"] == []


def test_what_is_not_made_from_words_is_refused(tea: Tea) -> None:
    tea("new", "prompt", "greet").refused(2, "'prompt' cannot be made from words", "tool, agent, workflow")
    tea("new", "tool", "  ").refused(2, "The description is empty")


def test_usage_of_a_home_without_generated_tools_says_so(tea: Tea) -> None:
    found = tea("tools", "usage")
    assert (found.code, found.out) == (0, "no tool was made by an agent\n")
    assert tea("tools", "usage", "--json").data["tools"] == []
