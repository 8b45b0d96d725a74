"""Test the clock: one place reads the time of day, and a test can set it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tea import clock
from tea.testing import platform

TEA = Path(clock.__file__).parent
MOMENT = 951_782_400_250 * 10**6  # 29 February 2000, a quarter of a second past midnight
READERS = {"time": {"time", "time_ns"}, "datetime": {"now", "today", "utcnow"}, "date": {"today"}}
SANDBOXED = {"inside", "portable"}  # programs in a sandbox, where tea is not
TIMELESS = ("components", "kernel", "loop", "policy", "recipes")


def readings(path: Path) -> Iterator[str]:
    """Yield the places of a file reading the time of day."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in READERS.get(owner, ()):
                yield f"{path.relative_to(TEA)}:{node.lineno} {owner}.{name}"
            case ast.ImportFrom(module="time", names=names):
                yield from (f"{path.relative_to(TEA)}:{node.lineno}" for one in names if one.name in READERS["time"])
            case _:
                pass


def test_the_time_of_day_is_read_in_one_place() -> None:
    paths = [path for path in sorted(TEA.rglob("*.py")) if not SANDBOXED & set(path.relative_to(TEA).parts)]
    found = [place for path in paths for place in readings(path)]
    assert [place for place in found if not place.startswith("clock.py")] == []
    assert found


def test_the_deterministic_rooms_import_no_clock() -> None:
    rooms = [path for room in TIMELESS for path in (TEA / room).rglob("*.py")]
    modules = ("import time", "from time import", "tea.clock", "import datetime\n")
    texts = {path: path.read_text(encoding="utf-8") for path in rooms}
    assert [path for path, text in texts.items() if any(module in text for module in modules)] == []


async def test_versions_and_journals_have_the_time_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.clock.time_ns", lambda: MOMENT)
    async with platform() as house:
        await house.tcp.register(
            '"""Echo."""\nfrom tea import tool\n\n\n@tool\ndef echo(x: int) -> int:\n    """Echo."""\n    return x\n'
        )
        outcome = await house.run("How much is 2 + 3?")
        moments = {record["time"] for record in house.tracer.store.read(outcome.run)}
        versions = await house.tcp.info("echo")
    assert outcome.run.startswith(f"{MOMENT // 10**6:012x}")
    assert moments == {"2000-02-29T00:00:00.250Z"}
    assert versions.created == "2000-02-29T00:00:00.250Z"


def test_a_time_is_written_to_the_second() -> None:
    assert clock.to_second(MOMENT / 10**9) == "2000-02-29T00:00:00Z"
