"""The prompts of the agents with a screen: what they name is what their answers and their environments take."""

import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tea.prompts.manager import PromptManager
from tea.testing import platform

AGENTS = Path(__file__).parents[2] / "agents"


@pytest.mark.parametrize("name", ["browser", "computer"])
async def test_each_action_that_a_prompt_names_may_be_answered_and_is_one_of_the_environment(name: str) -> None:
    prompt = PromptManager().parse((AGENTS / f"{name}.md").read_text())
    named = re.findall(r"(\w+)\(", prompt.modules["actions"])
    assert prompt.output is not None
    assert sorted(named) == sorted(prompt.output["properties"]["actions"]["items"]["properties"]["action"]["enum"])
    async with platform() as tea:
        assert {*named} <= {*(await tea.ecp.info(name)).operations}


@pytest.mark.parametrize("name", ["browser", "computer"])
def test_a_step_needs_none_of_its_fields_and_an_action_only_its_name(name: str) -> None:
    prompt = PromptManager().parse((AGENTS / f"{name}.md").read_text())
    assert prompt.output is not None
    fits = Draft202012Validator(prompt.output).is_valid
    action = prompt.output["properties"]["actions"]["items"]["properties"]["action"]["enum"][0]
    assert fits({"actions": [{"action": action}], "final": {}})
    assert fits({"final": {"answer": "Done."}})
    assert not fits({"actions": [{"action": "no such"}]})
