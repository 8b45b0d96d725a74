"""The examples with kept answers of a model: answered, replayed, forked, and resumed after SIGKILL."""

import asyncio
import json
import random
import re
import shutil
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from killing import KILLED, Killable, records

from tea.chat.chat import Chat
from tea.errors import BadInput
from tea.platform import Platform

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
PLAYED = EXAMPLES / "played"
SITTINGS: dict[str, dict[str, Any]] = {
    path.parent.name: json.loads(path.read_text()) for path in sorted(PLAYED.glob("*/sitting.json"))
}
AGENTS = (
    *("agent_generator", "analyzer", "attempts", "browser", "computer", "debate"),
    *("planner", "reporter", "researcher", "scientist", "tool_generator", "triage"),
)
OF_OTHERS = ("judge",)  # asked by leaders of their own alone
OF_COMMANDS = ("optimiser", "reflector", "research_chat", "research_clarify", "research_paper")  # evolve and research
TALKS = [name for name in SITTINGS if (EXAMPLES / f"{name}.txt").exists()]
SLOW = {  # documents of Debian, Chromium, desktops, and what is in the making or takes many questions
    name
    for name, one in SITTINGS.items()
    if {"agent_generator", "browser", "computer", "scientist", "tool_generator"} & {*one["agents"]}
    or any(root.startswith("/") for root in one.get("corpus", ()))
}
KILLS = 2
ASKED = 6  # the exit code of a question


@pytest.fixture(autouse=True)
def beside_the_benchmark() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
        yield


def leader(name: str) -> str:
    """Return the leading agent of a task, or the first one of a conversation."""
    if name in TALKS:
        return "triage"
    task = json.loads((EXAMPLES / f"{name}.json").read_text())
    return "attempts" if "attempts" in task else task.get("agent", "planner")


def some_of_each(most: int = 3) -> list[str]:
    """Return the first examples of each agent by name, for the planner those with the most agents."""
    by_size = sorted((name for name in SITTINGS if name not in TALKS), key=lambda name: -len(SITTINGS[name]["agents"]))
    return [name for agent in AGENTS for name in [one for one in by_size if leader(one) == agent][:most]]


def read(name: str) -> Any:
    return import_module("_sittings_format").Sitting.read(PLAYED / name)


@asynccontextmanager
async def seated(name: str, folder: Path) -> AsyncGenerator[Any]:
    """Give a sitting with its corpus, and a model with the same answer to the same question."""
    folder.mkdir(exist_ok=True)
    async with import_module("sittings").seated(read(name), folder, remembers=True) as seat:
        async with Platform(seat.home, state=seat.home / "state", trust_home=True) as tea:
            for root in seat.sitting.corpus:
                await tea.corpus.add(str(root))
        yield seat


def test_every_agent_leads_three_examples_and_twelve_need_two_or_more() -> None:
    led = Counter(leader(name) for name in SITTINGS)
    assert min(led[agent] for agent in AGENTS) >= 3, led
    assert {path.stem for path in (ROOT / "agents").glob("*.py")} == {*AGENTS, *OF_OTHERS, *OF_COMMANDS}
    assert all(sum(agent in one["agents"] for one in SITTINGS.values()) >= 3 for agent in OF_OTHERS)
    assert sum(len(one["agents"]) > 2 for one in SITTINGS.values()) >= 10
    assert sum(len(one["agents"]) > 1 for one in SITTINGS.values()) >= 12
    tasks = [path for path in EXAMPLES.rglob("*.json") if "task" in json.loads(path.read_text())]
    assert len([path for path in tasks if PLAYED not in path.parents]) >= 30


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one
        for one in SITTINGS
        if one not in SLOW or one not in some_of_each()  # those are answered where they are forked
    ],
)
async def test_an_example_is_answered_and_its_replay_answers_the_same(name: str, tmp_path: Path) -> None:
    row = await import_module("sittings").by_tea("tea", {})(read(name), tmp_path)
    assert row.right, row.remark


async def forked(tea: Platform, run: str, questions: list[str], middle: int) -> tuple[Any, int]:
    """Return a fork at a question, and how many are before it.

    A sandbox with its Python cannot be brought back, so behind its first change a fork is refused.
    """
    for taken in range(middle, 0, -1):
        try:
            return await tea.fork(run, at=questions[taken]), taken
        except BadInput as error:
            if "declares that its state is lost" not in error.problem:
                raise
    return await tea.fork(run, at=questions[0]), 0


@pytest.mark.slow
@pytest.mark.parametrize("name", some_of_each())
async def test_an_example_is_replayed_identically_and_forked_in_its_middle(name: str, tmp_path: Path) -> None:
    async with seated(name, tmp_path) as seat, Platform(seat.home, state=seat.home / "state", trust_home=True) as tea:
        outcome = await tea.run(seat.sitting.told, files=seat.files)
        asked = len(seat.server.questions)
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
        assert len(seat.server.questions) == asked
        found = list(tea.tracer.records(outcome.run))
        row = import_module("sittings").judged_run(seat, outcome, {record.agent for record in found if record.agent})
        assert row.right, row.remark
        questions = [one.key for one in found if one.kind == "start" and one.data["kind"] == "model"]
        done = [one.key for one in found if one.kind == "done" and one.key in questions]
        middle = 0 if "browser" in seat.sitting.agents else len(done) // 2  # a page is not brought back
        if leader(name) == "browser":  # its page is open before the first question
            done = [one.key for one in found if one.kind == "start" and "environment:browser" in one.data["target"]]
        fork, taken = await forked(tea, outcome.run, done, middle)
        assert (fork.exit_code, fork.answer) == (outcome.exit_code, outcome.answer), fork.reason
        begun = next(one.seq for one in found if one.kind == "start" and one.key == done[taken])
        kept = sum(one.seq < begun for one in found if one.kind == "done" and one.key in questions)
        begun_now = sum(
            one.kind == "start" and one.data["kind"] == "model" for one in tea.tracer.records(fork.run)
        )  # attempts side by side end one another sooner or later
        assert 0 < len(seat.server.questions) - asked <= begun_now - kept
        assert (await tea.replay(fork.run)).to_json() == fork.to_json()


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory, machine: Path) -> Iterator[Killable]:
    killable = Killable(tmp_path_factory.mktemp("killed"), machine)
    yield killable
    killable.process.communicate(timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", some_of_each(1))
async def test_an_example_is_resumed_after_sigkill_to_the_same_answer(tea: Killable, name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    async with seated(name, tmp_path) as seat:
        for path in seat.files:
            shutil.copy(path, seat.home)
        task = {**seat.sitting.told, "files": [path.name for path in seat.files]}
        (seat.home / "task.json").write_text(json.dumps(task))
        kills = 1 if {"browser", "computer"} & {*seat.sitting.agents} else KILLS  # these are slow to come
        homes = [tmp_path / str(number) for number in range(kills)]
        for home in homes:
            shutil.copytree(seat.home, home)
        for home in (seat.home, *homes) if "browser" in seat.sitting.agents else ():
            _, out = await asyncio.to_thread(tea, home, "trust", "--home", "--json")
            assert (await asyncio.to_thread(tea, home, "trust", "--home", f"@{json.loads(out)['digest']}"))[0] == 0
        code, out = await asyncio.to_thread(tea, seat.home, "run", "task.json", "--json", "-q")
        expected, length = json.loads(out), len(records(seat.home))
        least = 2 * length // 3 if "browser" in seat.sitting.agents else length  # an early page may spare a step
        for home in homes:
            moment = chance.randint(3, least - 1), 0.0
            killed, _ = await asyncio.to_thread(tea, home, "run", "task.json", "--json", "-q", moment=moment)
            assert killed == KILLED
            before = records(home)
            resumed, out = await asyncio.to_thread(tea, home, "resume", "last", "--json", "-q")
            if resumed == ASKED:  # it was killed in a call that may have happened: a person decides
                key = re.search(r"--answer (\S+)=allow", json.loads(out)["error"]["fix"])
                assert key is not None, out
                line = ("resume", "last", "--answer", f"{key[1]}=allow", "--json", "-q")
                resumed, out = await asyncio.to_thread(tea, home, *line)
            found = json.loads(out)
            assert (resumed, found["status"], found["answer"]) == (code, expected["status"], expected["answer"]), moment
            assert records(home)[: len(before)] == before
            assert (await asyncio.to_thread(tea, home, "replay", "last", "-q"))[0] == 0


@pytest.mark.slow
async def test_a_conversation_is_forked_in_its_middle_and_goes_on_the_same(tmp_path: Path) -> None:
    for name in TALKS:
        async with seated(name, tmp_path / name) as seat:
            said, lines = import_module("sittings").said, seat.sitting.lines
            async with Platform(seat.home, state=seat.home / "state", trust_home=True) as tea:
                chat = tea.chat(agent="triage")
                turns = [await said(chat, line) for line in lines]
                other = await chat.fork(1)
                again = [await said(other, line) for line in lines[1:]]
                for one, two in zip(turns[1:], again, strict=True):
                    assert (two.status, two.answer, two.reason) == (one.status, one.answer, one.reason)
                    assert [part.agent for part in two.parts] == [part.agent for part in one.parts]
                for run in [part.run for turn in (*turns, *again) for part in turn.parts]:
                    before = tea.tracer.records(run)
                    first = next(one.key for one in before if one.kind == "start" and one.data["kind"] == "model")
                    fork, outcome = await tea.fork(run, at=first), await tea.replay(run)
                    assert (fork.status, fork.answer, fork.handoff) == (
                        outcome.status,
                        outcome.answer,
                        outcome.handoff,
                    ), (name, run)


@pytest.mark.slow
@pytest.mark.parametrize("name", TALKS)
async def test_a_conversation_goes_on_after_sigkill_to_the_same_answers(
    tea: Killable, name: str, tmp_path: Path
) -> None:
    chance = random.Random(name)
    async with seated(name, tmp_path) as seat:
        (seat.home / "examples").symlink_to(EXAMPLES)
        homes = [tmp_path / str(number) for number in range(KILLS)]
        for home in homes:
            shutil.copytree(seat.home, home, symlinks=True)
        talk, lines = ("chat", "--agent", "triage", "--json", "-q"), list(seat.sitting.lines)

        def said(lines: list[str]) -> str:
            return "".join(f"{line}\n" for line in lines)

        _, out = await asyncio.to_thread(tea, seat.home, *talk, said=said(lines))
        expected = answered(out)
        assert len(expected) == len(lines)
        length = sum(len(path.read_bytes().splitlines()) for path in seat.home.glob("traces/*/journal.jsonl"))
        for home in homes:
            moment = chance.randint(3, length - 1), 0.0
            killed, _ = await asyncio.to_thread(tea, home, *talk, said=said(lines), moment=moment)
            assert killed == KILLED
            async with Platform(home, state=home / "state", trust_home=True) as platform:
                turns = await platform.chat(await Chat.find(platform, "last")).turns()
            left = lines[len(turns) :]
            left = ["/continue", *left] if turns[-1].status == "interrupted" else left
            again = ("chat", "--resume", "last", "--json", "-q")
            _, out = await asyncio.to_thread(tea, home, *again, said=said([*left, "/history"]))
            history = json.loads(out.splitlines()[-1])["turns"]
            assert [(one["status"], one["answer"], one["reason"]) for one in history] == expected, moment


def answered(out: str) -> list[tuple[str, Any, str]]:
    """Return status, answer and reason of each turn of a conversation from its lines of JSON."""
    turns = [json.loads(line) for line in out.splitlines()]
    return [(one["status"], one["answer"], one["reason"]) for one in turns]


def lines_of(picture: Path) -> list[str]:
    """Return the lines of text in a picture of a terminal."""
    lines: dict[str, str] = {}
    for one in ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}text"):
        if "team-title" not in one.get("class", ""):
            lines[one.get("y", "")] = lines.get(one.get("y", ""), "") + (one.text or "").rstrip("\n")
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines.values()]


def told(lines: list[str]) -> list[str]:
    """Return lines of a terminal in any order, without their breaks, ids, days, numbers of tokens and spaces.

    Where a line is broken depends on the lengths of the project's path and of its home's.
    """
    text = "\n".join(lines).replace("\n... ", "")
    return sorted(re.sub(r"[0-9a-f]{12,32}|\d{4}-\d\d-\d\d|\d+ tokens| ", "", text).splitlines())


@pytest.mark.slow
async def test_the_picture_of_the_team_shows_what_the_command_prints_now() -> None:
    arguments = (ROOT / "benchmarks" / "picture.py", "--text")
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=PIPE, stderr=PIPE)
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    drawn = lines_of(EXAMPLES / "team.svg")
    assert drawn[0] == "$ tea run -v examples/youngest_president.json"
    assert told(drawn[1:]) == told(out.decode().splitlines())
