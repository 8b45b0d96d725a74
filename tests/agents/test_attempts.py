"""Several attempts at one task: side by side, in turn, judged, within one budget and one journal."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from attempts_kit import TASK, Cast, answered, shown, step, steps, verdict
from killing import share_sources

from tea.errors import BadTask, NotLocked, ProviderError
from tea.models.manager import ModelConfig
from tea.platform import Platform
from tea.testing import platform
from tea.types import ModelRequest

PROCESS = Path(__file__).with_name("attempts_process.py")
THREE = {"planner": [answered("Rome", 50), answered("Oslo", 60), answered("Bern", 40)], "judge": verdict(2)}
SOURCED = [{"source": "task", "quote": "city"}]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


async def play(tea: Platform, model: Cast, task: str = TASK, **options: Any) -> Any:
    tea.models.add(ModelConfig(name="cast", provider="given"), model)
    return await tea.run(task, model="cast", **options)


async def test_one_judge_chooses_among_answers_side_by_side(tea: Platform) -> None:
    model = Cast(**THREE)
    outcome = await play(tea, model, attempts=3)
    assert (outcome.status, outcome.exit_code) == ("done", 0)
    assert model.asked() == {"planner": 3, "judge": 1}
    (asked,) = model.requests["judge"]
    given = [one["text"].splitlines()[0] for one in asked.variables["answers"]]
    listed = [f"Answer (confidence {one.confidence} of 100): {one.answer}" for one in outcome.attempts]
    assert given == listed
    assert outcome.answer == outcome.attempts[1].answer
    assert [one.chosen for one in outcome.attempts] == [False, True, False]
    assert [one.cost["steps"] for one in outcome.attempts] == [1, 1, 1]
    assert outcome.cost.steps == 4
    again = await tea.replay(outcome.run)
    assert again.to_json() == outcome.to_json()
    assert model.asked() == {"planner": 3, "judge": 1}


async def test_equal_answers_need_no_judge(tea: Platform) -> None:
    model = Cast(planner=[answered("1,000"), answered(1000), answered("1000.0")])
    outcome = await play(tea, model, attempts=3)
    assert outcome.ok
    assert model.asked() == {"planner": 3}


async def test_an_attempt_in_turn_begins_from_the_state_of_the_one_before(tea: Platform) -> None:
    first = steps(
        ("note", {"fact": "The city lies by a fjord.", "source": "atlas"}),
        ("plan", {"items": [{"item": "ask the archive"}, {"item": "ask the mayor", "state": "failed"}]}),
        ("calculator", {"expression": "1 / 0"}),
    )
    gives_up = step("done", success=False, reason="no list of cities was found")
    sure = answered("Oslo", 95, evidence=SOURCED)
    model = Cast(planner=[first, gives_up, answered("Rome", 40), sure], judge=verdict(2))
    outcome = await play(tea, model, attempts=4, successive=True)
    assert (outcome.ok, outcome.answer) == (True, "Oslo")
    assert [one.status for one in outcome.attempts] == ["failed", "done", "done", "stopped"]
    third = shown(model.requests["planner"][2])
    for words in (
        "Attempt 1 at this task ended",
        "no list of cities was found",
        "- ask the archive",
        "- ask the mayor",
        "calculator",
        "The city lies by a fjord. (atlas)",
    ):
        assert words in third, words
    fourth = shown(model.requests["planner"][3])
    assert "Rome (confidence 40 of 100)" in fourth
    assert "The city lies by a fjord. (atlas)" in fourth
    assert "Attempt 1" not in shown(model.requests["planner"][0])
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


async def test_an_attempt_that_fails_loses_none_of_the_others(tea: Platform) -> None:
    broken = ProviderError("The provider is down.", fix="wait.")
    for successive in (False, True):
        model = Cast(planner=[broken, answered("Oslo", 60), step("done", success=False, reason="not found")])
        outcome = await play(tea, model, attempts=3, successive=successive)
        assert (outcome.exit_code, outcome.answer) == (0, "Oslo")
        assert sorted(one.status for one in outcome.attempts) == ["done", "failed", "failed"]
        assert {one.reason for one in outcome.attempts} == {"The provider is down.", "", "not found"}
        assert all(one.cost for one in outcome.attempts)


async def test_attempts_that_all_fail_say_why(tea: Platform) -> None:
    model = Cast(planner=[step("done", success=False, reason=f"reason {number}") for number in (1, 2)])
    outcome = await play(tea, model, attempts=2)
    assert (outcome.status, outcome.exit_code) == ("failed", 1)
    assert "reason 1" in outcome.reason
    assert "reason 2" in outcome.reason
    down = Cast(planner=ProviderError("The provider is down.", fix="wait."))
    assert (await play(tea, down, attempts=2)).exit_code == 4


async def test_the_budget_is_divided_and_leaves_a_question_for_the_judge(tea: Platform) -> None:
    calls = iter(range(1, 100))

    def works(request: Any) -> Any:
        if "This is the last question" in shown(request):
            return answered(f"answer {next(calls)}", 30)
        return step("calculator", expression=f"{next(calls)} + 1")

    model = Cast(planner=works, judge=verdict(1))
    outcome = await play(tea, model, attempts=2, budget={"steps": 7})
    assert (outcome.ok, model.asked()["judge"]) == (True, 1)
    assert all(one.cost["steps"] <= 3 for one in outcome.attempts)
    few = Cast(planner=answered("Rome", 30))
    outcome = await play(tea, few, attempts=4, budget={"steps": 3})
    assert few.asked() == {"planner": 2}
    assert [one.status for one in outcome.attempts] == ["done", "done", "stopped", "stopped"]
    turned = Cast(planner=[answered("Rome", 30), answered("Oslo", 30)], judge=verdict(1))
    outcome = await play(tea, turned, attempts=4, successive=True, budget={"steps": 3})
    assert turned.asked() == {"planner": 2, "judge": 1}


async def test_attempts_without_an_end_say_why(tea: Platform) -> None:
    sure = await play(tea, Cast(planner=answered("Rome", 95)), attempts=3, successive=True)
    told = [one.reason for one in sure.attempts[1:]]
    assert told == ["not begun: attempt 1 was sure enough"] * 2
    agreed = await play(tea, Cast(planner=answered("Rome", 95)), attempts=3, budget={"steps": 3})
    assert agreed.attempts[2].reason == "two others agree and are sure"
    few = await play(tea, Cast(planner=answered("Rome", 30)), attempts=3, budget={"steps": 3})
    assert few.attempts[2].reason == "not begun: the budget left too little for it"
    turned = Cast(planner=[answered("Rome", 30), answered("Oslo", 30)], judge=verdict(1))
    short = await play(tea, turned, attempts=3, successive=True, budget={"steps": 3})
    assert short.attempts[2].reason == "not begun: the budget left too little for it"


async def test_without_a_readable_verdict_the_answer_of_most_confidence_counts(tea: Platform) -> None:
    replies = [answered("Rome", 50), answered("the Rome", 30), answered("Oslo", 70)]
    outcome = await play(tea, Cast(planner=replies, judge="no verdict"), attempts=3)
    assert outcome.ok
    assert outcome.answer in ("Rome", "the Rome")
    assert "no judge compared the answers" in outcome.gaps[0]


@pytest.mark.parametrize("named", ["attempt 2", "Attempt 2", "answer 2", "2", "attempt 2 stands best"])
async def test_a_judge_names_answers_as_they_are_shown_to_it(tea: Platform, named: str) -> None:
    objection = {"answer": "attempt 1", "objection": "it has no source", "refuted": True}
    judged = {**verdict(1), "choice": named, "refutations": [objection], "confidence": "high"}
    model = Cast(planner=[answered("Rome", 50), answered("Oslo", 40)], judge=judged)
    outcome = await play(tea, model, attempts=2)
    assert model.asked()["judge"] == 1
    assert [one.chosen for one in outcome.attempts] == [False, True]
    assert outcome.attempts[0].objection == "it has no source"
    assert outcome.gaps == ()


async def test_a_verdict_without_a_readable_choice_keeps_its_refutations(tea: Platform) -> None:
    judged = {**verdict(1, 1), "choice": "the better one"}
    model = Cast(planner=[answered("Rome", 90), answered("Oslo", 40)], judge=judged)
    outcome = await play(tea, model, attempts=2)
    assert model.asked()["judge"] == 2
    assert "These are: 1 (attempt 1), 2 (attempt 2)." in shown(model.requests["judge"][1])
    assert [one.chosen for one in outcome.attempts] == [False, True]
    assert outcome.gaps == ("attempt 2, as the judge named none of the answers as its choice",)


async def test_a_choice_that_the_judge_itself_refuted_does_not_stand(tea: Platform) -> None:
    model = Cast(planner=[answered("Rome", 50), answered("Oslo", 60)], judge=verdict(1, 1))
    outcome = await play(tea, model, attempts=2)
    assert outcome.attempts[1].chosen
    assert outcome.attempts[0].objection == "answer 1 has no source"
    told = [one.data["data"] for one in tea.tracer.records(outcome.run) if one.data.get("kind") == "attempt"]
    words = "attempt 2, which was not refuted: the judge chose attempt 1, and refuted it itself: answer 1 has no source"
    assert next(one["text"] for one in told if one["phase"] == "judge") == words
    model = Cast(planner=[answered("Rome", 50), answered("Oslo", 60)], judge=verdict(1, 1, 2))
    outcome = await play(tea, model, attempts=2)
    assert outcome.attempts[0].chosen
    assert "the judge refuted it: answer 1 has no source" in outcome.gaps


async def test_what_the_judge_is_not_shown_of_a_finding_is_marked(tea: Platform) -> None:
    fact = f"{'the river rises there ' * 12}and is 2,345,678 metres long and wide"
    noted = steps(("note", {"fact": fact, "source": "a.txt"}), ("calculator", {"expression": "1 + 1"}))
    ends = iter(("Rome", "Oslo"))

    def reply(request: ModelRequest) -> Any:
        return answered(next(ends), 50) if "river rises" in str(request) else noted

    model = Cast(planner=reply, judge=verdict(1))
    await play(tea, model, attempts=2)
    (asked,) = model.requests["judge"]
    line = next(one for one in asked.variables["answers"][0]["text"].splitlines() if "river rises" in one)
    assert line.endswith("more characters] (a.txt)")
    assert "2,345" not in line or "2,345,678" in line


async def test_the_judge_is_shown_the_doubts_of_an_attempt(tea: Platform) -> None:
    model = Cast(planner=[answered("Rome", 50, doubts="The year is a guess."), answered("Oslo")], judge=verdict(1))
    await play(tea, model, attempts=2)
    (asked,) = model.requests["judge"]
    texts = [one["text"] for one in asked.variables["answers"]]
    assert sum("Doubts of its own:\n- The year is a guess." in text for text in texts) == 1


async def test_the_judge_is_shown_what_a_long_call_gave(tea: Platform) -> None:
    called, ends = step("calculator", expression=" + ".join(["17"] * 100)), iter(("Rome", "Oslo"))

    def reply(request: ModelRequest) -> Any:
        return answered(next(ends), 50) if " + 17" in str(request) else called

    model = Cast(planner=reply, judge=verdict(1))
    await play(tea, model, attempts=2)
    (asked,) = model.requests["judge"]
    assert "more characters] 1700 (" in asked.variables["answers"][0]["text"]


async def test_two_sure_answers_that_agree_stop_what_goes_on(tea: Platform) -> None:
    sure = answered("Oslo", 95, evidence=SOURCED)

    async def never(request: Any) -> Any:
        await asyncio.Event().wait()

    model = Cast(planner=[sure, sure, never])
    async with asyncio.timeout(60):
        outcome = await play(tea, model, attempts=3)
        again = await tea.replay(outcome.run)
    assert (outcome.ok, outcome.answer) == (True, "Oslo")
    assert sorted(one.status for one in outcome.attempts) == ["done", "done", "stopped"]
    assert again.to_json() == outcome.to_json()


async def test_one_sure_answer_with_doubted_evidence_stops_nothing(tea: Platform) -> None:
    doubted = answered("Oslo", 99, evidence=[{"source": "never_read.csv", "quote": "Oslo"}])
    model = Cast(planner=[doubted, doubted, answered("Oslo", 50)])
    outcome = await play(tea, model, attempts=2, successive=True)
    assert len([one for one in outcome.attempts if one.status == "done"]) == 2


async def test_a_fork_in_the_middle_of_attempts_comes_to_their_end(tea: Platform) -> None:
    for successive in (False, True):
        model = Cast(**THREE)
        outcome = await play(tea, model, attempts=3, successive=successive)
        keys = [record.key for record in tea.tracer.records(outcome.run) if record.kind == "done"]
        fork = await tea.fork(outcome.run, at=keys[len(keys) // 2])
        assert fork.ok
        assert len(fork.attempts) == 3
        assert (await tea.replay(fork.run)).to_json() == fork.to_json()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"successive": True}, "needs several attempts"),
        ({"attempts": 2, "reflect": 1}, "no `reflect`"),
        ({"attempts": 17}, "attempts"),
        ({"attempts": 0}, "attempts"),
    ],
)
async def test_attempts_that_cannot_be_made_are_refused(tea: Platform, options: Any, words: str) -> None:
    before = len(tea.tracer.runs())
    with pytest.raises(BadTask, match=words):
        await play(tea, Cast(**THREE), **options)
    assert len(tea.tracer.runs()) == before


async def test_locked_attempts_need_their_leader_and_judge_locked(tea: Platform) -> None:
    from tea.runs.task_file import make_task

    version = (await tea.acp.info("planner")).version
    task = make_task({"task": TASK, "attempts": 2, "use": {"agent:planner": version}})
    with pytest.raises(NotLocked, match="agent:attempts"):
        await tea.execute(task, {}, locked=True)


async def test_what_a_person_says_reaches_the_next_attempt_in_turn(tea: Platform) -> None:
    async def told(request: Any) -> Any:
        await tea.tell("last", "It is not Rome.")
        return answered("Rome", 30)

    model = Cast(planner=[told, answered("Oslo", 95, evidence=SOURCED)], judge=verdict(2))
    outcome = await play(tea, model, attempts=2, successive=True)
    assert outcome.answer == "Oslo"
    assert "person: It is not Rome." in shown(model.requests["planner"][1])
    assert outcome.unheard == ()


async def test_an_agent_with_a_run_of_its_own_is_attempted_too(tea: Platform) -> None:
    source = '''
from tea import Agent, Context, Result, Task


class Dice(Agent):
    """Throw a die."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Throw it once."""
        number = int(await ctx.random() * 1_000_000)
        return Result(answer=number)
'''
    await tea.acp.register(source, author="test")
    model = Cast(judge=verdict(3))
    outcome = await play(tea, model, attempts=3, agent="dice")
    assert outcome.answer == outcome.attempts[2].answer
    assert [one.confidence for one in outcome.attempts] == [None, None, None]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["attempts", "successive", "debate"])
async def test_work_that_is_killed_goes_on_to_an_end(mode: str, tmp_path: Path, machine: Path) -> None:
    from attempts_process import begin, opened

    async with opened(tmp_path / "whole") as tea:
        whole = await begin(tea, mode)
        length = len(list(tea.tracer.records(whole.run)))
    chance = random.Random(mode)
    for number in range(3):
        home, records = tmp_path / str(number), chance.randint(3, length - 2)
        share_sources(home / "state", machine)
        command = [sys.executable, PROCESS, home, mode, str(records)]
        kits = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        process = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, timeout=240, env=kits, check=False
        )
        assert process.returncode == -signal.SIGKILL, process.stderr
        async with opened(home) as tea:
            resumed = await tea.resume("last")
            assert (resumed.ok, resumed.answer) == (True, whole.answer), records
            assert (await tea.replay(resumed.run)).to_json() == resumed.to_json()


CLERK = '''
from tea import Agent, Context, Result, Task


class Clerk(Agent):
    """Write down a number, and tell everything found before."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Leave a mark in a file, in the memory, in the state and in an environment."""
        number = int(await ctx.random() * 1_000_000_000)
        listed = await ctx.ecp.invoke("workspace#list_files", {})
        found = [[one["name"] for one in listed.unwrap()["files"]], await ctx.state.load(), await ctx.memory.recall()]
        (await ctx.ecp.invoke("workspace#write", {"name": f"{number}.txt", "text": "x"})).unwrap()
        await ctx.state.save([number])
        await ctx.memory.record("mark", {"number": number})
        mark = (await ctx.ecp.invoke("pad#add", {})).unwrap()
        return Result(answer=number, reason=str([*found, mark]))
'''
PAD = '''
from tea import Environment, action


class Pad(Environment):
    """Count the marks in memory."""

    recovery = "snapshot"

    def __init__(self) -> None:
        self.marks = 0

    @action(effects="writes", network=False)
    async def add(self) -> int:
        """Add a mark."""
        self.marks += 1
        return self.marks

    async def snapshot(self) -> int:
        """Return the marks."""
        return self.marks

    async def restore(self, state: int) -> None:
        """Take the marks over."""
        self.marks = state

    async def state(self) -> int:
        """Return the marks."""
        return self.marks
'''


@pytest.mark.parametrize("successive", [False, True])
async def test_attempts_share_nothing_and_what_the_chosen_one_left_is_handed_over(
    successive: bool, tmp_path: Path
) -> None:
    (tmp_path / "input.txt").write_text("given")
    async with platform() as tea:
        await tea.acp.register(CLERK, author="test")
        await tea.ecp.register(PAD, author="test")
        given: dict[str, Any] = {"attempts": 3, "successive": successive, "agent": "clerk", "session": "desk"}
        outcome = await play(tea, Cast(judge=verdict(2)), files=[tmp_path / "input.txt"], **given)
        assert [one.reason for one in outcome.attempts] == [str([["input.txt"], None, [], 1])] * 3
        assert outcome.answer == outcome.attempts[1].answer
        assert outcome.files == (f"{outcome.answer}.txt",)
        assert sorted(path.name for path in (outcome.trace / "workspace").glob("*.txt")) == [
            f"{outcome.answer}.txt",
            "input.txt",
        ]
        assert not (outcome.trace / "attempts").exists()
        assert (await tea.replay(outcome.run)).answer == outcome.answer
        after = await play(tea, Cast(judge=verdict(2)), agent="clerk", session="desk")
        assert str([[outcome.answer]])[1:-1] in after.reason
        assert f"'number': {outcome.answer}" in after.reason
        done = [one for one in tea.tracer.records(outcome.run) if one.kind == "done"]
        fork = await tea.fork(outcome.run, at=done[len(done) // 2].key)
        assert fork.files == (f"{fork.answer}.txt",)
        assert [one.reason for one in fork.attempts] == [one.reason for one in outcome.attempts]
        assert (await tea.replay(fork.run)).answer == fork.answer


async def test_a_confidence_as_a_fraction_or_a_percentage_is_one_of_a_hundred(tea: Platform) -> None:
    said: list[Any] = [0.9, "85%", 1.0]
    model = Cast(
        planner=[answered(city, one) for city, one in zip(("Rome", "Oslo", "Bern"), said, strict=True)],
        judge=verdict(2),
    )
    outcome = await play(tea, model, attempts=3)
    assert sorted(one.confidence for one in outcome.attempts) == [85, 90, 100]
