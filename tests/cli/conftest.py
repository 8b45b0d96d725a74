"""The real command, in a folder of its own, with nothing of the operator's around."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SLOW = '''
from tea import Agent, Context, Result, Task


class Slow(Agent):
    """Sleep, then answer."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Sleep as many seconds as the task says."""
        await ctx.sleep(float(task.text))
        return Result(answer="awake")
'''

SHOUT = '''
from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def shout(text: str, times: int = 1, marks: list[str] | None = None, by: str | None = None) -> str:
    """Say it louder.

    Args:
        text: Any words.
        times: How often.
        marks: What to put behind.
        by: Who says it.
    """
    return " ".join([text.upper()] * times) + "".join(marks or []) + (f" ({by})" if by else "")
'''

RUDE = '''
from tea import Agent, Context, Result, Task


class Rude(Agent):
    """Answer with everything that a terminal would obey."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer at once."""
        nasty = "\\x1b]0;owned\\x07\\x1b[2Jwords\\x9b31m \\u202eback\\r\\nline\\ttab\\x00\\x08"
        ctx.note("step", {"agent": "rude", "step": 1, "next_goal": nasty, "calls": []})
        return Result(answer=nasty, ok=task.text != "fail", reason=nasty)
'''

COUNTER = '''
from tea import Environment, action


class Counter(Environment):
    """Count."""

    rules = "Count up only."

    def __init__(self) -> None:
        self.number = 0

    @action(effects="writes", network=False)
    async def add(self, by: int = 1) -> int:
        """Add to the number."""
        self.number += by
        return self.number

    async def state(self) -> dict[str, int]:
        """Return the number."""
        return {"number": self.number}
'''

PAY = '''
import asyncio
from pathlib import Path

from tea import tool


@tool(effects="irreversible", network=False)
async def pay() -> str:
    """Pay, and take long over it."""
    Path("began").write_text("yes")
    await asyncio.sleep(30)
    return "paid"
'''

PAYER = '''
from tea import Agent, Context, Result, Task


class Payer(Agent):
    """Pay once."""

    tools = ("pay",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Pay and tell."""
        return Result(answer=(await ctx.tcp.invoke("pay", {})).unwrap())
'''

PROMPT = """---
name: greeting
description: Greets somebody.
variables: {who: string}
---
# system

You greet.

# message

Greet {{ who }}.
"""


@dataclass(frozen=True)
class Finished:
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """Return the output of `--json`: exactly one object, with its schema."""
        found = json.loads(self.out)
        assert found["schema"] == 1
        return found

    def refused(self, code: int, *words: str) -> None:
        """Check for a single line with the fault and the remedy."""
        assert (self.code, self.out) == (code, ""), self
        (line,) = self.err.splitlines()
        assert re.fullmatch(r"tea: .+ Fix: .+", line)
        assert len(line) <= 300, line
        assert "Traceback" not in line
        assert "internal error" not in line
        for word in words:
            assert word in line, (word, line)


class Warm:
    """The process of warm.py, with the findings on this machine, and the compiled sources, of all tests."""

    def __init__(self, streams: Path, machine: Path) -> None:
        self.cache, self.kept = machine / "cache", machine / "kept"
        self.kept.mkdir(mode=0o700, exist_ok=True)
        self.streams = [streams / name for name in ("in", "out", "err")]
        program = [sys.executable, str(Path(__file__).with_name("warm.py"))]
        alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a process with threads is not to be forked
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=alone)

    def __call__(self, line: list[str], folder: Path, environment: dict[str, str], stdin: bytes) -> Finished:
        for path, content in zip(self.streams, (stdin, b"", b""), strict=True):
            path.write_bytes(content)
        request = {
            "line": line,
            "folder": str(folder),
            "environment": environment,
            "streams": list(map(str, self.streams)),
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        return Finished(code, *(path.read_bytes().decode() for path in self.streams[1:]))

    def close(self) -> None:
        """End the process."""
        self.process.communicate(timeout=30)


class Tea:
    """Calls `tea` in one folder."""

    def __init__(self, folder: Path, state: Path, warm: Warm) -> None:
        self.folder = folder
        self.state = state
        self.warm = warm
        kept = {
            name: os.environ[name]
            for name in ("PATH", "PYTHONPATH", "LANG", "COVERAGE_PROCESS_START")
            if name in os.environ
        }
        own = {name: str(state) for name in ("HOME", "TEA_STATE", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        self.environment = {**kept, **own, "XDG_CACHE_HOME": str(warm.cache), "TERM": "xterm"}

    def __call__(self, *arguments: str | Path, stdin: bytes = b"", **environment: str) -> Finished:
        return self.warm(list(map(str, arguments)), self.folder, {**self.environment, **environment}, stdin)

    @contextmanager
    def started(self, *arguments: str | Path) -> "Iterator[subprocess.Popen[str]]":
        """Start a command in a process of its own, and end it if it does not end itself."""
        pipe = subprocess.PIPE
        with subprocess.Popen(
            self.line(*arguments), cwd=self.folder, env=self.environment, stdout=pipe, stderr=pipe, text=True
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def line(self, *arguments: str | Path) -> list[str]:
        """Return the command line."""
        return [sys.executable, "-m", "tea.cli", *map(str, arguments)]

    def write(self, name: str, text: str | bytes) -> Path:
        """Put a file into the folder."""
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def files(self) -> set[str]:
        """Return everything in the folder."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory, machine: Path) -> Iterator[Warm]:
    warm = Warm(tmp_path_factory.mktemp("streams"), machine)
    yield warm
    warm.close()


@pytest.fixture
def tea(tmp_path: Path, warm: Warm) -> Tea:
    return make(tmp_path, warm)


@pytest.fixture(scope="session")
def stocked(tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Tea:
    """A home with a component of each kind, shared by tests without changes to it."""
    tea = make(tmp_path_factory.mktemp("stocked"), warm)
    sources = {"slow.py": SLOW, "shout.py": SHOUT, "rude.py": RUDE, "counter.py": COUNTER, "greeting.md": PROMPT}
    for name, source in sources.items():
        finished = tea("register", tea.write(name, source))
        assert finished.code == 0, finished
    return tea


def make(folder: Path, warm: Warm) -> Tea:
    (folder / "work").mkdir()
    (folder / "state").mkdir()
    (folder / "state" / "kept").symlink_to(warm.kept)
    return Tea(folder / "work", folder / "state", warm)


def on_a_terminal(tea: Tea, arguments: list[str], changes: dict[str, str]) -> bytes:
    """Return a command's output on a terminal."""
    master, terminal = os.openpty()
    process = subprocess.Popen(
        tea.line(*arguments), cwd=tea.folder, env={**tea.environment, **changes}, stdout=terminal, stderr=terminal
    )
    process.wait(timeout=30)
    os.close(terminal)
    shown = os.read(master, 100_000)
    os.close(master)
    return shown
