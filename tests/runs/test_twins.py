"""Test versions of equal bytes: a run pins the used ones, and goes on, replays and forks with exactly those."""

import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
from journals import COUNT, DOUBLE, PROMPT, records, rewrite

from tea.errors import ApprovalNeeded, BadInput, Diverged
from tea.journal.compare import compare
from tea.platform import Platform
from tea.protocols.lock import Lock, lock_run, verify
from tea.runs.outcome import Outcome
from tea.testing import ScriptedModel, platform

SUB = '''
from tea import Agent, Context, Result, Task


class Sub(Agent):
    """Double."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return Result(answer=(await ctx.tcp.invoke("double", {"number": int(task.text)})).unwrap())
'''

BOTH = '''
from tea import Agent, Context, Result, Task


class Both(Agent):
    """Use two versions of everything, and ask the person in between."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        found = []
        for at in ("@1.0.0", ""):
            found.append((await ctx.tcp.invoke(f"double{at}", {"number": 1})).unwrap())
            found.append((await ctx.ecp.invoke(f"count{at}#add", {"by": 1})).unwrap())
            found.append((await ctx.acp.invoke(f"sub{at}", Task(text="2"))).result.answer)
            found.append((await ctx.ask(f"answers{at}", {})).text)
        if "person" in task.text:
            found.append(await ctx.person("Well?"))
        found.append((await ctx.tcp.invoke("double@1.0.0", {"number": 3})).unwrap())
        found.append((await ctx.ecp.invoke("count#add", {"by": 1})).unwrap())
        found.append((await ctx.tcp.invoke("triple", {"number": 1})).unwrap())
        return Result(answer=" ".join(map(str, found)))
'''
TRIPLE = DOUBLE.replace("double", "triple").replace("* 2", "* 3")
ANSWER = "2 1 4 said 2 2 4 said 6 3 3"


async def furnish(tea: Platform, recovery: str = "rerun") -> None:
    """Register everything twice with the same bytes; the second is current."""
    for server, source in (
        (tea.tcp, DOUBLE),
        (tea.tcp, TRIPLE),
        (tea.ecp, COUNT.replace("RECOVERY", recovery)),
        (tea.acp, SUB),
        (tea.acp, BOTH),
        (tea.libraries["prompt"], PROMPT),
    ):
        first = await server.register(source)
        second = await server.register(source, version="1.0.1")
        assert (first.digest, second.version) == (second.digest, "1.0.1")


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform(model=ScriptedModel(["said"] * 100)) as made:
        yield made


def later(tea: Platform) -> Platform:
    """The same home as another process finds it."""
    return Platform(tea.home, state=tea.trust.path.parent, model=ScriptedModel(["said"] * 100))


def targets(outcome: Outcome) -> list[str]:
    """The called components, in order."""
    starts = [one["data"] for one in records(outcome.trace) if one["kind"] == "start"]
    return [one["target"] for one in starts if one["kind"] in ("tool", "environment")]


def cut(tea: Platform, run: str, length: int) -> str:
    """The run as if its process had died after so many records, in a session of its own."""

    def died(kept: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kept[0]["data"]["setting"]["session"] = f"{run[:-4]}beef"
        return kept[:length]

    other = rewrite(tea.home, run, died)
    shutil.copytree(tea.home / "traces" / run / "workspace", tea.home / "traces" / other / "workspace")
    return other


async def test_a_run_that_uses_two_versions_with_the_same_bytes_replays(tea: Platform) -> None:
    await furnish(tea)
    outcome = await tea.run("go", agent="both")
    assert outcome.answer == ANSWER
    used = targets(outcome)
    assert {f"tool:double@1.0.{n}#call" for n in (0, 1)} <= set(used)
    assert {f"environment:count@1.0.{n}#add" for n in (0, 1)} <= set(used)
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    for server, name in ((tea.tcp, "double"), (tea.acp, "both"), (tea.acp, "sub"), (tea.ecp, "count")):
        await server.unregister(name)
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


@pytest.mark.parametrize("recovery", ["rerun", "snapshot"])
async def test_it_goes_on_wherever_it_was_interrupted(tea: Platform, recovery: str) -> None:
    await furnish(tea, recovery)
    outcome = await tea.run("go", agent="both")
    whole = records(outcome.trace)
    for length in [place for place, one in enumerate(whole, start=1) if one["kind"] == "done"][::3]:
        other = cut(tea, outcome.run, length)
        async with later(tea) as process:
            resumed = await process.resume(other)
            assert (resumed.answer, targets(resumed)) == (ANSWER, targets(outcome)), length
            assert (await process.replay(other)).answer == ANSWER
        shutil.rmtree(tea.home / "traces" / other)


async def test_its_person_can_answer(tea: Platform) -> None:
    await furnish(tea)
    with pytest.raises(ApprovalNeeded):
        await tea.run("the person", agent="both")
    (question,) = (await tea.inbox()).questions
    outcome = await tea.resume(question.run, answers={question.key: "yes"})
    assert outcome.answer == ANSWER.replace("said 6", "said yes 6")
    assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_what_was_current_then_serves_again_when_it_is_registered_and_taken_back(tea: Platform) -> None:
    await furnish(tea)
    other = DOUBLE.replace("* 2", "* 9")
    await tea.tcp.update("double", other, version="2.0.0")
    await tea.tcp.copy("double@1.0.0", version="3.0.0")
    await tea.tcp.restore("double@3.0.0")
    outcome = await tea.run("go", agent="both")
    assert "tool:double@3.0.0#call" in targets(outcome)
    await tea.tcp.update("double", other)
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    async with later(tea) as process:
        assert (await process.resume(cut(tea, outcome.run, len(records(outcome.trace)) - 6))).answer == ANSWER


async def test_a_fork_keeps_the_versions_of_its_origin_before_and_behind_its_position(tea: Platform) -> None:
    await furnish(tea)
    origin = await tea.run("go", agent="both")
    for server, name in ((tea.tcp, "double"), (tea.tcp, "triple"), (tea.ecp, "count"), (tea.acp, "sub")):
        await server.restore(f"{name}@1.0.0")
    whole = list(tea.tracer.records(origin.run))
    for one in (whole[0], *(one for one in whole if one.kind == "start")):
        fork = await tea.fork(origin.run, at=one.seq)
        assert (fork.answer, targets(fork)) == (ANSWER, targets(origin)), one
        assert compare(whole, list(tea.tracer.records(fork.run))).pins == ()
        assert (await tea.replay(fork.run)).answer == ANSWER
        shutil.rmtree(fork.trace)


async def test_a_fork_to_the_other_version_with_the_same_bytes_uses_that_from_there_on(tea: Platform) -> None:
    await furnish(tea)
    origin = await tea.run("go", agent="both")
    told: list[str] = []
    fork = await tea.fork(origin.run, use={"tool:triple": "1.0.0"}, tell=told.append)
    assert (fork.answer, targets(fork)[-1]) == (ANSWER, "tool:triple@1.0.0#call")
    assert not any("already" in one for one in told)
    assert targets(await tea.fork(fork.run, use={"tool:triple": "1.0.1"})) == targets(origin)
    assert (await tea.replay(fork.run)).answer == ANSWER
    inside = next(one.seq for one in tea.tracer.records(origin.run) if "count@1.0.0#add" in str(one.data))
    with pytest.raises(BadInput, match="at work"):
        await tea.fork(origin.run, at=inside, use={"agent:both": "1.0.0"})
    changed = await tea.fork(origin.run, at=targeted(tea, origin, "count@1.0.1#add", 1), use={"tool:double": "1.0.0"})
    assert changed.answer == ANSWER


def targeted(tea: Platform, outcome: Outcome, target: str, which: int) -> int:
    """The number of a call's first record."""
    starts = [one for one in tea.tracer.records(outcome.run) if one.kind == "start"]
    return [one.seq for one in starts if target in str(dict(one.data).get("target"))][which]  # type: ignore[arg-type]


async def test_an_environment_keeps_its_state_in_a_fork_to_a_version_with_the_same_bytes(tea: Platform) -> None:
    await furnish(tea)
    origin = await tea.run("go", agent="both")
    at = targeted(tea, origin, "count@1.0.1#add", 1)
    fork = await tea.fork(origin.run, at=at, use={"environment:count": "1.0.0"})
    assert (fork.answer, targets(fork)[-2]) == (ANSWER, "environment:count@1.0.0#add")


async def test_a_lock_names_one_of_two_versions_with_the_same_bytes(tea: Platform) -> None:
    await furnish(tea)
    outcome = await tea.run("2", agent="sub")
    lock = lock_run(tea.tracer.records(outcome.run))
    assert lock.components["tool:double"].version == "1.0.1"
    await verify(lock, tea.libraries)
    await tea.tcp.update("double", DOUBLE.replace("* 2", "* 9"), version="2.0.0")
    await verify(lock, tea.libraries)
    one = lock.components["tool:double"]
    wrong = Lock(components={**lock.components, "tool:double": one.model_copy(update={"version": "2.0.0"})})
    with pytest.raises(BadInput, match="its digest is that of"):
        await verify(wrong, tea.libraries)


async def test_a_version_whose_bytes_are_others_than_it_had_is_damage(tea: Platform) -> None:
    await furnish(tea)
    outcome = await tea.run("go", agent="both")
    changed: Any = await tea.tcp.update("double", DOUBLE.replace("* 2", "* 9"), version="2.0.0")
    path = tea.home / "registry" / "tools" / "double" / "versions"
    (path / "1.0.1.json").unlink()
    tea.versions.store.create("tool", "double", "1.0.1", {**changed.to_json(), "version": "1.0.1"})
    async with later(tea) as process:
        with pytest.raises(Diverged, match=r"double@1\.0\.1 does not have the bytes that were pinned"):
            await process.replay(outcome.run)


async def test_a_recipe_made_of_a_version_with_the_same_bytes_as_another_replays_and_goes_on(tea: Platform) -> None:
    await furnish(tea)
    for version in ("1.0.1", "1.0.0", "1.0.1"):
        await tea.tcp.restore(f"double@{version}")
        (made,) = await tea.transform("T2E", ["double"], name="place")
        assert (await tea.ecp.info("place")) == made
    assert [one.version for one in await tea.ecp.history("place")] == ["1.0.0", "1.0.1"]
    assert made.version == "1.0.0"
    await tea.acp.update("sub", SUB.replace('ctx.tcp.invoke("double"', 'ctx.ecp.invoke("place#double"'))
    outcome = await tea.run("4", agent="sub")
    assert outcome.answer == 8, outcome.reason
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    whole = records(outcome.trace)
    for length in [place for place, one in enumerate(whole, start=1) if one["kind"] == "done"]:
        async with later(tea) as process:
            other = cut(tea, outcome.run, length)
            assert (await process.resume(other)).answer == 8, length
            shutil.rmtree(tea.home / "traces" / other)
