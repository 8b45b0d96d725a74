"""Test a machine without open files or disk space: a run is suspended, and `tea resume` goes on with it."""

import errno
import json
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tea.errors import Interrupted, ResourceExhausted, exhausted
from tea.journal.record import as_mapping
from tea.models.manager import CallTool, ModelConfig
from tea.models.offline import OfflineModel
from tea.platform import Platform
from tea.types import ModelRequest, ModelResponse

KEEP = '''
import os

from tea import Context, ToolError, tool


@tool(effects="EFFECTS", idempotent=True, network=False)
async def keep(ctx: Context, name: str) -> str:
    """Keep a name, where there is room."""
    try:
        if name == "b" and os.path.exists("FULL"):
            raise OSError(NUMBER, os.strerror(NUMBER))
        with open(ctx.path("kept"), "a") as file:
            file.write(name)
        return f"kept {name}"
    except OSError as error:
        RAISE
'''

KEEPER = '''
from tea import Agent, Context, Result, Task


class Keeper(Agent):
    """Keep two names at once, and then a third."""

    tools = ("keep",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Keep them."""
        async with ctx.group() as group:
            told = [group.spawn(ctx.tcp.invoke("keep", {"name": name})) for name in "ab"]
        last = await ctx.tcp.invoke("keep", {"name": "c"})
        return Result(answer=[*(one.result().value for one in told), last.value])
'''


async def stocked(tea: Platform, full: Path, number: int, how: str, effects: str = "writes") -> None:
    source = KEEP.replace("FULL", str(full)).replace("NUMBER", str(number)).replace("EFFECTS", effects)
    await tea.tcp.register(source.replace("RAISE", how))
    await tea.acp.register(KEEPER)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("how", ["raise", 'raise ToolError("No room.", fix="none.") from error'])
async def test_a_call_that_lacks_what_the_machine_gives_is_no_answer(tmp_path: Path, number: int, how: str) -> None:
    full = tmp_path / "full"
    full.touch()
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        await stocked(tea, full, number, how)
        with pytest.raises(Interrupted, match="is kept") as caught:
            await tea.run("Go.", agent="keeper")
        run = caught.value.run
        assert os.strerror(number) in caught.value.problem
        assert f"tea resume {run}" in caught.value.fix
        records = list(tea.tracer.records(run))
        starts = {one.key for one in records if one.kind == "start" and as_mapping(one.data)["kind"] == "tool"}
        ended = {one.key for one in records if one.kind in ("done", "failed")}
        assert len(starts) == 2
        assert len(starts - ended) == 1
        with pytest.raises(Interrupted):
            await tea.resume(run)
        full.unlink()
        outcome = await tea.resume(run)
        assert outcome.answer == ["kept a", "kept b", "kept c"]
        assert (outcome.trace / "workspace" / "kept").read_text() == "abc"
        assert (await tea.replay(run)).answer == outcome.answer


class Starved:
    """A model without a connection until it is let."""

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        self.asked += 1
        if self.asked < 3:
            raise ConnectionError from OSError(errno.EMFILE, "Too many open files")
        return await OfflineModel().complete(request, config, call_tool)


async def test_a_question_that_could_not_be_sent_is_asked_again(tmp_path: Path) -> None:
    model = Starved()
    async with Platform(tmp_path / "home", model=model, state=tmp_path / "state") as tea:
        for _ in range(2):
            with pytest.raises(Interrupted) as caught:
                await (tea.run("What is 2 + 3?") if model.asked == 0 else tea.resume("last"))
        assert (await tea.resume(caught.value.run)).answer == 5


async def test_a_call_from_outside_of_any_run_says_what_is_lacking(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.touch()
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        await stocked(tea, full, errno.ENOSPC, "raise")
        with pytest.raises(ResourceExhausted, match="No space left"):
            await tea.tcp.invoke("keep", {"name": "b"})


LIMITED = """
import resource, signal, sys

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
from tea.cli.app import main

main()
"""


def command(home: Path, size: int, *line: str) -> subprocess.CompletedProcess[str]:
    """Call `tea` with no file larger than `size` bytes."""
    known = {**os.environ, "TEA_HOME": str(home), "TEA_STATE": str(home / "state")}
    program = (sys.executable, "-c", LIMITED, str(size), *line)
    return subprocess.run(program, env=known, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_journal_without_room_suspends_its_run_wherever_that_happens(tmp_path: Path) -> None:
    whole = command(tmp_path / "whole", 2**30, "run", "What is 2 + 3?", "-q")
    assert (whole.returncode, whole.stdout.strip()) == (0, "5")
    (journal,) = (tmp_path / "whole" / "traces").glob("*/journal.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    seen: set[int] = set()
    for place in (len(lines) // 3, len(lines) // 2, len(lines) - 1):
        home = tmp_path / str(place)
        command(
            home, 2**30, "run", "What is 1 + 1?", "-q"
        )  # what is kept beside a journal is there, which may be larger
        size = sum(map(len, lines[:place])) - 10
        suspended = command(home, size, "run", "What is 2 + 3?", "--json", "-q")
        assert suspended.returncode == 130, suspended
        found = json.loads(suspended.stdout)
        assert "File too large" in found["error"]["problem"]
        assert "ulimit -f" in found["error"]["fix"]
        again = command(home, 2**30, "resume", found["run"], "-q")
        assert (again.returncode, again.stdout.strip()) == (0, "5"), again
        assert command(home, 2**30, "replay", found["run"], "-q").returncode == 0
        seen.add(len(found["run"]))
    assert seen == {32}


async def test_a_run_that_cannot_begin_for_want_of_descriptors_leaves_nothing(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.run("What is 1 + 1?")
        before = tea.tracer.runs()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        opened: list[int] = []
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1, hard))
        try:
            with suppress(OSError):
                while True:
                    opened.append(os.open(os.devnull, os.O_RDONLY))
            with pytest.raises(ResourceExhausted, match="Too many open files"):
                await tea.run("What is 2 + 3?")
        finally:
            for one in opened:
                os.close(one)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert tea.tracer.runs() == before
        assert (await tea.run("What is 2 + 3?")).answer == 5


def test_what_is_lacking_is_found_under_other_errors() -> None:
    lack = OSError(errno.ENOSPC, "No space left on device")
    outer, handled, other = RuntimeError("outer"), ValueError("handled"), KeyError("other")
    outer.__cause__, handled.__context__ = lack, lack
    other.__context__, other.__suppress_context__ = lack, True
    found: list[Any] = [exhausted(one) for one in (lack, outer, handled, ExceptionGroup("g", [KeyError(), outer]))]
    assert all(isinstance(one, ResourceExhausted) for one in found)
    assert exhausted(other) is None
    assert exhausted(OSError(errno.EACCES, "no")) is None
    outer.__cause__ = outer
    assert exhausted(outer) is None
