"""Test retrieval's learning from runs: service to tasks, its age, and forgetting."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from retrieval_kit import USER, WORDS, names, stocked, tool

from tea.errors import ApprovalNeeded
from tea.platform import Platform
from tea.retrieval.usage import RunReader, UsageEvidence, uses_of
from tea.store.usage import FileUsage


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with stocked() as made:
        yield made


async def test_what_served_in_a_run_that_succeeded_is_found_by_its_task(tea: Platform) -> None:
    await tea.acp.register(USER)
    query = "the quarterly ledger wants a look"
    assert (await names(tea, query, 50))[0] != "route"
    outcome = await tea.run(f"route!{query}", agent="user")
    found = (await tea.tcp.retrieve(query))[0]
    assert found.listing.name == "route"
    assert found.why["served"] > 0.4
    assert found.runs == (outcome.run,)
    assert (await tea.acp.retrieve(query, 1))[0].listing.name == "user"
    uses = tea.retrieval.evidence.uses("tool", "route")
    assert [(use.run, use.text) for use in uses] == [(outcome.run, f"route!{query}")]


async def test_a_run_that_failed_is_no_evidence(tea: Platform) -> None:
    await tea.acp.register(USER)
    outcome = await tea.run("route!this way it got lost", agent="user")
    assert outcome.status == "failed"
    assert tea.retrieval.evidence.uses() == []
    assert [match for match in await tea.tcp.retrieve("this way it got lost", 50) if match.why["served"]] == []


async def test_a_call_that_failed_in_a_run_that_succeeded_is_no_evidence(tea: Platform) -> None:
    await tea.acp.register(USER)
    outcome = await tea.run("route!fail", agent="user")
    assert outcome.status == "done"
    assert [use.name for use in tea.retrieval.evidence.uses()] == ["user"]


BESIDE = '''
from tea import Agent, Context, Result, Task


class Beside(Agent):
    """Make calls side by side."""

    tools = ("route",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Call in a branch."""
        async with ctx.group() as group:
            group.spawn(ctx.tcp.invoke("route", {"text": task.text}))
        return Result(answer="done", ok=True)
'''


async def test_a_call_beside_others_is_evidence_for_the_task_of_its_agent(tea: Platform) -> None:
    await tea.acp.register(BESIDE)
    outcome = await tea.run("the quarterly ledger", agent="beside")
    assert outcome.status == "done"
    found = [(use.name, use.text) for use in tea.retrieval.evidence.uses("tool")]
    assert found == [("route", "the quarterly ledger")]


BOSS = '''
from tea import Agent, Context, Result, Task


class Boss(Agent):
    """Hand a task on, and make do without it."""

    tools = ()

    async def run(self, ctx: Context, task: Task) -> Result:
        """Hand each line on, in this order."""
        for line in task.text.splitlines():
            await ctx.acp.invoke("user", Task(text=line))
        return Result(answer="made do")
'''


async def test_a_call_counts_for_the_task_of_its_agent_and_only_where_that_agent_succeeded(tea: Platform) -> None:
    await tea.acp.register(USER)
    await tea.acp.register(BOSS)
    outcome = await tea.run("route!this way it got lost\nroute!the quarterly ledger", agent="boss")
    assert outcome.status == "done"
    uses = tea.retrieval.evidence.uses("tool")
    assert [(use.name, use.text) for use in uses] == [("route", "route!the quarterly ledger")]
    assert [use.name for use in tea.retrieval.evidence.uses("agent", "user")] == ["user"]
    assert [use.name for use in tea.retrieval.evidence.uses("agent", "boss")] == ["boss"]


async def test_very_many_new_journals_are_read_bit_by_bit_the_newest_first(tea: Platform, tmp_path: Path) -> None:
    await tea.acp.register(USER)
    for number in range(3):
        await tea.run(f"route!ledger {number}", agent="user")
    hurried = UsageEvidence(tea.tracer, FileUsage(tmp_path), seconds=0)
    known = [[use.text[-1] for use in hurried.uses("tool")] for _ in range(4)]
    assert [sorted(one) for one in known] == [["2"], ["1", "2"], ["0", "1", "2"], ["0", "1", "2"]]


ASKER = '''
from tea import Context, Environment, action


class Asker(Environment):
    """Ask a person."""

    recovery = "rerun"

    @action(effects="external", idempotent=True, network=False)
    async def ask(self, ctx: Context, question: str) -> str:
        """Ask."""
        return await ctx.person(question)

    async def state(self) -> str:
        """Return nothing."""
        return ""
'''


async def test_a_run_that_is_resumed_after_it_was_looked_at_is_learned(tea: Platform) -> None:
    await tea.ecp.register(ASKER)
    await tea.acp.register(
        USER.replace("ok = (", 'await ctx.ecp.invoke("asker#ask", {"question": "So?"})\n        ok = (')
    )
    with pytest.raises(ApprovalNeeded) as waiting:
        await tea.run("route!the quarterly ledger", agent="user")
    assert tea.retrieval.evidence.uses() == []
    answers = {waiting.value.fix.split("--answer ")[1].split("=")[0].strip("'"): "yes"}
    assert (await tea.resume("last", answers=answers)).status == "done"
    assert [use.name for use in tea.retrieval.evidence.uses("tool")] == ["route"]


async def test_where_usage_cannot_be_written_questions_are_answered_all_the_same(tea: Platform) -> None:
    await tea.acp.register(USER)
    await tea.run("route!the quarterly ledger", agent="user")
    (tea.home / "traces" / "usage").write_text("no folder")
    assert (await names(tea, "will it rain", 1)) == ["rain"]


async def test_what_is_not_trusted_earns_nothing(tea: Platform, tmp_path: Path) -> None:
    await tea.acp.register(USER)
    await tea.run("route!the quarterly ledger", agent="user")
    async with Platform(tea.home, state=tmp_path / "of another operator") as other:
        found = {match.listing.name: match for match in await other.tcp.retrieve("the quarterly ledger", 50)}
    assert not found["route"].listing.trusted
    assert found["route"].why["served"] == 0
    assert found["route"].runs == ()


async def test_another_version_keeps_a_part_of_what_was_earned(tea: Platform) -> None:
    await tea.acp.register(USER)
    await tea.run("route!the quarterly ledger", agent="user")
    before = (await tea.tcp.retrieve("the quarterly ledger", 1))[0]
    await tea.tcp.update("route", tool("route", WORDS["route"].replace("bus", "tram")))
    after = (await tea.tcp.retrieve("the quarterly ledger", 1))[0]
    assert after.listing.version == "1.0.1"
    assert 0.4 * before.why["served"] < after.why["served"] < 0.8 * before.why["served"]


async def test_what_is_forgotten_counts_no_more_and_is_not_learned_again(tea: Platform, tmp_path: Path) -> None:
    await tea.acp.register(USER)
    await tea.run("route!the quarterly ledger", agent="user")
    await tea.tcp.retrieve("the quarterly ledger")
    assert tea.retrieval.forget("tool", "route") == 1
    assert tea.retrieval.forget("tool", "route") == 0
    for one in (tea, Platform(tea.home, state=tmp_path)):
        assert [
            match.why["served"] for match in await one.tcp.retrieve("the quarterly ledger", 50) if match.why["served"]
        ] == []


async def test_what_was_never_looked_at_can_be_forgotten_too(tea: Platform) -> None:
    await tea.acp.register(USER)
    await tea.run("route!the quarterly ledger", agent="user")
    assert tea.retrieval.forget() == 2
    assert tea.retrieval.evidence.uses() == []


async def test_what_is_purged_has_no_usage_and_another_of_its_name_begins_anew(tea: Platform) -> None:
    await tea.acp.register(USER)
    await tea.run("route!the quarterly ledger", agent="user")
    await tea.tcp.unregister("route")
    assert [use.name for use in tea.retrieval.evidence.uses("tool")] == ["route"]
    await tea.tcp.purge("route")
    assert tea.retrieval.evidence.uses("tool") == []
    await tea.tcp.register(tool("route", "Sing a song."))
    found = {match.listing.name: match for match in await tea.tcp.retrieve("the quarterly ledger", 50)}
    assert found["route"].why["served"] == found["route"].why["keywords"] == 0


async def test_what_another_process_learns_or_forgets_counts_with_the_next_question(
    tea: Platform, tmp_path: Path
) -> None:
    await tea.acp.register(USER)
    other = Platform(tea.home, state=tmp_path)
    assert tea.retrieval.evidence.uses("tool") is tea.retrieval.evidence.uses("tool")
    await tea.run("route!the quarterly ledger", agent="user")
    for learns, forgets in ((tea, other), (other, tea)):
        assert [use.name for use in learns.retrieval.evidence.uses("tool")] == ["route"]
        assert [use.name for use in forgets.retrieval.evidence.uses("tool")] == ["route"]
        assert forgets.retrieval.forget("tool", "route") == 1
        assert learns.retrieval.evidence.uses("tool") == []
        assert (await tea.tcp.retrieve("the quarterly ledger", 1))[0].why["served"] == 0
        await tea.run("route!the quarterly ledger", agent="user")


async def test_what_is_not_written_yet_counts_too_and_is_forgotten_with_the_rest(tea: Platform, tmp_path: Path) -> None:
    await tea.acp.register(USER)
    other = Platform(tea.home, state=tmp_path)
    store, written = FileUsage(tea.home / "traces"), list[int]()
    for number in range(1, 19):
        await tea.run(f"route!ledger {number}", agent="user")
        assert [use.text for use in tea.retrieval.evidence.uses("tool")][-1] == f"route!ledger {number}"
        assert len(tea.retrieval.evidence.uses("tool")) == number
        written.append(len(store.known()))
    assert written == [*[1] * 16, *[17] * 2]
    assert len(other.retrieval.evidence.uses("tool")) == 18
    assert other.retrieval.forget("tool", "route") == 18
    assert tea.retrieval.evidence.uses("tool") == []


async def test_the_records_that_are_read_teach_what_the_whole_journal_teaches(tea: Platform) -> None:
    await tea.acp.register(USER)
    await tea.acp.register(BOSS)
    for task, agent in (("route!the ledger", "user"), ("route!fail", "user"), ("route!one\nroute!two", "boss")):
        run = (await tea.run(task, agent=agent)).run
        whole = list(tea.tracer.records(run))
        told = list(tea.tracer.records(run, wanted=RunReader()))
        assert uses_of(run, told) == uses_of(run, whole)
        assert len(told) < len(whole)
