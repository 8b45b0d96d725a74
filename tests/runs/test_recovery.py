"""Test a resumed run's environments: each comes back as it declares."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from journals import COUNT, DOUBLE, WORKER, rewrite, rewrite_in_place

from tea.errors import ApprovalNeeded, BadComponent, BadInput
from tea.memory.manager import Scope
from tea.platform import Platform
from tea.runs.policy import CallRequest, Decision
from tea.testing import platform

COUNTER = '''
from tea import Agent, Context, Result, Task


class Counter(Agent):
    """Count to six, and tell what was lost on the way."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        problems = []
        for by in (1, 2, 3):
            response = await ctx.ecp.invoke("count#add", {"by": by})
            if not response.ok:
                problems.append(response.error["problem"])
            await ctx.tcp.invoke("double", {"number": by})
        return Result(answer=(await ctx.ecp.state("count")).value, reason="; ".join(problems))
'''

SURVEY = '''
from tea import Context, Environment, action


class Survey(Environment):
    """Ask a person, and count the answers."""

    recovery = "rerun"

    def __init__(self) -> None:
        self.answers = 0

    @action(effects="external", idempotent=True, network=False)
    async def ask(self, ctx: Context, question: str) -> str:
        """Ask."""
        answer = await ctx.person(question)
        self.answers += 1
        return answer

    async def state(self) -> int:
        """Return how many answers there are."""
        return self.answers
'''

ASKER = '''
from tea import Agent, Context, Result, Task


class Asker(Agent):
    """Ask twice."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask."""
        first = await ctx.ecp.invoke("survey#ask", {"question": "Your name?"})
        second = await ctx.ecp.invoke("survey#ask", {"question": "Your age?"})
        state = (await ctx.ecp.state("survey")).value
        return Result(answer=f"{first.value} {second.value} {state}")
'''


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as made:
        await made.tcp.register(DOUBLE)
        await made.ecp.register(SURVEY)
        for source in (COUNTER, ASKER):
            await made.acp.register(source)
        yield made


def interrupted(tea: Platform, run: str, after: str) -> str:
    """The run as if its process had died when the call with this number of the tool `double` was over."""

    def cut(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
        keys = [one["key"] for one in kept if one["kind"] == "start" and "double@" in one["data"]["target"]]
        over = next(i for i, one in enumerate(kept) if one["kind"] == "done" and one["key"] == keys[int(after)])
        return kept[: over + 1]

    other = rewrite(tea.home, run, cut)
    shutil.copytree(tea.home / "traces" / run / "workspace", tea.home / "traces" / other / "workspace")
    return other


@pytest.mark.parametrize("recovery", ["rerun", "snapshot"])
@pytest.mark.parametrize("after", ["0", "1", "2"])
async def test_an_environment_that_comes_back_has_its_state_again(tea: Platform, after: str, recovery: str) -> None:
    await tea.ecp.register(COUNT.replace("RECOVERY", recovery))
    outcome = await tea.run("count", agent="counter")
    other = interrupted(tea, outcome.run, after)
    resumed = await tea.resume(other)
    assert (resumed.answer, resumed.reason) == (outcome.answer, "")
    assert (await tea.replay(other)).answer == outcome.answer


async def test_an_environment_whose_state_is_lost_says_so_once(tea: Platform) -> None:
    await tea.ecp.register(COUNT.replace("RECOVERY", "lost"))
    outcome = await tea.run("count", agent="counter")
    resumed = await tea.resume(interrupted(tea, outcome.run, "0"))
    assert resumed.reason.count("was lost") == 1
    assert str(resumed.answer) == "3"


@pytest.mark.parametrize("recovery", ["rerun", "snapshot", "lost"])
async def test_an_environment_that_is_still_alive_is_left_alone(tea: Platform, recovery: str) -> None:
    await tea.ecp.register(COUNT.replace("RECOVERY", recovery))
    await tea.acp.register(
        COUNTER.replace("class Counter", "class Unsure").replace(
            "return Result(answer=(",
            'await ctx.ecp.invoke("survey#ask", {"question": "Go on?"})\n        return Result(answer=(',
        )
    )
    with pytest.raises(ApprovalNeeded) as waiting:
        await tea.run("count", agent="unsure", session="long")
    resumed = await tea.resume("last", answers={key_of(waiting.value): "yes"})
    assert (str(resumed.answer), resumed.reason) == ("6", "")


async def test_an_environment_that_does_not_rerun_alike_stops_the_resume(tea: Platform) -> None:
    source = COUNT.replace("RECOVERY", "rerun").replace("self.number = 0", "self.number = secrets.randbelow(10**9)")
    await tea.ecp.register("import secrets\n" + source)
    outcome = await tea.run("count", agent="counter")
    other = interrupted(tea, outcome.run, "0")
    before = (tea.home / "traces" / other / "journal.jsonl").read_bytes()
    with pytest.raises(BadInput, match="something else"):
        await tea.resume(other)
    assert (tea.home / "traces" / other / "journal.jsonl").read_bytes() == before


async def test_a_person_who_answered_is_not_asked_again_by_a_resume_or_a_fork(tea: Platform) -> None:
    with pytest.raises(ApprovalNeeded) as first:
        await tea.run("ask", agent="asker")
    run = tea.tracer.find("last")
    with pytest.raises(ApprovalNeeded) as second:
        await tea.resume(run, answers={key_of(first.value): "Ada"})
    assert "age" in second.value.problem
    outcome = await tea.resume(run, answers={key_of(second.value): "36"})
    assert outcome.answer == "Ada 36 2"
    state = next(one.key for one in tea.tracer.records(run) if one.kind == "start" and "#state" in str(one.data))
    assert (await tea.fork(run, at=state)).answer == outcome.answer


async def test_a_fork_takes_the_snapshot_of_its_position_and_not_a_later_one(tea: Platform) -> None:
    await tea.ecp.register(COUNT.replace("RECOVERY", "snapshot").replace("self.number += by", "self.number += by * 1"))
    outcome = await tea.run("count", agent="counter")
    adds = [one.key for one in tea.tracer.records(outcome.run) if one.kind == "start" and "count@" in str(one.data)]
    for key in adds:
        assert (await tea.fork(outcome.run, at=key)).answer == outcome.answer


async def test_a_snapshot_that_cannot_be_taken_fails_the_call(tea: Platform) -> None:
    await tea.ecp.register(
        COUNT.replace("RECOVERY", "snapshot").replace(
            "return self.number\n\n    async def restore", "raise ValueError(self.number)\n\n    async def restore"
        )
    )
    outcome = await tea.run("count", agent="counter")
    assert "snapshot" in outcome.reason
    with pytest.raises(BadComponent, match="snapshot"):
        await tea.ecp.update(
            "count", COUNT.replace("RECOVERY", "snapshot").replace("async def restore", "async def other")
        )


def key_of(error: ApprovalNeeded) -> str:
    return error.fix.split("--answer ")[1].split("=")[0].strip("'")


async def test_what_a_loss_of_power_took_from_the_memory_is_remembered_again_by_the_resume(tea: Platform) -> None:
    await tea.acp.register(WORKER)
    outcome = await tea.run({"task": "4", "agent": "worker", "session": "power"})
    rewrite_in_place(tea.home, outcome.run, lambda kept: [one for one in kept if one["kind"] not in ("end",)])
    shutil.rmtree(tea.home / "traces" / "memory")
    assert (await tea.resume(outcome.run)).answer == outcome.answer
    (event,) = await tea.memory.recall(Scope(session="power"))
    assert event["data"] == {"number": 8}


class Consented:
    """Ask about changes of the count, or allow them."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    async def decide(self, request: CallRequest) -> Decision:
        """Decide."""
        return self.decision if "#add" in request.ref else "allow"


@pytest.mark.parametrize(("said", "told"), [("allow", "1 1"), ("deny", "None 0"), ("9", "9 0")])
@pytest.mark.parametrize("decision", ["allow", "ask"])
async def test_what_a_person_said_of_a_call_in_doubt_holds_when_it_is_done_again(
    tmp_path: Path, decision: Decision, said: str, told: str
) -> None:
    def process() -> Platform:
        return Platform(tmp_path / "home", policy=Consented(decision), state=tmp_path / "state")

    async with process() as tea:
        await tea.ecp.register(COUNT.replace("RECOVERY", "rerun"))
        await tea.acp.register(ADDER)
        with pytest.raises(ApprovalNeeded) as waiting:
            await tea.run("add", agent="adder")
        if decision == "ask":
            with pytest.raises(ApprovalNeeded):
                await tea.resume("last", answers={key_of(waiting.value): "allow"})
        origin = tea.tracer.find("last")
        intent = next(one for one in tea.tracer.records(origin) if one.kind == "intent")
        run = rewrite(tea.home, origin, lambda kept: kept[: intent.seq + 1])
        (tea.home / "traces" / run / "workspace").mkdir()
    async with process() as tea:
        with pytest.raises(ApprovalNeeded, match="may have happened already"):
            await tea.resume(run)
        with pytest.raises(ApprovalNeeded, match=r"Go on\?") as waiting:
            await tea.resume(run, answers={intent.key: said})
    async with process() as tea:
        outcome = await tea.resume(run, answers={key_of(waiting.value): "yes"})
        assert outcome.answer == f"{told} yes"
        assert (await tea.replay(run)).answer == outcome.answer


ADDER = '''
from tea import Agent, Context, Result, Task


class Adder(Agent):
    """Add, and ask whether to go on."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        added = await ctx.ecp.invoke("count#add", {"by": 1})
        count = await ctx.ecp.state("count")
        return Result(answer=f"{added.value} {count.value} {await ctx.person('Go on?')}")
'''
