"""Test descriptions without the secrets of whoever registers a component."""

from pathlib import Path

import pytest

from tea.errors import BadComponent
from tea.platform import Platform

SECRET = "sk-canary-1234567890abcdef"
GREET = '''import posix

from tea import tool


@tool(effects="reads")
async def greet(whom: dict = posix.environ) -> int:
    """Greet."""
    return len(whom)
'''


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)


def platform(folder: Path) -> Platform:
    (folder / "home").mkdir(exist_ok=True)
    return Platform(folder / "home", state=folder / "state")


async def test_a_default_with_a_secret_of_the_environment_is_refused(tmp_path: Path) -> None:
    async with platform(tmp_path) as tea:
        await tea.tcp.register(GREET.replace("posix.environ", "{}"))
        for change in (tea.tcp.register(GREET), tea.tcp.update("greet", GREET)):
            with pytest.raises(BadComponent, match="holds the secret of SOME_API_KEY") as refused:
                await change
            assert SECRET not in str(refused.value)
    assert not [one for one in (tmp_path / "home").rglob("*") if one.is_file() and SECRET in one.read_text("latin-1")]


async def test_a_value_that_the_source_itself_writes_is_registered(tmp_path: Path) -> None:
    source = GREET.replace("dict = posix.environ", f'str = "{SECRET}"')
    async with platform(tmp_path) as tea:
        assert (await tea.tcp.register(source)).version == "1.0.0"
