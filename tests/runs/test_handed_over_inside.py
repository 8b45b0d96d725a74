"""Test values to and from a tool inside its call: records stay whole, and nobody shares data with it."""

from typing import Any

import pytest
from journals import records

from tea.runs.outcome import Outcome
from tea.testing import platform

KEEPS = '''
from typing import Any
from tea import tool

@tool(effects="reads", idempotent=True, network=False)
async def keeps(given: Any) -> Any:
    """Give back what it was given.

    Args:
        given: Anything.
    """
    return given
'''

GIVES = '''
from typing import Any
from tea import tool

@tool(effects="reads", idempotent=True, network=False)
async def gives(levels: int) -> Any:
    """Give lists in lists.

    Args:
        levels: How many.
    """
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value
'''

OUTER = '''
from typing import Any
from tea import Context, tool

@tool(effects="reads", idempotent=True, network=False)
async def outer(ctx: Context) -> Any:
    """Do what a test says."""
    BODY
'''

CALLER = '''
from tea import Agent, Context, Result, Task

class Caller(Agent):
    """Call the tool, twice."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell what it gave."""
        told = [(await ctx.tcp.invoke("outer", {})).model_dump(mode="json") for _ in range(2)]
        return Result(answer=[one["value"] if one["ok"] else one["error"]["code"] for one in told])
'''


async def done(body: str) -> tuple[Outcome, list[dict[str, Any]]]:
    """Let an agent call a tool of this body, replay the run, and return its end, and its evidence."""
    async with platform() as stage:
        for source in (KEEPS, GIVES, OUTER.replace("BODY", body.strip().replace("\n", "\n    "))):
            await stage.tcp.register(source)
        await stage.acp.register(CALLER)
        outcome = await stage.run("x", agent="caller")
        assert (await stage.replay(outcome.run)).answer == outcome.answer
        return outcome, [one["data"] for one in records(outcome.trace) if one["kind"] == "evidence"]


@pytest.mark.parametrize("odd", ["{1: 2, '1': 3}", "b'x'", "float('nan')", "object()", "10**5000", "'\\ud800'"])
async def test_a_call_with_what_is_not_json_is_answered_and_the_journal_stays_whole(odd: str) -> None:
    outcome, evidence = await done(f'return (await ctx.tcp.invoke("keeps", {{"given": {odd}}})).error["code"]')
    assert (outcome.answer, evidence) == (["BadArguments"] * 2, [])


@pytest.mark.parametrize("odd", ["{1: 2, '1': 3}", "b'x'", "float('nan')", "object()", "'\\ud800'"])
async def test_a_note_that_is_not_json_fails_where_it_is_made(odd: str) -> None:
    outcome, evidence = await done(f'ctx.note("seen", {{"a": {odd}}})')
    assert (outcome.answer, evidence) == (["BadArguments"] * 2, [])


async def test_a_call_by_a_list_of_arguments_is_answered() -> None:
    outcome, _ = await done('return (await ctx.tcp.invoke("keeps", [1])).error["code"]')
    assert outcome.answer == ["BadArguments"] * 2


@pytest.mark.parametrize(("levels", "held"), [(150, True), (190, True), (198, False), (400, False)])
async def test_what_no_record_can_hold_is_a_failed_call_of_which_there_is_evidence(levels: int, held: bool) -> None:
    outcome, evidence = await done(f'return (await ctx.tcp.invoke("gives", {{"levels": {levels}}})).ok')
    assert outcome.answer == [held] * 2
    assert [one["data"]["response"]["ok"] for one in evidence] == [held] * 2


@pytest.mark.parametrize("odd", ["{1: 2, '1': 3}", "5", "'x', [1]", "'x', ['\\ud800']", "'\\ud800'"])
async def test_a_person_is_asked_in_words_only(odd: str) -> None:
    outcome, evidence = await done(f"return await ctx.person({odd})")
    assert (outcome.answer, evidence) == (["BadArguments"] * 2, [])


@pytest.mark.parametrize("odd", ["yes", "yes ", " no", "", "a  b", "a\nb", "no / maybe", "/ maybe", "a\u00a0b"])
async def test_choices_that_a_person_cannot_tell_apart_are_not_asked_about(odd: str) -> None:
    outcome, evidence = await done(f"return await ctx.person('Go on?', ['yes', {odd!r}])")
    assert (outcome.answer, evidence) == (["BadArguments"] * 2, [])


async def test_a_state_that_a_tool_loaded_is_its_own() -> None:
    outcome, _ = await done(
        """
if await ctx.state.load() is None:
    await ctx.state.save({"seen": [1]})
(await ctx.state.load())["seen"].append(99)
return await ctx.state.load()
"""
    )
    assert outcome.answer == [{"seen": [1]}] * 2


async def test_nobody_changes_what_a_tool_remembers_while_it_is_written() -> None:
    outcome, _ = await done(
        """
seen = {"seen": [1]}
async with ctx.group() as group:
    group.spawn(ctx.memory.record("note", seen))

    async def change() -> None:
        seen["seen"].append(99)

    group.spawn(change())
return [one["data"] for one in await ctx.memory.recall() if one["kind"] == "note"][-1]
"""
    )
    assert outcome.answer == [{"seen": [1]}] * 2
