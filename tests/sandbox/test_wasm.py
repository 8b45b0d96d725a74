"""Test the portable level: Python as WebAssembly, by a pinned runtime and without the kernel's help."""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tea.errors import ToolError, Unsupported
from tea.sandbox import wasm
from tea.sandbox.levels import Level, probe
from tea.sandbox.session import CLAIMS, Sandbox

Open = Callable[..., AbstractAsyncContextManager[Sandbox]]


@pytest.mark.slow
async def test_it_holds_everything_and_shows_it(levels: dict[str, Level]) -> None:
    assert levels["wasm"].claims == dict.fromkeys(CLAIMS, True), levels["wasm"].problem


@pytest.mark.slow
async def test_python_keeps_its_state_and_works_on_the_files_of_the_workspace(sandbox: Open, workspace: Path) -> None:
    (workspace / "in.txt").write_text("eleven")
    async with sandbox("wasm") as opened:
        await opened.python("word = open('in.txt').read()")
        ran = await opened.python("open('out.txt', 'w').write(word * 2)\nprint('done')\nlen(word)")
        assert (ran.stdout.text, ran.result, ran.files) == ("done\n", "6", (("out.txt", 12),))
        assert (workspace / "out.txt").read_text() == "eleveneleven"
        assert "division" in (await opened.python("1 / 0")).stderr.text
        assert (await opened.python("word")).result == "'eleven'"
        assert opened.claimed()["level"] == "wasm"


@pytest.mark.slow
async def test_a_session_that_may_only_read_changes_no_file(workspace: Path) -> None:
    (workspace / "in.txt").write_text("kept")
    from tea.sandbox.levels import terms_of
    from tea.sandbox.session import opened
    from tea.sandbox.settings import Limits

    async with opened({**terms_of("wasm", str(workspace), Limits()), "read_only": True}) as sandbox:
        assert (await sandbox.python("open('in.txt').read()")).result == "'kept'"
        for code in ("open('in.txt', 'w')", "open('new.txt', 'w')", "import os; os.unlink('in.txt')"):
            assert (await sandbox.python(code)).raised
    assert [one.name for one in workspace.iterdir()] == ["in.txt"]


@pytest.mark.slow
async def test_packages_without_native_parts_are_there(sandbox: Open) -> None:
    from tea.sandbox.packages import declared

    given = [str(one) for one in declared(("openpyxl", "numpy"))]
    async with sandbox("wasm", packages=given) as opened:
        assert (await opened.python("import openpyxl; openpyxl.Workbook().sheetnames")).result == "['Sheet']"
        assert (await opened.python("import numpy")).raised == "ModuleNotFoundError"


@pytest.mark.slow
async def test_bash_programs_and_packages_are_refused_in_one_line(sandbox: Open, tmp_path: Path) -> None:
    async with sandbox("wasm", wheels=str(tmp_path)) as opened:
        for call in (
            opened.bash("ls"),
            opened.install(["attrs"]),
            opened.program("a.py"),
        ):
            with pytest.raises(Unsupported, match="is wasm: it runs Python code, and neither") as told:
                await call
            assert "\n" not in told.value.problem
            assert "bubblewrap" in told.value.fix
        assert (await opened.python("40 + 2")).result == "42"


@pytest.mark.slow
async def test_a_limit_ends_the_interpreter_and_keeps_files(sandbox: Open) -> None:
    async with sandbox("wasm", cpu_seconds=2, call_seconds=60) as opened:
        await opened.python("kept = 1; open('kept.txt', 'w').write('on')")
        with pytest.raises(ToolError, match="processor time"):
            await opened.python("while True: pass")
        ran = await opened.python("open('kept.txt').read()")
        assert ran.result == "'on'"
        assert "what was defined before is gone" in ran.notes[0]


@pytest.mark.slow
async def test_memory_beyond_the_limit_is_refused_to_code(sandbox: Open) -> None:
    async with sandbox("wasm", memory_mb=128) as opened:
        ran = await opened.python("held = []\nwhile True: held.append(bytes(1 << 20))")
        assert ran.raised == "MemoryError"
        assert (await opened.python("held = None; 40 + 2")).result == "42"


async def test_a_runtime_with_other_bytes_is_never_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(wasm, "missing", lambda: "")
    monkeypatch.setattr(wasm, "_version", lambda: "50")
    monkeypatch.setattr(wasm, "parts", lambda: [tmp_path / "__init__.py"] * 2)
    (tmp_path / wasm.RUNTIME).write_bytes(b"\0asm\1\0\0\0")
    with pytest.raises(ToolError, match="is not the pinned one") as told:
        wasm.compiled()
    assert "pip install" in told.value.fix
    assert not (tmp_path / "cache").exists()


async def test_without_the_extra_the_level_is_absent_and_its_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.sandbox.levels.missing", lambda: "wasmtime not installed: pip install it")
    found = await probe("wasm")
    assert (found.present, "pip install it" in found.words()) == (False, True)


def test_what_others_may_write_is_not_taken_for_the_compiled_runtime(tmp_path: Path) -> None:
    path = tmp_path / "wasm.bin"
    path.write_bytes(b"code")
    assert wasm._is_own(path)
    path.chmod(0o666)
    assert not wasm._is_own(path)
    path.unlink()
    os.symlink("/dev/null", path)
    assert not wasm._is_own(path)


def test_the_compiled_runtime_is_not_taken_from_where_others_may_put_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "open" / "cache"))
    monkeypatch.setattr(wasm, "missing", lambda: "")
    monkeypatch.setattr(wasm, "_version", lambda: "50")

    def is_own(path: Path) -> bool:
        return True

    monkeypatch.setattr(wasm, "_is_own", is_own)
    with pytest.raises(ToolError, match=r"of '.*open' above it, every account may write it"):
        wasm.compiled()
