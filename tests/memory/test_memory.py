"""Memory: events of a session, kept apart, found again, summed up."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tea.errors import BadArguments
from tea.memory.manager import MemoryManager, Scope
from tea.store.events import FileEvents

PLANNER = Scope(session="s1", agent="planner", task="t1")
ANALYZER = Scope(session="s1", agent="analyzer", task="t2")
OTHER = Scope(session="s2", agent="planner", task="t1")

RECORDER = """
import asyncio, sys
from pathlib import Path
from tea.memory.manager import MemoryManager, Scope
from tea.store.events import FileEvents

async def main(name, root):
    memory, scope = MemoryManager(FileEvents(Path(root))), Scope(session="s", agent=name)
    print("ready", flush=True)
    sys.stdin.readline()
    async with asyncio.TaskGroup() as group:
        for number in range(30):
            group.create_task(memory.record(scope, "step", {"number": number}, f"{name}-{number}"))
            group.create_task(memory.record(scope, "step", {"both": number}, f"both-{number}"))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def memory(tmp_path: Path) -> MemoryManager:
    return MemoryManager(FileEvents(tmp_path))


async def told(memory: MemoryManager, scope: Scope, query: str = "", limit: int = 20) -> list[str]:
    return [event["data"]["text"] for event in await memory.recall(scope, query, limit)]


async def fill(memory: MemoryManager, scope: Scope, *texts: str, kind: str = "step") -> None:
    for text in texts:
        await memory.record(scope, kind, {"text": text}, f"{scope.agent}-{kind}-{text}")


async def test_events_are_recalled_oldest_first_with_who_recorded_them(memory: MemoryManager) -> None:
    await memory.record(PLANNER, "step", {"next_goal": "count"}, "k1")
    await memory.record(ANALYZER, "result", {"answer": 3}, "k2")
    assert await memory.recall(PLANNER) == [
        {"agent": "planner", "task": "t1", "kind": "step", "data": {"next_goal": "count"}},
        {"agent": "analyzer", "task": "t2", "kind": "result", "data": {"answer": 3}},
    ]


async def test_a_session_sees_nothing_of_another(memory: MemoryManager) -> None:
    await fill(memory, PLANNER, "mine", kind="insight")
    await memory.record(OTHER, "step", {"text": "theirs"}, "planner-insight-mine")
    assert await told(memory, PLANNER) == ["mine"]
    assert await told(memory, OTHER) == ["theirs"]
    assert "mine" not in await memory.summarise(OTHER)
    assert await memory.insights(OTHER) == []


async def test_the_same_key_again_changes_nothing(memory: MemoryManager, tmp_path: Path) -> None:
    await memory.record(PLANNER, "step", {"text": "first"}, "k")
    await memory.record(PLANNER, "step", {"text": "second"}, "k")
    await MemoryManager(FileEvents(tmp_path)).record(ANALYZER, "step", {"text": "third"}, "k")
    assert await told(memory, PLANNER) == ["first"]


async def test_another_manager_finds_what_was_recorded(memory: MemoryManager, tmp_path: Path) -> None:
    await fill(memory, PLANNER, "kept")
    assert await told(MemoryManager(FileEvents(tmp_path)), PLANNER) == ["kept"]


async def test_the_newest_events_fit_a_limit(memory: MemoryManager) -> None:
    await fill(memory, PLANNER, "one", "two", "three")
    assert await told(memory, PLANNER, limit=2) == ["two", "three"]


async def test_a_query_finds_words_in_any_case_and_prefers_more_of_them(memory: MemoryManager) -> None:
    await fill(memory, PLANNER, "Airports of Straße\n12", "airports", "rivers")
    assert await told(memory, PLANNER, "AIRPORTS STRASSE") == ["Airports of Straße\n12", "airports"]
    assert await told(memory, PLANNER, "airports 12", limit=1) == ["Airports of Straße\n12"]
    assert await told(memory, PLANNER, "air") == []


async def test_names_of_our_own_fields_are_no_hits(memory: MemoryManager) -> None:
    await fill(memory, PLANNER, "rivers")
    assert await told(memory, PLANNER, "agent task kind data") == []


async def test_own_events_go_before_those_of_others_when_room_is_short(memory: MemoryManager) -> None:
    await fill(memory, Scope(session="s1", agent="planner", task="t0"), "own agent")
    await fill(memory, PLANNER, "own task")
    await fill(memory, ANALYZER, "other")
    assert await told(memory, PLANNER, limit=2) == ["own agent", "own task"]
    assert await told(memory, PLANNER, limit=1) == ["own task"]


async def test_what_is_recalled_is_the_caller_s_own(memory: MemoryManager) -> None:
    await fill(memory, PLANNER, "kept")
    (event,) = await memory.recall(PLANNER)
    event["data"].clear()
    assert await told(memory, PLANNER) == ["kept"]


async def test_a_summary_of_few_events_says_how_many_there_are_of_a_kind(memory: MemoryManager) -> None:
    for number in (1, 2):
        await memory.record(ANALYZER, "result", {"rows": number}, f"r{number}")
    assert (await memory.summarise(PLANNER)).startswith("2 results recorded:\n- analyzer, result: ")


async def test_a_summary_counts_and_ends_with_the_newest_within_its_limit(memory: MemoryManager) -> None:
    assert await memory.summarise(PLANNER) == ""
    await fill(memory, PLANNER, *(f"goal {number} " + "x" * 300 for number in range(20)))
    await memory.record(ANALYZER, "result", {"rows": 3}, "r")
    summary = await memory.summarise(PLANNER)
    assert summary.startswith("1 result, 20 steps recorded, the latest of them:\n")
    assert summary.endswith('\n- analyzer, result: {"rows":3}')
    assert "goal 19" in summary
    assert "goal 0 " not in summary
    assert len(summary) <= 2_000


async def test_a_summary_shows_the_result_of_a_long_task(memory: MemoryManager) -> None:
    result = {"task": "From x.csv compute for each year the total. " * 10, "answer": "2013 was the driest."}
    await memory.record(ANALYZER, "result", result, "r")
    summary = await memory.summarise(PLANNER)
    assert summary.startswith("1 result recorded:\n")
    assert summary.endswith("-> 2013 was the driest.")


async def test_insights_are_different_and_the_newest_come_last(memory: MemoryManager) -> None:
    await fill(memory, PLANNER, "a", "b", kind="insight")
    await fill(memory, ANALYZER, "a", kind="insight")
    await fill(memory, PLANNER, "no insight")
    assert await memory.insights(ANALYZER) == ["b", "a"]


@pytest.mark.parametrize(
    ("scope", "kind", "key"), [(PLANNER, "Step!", "k"), (PLANNER, "step", ""), (Scope(session=""), "step", "k")]
)
async def test_an_event_without_kind_key_or_session_is_refused(
    memory: MemoryManager, scope: Scope, kind: str, key: str
) -> None:
    with pytest.raises(BadArguments):
        await memory.record(scope, kind, {}, key)


@pytest.mark.parametrize("data", [[1], "ab", None, 3])
async def test_an_event_whose_data_are_no_object_is_refused(memory: MemoryManager, data: Any) -> None:
    with pytest.raises(BadArguments, match="not an object"):
        await memory.record(PLANNER, "step", data, "k")


@pytest.mark.parametrize("limit", [0, -1, 1_001])
async def test_a_limit_out_of_range_is_refused(memory: MemoryManager, limit: int) -> None:
    with pytest.raises(BadArguments, match="out of range"):
        await memory.recall(PLANNER, limit=limit)


async def test_tasks_at_once_lose_and_repeat_nothing(memory: MemoryManager) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(40):
            group.create_task(memory.record(PLANNER, "step", {"text": str(number)}, f"k{number}"))
            group.create_task(memory.record(ANALYZER, "step", {"text": str(number)}, f"k{number}"))
            group.create_task(memory.record(OTHER, "step", {"text": "other"}, f"k{number}"))
    assert sorted(map(int, await told(memory, PLANNER, limit=100))) == list(range(40))
    assert await told(memory, OTHER, limit=100) == ["other"] * 40


async def test_processes_at_once_lose_and_repeat_nothing(memory: MemoryManager, tmp_path: Path) -> None:
    command = [sys.executable, "-c", RECORDER]
    pipe = subprocess.PIPE
    recorders = [
        await asyncio.create_subprocess_exec(*command, name, str(tmp_path), stdin=pipe, stdout=pipe)
        for name in ("one", "two")
    ]
    for recorder in recorders:
        assert recorder.stdout is not None
        assert await recorder.stdout.readline() == b"ready\n"
    await asyncio.gather(*(recorder.communicate(b"go\n") for recorder in recorders))
    assert [recorder.returncode for recorder in recorders] == [0, 0]
    events = await memory.recall(Scope(session="s"), limit=1_000)
    assert sorted(event["data"]["both"] for event in events if "both" in event["data"]) == list(range(30))
    for name in ("one", "two"):
        own = [event["data"]["number"] for event in events if event["agent"] == name and "number" in event["data"]]
        assert sorted(own) == list(range(30))
