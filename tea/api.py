"""The short way: run one task in a platform of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from tea.journal.recorder import Event
    from tea.models.manager import Adapter
    from tea.platform import AgentLike, TaskLike
    from tea.runs.outcome import Outcome
    from tea.runs.task_file import RunOptions, TaskOptions


async def run(
    task: TaskLike,
    *,
    files: Sequence[str | Path] = (),
    agent: AgentLike | None = None,
    home: str | Path | None = None,
    model: Adapter | str | None = None,
    **options: Unpack[TaskOptions],
) -> Outcome:
    """Run a task once and return its outcome: `answer`, `cost`, `trace`, `report`.

    Args:
        task: Words, or the JSON object of a task file; its files are relative to the current folder.
        files: Further files it may use.
        agent: Who works on it: a name, a declared agent, or an agent's class; see `tea.Platform.run`.
        home: Folder of `registry/` and `traces/`; see `tea.Platform`.
        model: Name of a configured model, as in a task file; or what answers in place of the configured models.
        **options: Further keys of the task file, for example `budget={"steps": 5}`.

    Raises:
        BadTask: The task cannot be used; nothing is written.
    """
    from tea.platform import Platform

    adapter, chosen = _with_model(model, options)
    async with Platform(home, model=adapter) as platform:
        return await platform.run(task, files=files, agent=agent, **chosen)


async def stream(
    task: TaskLike,
    *,
    files: Sequence[str | Path] = (),
    agent: AgentLike | None = None,
    home: str | Path | None = None,
    model: Adapter | str | None = None,
    **options: Unpack[TaskOptions],
) -> AsyncGenerator[Event | Outcome]:
    """Run a task and yield its events as they happen, its outcome last.

    Args:
        task: As for `run`.
        files: As for `run`.
        agent: As for `run`.
        home: As for `run`.
        model: As for `run`.
        **options: As for `run`.
    """
    from tea.platform import Platform

    adapter, chosen = _with_model(model, options)
    async with (
        Platform(home, model=adapter) as platform,
        aclosing(platform.stream(task, files=files, agent=agent, **chosen)) as events,
    ):
        async for event in events:
            yield event


def _with_model(model: Adapter | str | None, options: TaskOptions) -> tuple[Adapter | None, RunOptions]:
    """Split a model into an adapter, None without one, and options, with the name of a model added to them."""
    return (None, {**options, "model": model}) if isinstance(model, str) else (model, {**options})
