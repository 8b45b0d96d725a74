"""Test deaths while loading a file: whole components only, and loading again does the rest."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from elsewhere import open_platform
from protocol_kit import CASES

from tea.errors import UnknownComponent
from tea.platform import Platform

TOOL = CASES[0]
NAMES = [f"tool_{number}" for number in range(6)]
DYING = """
import asyncio, os, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import pytest
from elsewhere import open_platform

calls = 0


def dying(real):
    def call(*given, **options):
        global calls
        calls += 1
        if calls == int(sys.argv[4]):
            os._exit(9)
        return real(*given, **options)

    return call


for name in ("mkdir", "link", "rename"):
    setattr(os, name, dying(getattr(os, name)))
asyncio.run(open_platform(Path(sys.argv[2])).tcp.load(sys.argv[3]))
"""


def die(home: Path, file: Path, call: int) -> bool:
    """Load a file in a process ending with its n-th call; tell whether it came so far."""
    command = [sys.executable, "-c", DYING, str(Path(__file__).parent), str(home), str(file), str(call)]
    code = subprocess.run(command, check=False, timeout=60).returncode
    assert code in (0, 9)
    return code == 9


async def history(tea: Platform, name: str) -> list[str]:
    """The versions of a name, none if it is absent."""
    try:
        return [one.version for one in await tea.tcp.history(name)]
    except UnknownComponent:
        return []


@pytest.mark.slow
async def test_each_component_is_loaded_as_a_whole_or_not_at_all_wherever_the_process_dies(tmp_path: Path) -> None:
    mine, theirs, file = open_platform(tmp_path / "mine"), tmp_path / "theirs", tmp_path / "all.json"
    await mine.tcp.register(TOOL.source("old"))
    await mine.tcp.save(file, ["old"])
    await open_platform(theirs).tcp.load(file)
    await mine.tcp.register(TOOL.source("old", hello="good day"))
    for name in NAMES:
        await mine.tcp.register(TOOL.source(name))
        await mine.tcp.register(TOOL.source(name, hello="good day"))
    await mine.tcp.save(file)
    deaths = [await asyncio.to_thread(die, theirs, file, call) for call in (3, 22, 27, 12, 4, 5, 8)]
    assert deaths[:2] == [True, True]
    tea = open_platform(theirs)
    for name in NAMES:
        assert await history(tea, name) in ([], ["1.0.0", "1.0.1"])
    assert await history(tea, "old") in (["1.0.0"], ["1.0.0", "1.0.1"])
    await tea.tcp.load(file)
    found = {name: await history(tea, name) for name in ("old", *NAMES)}
    assert all(versions == ["1.0.0", "1.0.1"] for versions in found.values())
    assert [(one.name, one.version) for one in await tea.tcp.list() if one.origin == "registry"] == [
        (one.name, one.version) for one in await mine.tcp.list() if one.origin == "registry"
    ]
