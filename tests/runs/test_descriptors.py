"""Test admission: runs wait for descriptors, first come first served; their own needs never wait."""

import asyncio
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tea.runs.descriptors import EACH, MOST, Descriptors, used_of


class Process:
    """A process with scripted counts of descriptors."""

    def __init__(self, most: int, used: int = 0) -> None:
        self.most, self.used = most, used
        self.looks = 0
        self.descriptors = Descriptors(self.look)
        self.running: list[str] = []
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}

    def look(self) -> tuple[int, int]:
        self.looks += 1
        return self.used + 2 * len(self.running), self.most

    async def run(self, name: str) -> None:
        self.ends[name] = asyncio.Event()
        async with self.descriptors.place():
            self.begun.append(name)
            self.running.append(name)
            await self.ends[name].wait()
            self.running.remove(name)

    def start(self, *names: str) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.run(name)) for name in names]


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_runs_are_admitted_as_far_as_there_is_room_and_the_others_in_their_order() -> None:
    process = Process(most=100)
    names = [str(number) for number in range(40)]
    tasks = process.start(*names)
    await settled()
    first = len(process.running)
    assert 5 < first < 100 // (EACH + 2)
    while process.running:
        process.ends[process.running[0]].set()
        await settled()
        assert len(process.running) <= first + 2
    await asyncio.gather(*tasks)
    assert process.begun == names


async def test_one_run_goes_on_however_little_there_is() -> None:
    process = Process(most=50, used=50)
    tasks = process.start("a", "b", "c")
    await settled()
    assert process.running == ["a"]
    for name in ("a", "b", "c"):
        process.ends[name].set()
        await settled()
    await asyncio.gather(*tasks)
    assert process.begun == ["a", "b", "c"]


async def test_work_inside_of_a_run_never_waits_for_it() -> None:
    process = Process(most=50, used=50)

    async def outer(name: str) -> None:
        async with process.descriptors.place(), asyncio.TaskGroup() as group:
            for number in range(3):
                inner = group.create_task(process.run(f"{name}{number}"))
                await settled()
                process.ends[f"{name}{number}"].set()
                await inner

    async with asyncio.timeout(20):
        await asyncio.gather(*(outer(name) for name in "abc"))
    assert len(process.begun) == 9


async def test_who_gives_up_waiting_takes_no_place() -> None:
    process = Process(most=50, used=50)
    a, b, c = process.start("a", "b", "c")
    await settled()
    b.cancel()
    await settled()
    process.ends["a"].set()
    await settled()
    assert process.running == ["c"]
    process.ends["c"].set()
    await asyncio.gather(a, c)
    (d,) = process.start("d")
    await settled()
    assert process.running == ["d"]
    process.ends["d"].set()
    await d
    with pytest.raises(asyncio.CancelledError):
        await b


async def test_a_place_that_came_to_one_who_gave_up_goes_to_the_next() -> None:
    process = Process(most=50, used=50)
    a, b, c = process.start("a", "b", "c")
    await settled()
    process.ends["a"].set()
    await a
    b.cancel()
    await settled()
    assert "c" in process.begun
    process.ends["c"].set()
    await asyncio.gather(a, b, c, return_exceptions=True)


async def test_the_system_is_seldom_asked_where_there_is_much_room() -> None:
    process = Process(most=MOST)
    tasks = process.start(*(str(number) for number in range(500)))
    await settled()
    assert len(process.running) == 500
    assert process.looks <= 500 // 16
    for end in process.ends.values():
        end.set()
    await asyncio.gather(*tasks)


def test_open_files_are_counted() -> None:
    used, most = used_of()
    with Path(__file__).open():
        assert used_of()[0] == used + 1
    assert 3 <= used < most


RAISES = """
import asyncio, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (100, HARD))
from tea.platform import Platform

async def main():
    async with Platform("home", state="state"):
        print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])

asyncio.run(main())
"""


@pytest.mark.parametrize("hard", [100, 700, 1_048_576])
def test_a_platform_raises_the_limit_of_its_process_within_bounds(tmp_path: Path, hard: int) -> None:
    known = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if known != resource.RLIM_INFINITY:
        hard = min(hard, known)
    program = (sys.executable, "-c", RAISES.replace("HARD", str(hard)))
    found = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert int(found.stdout) == min(hard, MOST)
