"""Test a run after `find_tools`: it goes on after a death anywhere, and forks on both sides of it."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Say
from journals import records, rewrite
from killing import KILLED, Killable
from loopback import Loopback
from run_kit import home
from wire_kit import NATIVE, Question, Script, call, ends, playing, says

from tea.platform import Platform
from tea.runs.outcome import Outcome

CHAT = DIALECTS["openai_chat"]
TASK = "How many of them are there?"
FURTHER = '''
from tea import tool


@tool(effects="reads", network=False)
async def letters_{n}(text: str) -> int:
    """Count the letters of a text in the alphabet number {n}."""
    return len(text)
'''
RINGED = '''
from tea import tool


@tool(effects="reads", network=False)
async def ringed_geese(pond: str) -> int:
    """Count the ringed geese on a pond.

    Args:
        pond: Its name.
    """
    return len(pond) + MORE
'''
FIRST, SECOND = RINGED.replace("MORE", "0"), RINGED.replace("MORE", "100")
AVIARY = '''
from tea import Environment, action


class Aviary(Environment):
    """An aviary full of birds: feed and count them."""

    name = "aviary"

    async def state(self) -> int:
        """Return nothing of interest."""
        return 0

    @action(effects="reads", idempotent=True, network=False)
    async def count_birds(self) -> int:
        """Count the birds of the aviary."""
        return 12
'''


def finds_then_calls(question: Question) -> Say:
    """Find a tool and call it, find an action and call it, and add up; all from the conversation alone."""
    results = list(question.results.values())
    match len(results):
        case 0:
            return says(call("find_tools", query="count the ringed geese on a pond"))
        case 1:
            return says(call("ringed_geese", pond="north"))
        case 2:
            return says(call("find_tools", query="count the birds of the aviary"))
        case 3:
            return says(call("aviary_count_birds"))
        case _:
            geese, birds = (int(results[n].split()[0]) for n in (1, 3))
            return ends(geese + birds)


@asynccontextmanager
async def birds(folder: Path) -> AsyncIterator[tuple[Platform, Script]]:
    async with playing(folder, CHAT, finds_then_calls) as (tea, script):
        await furnish(tea)
        yield tea, script


async def furnish(tea: Platform) -> None:
    for n in range(12):
        await tea.tcp.register(FURTHER.format(n=n))
    await tea.tcp.register(FIRST)
    await tea.ecp.register(AVIARY)


def said(outcome: Outcome) -> dict[str, Any]:
    """An outcome's words without its place and duration."""
    data = outcome.to_json()
    return {name: data[name] for name in ("status", "answer", "reason", "evidence", "error")}


def asked_for(outcome: Outcome, kind: str) -> list[dict[str, Any]]:
    """The starts of a run's effects of a kind."""
    return [one for one in records(outcome.trace) if one["kind"] == "start" and one["data"]["kind"] == kind]


def effects(folder: Path) -> list[Any]:
    """All effects of a journal; the order of equal finds may change with earlier runs."""
    starts = [one for one in records(folder) if one["kind"] == "start"]
    return sorted((one["data"]["kind"], one["data"]["target"]) for one in starts)


@pytest.mark.slow
async def test_a_run_cut_off_anywhere_goes_on_with_what_it_had_found(tmp_path: Path) -> None:
    async with birds(tmp_path) as (tea, script):
        origin = await tea.run(TASK)
        assert origin.answer == 5 + 12
        asked = [one.body for one in script.asked]
        assert "ringed_geese" not in script.asked[0].functions
        # Before the first question, a run learns from the one before what is of use; the second follows the search.
        first, second = (one["seq"] for one in asked_for(origin, "model")[:2])
        all_of_it = len(records(origin.trace))
        for length in (*range(1, first, 5), *range(first, second), *range(second, all_of_it, 4)):
            other = rewrite(tea.home, origin.run, lambda kept, length=length: kept[:length])
            folder = tea.home / "traces" / other
            (folder / "workspace").mkdir()
            before, known = records(folder), len(script.asked)
            assert said(await tea.resume(other)) == said(origin), length
            assert records(folder)[:length] == before, length
            if length > first:
                assert effects(folder) == effects(origin.trace), length
                again = [one.body for one in script.asked[known:]]
                assert again == asked[len(asked) - len(again) :], length
            known = len(script.asked)
            assert said(await tea.replay(other)) == said(origin), length
            assert len(script.asked) == known, length
            shutil.rmtree(folder)


async def test_a_fork_before_and_after_a_search_meets_the_version_that_it_asks_for(tmp_path: Path) -> None:
    async with birds(tmp_path) as (tea, script):
        origin = await tea.run(TASK)
        await tea.tcp.update("ringed_geese", SECOND, version="2.0.0")
        await tea.tcp.restore("ringed_geese@1.0.0")
        shown = [one.functions for one in script.asked]
        for step, question in enumerate(asked_for(origin, "model")):
            known = len(script.asked)
            fork = await tea.fork(origin.run, at=question["seq"], use={"tool:ringed_geese": "2.0.0"})
            assert fork.answer == (105 + 12 if step <= 1 else 5 + 12)
            assert [one.functions for one in script.asked[known:]] == shown[step:]
            known = len(script.asked)
            assert said(await tea.replay(fork.run)) == said(fork)
            assert len(script.asked) == known
        assert said(await tea.replay(origin.run)) == said(origin)


@pytest.fixture
def killable(tmp_path: Path, machine: Path) -> Iterator[Killable]:
    killable = Killable(tmp_path, machine)
    yield killable
    killable.process.communicate(timeout=60)


@pytest.mark.slow
async def test_a_run_killed_around_a_search_ends_as_if_it_had_lived(tmp_path: Path, killable: Killable) -> None:
    script = Script(CHAT, finds_then_calls)
    async with Loopback(answer=script.answer).open() as server:
        place = tmp_path / "whole"
        place.mkdir()
        home(place, CHAT, server.url, capabilities=NATIVE)
        async with Platform(place, state=tmp_path / "state") as tea:
            await furnish(tea)
            origin = await tea.run(TASK)
        begun, ended = (one["seq"] for one in (asked_for(origin, "model")[0], asked_for(origin, "model")[1]))
        shutil.rmtree(origin.trace)
        for number, moment in enumerate(range(begun, ended, 3)):
            copy = tmp_path / f"killed{number}"
            shutil.copytree(place, copy)
            code, _ = await asyncio.to_thread(killable, copy, "run", TASK, "--json", "-q", moment=(moment, 0.0))
            assert code == KILLED, moment
            code, out = await asyncio.to_thread(killable, copy, "resume", "last", "--json", "-q")
            assert (code, json.loads(out)["answer"]) == (0, 17), out
            known = len(script.asked)
            assert (await asyncio.to_thread(killable, copy, "replay", "last", "-q"))[0] == 0, moment
            assert len(script.asked) == known
