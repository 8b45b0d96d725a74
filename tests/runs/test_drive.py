"""Test runs created at one place and driven at another."""

from pathlib import Path

import pytest
from loop_kit import done, step, sum_of

from tea.errors import BadInput, TeaError
from tea.journal.recorder import Event
from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.runs.task_file import make_task
from tea.testing import ScriptedModel


def house(folder: Path) -> Platform:
    """A platform as a process of its own would open it."""
    model = ScriptedModel([step(sum_of("6 * 7")), step(done("42"))])
    return Platform(folder / "home", state=folder / "state", policy=AllowTrusted(), model=model)


async def test_a_run_is_created_by_one_process_and_driven_by_another(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("six times seven")
    task = make_task({"task": "What is 6 * 7?", "files": ["notes.txt"]})
    async with house(tmp_path) as service:
        run = await service.create(task, {"notes.txt": tmp_path / "notes.txt"})
        assert [one.kind for one in service.tracer.records(run)] == ["run"]
        assert (service.tracer.ended(run), service.tracer.find("last")) == (False, run)
    seen: list[Event] = []
    async with house(tmp_path) as worker:
        outcome = await worker.resume(run, watch=seen.append)
        assert (outcome.run, outcome.status, outcome.answer) == (run, "done", "42")
        assert [one.kind for one in seen[:2]] == ["run", "resumed"]
        assert (await worker.replay(run)).answer == "42"
        with pytest.raises(BadInput, match="has ended"):
            await worker.resume(run)


async def test_what_cannot_be_run_is_not_created(tmp_path: Path) -> None:
    async with house(tmp_path) as service:
        with pytest.raises(TeaError, match="nobody"):
            await service.create(make_task({"task": "Hello", "agent": "nobody"}), {})
        assert list(service.tracer.store.runs()) == []
