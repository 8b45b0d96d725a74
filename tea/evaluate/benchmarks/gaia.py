"""GAIA (Mialon et al. 2023): the folder of a split, with `metadata.jsonl` and its attachments.

Layout: `2023/validation/metadata.jsonl` and beside it the files named by `file_name`. The folder of the split, of the
year or of the whole copy can be given; `metadata.jsonl` itself, too. The fields are `task_id`, `Question`, `Level`,
`Final answer` and `file_name`. An agent gets the attachment as `file` with its ending, as the published name is the
task's id, which leads to the answer.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tea.errors import BadInput
from tea.evaluate.benchmarks.files import HOSTS, read_rows
from tea.evaluate.task import EvalTask
from tea.evaluate.task_set import PlacedTask, TaskSet

_META = "metadata.jsonl"
_FORM = (
    "Answer with the answer alone: a number, as few words as possible, or a list of such with commas between them. "
    "Write a number without thousands separators and without units, unless the question asks for them; "
    "words without articles and abbreviations, and digits as digits unless the question says otherwise; "
    "in a list, apply this to each of its items."
)


def load(path: Path, level: str | int | None = None) -> TaskSet:
    """Read GAIA.

    Args:
        path: The folder of a split, or its `metadata.jsonl`.
        level: Only this level: 1, 2 or 3.

    Raises:
        BadInput: The layout is another one.
    """
    meta = _meta(path)
    tasks: list[EvalTask] = []
    for row in read_rows(meta):
        own = row.text("Level")
        if level is not None and own != str(level):
            continue
        name = row.optional("file_name")
        if name and not (meta.parent / name).is_file():
            raise BadInput(f"{row.where} names {name[:60]!r}, which is not beside it.", fix="copy the attachments.")
        tasks.append(
            EvalTask(
                id=row.text("task_id"),
                task=f"{row.text('Question')}\n\n{_FORM}",
                files=(name,) if name else (),
                expected=row.text("Final answer"),
                scorer="gaia",
                tags=(f"level-{own}",),
                split=meta.parent.name if meta.parent.name in ("validation", "test") else "",
            )
        )
    if not tasks:
        raise BadInput(f"There is no task of level {level}.", fix="levels are 1, 2 and 3.")
    found = TaskSet.of(tasks, name="GAIA", folder=meta.parent, deny=HOSTS, canaries=("gaia-benchmark/GAIA",))
    return replace(found, tasks=tuple(map(_neutral, found.tasks)))


def _neutral(task: PlacedTask) -> PlacedTask:
    """Return a task with its attachment under a neutral name."""
    return task.renamed({name: f"file{path.suffix}" for name, path in task.paths.items()})


def _meta(path: Path) -> Path:
    if path.is_file():
        return path
    for inner in ("", "validation", "2023/validation", "test", "2023/test"):
        if (path / inner / _META).is_file():
            return path / inner / _META
    problem = f"The folder {str(path)[-80:]!r} does not contain {_META}."
    raise BadInput(problem, fix="name the folder of a split of GAIA.")
