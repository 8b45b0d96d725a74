"""The input of `tea run`: a task file, words, or standard input, with the command line's additions."""

import json
import os
import sys
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tea.errors import BadInput, BadTask

if TYPE_CHECKING:
    from tea.journal.header import TaskFile

Read = tuple["TaskFile", dict[str, Path]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Additions:
    """The command line's additions to the task; they override the task file.

    Args:
        files: Further files, wherever they are.
        options: Keys of the task file.
        budget: Keys of its budget.
        use: Versions by `kind:name`.
        names: Names that are added to those of a key of the task file.
    """

    files: Sequence[Path] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    budget: Mapping[str, Any] = field(default_factory=dict[str, Any])
    use: Mapping[str, str] = field(default_factory=dict[str, str])
    names: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


def read_input(what: str, added: Additions) -> Read:
    """Return the task, and its files by the name they get in the workspace.

    Args:
        what: The path of a task file, `-` for standard input (a task file's JSON, or words), or words.
        added: What else the command line says.

    Raises:
        BadTask: It cannot be used; nothing was written.
    """
    from tea.runs.task_file import find_files, read_task

    folder = Path.cwd()
    if what == "-":
        data = _standard_input().removeprefix(BOM_UTF8)
        task = read_task(data) if data.lstrip().startswith(b"{") else _from_words(_decoded(data))
    elif names_file(what):
        path = Path(what)
        task, folder = read_task(_file(path)), path.parent
    else:
        task = _from_words(what)
    task = _merged(task, added)
    return task, find_files(task, folder, added.files)


def names_file(what: str) -> bool:
    """Return whether an argument is the path of a task file: it exists, or ends in `.json`; else it is text."""
    return what.endswith(".json") or os.path.exists(what)


def read_uses(texts: Sequence[str]) -> dict[str, str]:
    """Return versions by `kind:name`, from `kind:name=VERSION` or `kind:name@VERSION` each.

    Raises:
        BadInput: One is of another form, or a component is named twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, version = text.partition("=" if "=" in text else "@")
        if not sign or not version or ":" not in name:
            raise BadInput(f"--use {text[:80]!r} is not usable.", fix="write kind:name=VERSION.")
        if name in found:
            raise BadInput(f"--use names {name[:80]!r} twice.", fix="name one version of it.")
        found[name] = version
    return found


def read_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Return settings of agents by `agent.setting`, from `agent.setting=VALUE` each; a value is JSON, or else text.

    Raises:
        BadInput: One is of another form, or named twice.
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not all(name.partition(".")):
            raise BadInput(f"--set {text[:80]!r} is not usable.", fix="write AGENT.NAME=VALUE, e.g. debate.rounds=5.")
        if name in found:
            raise BadInput(f"--set names {name[:80]!r} twice.", fix="name it once.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def separate(texts: Sequence[str]) -> list[str]:
    """Return the names in texts of names with commas between them."""
    return [name for text in texts for one in text.split(",") if (name := one.strip())]


def _merged(task: "TaskFile", added: Additions) -> "TaskFile":
    from tea.runs.task_file import make_task

    given = task.model_dump(mode="json", exclude_unset=True)
    budget = {**given.get("budget", {}), **added.budget}
    if "usd" in added.budget and not added.budget.get("unknown_price"):
        budget.pop("unknown_price", None)  # a person's limit in dollars is not lifted by a file
    joined = {
        "budget": budget,
        "use": {**given.get("use", {}), **added.use},
        **{key: list(dict.fromkeys((*given.get(key, ()), *names))) for key, names in added.names.items()},
    }
    return make_task({**given, **added.options, **{key: value for key, value in joined.items() if value}})


def _from_words(words: str) -> "TaskFile":
    from tea.runs.task_file import make_task

    return make_task({"task": words})


def _file(path: Path) -> bytes:
    from tea.runs.task_file import TASK_LIMIT
    from tea.store.files import read_regular
    from tea.store.strict import Refused

    shown = str(path)[-80:]
    try:
        return read_regular(path.resolve(), TASK_LIMIT)
    except FileNotFoundError as error:
        raise BadTask(f"There is no task file {shown!r}.", fix="check its path; a question needs no file.") from error
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise BadTask(f"The task file {shown!r} cannot be read: {reason}.", fix="check its path and rights.") from error
    except Refused as reason:
        raise BadTask(
            f"The task file {shown!r} cannot be used: {reason}.", fix="give a small regular file."
        ) from reason


def _standard_input() -> bytes:
    from tea.runs.task_file import TASK_LIMIT

    if sys.stdin is None:
        raise BadTask("There is no standard input.", fix="pipe a task into `tea run -`.")
    data = sys.stdin.buffer.read(TASK_LIMIT + 1)
    if len(data) > TASK_LIMIT:
        raise BadTask(f"The task is larger than {TASK_LIMIT} bytes.", fix="put large data into files.")
    if not data.strip():
        raise BadTask("Standard input is empty.", fix="pipe a task file or a question into `tea run -`.")
    return data


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise BadTask(f"The task is not UTF-8 at byte {error.start}.", fix="save it as UTF-8.") from error
