"""Test levels: told by their effects, kept, chosen by the operator's least."""

import asyncio
import errno
import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tea.errors import BadInput, ToolError
from tea.sandbox import levels as module
from tea.sandbox.folder import cache_folder
from tea.sandbox.levels import CACHE, Level, Sandboxes
from tea.sandbox.session import CLAIMS
from tea.sandbox.settings import LEVELS, WASM, LevelName, SandboxSettings


def test_this_machine_has_bubblewrap_and_it_enforces_all(levels: Mapping[LevelName, Level]) -> None:
    found = levels["bubblewrap"]
    assert found.present, f"install the package `bubblewrap`: {found.problem}"
    assert found.claims == dict.fromkeys(CLAIMS, True)


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] * (one == WASM)) for one in LEVELS])
def test_a_level_either_holds_what_its_name_says_or_tells_why_not(
    name: LevelName, levels: Mapping[LevelName, Level]
) -> None:
    found = levels[name]
    assert found.present != bool(found.problem)
    assert found.words()


def test_limits_alone_claim_neither_files_nor_network(levels: Mapping[LevelName, Level]) -> None:
    claims = levels["rlimits"].claims
    assert (claims["memory"], claims["fs"], claims["net"]) == (True, False, False)


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Levels as a test wants them; `tried` lists the probed ones."""

    class Probed:
        def __init__(self) -> None:
            self.tried: list[str] = []
            self.present: set[str] = {"landlock", "rlimits"}
            self.lacks = False

        async def __call__(self, name: LevelName) -> Level:
            self.tried.append(name)
            if self.lacks:
                return Level(name=name, present=False, problem="too many open files.", lacks=True)
            if name not in self.present:
                return Level(name=name, present=False, problem="it is not there.")
            return Level(name=name, present=True, claims=dict.fromkeys(CLAIMS, True))

    found = Probed()
    monkeypatch.setattr(module, "probe", found)
    return found


async def test_the_strongest_level_that_is_present_and_accepted_is_in_force(probed: Any) -> None:
    probed.present = {"rlimits", "landlock", "bubblewrap"}
    assert await Sandboxes(SandboxSettings()).name() == "bubblewrap"
    assert probed.tried == ["bubblewrap"]
    probed.present = {"rlimits", "landlock"}
    assert await Sandboxes(SandboxSettings(least="rlimits")).name() == "landlock"
    assert await Sandboxes(SandboxSettings()).name() == ""


async def test_below_the_least_level_no_code_runs_and_the_remedy_is_told(probed: Any, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no sandbox of the level wasm or better") as told:
        await Sandboxes(SandboxSettings()).terms(str(tmp_path))
    assert 'least = "landlock"' in told.value.fix


async def test_the_remedy_names_the_portable_level_where_it_is_accepted_and_missing(
    probed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "missing", lambda: "wasmtime")
    for least, named in ((None, True), ("bubblewrap", False)):
        with pytest.raises(ToolError) as told:
            await Sandboxes(SandboxSettings(least=least)).terms("")
        assert ("pip install 'tea-protocol[wasm]'" in told.value.fix) is named


async def test_parsers_run_at_no_level_without_native_parts(probed: Any) -> None:
    probed.present = {"wasm", "rlimits"}
    assert (
        await Sandboxes(SandboxSettings()).name(),
        (await Sandboxes(SandboxSettings()).parser_terms())["level"],
    ) == (
        "wasm",
        "rlimits",
    )


async def test_what_was_found_is_kept_until_the_machine_changes(
    probed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SandboxSettings(least="landlock")
    assert await Sandboxes(settings, tmp_path).name() == "landlock"
    count = len(probed.tried)
    assert await Sandboxes(settings, tmp_path).name() == "landlock"
    assert len(probed.tried) == count
    monkeypatch.setattr(module, "machine", lambda: "another")
    assert await Sandboxes(settings, tmp_path).name() == "landlock"
    assert len(probed.tried) == 2 * count


@pytest.mark.parametrize("text", ["", "{", "[]", '{"mark": 1}', '{"mark": "x", "levels": [{"name": 1}]}'])
async def test_a_cache_that_is_damaged_is_made_anew(probed: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / CACHE).write_text(text)
    assert await Sandboxes(SandboxSettings(least="rlimits"), tmp_path).name() == "landlock"
    assert json.loads((tmp_path / CACHE).read_text())["levels"]


async def test_a_run_that_began_behind_stronger_walls_is_refused_unless_accepted(probed: Any) -> None:
    with pytest.raises(BadInput, match="began with the sandbox bubblewrap") as told:
        await Sandboxes(SandboxSettings()).require("bubblewrap")
    assert "least" in told.value.fix
    await Sandboxes(SandboxSettings(least="landlock")).require("bubblewrap")
    await Sandboxes(SandboxSettings(least="rlimits")).require("rlimits")
    for nothing in ("", "unheard_of"):
        await Sandboxes(SandboxSettings()).require(nothing)


async def test_a_package_that_is_named_and_not_installed_is_refused(probed: Any, tmp_path: Path) -> None:
    found = Sandboxes(SandboxSettings(least="rlimits", packages=("nothing_of_that_name",)))
    with pytest.raises(BadInput, match="is not installed"):
        await found.terms(str(tmp_path))


@pytest.mark.parametrize("odd", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), os.mkdir])
async def test_what_never_ends_in_the_place_of_the_cache_is_made_anew(
    probed: Any, tmp_path: Path, odd: Callable[[Path], None]
) -> None:
    odd(tmp_path / CACHE)
    assert await Sandboxes(SandboxSettings(least="landlock"), tmp_path).name() == "landlock"


async def test_what_was_missing_for_a_moment_is_looked_for_again(probed: Any, tmp_path: Path) -> None:
    probed.lacks = True
    sandboxes = Sandboxes(SandboxSettings(least="landlock"), tmp_path)
    assert await sandboxes.name() == ""
    probed.lacks = False
    assert await sandboxes.name() == "landlock"
    assert json.loads((tmp_path / CACHE).read_text())["levels"]


async def test_a_level_that_does_not_start_for_want_of_files_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(asyncio, "create_subprocess_exec", full)
    found = await module.probe("rlimits")
    assert (found.present, found.lacks) == (False, True)


async def test_a_cache_that_others_may_write_does_not_count(probed: Any, tmp_path: Path) -> None:
    await Sandboxes(SandboxSettings(least="landlock"), tmp_path).name()
    tried = len(probed.tried)
    (tmp_path / CACHE).chmod(0o666)
    await Sandboxes(SandboxSettings(least="landlock"), tmp_path).name()
    assert len(probed.tried) == 2 * tried


def test_the_cache_is_the_accounts_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "tea"
    module._keep(cache_folder(), "mark", {})
    assert stat.S_IMODE(os.stat(tmp_path / "tea").st_mode) == 0o700


def test_every_level_has_its_place() -> None:
    assert LEVELS == ("rlimits", "landlock", "wasm", "namespaces", "bubblewrap")
