"""Test forks: a run with other versions, from a place in its journal on."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from journals import DOUBLE, SEND, records, rewrite_in_place
from loop_kit import Stage, done, step, sum_of

from tea.errors import BadInput, Damaged, Diverged, ProviderError
from tea.journal.recorder import Event
from tea.models.manager import ModelConfig
from tea.platform import Platform
from tea.runs.outcome import Outcome
from tea.testing import ScriptedModel, platform

CHAIN = '''
from tea import Agent, Context, Result, Task


class Chain(Agent):
    """Double a number three times, and write each result down."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        number, values = int(task.text), []
        for _ in range(3):
            number = (await ctx.tcp.invoke("double", {"number": number})).unwrap()
            values.append(str(number))
            await ctx.ecp.invoke("workspace#write", {"name": "log.txt", "text": " ".join(values)})
            await ctx.memory.record("doubled", {"number": number})
        remembered = len(await ctx.memory.recall("doubled"))
        written = (await ctx.ecp.invoke("workspace#read", {"name": "log.txt"})).unwrap()["text"]
        return Result(answer=f"{remembered}: {written}")
'''

COUNT = '''
from tea import Environment, action


class Count(Environment):
    """Count in memory."""

    recovery = "RECOVERY"

    def __init__(self) -> None:
        self.number = START

    @action(effects="writes", network=False)
    async def add(self, by: int) -> int:
        """Add to the number."""
        self.number += by
        return self.number

    async def state(self) -> int:
        """Return the number."""
        return self.number
'''

COUNTER = '''
from tea import Agent, Context, Result, Task


class Counter(Agent):
    """Count to six."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        for by in (1, 2, 3):
            response = await ctx.ecp.invoke("count#add", {"by": by})
            if not response.ok:
                return Result(ok=False, reason=response.error["problem"])
            await ctx.tcp.invoke("double", {"number": by})
        return Result(answer=response.value)
'''

SENDER = '''
from tea import Agent, Context, Result, Task


class Sender(Agent):
    """Send, then double."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        await ctx.tcp.invoke("send", {"words": task.text})
        return Result(answer=(await ctx.tcp.invoke("double", {"number": 2})).value)
'''


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as made:
        await made.tcp.register(DOUBLE)
        await made.tcp.update("double", DOUBLE.replace("* 2", "* 10"), version="2.0.0")
        await made.tcp.restore("double@1.0.0")
        await made.tcp.register(SEND)
        for source in (CHAIN, COUNTER, SENDER):
            await made.acp.register(source)
        yield made


def start_of(outcome: Outcome, target: str, which: int = 0) -> dict[str, Any]:
    """The start of a call by its target."""
    starts = [one for one in records(outcome.trace) if one["kind"] == "start" and one["data"]["kind"] != "resolve"]
    return [one for one in starts if target in one["data"]["target"]][which]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


async def test_another_version_serves_from_a_position_on_and_the_original_is_not_touched(tea: Platform) -> None:
    origin = await tea.run("1", agent="chain")
    assert origin.answer == "3: 2 4 8"
    before = files(origin.trace)
    third = start_of(origin, "tool:double", 2)
    told: list[str] = []
    fork = await tea.fork(origin.run, at=third["seq"], use={"tool:double": "2.0.0"}, tell=told.append)
    assert fork.answer == "3: 2 4 40"
    assert files(origin.trace) == before
    assert (origin.trace / "workspace" / "log.txt").read_text() == "2 4 8"
    assert (fork.trace / "workspace" / "log.txt").read_text() == "2 4 40"
    assert any("was used" in one and "2.0.0 serves" in one for one in told)
    head = records(fork.trace)[0]["data"]["fork"]
    assert (head["run"], head["position"]) == (origin.run, third["seq"])
    assert (await tea.fork(origin.run, at=third["key"], use={"tool:double": "2.0.0"})).answer == fork.answer


async def test_a_fork_replays_whatever_is_current_and_forks_again(tea: Platform) -> None:
    origin = await tea.run("1", agent="chain")
    at = start_of(origin, "tool:double", 1)["key"]
    fork = await tea.fork(origin.run, at=at, use={"tool:double": "2.0.0"})
    assert fork.answer == "3: 2 20 200"
    await tea.tcp.update("double", DOUBLE.replace("* 2", "* 3"), version="3.0.0")
    assert (await tea.replay(fork.run)).answer == fork.answer
    back = await tea.fork(fork.run, at=start_of(fork, "tool:double", 2)["seq"], use={"tool:double": "1.0.0"})
    assert back.answer == "3: 2 20 40"
    assert (await tea.replay(back.run)).answer == back.answer


async def test_what_the_origin_pinned_stays_though_it_is_current_no_more(tea: Platform) -> None:
    origin = await tea.run("1", agent="chain")
    await tea.tcp.restore("double@2.0.0")
    await tea.acp.update("chain", CHAIN.replace("range(3)", "range(9)"))
    same = await tea.fork(origin.run, at=0)
    assert same.answer == origin.answer
    assert (await tea.run("1", agent="chain")).answer != origin.answer


async def test_a_fork_begins_where_what_changes_comes_in(tea: Platform) -> None:
    origin = await tea.run("1", agent="chain")
    fork = await tea.fork(origin.run, use={"tool:double": "2.0.0"})
    assert fork.answer == "3: 10 100 1000"
    head = records(fork.trace)[0]["data"]["fork"]
    assert records(origin.trace)[head["position"]]["data"]["target"] == "tool:double"
    await tea.acp.update("chain", CHAIN.replace("range(3)", "range(2)"), version="2.0.0")
    other = await tea.fork(origin.run, use={"agent:chain": "2.0.0"})
    assert other.answer == "2: 2 4"


@pytest.mark.parametrize(
    "cut", [pytest.param(one, marks=pytest.mark.slow if one % 4 else ()) for one in range(4, 60, 6)]
)
async def test_a_fork_interrupted_anywhere_goes_on_and_ends_the_same(tea: Platform, cut: int) -> None:
    origin = await tea.run("1", agent="chain")
    fork = await tea.fork(origin.run, at=start_of(origin, "tool:double", 2)["seq"], use={"tool:double": "2.0.0"})
    kept = [one["kind"] for one in records(fork.trace)]
    cut = max(kept.index("forked") + 2, min(cut, len(kept) - 2))
    rewrite_in_place(tea.home, fork.run, lambda all_of_it: all_of_it[:cut])
    assert (await tea.resume(fork.run)).answer == fork.answer
    assert (await tea.replay(fork.run)).answer == fork.answer


async def test_a_fork_that_died_while_it_was_prepared_is_prepared_again_by_its_resume(tea: Platform) -> None:
    origin = await tea.run("1", agent="chain")
    fork = await tea.fork(origin.run, at=start_of(origin, "tool:double", 2)["seq"], use={"tool:double": "2.0.0"})
    begun = [one["kind"] for one in records(fork.trace)].index("rebuilt")
    rewrite_in_place(tea.home, fork.run, lambda all_of_it: all_of_it[:begun])
    workspace = fork.trace / "workspace"
    (workspace / "log.txt").write_text("half of ")
    assert (await tea.resume(fork.run)).answer == fork.answer == "3: 2 4 40"
    assert (workspace / "log.txt").read_text() == "2 4 40"
    assert (await tea.replay(fork.run)).answer == fork.answer


@pytest.mark.parametrize(
    ("at", "use", "words"),
    [
        ("9999", {}, "records"),
        ("0.77777", {}, "no effect with the key"),
        (None, {}, "Neither a position nor a change"),
        (None, {"tool:calculator": "1.0.0"}, "never used"),
        ("middle", {"agent:chain": "2.0.0"}, "is at work"),
    ],
)
async def test_a_place_where_no_fork_can_begin_is_refused_and_nothing_is_written(
    tea: Platform, at: str | None, use: Mapping[str, str], words: str
) -> None:
    origin = await tea.run("1", agent="chain")
    await tea.acp.update("chain", CHAIN.replace("range(3)", "range(2)"), version="2.0.0")
    runs = tea.tracer.runs()
    place = start_of(origin, "tool:double", 1)["key"] if at == "middle" else at
    with pytest.raises(BadInput, match=words):
        await tea.fork(origin.run, at=place, use=use)
    assert tea.tracer.runs() == runs


async def test_what_a_run_used_already_is_no_change_wherever_it_is_at_work(tea: Platform) -> None:
    origin = await tea.run("1", agent="chain")
    told: list[str] = []
    use = {"agent:chain": "1.0.0", "environment:workspace": "1.0.0"}
    fork = await tea.fork(origin.run, at=start_of(origin, "tool:double", 2)["seq"], use=use, tell=told.append)
    assert fork.answer == origin.answer
    assert sum("used already" in one for one in told) == 2


async def test_a_model_that_was_never_asked_is_no_place_to_fork_and_the_error_says_so(tea: Platform) -> None:
    origin = await tea.run("1", agent="chain")
    with pytest.raises(BadInput, match="never asked a model"):
        await tea.fork(origin.run, model="offline")


async def test_a_replay_with_another_version_of_what_was_never_used_is_refused(tea: Platform) -> None:
    origin = await tea.run("1", agent="chain")
    with pytest.raises(BadInput, match="never used tool:calculator"):
        await tea.replay(origin.run, use={"tool:calculator": "1.0.0"})
    assert (await tea.replay(origin.run, use={"tool:double": "1.0.0"})).answer == origin.answer


async def test_what_reached_the_world_after_the_position_is_told_before_the_fork_goes_on(tea: Platform) -> None:
    origin = await tea.run("hello", agent="sender")
    send = start_of(origin, "tool:send")["key"]
    for at, words in ((send, [f"tool:send@1.0.0#call ({send}) later on"]), (start_of(origin, "double")["key"], [])):
        told: list[str] = []
        await tea.fork(origin.run, at=at, tell=told.append)
        assert [one for one in told if "later on" in one and words[0] in one] if words else "later on" not in str(told)


LOOKER = '''
from tea import Agent, Context, Result, Task


class Looker(Agent):
    """Look at two pages."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Look."""
        return Result(answer=[(await ctx.tcp.invoke("page", {"number": one})).unwrap() for one in range(2)])
'''
PAGE = '''
from tea import tool


@tool(effects="reads", network=True)
async def page(number: int) -> int:
    """Read a page.

    Args:
        number: Which one.
    """
    return number
'''


async def test_a_fork_before_a_reading_from_the_network_tells_that_it_may_see_another_page(tea: Platform) -> None:
    await tea.tcp.register(PAGE)
    await tea.acp.register(LOOKER)
    origin = await tea.run("look", agent="looker")
    second = start_of(origin, "tool:page", 1)["key"]
    end = list(tea.tracer.records(origin.run))[-2].seq
    told: dict[Any, list[str]] = {}
    for at in (second, end):
        await tea.fork(origin.run, at=at, tell=told.setdefault(at, []).append)
    assert f"The run then read by tool:page@1.0.0#call ({second}), over the network" in told[second][0]
    assert "the fork may see another page" in told[second][0]
    assert "another page" not in str(told[end])


async def test_an_environment_that_reruns_is_brought_to_where_the_fork_begins(tea: Platform) -> None:
    await tea.ecp.register(COUNT.replace("RECOVERY", "rerun").replace("START", "0"))
    origin = await tea.run("count", agent="counter")
    assert origin.answer == "6" or origin.answer == 6
    fork = await tea.fork(origin.run, at=start_of(origin, "count", -1)["seq"])
    assert fork.answer == origin.answer
    assert (await tea.replay(fork.run)).answer == fork.answer


async def test_an_environment_that_is_another_when_it_reruns_refuses_the_fork(tea: Platform) -> None:
    random = COUNT.replace("RECOVERY", "rerun").replace("START", "secrets.randbelow(10**9)")
    await tea.ecp.register("import secrets\n" + random)
    origin = await tea.run("count", agent="counter")
    runs = tea.tracer.runs()
    with pytest.raises(BadInput, match="something else"):
        await tea.fork(origin.run, at=start_of(origin, "count", -1)["seq"])
    assert tea.tracer.runs() == runs


async def test_an_environment_whose_state_is_lost_refuses_a_fork_behind_its_first_change(tea: Platform) -> None:
    await tea.ecp.register(COUNT.replace("RECOVERY", "lost").replace("START", "0"))
    origin = await tea.run("count", agent="counter")
    with pytest.raises(BadInput, match="lost"):
        await tea.fork(origin.run, at=start_of(origin, "count", -1)["seq"])
    assert (await tea.fork(origin.run, use={"tool:double": "2.0.0"}, at=1)).answer == origin.answer


OPENED = COUNT.replace("RECOVERY", "lost").replace("START", "0").replace('"writes"', '"reads"')


async def test_an_environment_that_was_only_read_is_said_to_be_lost_once_in_a_fork(tea: Platform) -> None:
    """Opening a page changes nothing beyond the page, but a fork has none open."""
    await tea.ecp.register(OPENED)
    await tea.acp.register(
        COUNTER.replace('return Result(ok=False, reason=response.error["problem"])', "lost.append(response.error)")
        .replace("for by in", "lost = []\n        for by in")
        .replace("answer=response.value", "answer=[response.value, [one['problem'] for one in lost]]")
    )
    origin = await tea.run("count", agent="counter")
    assert origin.answer == [6, []]
    assert (await tea.fork(origin.run, at=1)).answer == [6, []]
    fork = await tea.fork(origin.run, at=start_of(origin, "double")["seq"])
    problem = "The state of environment:count@1.0.0 is not brought back in a fork; it begins anew."
    assert fork.answer == [3, [problem]]
    assert (await tea.replay(fork.run)).answer == fork.answer


async def test_what_reaches_the_world_is_not_done_again(tea: Platform) -> None:
    origin = await tea.run("hello", agent="sender")
    told: list[str] = []
    fork = await tea.fork(origin.run, at=start_of(origin, "double")["seq"], tell=told.append)
    assert fork.answer == origin.answer
    assert not (fork.trace / "workspace" / "sent.txt").exists()
    assert [one for one in told if "tool:send@" in one and "not done again" in one]


async def test_another_model_answers_from_the_fork_on(tmp_path: Path) -> None:
    async with Stage.open() as stage:
        origin, _ = await stage.play(step(sum_of("6*7")), step(done("42")))
        second = start_of(origin, "model:given", -1)
        stage.model = other = ScriptedModel([step(done("forty-two"))])
        fork = await stage.tea.fork(origin.run, at=second["key"])
        assert (fork.answer, len(other.requests)) == ("forty-two", 1)
        assert (await stage.tea.replay(fork.run)).answer == "forty-two"
        assert (await stage.tea.replay(origin.run)).answer == "42"


async def test_a_prompt_in_another_version_is_read_from_the_fork_on(tmp_path: Path) -> None:
    async with Stage.open() as stage:
        origin, _ = await stage.play(step(sum_of("6*7")), step(done("42")), agent="planner")
        text = (await stage.tea.libraries["prompt"].info("planner")).source
        await stage.tea.libraries["prompt"].update("planner", text + "\nSpeak like a pirate.\n", version="1.1.0")
        stage.model = model = ScriptedModel([step(done("aye"))])
        watched: list[Event] = []
        at = start_of(origin, "model:given", -1)["seq"]
        fork = await stage.tea.fork(origin.run, at=at, use={"prompt:planner": "1.1.0"}, watch=watched.append)
        assert fork.answer == "aye"
        assert "pirate" in str(model.requests[0].messages)
        assert watched[0].kind == "run"
        assert (await stage.tea.replay(fork.run)).answer == "aye"


@pytest.mark.parametrize("place", ["start", "done"])
async def test_a_fork_while_what_a_prompt_is_based_on_is_looked_up_asks_by_the_other_version(place: str) -> None:
    async with Stage.open() as stage:
        origin, _ = await stage.play(step(sum_of("6*7")), step(done("42")), agent="planner")
        library = stage.tea.libraries["prompt"]
        await library.update("planner", (await library.info("planner")).source + "\nSpeak like a pirate.\n")
        stage.model = model = ScriptedModel([step(sum_of("6*7")), step(done("aye"))])
        found = records(origin.trace)
        (key,) = [one["key"] for one in found if one["data"].get("target") == "prompt:tool_calling"]
        (at,) = [one["seq"] + (place == "done") for one in found if (one["kind"], one["key"]) == (place, key)]
        fork = await stage.tea.fork(origin.run, at=at, use={"prompt:planner": "1.0.1"})
        assert (fork.answer, ["pirate" in str(one.messages) for one in model.requests]) == ("aye", [True, True])
        assert (await stage.tea.replay(fork.run)).answer == "aye"


async def test_agents_that_do_otherwise_before_the_position_diverge_and_leave_nothing(tea: Platform) -> None:
    nosy = CHAIN.replace("class Chain", "class Nosy").replace(
        "number, values = int(task.text), []",
        'number, values = int(task.text), []\n        ctx.note("seen", {"run": ctx.run})',
    )
    await tea.acp.register(nosy)
    origin = await tea.run("1", agent="nosy")
    runs = tea.tracer.runs()
    with pytest.raises(Diverged):
        await tea.fork(origin.run, at=start_of(origin, "tool:double", 2)["seq"])
    assert tea.tracer.runs() == runs


async def test_a_configured_model_answers_from_the_fork_on_and_in_its_replay(tmp_path: Path) -> None:
    async with Stage.open() as stage:
        origin, _ = await stage.play(step(sum_of("6*7")), step(done("42")))
        other = ScriptedModel([step(done("other"))] * 2)
        stage.tea.models.add(ModelConfig(name="other", provider="scripted"), other)
        fork = await stage.tea.fork(origin.run, at=start_of(origin, "model:given", -1)["key"], model="other")
        assert (fork.answer, len(other.requests)) == ("other", 1)
        assert (await stage.tea.replay(fork.run)).answer == "other"
        first = ScriptedModel([step(done("at once"))] * 2)
        stage.tea.models.add(ModelConfig(name="first", provider="scripted"), first)
        assert (await stage.tea.fork(origin.run, model="first")).answer == "at once"
        spaced = await stage.tea.fork(origin.run, model="first/of three words")
        assert (await stage.tea.fork(spaced.run, model="other")).answer == "other"
        with pytest.raises(ProviderError):
            await stage.tea.fork(origin.run, model="nobody")


async def test_inputs_are_taken_over_and_must_be_what_the_run_was_given(tea: Platform, tmp_path: Path) -> None:
    given = tmp_path / "given.txt"
    given.write_text("given")
    origin = await tea.run("1", agent="chain", files=[given])
    at = start_of(origin, "tool:double", 1)["seq"]
    fork = await tea.fork(origin.run, at=at)
    assert (fork.trace / "workspace" / "given.txt").read_text() == "given"
    (origin.trace / "workspace" / "given.txt").write_text("other")
    runs = tea.tracer.runs()
    with pytest.raises(Damaged, match=r"given\.txt"):
        await tea.fork(origin.run, at=at)
    assert tea.tracer.runs() == runs
    assert (await tea.replay(fork.run)).answer == fork.answer
