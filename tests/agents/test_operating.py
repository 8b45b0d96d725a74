"""The prompts of the agents with a screen: what they name is what their answers and their environments take."""

import re
from pathlib import Path

import pytest

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
