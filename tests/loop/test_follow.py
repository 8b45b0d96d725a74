"""Workflows of fixed steps: the input of a step, and their end."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tea.loop.follow import filled, steps_fault
from tea.platform import Platform
from tea.testing import platform

FLOW = '''
from tea import Agent, Context, Result, Task, follow

STEPS = {steps}


class Flow(Agent):
    """Follow steps."""

    name = "{name}"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Go through the steps."""
        return await follow(ctx, task, STEPS)
'''
RECKON = {"name": "value", "use": "tool:calculator", "arguments": {"expression": "{task}"}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], "1 to 20 steps"),
        ("x", "1 to 20 steps"),
        ([{"name": "a"}], "exactly `name`, `use` and `arguments`"),
        ([{**RECKON, "name": "task"}], "the name of step 1, 'task', is taken"),
        ([RECKON, RECKON], "the name of step 2, 'value', is taken"),
        ([{**RECKON, "name": "The value"}], "'The value', is not a small letter followed by small letters, digits"),
        ([{**RECKON, "name": "A b"}, {**RECKON, "use": "x"}], "without blanks; step 2 uses 'x', which is none of"),
        ([{**RECKON, "use": "calculator"}], "none of tool:NAME, agent:NAME and environment:NAME#ACTION"),
        ([{**RECKON, "use": "agent:analyzer"}], "gives its agent no `task`"),
        ([{**RECKON, "arguments": {"expression": "{later}"}}], "names {later}"),
        ([RECKON], ""),
    ],
)
def test_steps_that_cannot_be_followed_are_named(steps: Any, words: str) -> None:
    assert words in steps_fault(steps)
    assert bool(steps_fault(steps)) == bool(words)


def test_a_text_that_is_a_place_alone_becomes_the_value_and_within_words_its_text() -> None:
    found = {"rows": [1, {"a": 2}], "task": "t"}
    assert filled({"a": "{rows}", "b": ["{task}: {rows}"], "c": 3, "d": "{none}"}, found) == {
        "a": [1, {"a": 2}], "b": ['t: [1, {"a": 2}]'], "c": 3, "d": "{none}",
    }  # fmt: skip


@pytest.mark.asyncio(loop_scope="module")
async def test_each_step_is_given_what_the_ones_before_gave_and_a_replay_does_the_same(tea: Platform) -> None:
    twice = {"name": "twice", "use": "tool:calculator", "arguments": {"expression": "{value} * 2"}}
    await tea.acp.register(FLOW.format(steps=repr((RECKON, twice)), name="twice"))
    outcome = await tea.run("3 + 4", agent="twice")
    assert (outcome.ok, outcome.answer) == (True, 14)
    assert (await tea.replay(outcome.run)).answer == 14


@pytest.mark.asyncio(loop_scope="module")
async def test_the_first_failure_ends_the_work_and_says_which_step(tea: Platform) -> None:
    await tea.acp.register(FLOW.format(steps=repr((RECKON,)), name="once"))
    outcome = await tea.run("3 +", agent="once")
    assert not outcome.ok
    assert outcome.reason.startswith("The step 'value' failed: ")


SEEKER = '''
from tea import Agent, Context, Evidence, Result, Task


class Seeker(Agent):
    """Find facts."""

    name = "seeker"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Give one fact with its source."""
        source = Evidence(source="lights.md", detail="line 3", quote="built in 1811")
        return Result(answer="It was built in 1811.", evidence=(source,))
'''
TELLER = '''
from tea import Agent, Context, Result, Task


class Teller(Agent):
    """Tell the task and its facts."""

    name = "teller"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Give back what was given."""
        return Result(answer={"text": task.text, "facts": [[one.fact, one.source, one.quote] for one in task.facts]})
'''


@pytest.mark.asyncio(loop_scope="module")
async def test_an_agent_is_given_the_answers_before_it_with_their_sources(tea: Platform) -> None:
    for source in (SEEKER, TELLER):
        await tea.acp.register(source)
    facts = {"name": "facts", "use": "agent:seeker", "arguments": {"task": "{task}"}}
    told = {"name": "told", "use": "agent:teller", "arguments": {"task": "Report, with sources: {facts}"}}
    await tea.acp.register(FLOW.format(steps=repr((facts, told)), name="told_flow"))
    outcome = await tea.run("When?", agent="told_flow")
    assert outcome.answer == {
        "text": "Report, with sources: It was built in 1811.\n(Sources: lights.md, line 3)",
        "facts": [["It was built in 1811.", "lights.md", "built in 1811"]],
    }
    assert (await tea.replay(outcome.run)).ok


@pytest.mark.asyncio(loop_scope="module")
async def test_the_end_keeps_the_evidence_of_all_steps_and_the_files_that_tools_were_given(
    tea: Platform, tmp_path: Path
) -> None:
    (tmp_path / "lights.csv").write_text("name,built\nBell Rock,1811\n")
    for source in (SEEKER, TELLER):
        await tea.acp.register(source)
    query = {"files": "{files}", "sql": "SELECT built FROM lights"}
    rows = {"name": "rows", "use": "tool:table_query", "arguments": query}
    facts = {"name": "facts", "use": "agent:seeker", "arguments": {"task": "{task}"}}
    told = {"name": "told", "use": "agent:teller", "arguments": {"task": "Report {rows}: {facts}"}}
    await tea.acp.register(FLOW.format(steps=repr((rows, facts, told)), name="cited_flow"))
    outcome = await tea.run("When?", agent="cited_flow", files=[tmp_path / "lights.csv"])
    assert [(one.source, one.detail) for one in outcome.evidence] == [
        ("lights.csv", "read by table_query"),
        ("lights.md", "line 3"),
    ]
    broken = {**RECKON, "arguments": {"expression": "{facts}"}}
    await tea.acp.register(FLOW.format(steps=repr((facts, broken)), name="broken_flow"))
    failed = await tea.run("When?", agent="broken_flow")
    assert (failed.ok, [one.source for one in failed.evidence]) == (False, ["lights.md"])
