"""Whole runs over the wire, for tests: a home with one model, the planner in it, and the real command."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dialects import Dialect, Say

from tea.platform import Platform
from tea.runs.outcome import Outcome

SECRET = "sk-planted-0123456789abcdef"


def record(*calls: tuple[str, Mapping[str, Any]]) -> str:
    made = [{"name": name, "arguments": dict(arguments)} for name, arguments in calls]
    return json.dumps({"thinking": "t", "evaluation": "e", "memory": "m", "next_goal": "g", "calls": made})


ADDS = Say(text=record(("calculator", {"expression": "6 * 7"})))


ENDS = Say(text=record(("done", {"answer": "42"})))


def home(folder: Path, dialect: Dialect, url: str, more: str = "", **options: Any) -> Path:
    settings = {"provider": dialect.name, "base_url": url + dialect.base, "model": "fake-1", "key_env": "FAKE_KEY"}
    settings |= {"capabilities": ["schema", "streaming"], **options}
    lines = [f"{name} = {toml(value)}" for name, value in settings.items()]
    (folder / "tea.toml").write_text("\n".join(['model = "fake"', more, "[models.fake]", *lines]))
    (folder / ".env").write_text(f'# keys\nexport FAKE_KEY="{SECRET}"\n')
    return folder


def toml(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{" + ", ".join(f"{name} = {toml(one)}" for name, one in value.items()) + "}"


async def run(folder: Path, *, watch: Any = None, **options: Any) -> Outcome:
    async with Platform(folder, state=folder / "state") as tea:
        return await tea.run("What is 6 * 7?", watch=watch, **options)


async def replayed(folder: Path, outcome: Outcome) -> Outcome:
    async with Platform(folder, state=folder / "state") as tea:
        return await tea.replay(outcome.run)


def share_findings(state: Path) -> None:
    """Share all tests' findings about sources with a state folder, as of one operator."""
    kept = Path(os.environ["XDG_CACHE_HOME"]).with_name("kept")
    kept.mkdir(mode=0o700, exist_ok=True)
    state.mkdir(mode=0o700, exist_ok=True)
    if not (state / "kept").exists():
        (state / "kept").symlink_to(kept)


async def started(
    folder: Path, *arguments: str, stderr: int = PIPE, environment: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    share_findings(folder / "state")
    known = {**os.environ, "TEA_HOME": str(folder), "TEA_STATE": str(folder / "state"), **(environment or {})}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tea.cli", *arguments, cwd=folder, env=known, stdout=PIPE, stderr=stderr, stdin=DEVNULL
    )


async def tea(folder: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """The real command, beside a server on this loop."""
    process = await started(folder, *arguments, environment=environment)
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()
