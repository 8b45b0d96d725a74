"""Test messages to a run on its way: each reaches its agent once, across any death."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from journals import DOUBLE, records
from test_killed_runs import KILLED, Killable

from tea import Agent, Context, Result, Task
from tea.errors import ApprovalNeeded, BadInput, Damaged, InternalError
from tea.journal.recorder import Event
from tea.platform import Platform
from tea.testing import platform

HEARER = '''
from tea import Agent, Context, Result, Task


class Hearer(Agent):
    """Double as often as the task says, and hear before each time; ask a person in the middle."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        heard = []
        for number in range(int(task.text)):
            heard += await ctx.messages()
            await ctx.tcp.invoke("double", {"number": number})
            if number == 1 or heard[-1:] == ["wait"]:
                await ctx.person("Go on?")
        return Result(answer="|".join(heard))
'''

EAR = '''
from tea import Context, tool


@tool
async def ear(ctx: Context) -> list[str]:
    """Listen."""
    return await ctx.messages()
'''


class Waiter(Agent):
    """Hear until it is told to stop."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Wait."""
        heard: list[str] = []
        while "stop" not in heard:
            heard += await ctx.messages()
            await ctx.sleep(0.001)
        return Result(answer="|".join(heard))


class Ears(Agent):
    """Hear in several branches at once, until all was heard."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Hear."""
        heard: list[str] = []

        async def hear() -> None:
            while len(heard) < int(task.text):
                heard.extend(await ctx.messages())
                await ctx.random()

        async with ctx.group() as group:
            for _ in range(4):
                group.spawn(hear())
        return Result(answer="|".join(heard))


class Hasty(Agent):
    """Hear in a lost race, then again."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Hear."""

        async def nothing() -> None:
            return None

        await ctx.person("Told?")
        await ctx.race(nothing(), ctx.messages())
        return Result(answer="|".join(await ctx.messages()))


class Deaf(Agent):
    """Let a tool listen."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Listen."""
        return Result(answer=str((await ctx.tcp.invoke("ear", {})).error))


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as made:
        await made.tcp.register(DOUBLE)
        await made.acp.register(HEARER)
        for found in (Waiter, Ears, Hasty, Deaf):
            await made.acp.register(found)
        yield made


async def suspended(tea: Platform, task: str = "4", agent: str = "hearer") -> tuple[str, dict[str, str]]:
    """Run an agent until it waits; return its run, and the answer it wants."""
    with pytest.raises(ApprovalNeeded):
        await tea.run(task, agent=agent)
    (question,) = (await tea.inbox("last")).questions
    return question.run, {question.key: "yes"}


def taken(tea: Platform, run: str) -> list[str]:
    """The texts of each outcome of taking messages in a journal."""
    found = records(tea.home / "traces" / run)
    keys = {one["key"] for one in found if one["kind"] == "start" and one["data"]["kind"] == "messages"}
    outcomes = [one["data"]["data"] for one in found if one["kind"] == "done" and one["key"] in keys]
    return ["|".join(message["text"] for message in one) for one in outcomes]


async def test_what_is_told_while_a_run_waits_is_delivered_once_after_the_resume(tea: Platform) -> None:
    run, answers = await suspended(tea)
    assert [await tea.tell("last", text) for text in ("first", "second \u202e\x1b[31m")] == [1, 2]
    outcome = await tea.resume(run, answers=answers)
    assert outcome.answer == "first|second \u202e\x1b[31m"
    assert taken(tea, run) == [outcome.answer]
    assert (await tea.replay(run)).answer == outcome.answer


async def test_a_call_that_finds_nothing_leaves_no_record(tea: Platform) -> None:
    run, answers = await suspended(tea)
    outcome = await tea.resume(run, answers=answers)
    assert (outcome.answer, taken(tea, run)) == ("", [])
    assert not (tea.home / "traces" / run / "messages").exists()
    assert (await tea.replay(run)).answer == ""


async def test_fifty_who_tell_a_run_that_goes_on_lose_nothing_and_it_hears_them_in_one_order(tea: Platform) -> None:
    begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    told: list[str] = []

    def watch(event: Event) -> None:
        if event.kind == "run":
            begun.set_result(event.data["setting"]["run"])
        elif event.kind == "done" and isinstance(event.data["data"], list):
            told.extend(one["text"] for one in event.data["data"])

    async with Platform(tea.home, state=tea.trust.path.parent) as other:
        running = asyncio.ensure_future(tea.run("wait", agent="waiter", watch=watch))
        run = await begun
        texts = [f"{number}" for number in range(50)]
        numbers = await asyncio.gather(*[(tea, other)[number % 2].tell(run, text) for number, text in enumerate(texts)])
        assert sorted(numbers) == list(range(1, 51))
        assert await other.tell(run, "stop") == 51
        outcome = await running
    in_order = [text for _, text in sorted(zip(numbers, texts, strict=True))]
    assert outcome.answer == "|".join([*in_order, "stop"]) == "|".join(told)
    assert (await tea.replay(run)).answer == outcome.answer


async def test_branches_that_hear_at_once_hear_each_message_once(tea: Platform) -> None:
    begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def watch(event: Event) -> None:
        if event.kind == "run":
            begun.set_result(event.data["setting"]["run"])

    running = asyncio.ensure_future(tea.run("30", agent="ears", watch=watch))
    run = await begun
    for number in range(30):
        await tea.tell(run, str(number))
    outcome = await running
    assert sorted(map(int, str(outcome.answer).split("|"))) == list(range(30))
    assert (await tea.replay(run)).answer == outcome.answer


async def test_a_message_whose_taking_is_called_off_is_delivered_by_the_next_call(tea: Platform) -> None:
    run, answers = await suspended(tea, agent="hasty")
    await tea.tell(run, "still there")
    outcome = await tea.resume(run, answers=answers)
    assert outcome.answer == "still there"
    assert (await tea.replay(run)).answer == "still there"


async def test_a_fork_begins_with_what_was_told_before_and_is_told_for_itself(tea: Platform) -> None:
    run, answers = await suspended(tea)
    await tea.tell(run, "wait")
    with pytest.raises(ApprovalNeeded):
        await tea.resume(run, answers=answers)
    (question,) = (await tea.inbox(run)).questions
    with pytest.raises(ApprovalNeeded):
        await tea.fork(run, at=question.key)
    (asked,) = (await tea.inbox("last")).questions
    await tea.tell(run, "later")
    assert await tea.tell(asked.run, "to the fork") == 1
    assert (await tea.resume(asked.run, answers={asked.key: "yes"})).answer == "wait|to the fork"
    assert (await tea.replay(asked.run)).answer == "wait|to the fork"
    assert (await tea.resume(run, answers={question.key: "yes"})).answer == "wait|later"
    first = next(one for one in records(tea.home / "traces" / run) if one["data"].get("kind") == "messages")
    assert (await tea.fork(run, at=first["key"])).answer == ""


async def test_who_cannot_be_told_says_so_and_nothing_is_written(tea: Platform) -> None:
    run, answers = await suspended(tea)
    for text, words in (("", "is empty"), (" \n", "is empty"), ("é" * 32769, "65,538 bytes"), ("\ud800", "not text")):
        with pytest.raises(BadInput, match=words):
            await tea.tell(run, text)
    with pytest.raises(BadInput, match="No runs begin with 'nowhere'"):
        await tea.tell("nowhere", "words")
    assert not (tea.home / "traces" / run / "messages").exists()
    await tea.tell(run, "é" * 32768)
    assert len((await tea.resume(run, answers=answers)).answer) == 32768
    with pytest.raises(BadInput, match="has ended"):
        await tea.tell(run, "too late")
    assert len(list((tea.home / "traces" / run / "messages").iterdir())) == 1


async def test_a_run_that_ends_before_it_takes_a_message_is_no_success(
    tea: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, answers = await suspended(tea)
    await tea.tell(run, "in time")
    await tea.resume(run, answers=answers)
    looks = iter([False, True])

    def ended(run: str) -> bool:
        return next(looks)

    monkeypatch.setattr(tea.tracer, "ended", ended)
    with pytest.raises(BadInput, match="ended before it took the message"):
        await tea.tell(run, "too late")


async def test_a_message_holds_no_secret_of_the_operator(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DB_PASSWORD=planted-0123456789\n")
    async with Platform(tmp_path, state=tmp_path / "state") as tea:
        await tea.tcp.register(DOUBLE)
        await tea.acp.register(HEARER)
        run, answers = await suspended(tea)
        await tea.tell(run, "it is planted-0123456789")
        assert (await tea.resume(run, answers=answers)).answer == "it is <secret:DB_PASSWORD>"
    written = [path.read_bytes() for path in (tmp_path / "traces").rglob("*") if path.is_file()]
    assert not any(b"planted" in content for content in written)


async def test_a_tool_takes_no_messages(tea: Platform) -> None:
    await tea.tcp.register(EAR)
    with pytest.raises(InternalError, match="cannot take messages"):
        await tea.run("listen", agent="deaf")


async def test_a_message_that_is_damaged_is_named_to_the_agent(tea: Platform) -> None:
    run, answers = await suspended(tea)
    await tea.tell(run, "words")
    (path,) = (tea.home / "traces" / run / "messages").iterdir()
    path.write_bytes(b"half")
    with pytest.raises(Damaged, match=r"00000001\.json"):
        await tea.resume(run, answers=answers)


@pytest.fixture(scope="module")
def killable(tmp_path_factory: pytest.TempPathFactory, machine: Path) -> Iterator[Killable]:
    made = Killable(tmp_path_factory.mktemp("told"), machine)
    yield made
    made.process.communicate(timeout=60)


@pytest.mark.slow
async def test_wherever_the_holder_of_a_run_dies_each_message_is_delivered_once(killable: Killable) -> None:
    first = killable.folder / "first"
    first.mkdir()
    for name, source in (("double.py", DOUBLE), ("hearer.py", HEARER.replace("if number == 1 or", "if"))):
        (first / name).write_text(source)
        assert killable(first, "register", name)[0] == 0
    assert killable(first, "run", "3", "--agent", "hearer", "-q", moment=(8, 0.0))[0] == KILLED
    (run,) = Platform(first).tracer.runs()
    for text in ("one", "two"):
        await Platform(first).tell(run, text)
    answers: list[str] = []
    for moment in range(1, 30):
        home = killable.folder / f"killed{moment}"
        shutil.copytree(first, home)
        code, out = killable(home, "resume", "last", "--json", "-q", moment=(moment, 0.0))
        if code == KILLED and records(home / "traces" / run)[-1]["kind"] == "end":
            break
        assert code == KILLED
        await Platform(home).tell(run, "three")
        code, out = killable(home, "resume", "last", "--json", "-q")
        answers.append(json.loads(out)["answer"])
        assert killable(home, "replay", "last", "-q")[0] == 0
    assert set(answers) == {"one|two|three", "one|two"}  # behind its last call a run hears nothing more
    assert answers.index("one|two") > 3
