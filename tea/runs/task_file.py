"""The task file: one task as JSON, read strictly, with its files found (DESIGN of the task file in README)."""

from __future__ import annotations

import difflib
import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, cast

from pydantic import ValidationError

from tea.components.operation import reasons_in_document
from tea.errors import BadInput, BadTask, TeaError
from tea.journal.header import Closed, Talk, TaskFile
from tea.store.files import parse_json_strict
from tea.types import Budget, JsonObject

TASK_LIMIT = 1024 * 1024


def read_task(data: bytes) -> TaskFile:
    """Read a task file's bytes, UTF-8 with or without a byte order mark.

    Raises:
        BadTask: They are not a task; the error names what is wrong, in one line.
    """
    if len(data) > TASK_LIMIT:
        raise BadTask(f"The task file is larger than {TASK_LIMIT} bytes.", fix="put large data into `files`.")
    try:
        value = parse_json_strict(data.removeprefix(BOM_UTF8), "The task file")
    except TeaError as error:
        raise BadTask(error.problem, fix=error.fix) from error
    if not isinstance(value, Mapping):
        raise BadTask("The task file is not a JSON object.", fix='write {"task": "..."}.')
    if "allow" in value:
        problem = "The task file has a list `allow`: a task narrows the policy and never widens it."
        raise BadTask(problem, fix="name what may act unasked with `tea run --allow NAME`.")
    if "talk" in value:  # what stands there as a person's words, nobody here typed
        problem = "The task file has a conversation `talk`: that is written by `tea chat` alone."
        raise BadTask(problem, fix="leave it out, and say everything in `task`.")
    return make_task({str(key): one for key, one in value.items()})  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


class TaskOptions(TypedDict, total=False):
    """The keys of a task file as keywords of `tea.run`, besides its own; see `TaskFile`."""

    use: Mapping[str, str]
    budget: Mapping[str, float | None] | Budget
    tools: Sequence[str] | None
    also: Sequence[str]
    allow: Sequence[str]
    policy: JsonObject | Sequence[JsonObject] | None
    without: Sequence[str]
    closed: JsonObject | Closed
    fresh: bool
    evolve: bool
    reflect: int
    attempts: int
    successive: bool
    settings: JsonObject
    answer: JsonObject | None
    id: str | None
    session: str | None
    talk: JsonObject | Talk | None
    call_seconds: float | None


class RunOptions(TaskOptions, total=False):
    """The keys of a task file as keywords of `Platform.run`, besides its own."""

    model: str | None


def make_task(value: Mapping[str, Any]) -> TaskFile:
    """Return a task from its JSON object.

    Raises:
        BadTask: It is not a task.
    """
    unknown = [key for key in value if key not in TaskFile.model_fields]
    if unknown:
        near = difflib.get_close_matches(unknown[0], TaskFile.model_fields, n=1)
        fix = f"did you mean {near[0]!r}?" if near else f"keys are {', '.join(TaskFile.model_fields)}."
        raise BadTask(f"The task has an unknown key {unknown[0]!r:.62}.", fix=fix)
    try:
        return TaskFile.model_validate_json(_encoded(value), strict=True)
    except ValidationError as error:
        problem = f"The task is not usable: {reasons_in_document(error, 2)[:180]}."
        raise BadTask(problem, fix="mend it; only `task` is required.") from error
    except BadInput as error:  # also a ref or a rule that is none
        raise BadTask(error.problem, fix=error.fix) from error


def find_files(task: TaskFile, folder: Path, further: object = ()) -> dict[str, Path]:
    """Return the task's files by the name they get in the workspace.

    Args:
        task: The task.
        folder: What its files are relative to, and must not leave.
        further: More files, wherever they are: a list of paths, whatever a program or a person gave.

    Raises:
        BadTask: One is missing, no regular file, escapes the folder, or two have one name.
    """
    if isinstance(further, str | bytes) or not isinstance(further, Iterable):
        raise BadTask("`files` is not a list of paths.", fix="give a list of text or Path.")
    root = folder.resolve()
    paths = [*(_inside(name, root) for name in task.files), *map(_regular, cast("Iterable[object]", further))]
    found: dict[str, Path] = {}
    for path in paths:
        if found.setdefault(path.name, path) != path:
            raise BadTask(f"Two files are called {path.name[:80]!r}.", fix="rename one of them.")
    return found


def _inside(name: str, root: Path) -> Path:
    path = _resolved(root / name, name)
    if not name or not path.is_relative_to(root):
        raise BadTask(f"The file {name[:80]!r} is outside of the task's folder.", fix="put it beside the task file.")
    return _regular(path, name)


def _regular(location: object, name: str = "") -> Path:
    shown = (name or str(location))[-80:]
    path = _resolved(location, shown)
    if not path.exists():
        raise BadTask(f"There is no file {shown!r}.", fix="check its path.")
    if path.is_dir():
        fix = "name the files in it, one by one, or index it for `web_search` with `tea corpus add FOLDER`."
        raise BadTask(f"{shown!r} is a folder.", fix=fix)
    if not path.is_file():
        raise BadTask(f"{shown!r} is not a regular file.", fix="name a file.")
    return path


def _resolved(location: object, shown: str) -> Path:
    """Return the resolved target of a path."""
    try:
        path = Path(cast(Any, location)).resolve()
        path.exists()
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise BadTask(f"The file {shown[:80]!r} cannot be reached.", fix="check its path.") from error
    return path


def _encoded(value: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(dict(value), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadTask(f"The task is not JSON: {str(error)[:120]}.", fix="use JSON values only.") from error
