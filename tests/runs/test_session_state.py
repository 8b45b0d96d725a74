"""Lasting state of environments with snapshots: in a session, from process to process."""

import asyncio
import json
import os
import random
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from journals import COUNT, records
from killing import KILLED, Killable

from tea.errors import ApprovalNeeded, Damaged
from tea.journal.retention import RetentionPolicy, collect
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.runs.policy import AllowTrusted
from tea.store.repair import examine

KILLS = int(os.environ.get("TEA_TEST_KILLS", "20"))
KEPT = COUNT.replace("RECOVERY", "snapshot").replace('effects="writes"', 'effects="writes", idempotent=True')
COUNTER = '''
from tea import Agent, Context, Result, Task


class Counter(Agent):
    """Add one, three times, and tell the number."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Count."""
        problems = []
        for _ in range(3):
            response = await ctx.ecp.invoke("count#add", {"by": 1})
            problems += [response.error["problem"]] if response.error else []
            if task.text == "ask":
                await ctx.person("Go on?")
        return Result(answer=(await ctx.ecp.state("count")).value, reason="; ".join(problems))
'''

TWICE = '''
from tea import Context, tool


@tool(effects="writes", idempotent=True, network=False)
async def twice(ctx: Context) -> int:
    """Add one twice."""
    await ctx.ecp.invoke("count#add", {"by": 1})
    return (await ctx.ecp.invoke("count#add", {"by": 1})).value
'''

TWICER = '''
from tea import Agent, Context, Result, Task


class Twicer(Agent):
    """Have two added, twice."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Count."""
        await ctx.tcp.invoke("twice", {})
        return Result(answer=(await ctx.tcp.invoke("twice", {})).value)
'''

SLOW = '''
import asyncio
import os

    @action(effects="writes", network=False)
    async def wait(self) -> int:
        """Add a hundred, when it is told to."""
        os.write(BEGUN, b".")
        await asyncio.to_thread(os.read, GO_ON, 1)
        self.number += 100
        return self.number

'''


@asynccontextmanager
async def process(folder: Path) -> AsyncIterator[Platform]:
    """A platform sharing nothing with another but the home, as in a process of its own."""
    async with Platform(folder / "home", policy=AllowTrusted(), state=folder / "state") as made:
        yield made


async def add(tea: Platform, by: int, ref: str = "count", session: str | None = "s") -> Any:
    return await tea.ecp.invoke(ref, "add", by=by, session=session)


async def number(tea: Platform, ref: str = "count", session: str = "s") -> Any:
    return (await tea.ecp.state(ref, session=session)).unwrap()


def documents(folder: Path) -> list[Any]:
    found = (folder / "home" / "traces" / "memory").glob("environment-*.json")
    return [json.loads(path.read_bytes())["document"] for path in found]


async def test_calls_in_two_processes_find_what_the_ones_before_left(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        await tea.ecp.register(KEPT)
        assert (await add(tea, 5)).unwrap() == 5
    async with process(tmp_path) as tea:
        assert await number(tea) == 5
        assert (await add(tea, 2)).unwrap() == 7
        assert await number(tea, session="other") == 0
        assert (await add(tea, 1, session=None)).unwrap() == 1
    (document,) = documents(tmp_path)
    assert (document["session"], document["environment"]) == ("s", "count")
    assert document["kept"]["last"]["revision"][0] == 2


async def test_an_environment_that_does_not_recover_by_snapshots_keeps_nothing(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        await tea.ecp.register(KEPT.replace('"snapshot"', '"rerun"'))
        await add(tea, 5)
    async with process(tmp_path) as tea:
        assert await number(tea) == 0
    assert documents(tmp_path) == []


async def test_platforms_that_are_open_side_by_side_take_turns_and_see_each_other(tmp_path: Path) -> None:
    async with process(tmp_path) as one, process(tmp_path) as other:
        await one.ecp.register(KEPT)
        found = [(await add(tea, 1)).unwrap() for tea in (one, other, other, one, one, other)]
        assert found == [1, 2, 3, 4, 5, 6]
        assert [await number(one), await number(other)] == [6, 6]


async def test_a_run_takes_the_state_over_and_neither_replay_nor_fork_looks_at_it_again(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        await tea.ecp.register(KEPT)
        await tea.acp.register(COUNTER)
        await add(tea, 10)
    async with process(tmp_path) as tea:
        outcome = await tea.run("count", agent="counter", session="s")
        assert (outcome.answer, outcome.reason) == (13, "")
    async with process(tmp_path) as tea:
        assert (await add(tea, 100)).unwrap() == 113
        before = documents(tmp_path)
        assert (await tea.replay(outcome.run)).answer == 13
        for at in adds(outcome):
            assert (await tea.fork(outcome.run, at=at)).answer == 13
        assert documents(tmp_path) == before
        assert await number(tea) == 113


def adds(outcome: Outcome) -> list[str]:
    return [one["key"] for one in records(outcome.trace) if one["kind"] == "start" and "#add" in str(one["data"])]


async def test_a_run_that_waited_goes_on_with_what_others_left_meanwhile(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        await tea.ecp.register(KEPT)
        await tea.acp.register(COUNTER)
        with pytest.raises(ApprovalNeeded):
            await tea.run("ask", agent="counter", session="s")
    for by in (10, 100):
        async with process(tmp_path) as tea:
            await add(tea, by)
        async with process(tmp_path) as tea:
            (question,) = (await tea.inbox()).questions
            with pytest.raises(ApprovalNeeded):
                await tea.resume(question.run, answers={question.key: "yes"})
    async with process(tmp_path) as tea:
        (question,) = (await tea.inbox()).questions
        outcome = await tea.resume(question.run, answers={question.key: "yes"})
        assert outcome.answer == 113
        assert (await tea.replay(outcome.run)).answer == 113


@pytest.fixture
def pipes() -> Iterator[tuple[int, int, int, int]]:
    ends = (*os.pipe(), *os.pipe())
    yield ends
    for end in ends:
        os.close(end)


async def test_a_second_process_gets_a_conflict_while_the_first_acts(
    tmp_path: Path, pipes: tuple[int, int, int, int]
) -> None:
    begun, begin, go_on, go = pipes
    imports, action = SLOW.split("\n\n", 1)
    words = {"GO_ON": str(go_on), "BEGUN": str(begin)}
    for word, text in words.items():
        action = action.replace(word, text)
    source = imports + KEPT.replace("    async def snapshot", f"{action}    async def snapshot")
    async with AsyncExitStack() as stack, asyncio.timeout(30):
        one = await stack.enter_async_context(process(tmp_path))
        other = await stack.enter_async_context(process(tmp_path))
        await one.ecp.register(source)
        await one.acp.register(COUNTER)
        await add(one, 1)
        acting = asyncio.ensure_future(one.ecp.invoke("count#wait", session="s"))
        await asyncio.to_thread(os.read, begun, 1)
        try:
            refused = await add(other, 5)
            assert refused.error["code"] == "Conflict"
            assert refused.error["problem"] == "Another process acts in environment:count of the session s."
            assert await number(other) == 1  # looking needs no turn, and shows what was there before
            assert (await add(other, 5, session="elsewhere")).unwrap() == 5
            outcome = await other.run("count", agent="counter", session="s")
            assert outcome.reason.count("Another process acts") == 3
            assert (await other.replay(outcome.run)).reason == outcome.reason
        finally:
            os.write(go, b".")
        assert (await acting).unwrap() == 101
        assert (await add(other, 5)).unwrap() == 106


@pytest.mark.parametrize("reads_first", [False, True])
async def test_another_version_gets_the_state_only_if_it_accepts_it_and_else_is_told_once(
    tmp_path: Path, reads_first: bool
) -> None:
    strict = KEPT.replace("self.number = state", "self.number = state['number']").replace(
        "return self.number\n\n    async def restore", "return {'number': self.number}\n\n    async def restore"
    )
    async with process(tmp_path) as tea:
        await tea.ecp.register(KEPT)
        await add(tea, 5)
        await tea.ecp.update("count", KEPT.replace("Count in memory", "Count in memory, again"))
        assert (await add(tea, 1)).unwrap() == 6
        await tea.ecp.update("count", strict)
    async with process(tmp_path) as tea:
        lost = await (tea.ecp.state("count", session="s") if reads_first else add(tea, 1))
        assert "The state of environment:count" in lost.error["problem"]
        assert "is lost: another version left it" in lost.error["problem"]
        assert (await number(tea, "count@1.0.0")) == 6  # it is there for those who accept it
        assert (await number(tea)) == 0
    async with process(tmp_path) as tea:
        assert (await add(tea, 1)).unwrap() == 1
        assert (await add(tea, 1)).unwrap() == 2
    async with process(tmp_path) as tea:
        assert await number(tea) == 2


async def test_a_run_is_told_of_a_lost_state_once_and_replays(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        await tea.acp.register(COUNTER)
        await tea.ecp.register(KEPT)
        await add(tea, 5)
        await tea.ecp.update("count", KEPT.replace("self.number = state", "raise ValueError('no')"))
    async with process(tmp_path) as tea:
        outcome = await tea.run("count", agent="counter", session="s")
        assert (outcome.answer, outcome.reason.count("is lost")) == (2, 1)
        assert (await tea.replay(outcome.run)).reason == outcome.reason


async def test_what_one_effect_changed_twice_is_found_whole_by_the_next(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        await tea.ecp.register(KEPT)
        await tea.tcp.register(TWICE)
        assert (await tea.tcp.invoke("twice", session="s")).unwrap() == 2
    async with process(tmp_path) as tea:
        assert (await tea.tcp.invoke("twice", session="s")).unwrap() == 4


async def test_what_is_kept_holds_no_secret_and_goes_with_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "sesame-open-sesame")
    texts = KEPT.replace("self.number = 0", "self.number = ''").replace("int", "str")
    async with process(tmp_path) as tea:
        await tea.ecp.register(texts)
        await tea.acp.register(COUNTER)
        await tea.ecp.invoke("count#add", {"by": "sesame-open-sesame"}, session="s")
        (document,) = documents(tmp_path)
        assert "sesame" not in json.dumps(document)
        assert document["kept"]["last"]["state"] == "<secret:SHOP_API_KEY>"
        gone = await tea.run("count", agent="counter")
        await tea.ecp.invoke("count#add", {"by": "x"}, session=gone.run)
        assert len(documents(tmp_path)) == 2
        policy = RetentionPolicy(newest=0)
        await asyncio.to_thread(collect, tea.tracer, tea.memory, policy, remove=True)
    assert [one["session"] for one in documents(tmp_path)] == ["s"]


async def test_a_damaged_state_is_named_and_nothing_is_made_up(tmp_path: Path) -> None:
    async with process(tmp_path) as tea:
        await tea.ecp.register(KEPT)
        await add(tea, 5)
        (path,) = (tmp_path / "home" / "traces" / "memory").glob("environment-*.json")
        path.write_bytes(path.read_bytes().replace(b'"state": 5', b'"state": 6'))
    async with process(tmp_path) as tea:
        with pytest.raises(Damaged, match="does not match its check"):
            await add(tea, 1)
        (found,) = await asyncio.to_thread(examine, tmp_path / "home", mend=True)
        assert ("does not match its check" in found.problem, found.mended) == (True, "")


@pytest.fixture(scope="module")
def tea_killed(tmp_path_factory: pytest.TempPathFactory, machine: Path) -> Iterator[Killable]:
    made = Killable(tmp_path_factory.mktemp("killed"), machine)
    yield made
    made.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def stocked(tea_killed: Killable) -> Path:
    """A home with the environment, the tool and the agents, and one in the count."""
    home = tea_killed.folder / "stocked"
    home.mkdir()
    sources = {"count.py": KEPT, "twice.py": TWICE, "counter.py": COUNTER, "twicer.py": TWICER}
    for file, source in sources.items():
        (home / file).write_text(source)
        assert tea_killed(home, "register", file)[0] == 0
    assert tea_killed(home, *ACT)[0] == 0
    return home


@pytest.fixture
def home(stocked: Path, tmp_path: Path) -> Path:
    return shutil.copytree(stocked, tmp_path / "home")


def state(tea: Killable, home: Path) -> int:
    code, out = tea(home, "state", "count", "--session", "s", "--json")
    assert code == 0, out
    return json.loads(out)["value"]


ACT = ("call", "environment:count#add", "by=1", "--session", "s", "--json")


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_call_that_is_killed_leaves_the_state_before_or_after_it(
    tea_killed: Killable, home: Path, moment: str
) -> None:
    assert tea_killed(home, *ACT, kept=(moment, 1))[0] == KILLED
    assert state(tea_killed, home) == {"before": 1, "after": 2}[moment]


@pytest.mark.parametrize(
    ("agent", "moment", "place"), [("counter", "before", 2), ("counter", "after", 2), ("twicer", "after", 3)]
)
def test_a_run_that_is_killed_counts_each_effect_once(
    tea_killed: Killable, home: Path, agent: str, moment: str, place: int
) -> None:
    line = ("run", "count", "--agent", agent, "--session", "s", "--json", "-q")
    assert tea_killed(home, *line, kept=(moment, place))[0] == KILLED
    code, out = tea_killed(home, "resume", "last", "--json", "-q")
    expected = {"counter": 4, "twicer": 5}[agent]
    assert (code, json.loads(out)["answer"]) == (0, expected), out
    assert state(tea_killed, home) == expected
    assert tea_killed(home, "replay", "last", "-q")[0] == 0


@pytest.mark.slow
def test_wherever_calls_and_runs_are_killed_the_state_is_that_of_a_recorded_effect(
    tea_killed: Killable, home: Path, tmp_path: Path
) -> None:
    whole, chance, before = shutil.copytree(home, tmp_path / "whole"), random.Random(16), 1
    line = ("run", "count", "--agent", "twicer", "--session", "s", "--json", "-q")
    for _ in range(KILLS):
        code, _out = tea_killed(home, *ACT, kept=("within", chance.uniform(0.1, 0.6)))
        found = state(tea_killed, home)
        assert found in ((before + 1,) if code == 0 else (before, before + 1))
        before = found
    for number in range(KILLS // 2):
        home = shutil.copytree(whole, tmp_path / str(number))
        moment = chance.randint(1, 16), chance.choice((0.0, 0.0, chance.uniform(0.0, 0.01)))
        killed, out = tea_killed(home, *line, moment=moment)
        assert killed in (0, KILLED), out
        if killed == KILLED and list(home.glob("traces/*/journal.jsonl")):
            tea_killed(home, "resume", "last", "--json", "-q")
        assert state(tea_killed, home) == (5 if list(home.glob("traces/*/journal.jsonl")) else 1), moment
