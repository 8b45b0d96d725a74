"""Test memory components: kept and shown to agents naming one, in runs, replays, resumed runs and forks."""

import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
from journals import records, rewrite_in_place
from loop_kit import done, step

from tea.errors import BadComponent, UnknownComponent
from tea.memory.manager import Scope
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.testing import ScriptedModel, platform

NOTER = '''
from tea import Agent, Context, Result, Task


class NAME(Agent):
    """Record each word of its task as a kind of event, and tell what it sees."""

    memory = "MEMORY"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Record, and look."""
        for kind in task.text.removeprefix("look").split():
            await ctx.memory.record(kind, {"text": f"{ctx.agent} {kind}"})
        seen = [one["data"]["text"] for one in await ctx.memory.recall(limit=100)]
        last = [one["data"]["text"] for one in await ctx.memory.recall(limit=1)]
        told = (await ctx.memory.summarise()).partition("\\n")[0]
        return Result(answer={"seen": seen, "last": last, "told": told, "learned": await ctx.memory.insights()})
'''

TOOL = '''
from tea import Context, tool


@tool(OPTIONS)
async def jot(ctx: Context, kind: str) -> list[str]:
    """Record an event, and tell what is seen.

    Args:
        kind: Of the event.
    """
    await ctx.memory.record(kind, {"text": f"jot {kind}"})
    return [one["data"]["text"] for one in await ctx.memory.recall(limit=100)]
'''

HEAD = '''
from tea import Agent, Context, Result, Task


class Head(Agent):
    """Let a tool, a branch and another agent record, and tell what it sees."""

    memory = "notes"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        jotted = [(await ctx.tcp.invoke("jot", {"kind": kind})).unwrap() for kind in ("step", "insight")]
        async with ctx.group() as group:
            group.spawn(ctx.memory.record("step", {"text": "branch step"}))
        other = (await ctx.acp.invoke("plain", Task(text="step"))).unwrap()
        own = [one["data"]["text"] for one in await ctx.memory.recall(limit=100)]
        return Result(answer=[jotted[-1], other["answer"]["seen"], own])
'''


def noter(name: str, memory: str = "notes") -> str:
    return NOTER.replace("NAME", name.capitalize()).replace('"MEMORY"', f'"{memory}"')


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as made:
        await made.acp.register(noter("noter"))
        await made.acp.register(noter("plain", ""))
        await remember(made)
        yield made


async def remember(tea: Platform, **fields: Any) -> None:
    """Make another version of the memory `notes` current."""
    await tea.libraries["memory"].register({"name": "notes", **fields})


async def noted(tea: Platform, text: str, agent: str = "noter", **options: Any) -> Any:
    outcome = await tea.run(text, agent=agent, session="s", **options)
    assert outcome.status == "done", outcome.reason
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    return outcome.answer


def looked_up(outcome: Outcome) -> list[str]:
    starts = [one["data"] for one in records(outcome.trace) if one["kind"] == "start"]
    return [one["target"] for one in starts if one["kind"] == "resolve"]


def _recorded(told: str) -> int:
    """Return the number of events named in the first line of a summary."""
    return sum(int(word) for word in told.split() if word.isdecimal())


def first_recall(outcome: Outcome) -> int:
    return next(one["seq"] for one in records(outcome.trace) if one["data"].get("target") == "recall")


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        ("session", ["plain a", "noter b", "noter c"]),
        ("agent", ["noter b", "noter c"]),
        ("task", ["noter c"]),
    ],
)
async def test_a_scope_says_whose_events_are_seen(tea: Platform, scope: str, seen: list[str]) -> None:
    await remember(tea, scope=scope)
    await noted(tea, "a", "plain")
    await noted(tea, "b")
    found = await noted(tea, "c")
    assert (found["seen"], _recorded(found["told"])) == (seen, len(seen))


async def test_a_limit_bounds_what_one_recall_gives(tea: Platform) -> None:
    await remember(tea, limit=2)
    found = await noted(tea, "a b c")
    assert (found["seen"], found["last"]) == (["noter b", "noter c"], ["noter c"])
    assert _recorded(found["told"]) == 3


async def test_kinds_say_what_is_kept_and_what_is_seen_of_others(tea: Platform) -> None:
    await remember(tea, kinds=["insight"])
    await noted(tea, "insight step", "plain")
    found = await noted(tea, "step insight")
    assert found["seen"] == ["plain insight", "noter insight"]
    assert found["learned"] == ["plain insight", "noter insight"]
    assert found["told"] == "2 insights recorded:"
    assert (await noted(tea, "look", "plain"))["seen"] == ["plain insight", "plain step", "noter insight"]


async def test_an_agent_that_names_no_memory_looks_none_up(tea: Platform) -> None:
    await remember(tea, kinds=["insight"])
    outcome = await tea.run("a b", agent="plain", session="s")
    assert outcome.answer["seen"] == ["plain a", "plain b"]
    assert looked_up(outcome) == ["agent:plain"]
    assert "memory" not in (await tea.acp.info("plain")).metadata


@pytest.mark.parametrize("options", ['effects="writes"', "scope=True"])
async def test_tools_remember_for_their_agent_and_agents_for_themselves(tea: Platform, options: str) -> None:
    await remember(tea, kinds=["insight"])
    await tea.tcp.register(TOOL.replace("OPTIONS", options))
    await tea.acp.register(HEAD)
    jotted, other, own = await noted(tea, "go", "head")
    assert jotted == own == ["jot insight"]
    assert other == ["jot insight", "plain step"]


async def test_a_call_from_outside_of_any_run_obeys_a_memory(tea: Platform) -> None:
    await remember(tea, kinds=["insight"])
    arguments = {"task": {"text": "step insight"}}
    assert (await tea.acp.invoke("noter", arguments, session="s")).unwrap()["answer"]["seen"] == ["noter insight"]
    assert (await noted(tea, "look", "plain"))["seen"] == ["noter insight"]


async def test_a_task_and_an_agent_choose_the_version(tea: Platform) -> None:
    await remember(tea, kinds=["insight"])
    await tea.acp.register(noter("older", "notes@1.0.0"))
    assert (await noted(tea, "a"))["seen"] == []
    assert (await noted(tea, "a", "older"))["seen"] == ["older a"]
    assert (await noted(tea, "b", use={"memory:notes": "1.0.0"}))["seen"] == ["older a", "noter b"]


async def test_a_replay_has_the_memory_of_its_run_whatever_became_of_it(tea: Platform) -> None:
    await remember(tea, kinds=["insight"])
    outcome = await tea.run("step insight", agent="noter", session="s")
    await remember(tea, scope="task")
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    await tea.libraries["memory"].archive("notes@1.0.1")
    await tea.libraries["memory"].unregister("notes")
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    assert outcome.answer["seen"] == ["noter insight"]


@pytest.mark.parametrize(("what", "code"), [("gone", "UnknownComponent"), ("archived", "Archived")])
async def test_a_memory_that_cannot_be_used_is_one_line_before_anything_is_done(
    tea: Platform, what: str, code: str
) -> None:
    if what == "gone":
        await tea.libraries["memory"].unregister("notes")
    else:
        await tea.libraries["memory"].archive("notes")
    outcome = await tea.run("a", agent="noter", session="s")
    assert outcome.error is not None
    assert (outcome.status, outcome.error["code"]) == ("failed", code)
    assert "notes" in outcome.error["problem"]
    assert len(outcome.error["problem"].splitlines()) == 1
    assert looked_up(outcome) == ["agent:noter", "memory:notes"]
    assert not [one for one in records(outcome.trace) if one["kind"] == "note"]
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


async def test_a_memory_that_was_loaded_counts_once_somebody_trusts_it(tea: Platform) -> None:
    await tea.libraries["memory"].save(tea.home / "memories.json")
    await tea.acp.save(tea.home / "agents.json", ["noter"])
    async with platform() as other:
        await other.acp.register(noter("noter"))
        await other.libraries["memory"].load(tea.home / "memories.json")
        refused = await other.run("a", agent="noter", session="s")
        assert refused.error is not None
        assert refused.error["code"] == "Quarantined"
        assert "tea trust" in refused.error["fix"]
        await other.libraries["memory"].trust("notes")
        assert (await noted(other, "a"))["seen"] == ["noter a"]


@pytest.mark.parametrize("memory", ["Notes!", "tool:notes", "notes#recall", "notes@"])
async def test_what_is_no_ref_of_a_memory_is_refused_when_the_agent_is_registered(tea: Platform, memory: str) -> None:
    with pytest.raises(BadComponent, match="memory"):
        await tea.acp.register(noter("wrong", memory))


async def test_what_a_resumed_run_remembers_again_is_what_its_memory_keeps(tea: Platform) -> None:
    await remember(tea, kinds=["insight"])
    outcome = await tea.run("step insight other", agent="noter", session="s")
    await remember(tea)

    def torn(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
        third = [n for n, one in enumerate(kept) if one["kind"] == "start" and one["data"]["target"] == "record"][2]
        return kept[:third]

    rewrite_in_place(tea.home, outcome.run, torn)
    shutil.rmtree(tea.home / "traces" / "memory")  # as after a loss of power
    assert (await tea.resume(outcome.run)).answer["seen"] == ["noter insight"]
    assert (await noted(tea, "look", "plain"))["seen"] == ["noter insight"]


async def test_a_fork_obeys_another_version_from_where_it_begins(tea: Platform) -> None:
    outcome = await tea.run("a insight b", agent="noter", session="s")
    await remember(tea, kinds=["insight"])
    anew = await tea.fork(outcome.run, use={"memory:notes": "1.0.1"})
    assert (outcome.answer["told"], anew.answer["told"]) == ("1 a, 1 b, 1 insight recorded:", "1 insight recorded:")
    late = await tea.fork(outcome.run, at=first_recall(outcome), use={"memory:notes": "1.0.1"})
    assert late.answer["seen"] == ["noter insight"]
    assert looked_up(late) == ["agent:noter", "memory:notes", "memory:notes"]
    narrow = await tea.run("a insight b", agent="noter", session="t")
    wider = await tea.fork(narrow.run, at=first_recall(narrow), use={"memory:notes": "1.0.0"})
    assert wider.answer["seen"] == ["noter insight"]
    for fork in (anew, late, wider):
        assert (await tea.replay(fork.run)).to_json() == fork.to_json()


async def test_a_fork_behind_the_look_at_a_memory_may_still_change_the_agent(tea: Platform) -> None:
    outcome = await tea.run("a", agent="noter", session="s")
    await tea.acp.update("noter", noter("noter").replace("{ctx.agent} {kind}", "new {kind}"), version="2.0.0")
    policy = next(one for one in records(outcome.trace) if one["data"].get("kind") == "policy")
    fork = await tea.fork(outcome.run, at=policy["seq"], use={"agent:noter": "2.0.0"})
    assert fork.answer["seen"] == ["new a"]
    assert (await tea.replay(fork.run)).to_json() == fork.to_json()


@pytest.mark.parametrize(("kinds", "kept"), [(["insight"], []), ([], ["result"])])
async def test_an_agent_that_was_made_of_tools_remembers_by_a_memory(kinds: list[str], kept: list[str]) -> None:
    async with platform(model=ScriptedModel([step(done(42))])) as tea:
        with pytest.raises(UnknownComponent, match="notes"):
            await tea.transform("T2A", "tool:calculator", name="chooser", memory="notes")
        await remember(tea, kinds=kinds)
        (made,) = await tea.transform("T2A", "tool:calculator", name="chooser", memory="notes")
        assert made.metadata["memory"] == "notes"
        outcome = await tea.run("What is 6*7?", agent="chooser", session="s")
        assert (outcome.answer, looked_up(outcome)[:2]) == (42, ["agent:chooser", "memory:notes"])
        found = await tea.memory.recall(Scope(session="s"))
        assert sorted({one["kind"] for one in found}) == kept
