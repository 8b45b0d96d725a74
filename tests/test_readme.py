"""Test every command in the README against its shown output."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tea.platform import Platform

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_VARYING = [
    (re.compile(r"\b[0-9a-f]{32}\b"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\d+ (steps|records)"), "N"),
    (re.compile(r"\b0\.\d+\b"), "SCORE"),
]


def shown() -> list[tuple[str, str]]:
    """The commands of the README with their output."""
    found: list[tuple[str, str]] = []
    for block in _BLOCK.findall((ROOT / "README.md").read_text()):
        for part in ("\n" + block).split("\n$ ")[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.strip("\n")))
    return found


def steady(text: str) -> str:
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text.strip("\n")


def fits(expected: str, printed: str) -> bool:
    """Whether `printed` is `expected`, with a line `...` for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.$\n?", steady(expected) + "\n", flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*".join(parts), steady(printed) + "\n") is not None


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """The examples in a folder of their own, and `tea` and `python` of this environment on the path."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, words in {"tea": f"{sys.executable} -m tea.cli", "python": sys.executable}.items():
        (commands / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (commands / name).chmod(0o755)
    inherited = {
        name: value for name, value in os.environ.items() if not (name.startswith("TEA_") or name.endswith("_API_KEY"))
    }
    path = f"{commands}:{os.environ['PATH']}"
    return {**inherited, "PATH": path, "TEA_STATE": str(tmp_path / "state"), "NO_COLOR": "1"}


def test_the_readme_shows_what_its_commands_print(tmp_path: Path, surroundings: dict[str, str]) -> None:
    commands = shown()
    assert len(commands) >= 10
    for command, expected in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path / "examples",
            env=surroundings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert fits(expected, done.stdout), f"$ {command}\n{done.stdout}\ninstead of\n{expected}"


def test_the_agent_that_the_readme_declares_is_the_one_of_its_example() -> None:
    (block,) = re.findall(r"```python\n(capitals = .*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block in (ROOT / "examples" / "capitals.py").read_text()


async def test_the_settings_of_the_readme_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "nobody")
    (block,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "tea.toml").write_text(block)
    async with Platform(home=tmp_path, state=tmp_path / "state") as tea:
        assert (tea.models.config(None).name, tea.settings.durability, tea.problems) == ("mini", "synced", [])
        assert tea.models.config(None, "reporter").name == "offline"
        assert set(tea.settings.embedder) == {"provider", "model", "base_url", "key_env"}
