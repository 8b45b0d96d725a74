"""Nothing heavy is imported before it is used; asked of a fresh interpreter, not of this one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "aiohttp", "anthropic", "browser_use", "duckdb", "faiss", "httpx", "litellm", "numpy", "openai", "openpyxl",
    "pandas", "sentence_transformers", "textgrad", "torch", "transformers",
}  # fmt: skip
# zipfile stands for importlib.metadata, which pydantic loads when a first validator is built: not at import, please.
LATER = {"click", "docstring_parser", "jinja2", "jsonschema", "rich", "sqlite3", "typer", "yaml", "zipfile"}


def loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return set(finished.stdout.splitlines()[-1].split())


def test_the_public_names_come_without_anything_heavy() -> None:
    assert loaded_by("from tea import *") & (HEAVY | LATER) == set()


def test_the_command_line_shows_its_help_without_anything_heavy() -> None:
    code = "import sys, tea.cli\nsys.argv = ['tea', '--help']\ntry: tea.cli.main()\nexcept SystemExit: pass"
    assert loaded_by(code) & (HEAVY | {"pydantic"}) == set()


def test_a_list_does_not_load_what_runs_need(tmp_path: Path) -> None:
    code = f"""
import asyncio, sys
from tea.platform import Platform
async def main():
    async with Platform({str(tmp_path)!r}, state={str(tmp_path / "state")!r}) as tea:
        for one in tea.libraries.values():
            await one.list()
asyncio.run(main())
print(*sys.modules)
"""
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(finished.stdout.split())
    late = {f"tea.{name}" for name in ("engine", "runs.execution", "runs.run", "loop.loop", "runs.task_file")}
    assert loaded & (late | HEAVY | {"typer", "sqlite3", "jinja2"}) == set()
    assert "tea.platform" in loaded


def test_a_run_of_checked_components_loads_neither_what_checks_nor_other_commands(tmp_path: Path) -> None:
    line = ["tea", "run", "-q", "What is 12*7?"]
    run = f"import sys, tea.cli\nsys.argv = {line}\ntry: tea.cli.main()\nexcept SystemExit: pass\n"
    environment = {**os.environ, "TEA_HOME": str(tmp_path / "home"), "TEA_STATE": str(tmp_path / "state")}
    command = [sys.executable, "-c", f"{run}print(*sys.modules)"]
    for _ in range(2):  # the first keeps what it checked and compiled
        finished = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    answer, loaded = finished.stdout.splitlines()
    assert answer == "84"
    commands = {f"tea.cli.{name}" for name in ("list", "trace", "register", "transform", "models", "doctor")}
    providers = {f"tea.models.{name}" for name in ("wire", "client", "sse", "openai_chat", "anthropic_messages")}
    others = {"tea.web.address", "tea.runs.fork", "tea.protocols.lock"} | {"rich", "jsonschema", "yaml", "sqlite3"}
    assert set(loaded.split()) & (HEAVY | commands | providers | others) == set()


def test_the_process_beside_a_command_is_copied_before_anything_is_loaded(tmp_path: Path) -> None:
    look = "import os, sys\nos.register_at_fork(before=lambda: print(*sys.modules))"
    run = "sys.argv = ['tea', 'list']\nfrom tea.cli import main\nmain()"
    environment = {**os.environ, "TEA_HOME": str(tmp_path / "home"), "TEA_STATE": str(tmp_path / "state")}
    command = [sys.executable, "-c", f"{look}\n{run}"]
    finished = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(finished.stdout.splitlines()[0].split())
    assert "tea.cli.overseer" in loaded
    assert loaded & {"asyncio", "pydantic", "tea.cli.app", "typer"} == set()


@pytest.mark.parametrize("module", ["openpyxl", "typer"])
def test_the_question_itself_can_tell(module: str) -> None:
    assert module in loaded_by(f"import {module}")
