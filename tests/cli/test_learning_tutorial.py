"""The tutorial of learning: every command of it runs, and prints the lines below it."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Tea

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """The commands of the tutorial, each with the output below it."""
    text = "".join(BLOCK.findall((EXAMPLES / "learning.md").read_text()))
    return [tuple(one.split("\n", 1)) for one in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]  # type: ignore[misc]


@pytest.fixture
def home(tea: Tea) -> Tea:
    shutil.copy(EXAMPLES / "learning.py", tea.folder)
    return tea


def carried_out(tea: Tea, line: str) -> tuple[int, str]:
    program, *arguments = shlex.split(line)
    if program == "tea":
        found = tea(*arguments)
        return found.code, found.out + found.err
    ended = subprocess.run(
        [sys.executable, *arguments], cwd=tea.folder, env=tea.environment, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_planted_tasks_tell_letters_apart(home: Tea) -> None:
    assert carried_out(home, "python learning.py plant")[0] == 0
    rows = [json.loads(line) for line in (home.folder / "words.jsonl").read_text().splitlines()]
    assert {one["scorer"] for one in rows} == {"exact"}


@pytest.mark.slow
def test_a_failing_agent_is_measured_improved_compared_accepted_and_rolled_back(home: Tea) -> None:
    assert len(commands()) >= 10
    for line, expected in commands():
        code, printed = carried_out(home, line)
        assert code == 0, (line, printed)
        pattern = "[\\s\\S]*".join(map(re.escape, expected.strip().split("...")))
        assert re.fullmatch(pattern, printed.strip()) or (expected.strip() == "..."), (line, printed)
