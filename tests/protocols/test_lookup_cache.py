"""Test looked-up refs: kept for as long as the disk shows the same, and trust holds."""

import os
from pathlib import Path

import pytest

from tea.errors import Quarantined
from tea.platform import Platform

TOOL = '''
from tea import tool


@tool(effects="reads")
async def greet() -> str:
    """Greet."""
    return "WORD"
'''


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tests' files be older than two seconds."""
    for name in ("_COARSE", "_FINE"):
        monkeypatch.setattr(f"tea.store.catalogue.{name}", 0)


def tick(folder: Path) -> None:
    """Let the clock of the file system go on, to give the next change another time."""
    probe = folder / "probe"
    probe.touch()
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.touch()


async def test_a_version_is_read_once_and_anew_when_its_pointer_moves_here_or_elsewhere(
    tmp_path: Path, later: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    async with Platform(tmp_path / "home", state=state) as tea, Platform(tmp_path / "home", state=state) as other:
        first = await tea.tcp.register(TOOL.replace("WORD", "hello"))
        tools = tea.tcp.manager
        assert await tools.pin("greet") == first
        pinned = await tools.pin("greet")
        with monkeypatch.context() as patch:
            patch.setattr(os, "listdir", None)
            assert await tools.pin("greet") is pinned
            assert await tools.info("greet") is pinned
        for house in (tea, other):
            tick(tmp_path)
            word = "good day" if house is tea else "welcome"
            moved = await house.tcp.update("greet", TOOL.replace("WORD", word))
            assert await tools.pin("greet") == moved
            assert await tools.info("greet") == moved
            assert await tools.pin("greet@1.0.0") == first
        tick(tmp_path)
        await other.tcp.rollback("greet")
        assert (await tools.pin("greet")).version == "1.0.1"


async def test_what_was_loaded_is_not_handed_out_once_it_is_not_trusted_any_more(tmp_path: Path, later: None) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.tcp.register(TOOL)
        tools = tea.tcp.manager
        config = await tools.pin("greet")
        found = await tools.definition(config)
        assert await tools.definition(config) is found
        tea.trust.path.write_text("")
        elsewhere = await tools.definition(config)
        assert elsewhere.create is None, "it is carried out in a sandbox"
        with pytest.raises(Quarantined):
            await tools.get("greet")
