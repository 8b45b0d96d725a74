"""Test the shell by hand, and the words of `tea doctor` on sandboxes."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from tea.cli.command import Command
from tea.cli.sandbox import check_sandboxes
from tea.sandbox import check as module
from tea.sandbox.check import Checked
from tea.sandbox.levels import Level
from tea.sandbox.session import CLAIMS
from tea.sandbox.settings import LEVELS, SandboxSettings

from .conftest import Tea


def test_code_runs_from_a_fresh_home(tea: Tea) -> None:
    found = tea("call", "environment:shell#python", "code=print(2**10)", "--json")
    assert (found.code, found.data["value"]["text"]) == (0, "STDOUT:\n1024")
    found = tea("call", "environment:shell#bash", "command=echo hi; exit 3")
    assert (found.code, "hi" in found.out) == (0, True)


def test_the_doctor_shows_every_level_and_which_is_in_force(tea: Tea) -> None:
    found = tea("doctor", "--json").data["sandbox"]
    assert found["in_force"] == "bubblewrap"
    assert [one["name"] for one in found["levels"]] == list(reversed(LEVELS))
    assert "bubblewrap (in force): enforces fs, net, pids, memory, syscalls" in tea("doctor").out


@pytest.mark.parametrize(("boasts", "code"), [(False, 0), (True, 2)])
async def test_the_doctor_attacks_the_levels_and_fails_where_one_boasts(
    boasts: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    level = Level(name="bubblewrap", present=True, claims=dict.fromkeys(CLAIMS, True))

    async def check(level: Level) -> AsyncIterator[Checked]:
        for name, outcome in (("read", "held"), ("write", "broke"), ("ask", "absent")):
            words, claimed = f"{name} it", name != "write" or boasts
            yield Checked(
                level=level.name, name=name, words=words, claim="fs", claimed=claimed, outcome=outcome, detail="x"
            )

    async def levels() -> list[Level]:
        return [level, Level(name="rlimits", present=False, problem="gone.")]

    async def name() -> str:
        return "bubblewrap"

    monkeypatch.setattr(module, "check", check)
    sandboxes: Any = SimpleNamespace(levels=levels, name=name, settings=SandboxSettings())
    assert await check_sandboxes(Command(), sandboxes) == code
    said = capsys.readouterr().out
    assert "bubblewrap: 3 cases, 1 held, 1 broke, 1 absent" in said
    assert "absent: ask it (x)" in said
    assert ("broke, CLAIMED (fs): write it: x" in said) is boasts
    assert ("Each level holds what it claims." in said) is not boasts
    assert "rlimits: not present: gone." in said


def test_settings_of_the_sandbox_are_checked(tea: Tea) -> None:
    (tea.folder / "tea.toml").write_text('[sandbox]\nleast = "none"\n')
    found = tea("doctor")
    assert found.code == 2
    assert "write one of bubblewrap, namespaces, wasm, landlock, rlimits" in found.err


def test_below_the_least_level_code_is_refused_with_the_remedy(tea: Tea) -> None:
    (tea.folder / "tea.toml").write_text('[sandbox]\nleast = "bubblewrap"\n')
    found = tea("call", "environment:shell#python", "code=1", PATH="/nowhere")
    assert found.code == 1
    assert "no sandbox of the level bubblewrap or better" in found.err
    assert "install the package `bubblewrap`" in found.err
