"""TaskSet: tasks read from a JSONL file or a folder, with their files and a digest of everything relevant."""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from tea.characters import in_sentence
from tea.components.operation import reasons_in_document
from tea.errors import BadInput, TeaError
from tea.evaluate.task import PARTS, EvalTask, digest_of, part_of
from tea.store.files import followed, parse_json_strict, read_regular
from tea.store.strict import Refused

_LIMIT = 256 * 2**20
_BOM = b"\xef\xbb\xbf"
_KEYS = "`tea eval --schema` prints the schema of a line."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTask:
    """A task with its files on disk.

    Args:
        task: The task, with its id.
        paths: Its files, by the name they get in the workspace.
        work: Digest of what an agent is given.
        scoring: Digest of how an answer is scored.
    """

    task: EvalTask
    paths: Mapping[str, Path]
    work: str
    scoring: str

    @property
    def id(self) -> str:
        """Its name within the set."""
        return self.task.id

    @property
    def cluster(self) -> str:
        """The name of its group; of a task without one, its own."""
        return f"group/{self.task.group}" if self.task.group else self.work

    def renamed(self, names: Mapping[str, str]) -> PlacedTask:
        """Return the task with other names of its files in the workspace."""
        paths = {names.get(name, name): path for name, path in self.paths.items()}
        digests = {name: _digest(path) for name, path in paths.items()}
        return replace(self, paths=paths, work=self.task.work_digest(digests))

    @property
    def split(self) -> str:
        """Its part of the set: the one named by the task, else the one by its digest."""
        return self.task.split or part_of(self.cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSet:
    """A set of tasks, in order.

    Args:
        name: What it is called in reports.
        tasks: The tasks.
        deny: Hosts closed to its runs, as they hold its answers.
        canaries: Texts that mark its own pages and copies.
    """

    name: str
    tasks: tuple[PlacedTask, ...]
    deny: tuple[str, ...] = ()
    canaries: tuple[str, ...] = field(default=(), repr=False)

    @property
    def digest(self) -> str:
        """The digest of everything relevant in its tasks, in any order: 64 hex digits."""
        rows = sorted(
            [one.id, one.work, one.scoring, sorted(one.task.tags), one.split, one.task.group] for one in self.tasks
        )
        return digest_of(rows)

    def __len__(self) -> int:
        return len(self.tasks)

    def part(self, split: str) -> TaskSet:
        """Return the tasks of one split: a name given by tasks, or `train`, `gate`, `locked` by their digests.

        Raises:
            BadInput: No task belongs to it.
        """
        chosen = tuple(one for one in self.tasks if one.split == split)
        if not chosen:
            problem = f"No task of {self.name!r} belongs to the split {split[:60]!r}"
            raise _unchosen(problem, {one.split for one in self.tasks}, "a split")
        return replace(self, tasks=chosen)

    def tagged(self, tags: Sequence[str]) -> TaskSet:
        """Return the tasks with any of the tags.

        Raises:
            BadInput: No task has one of them.
        """
        chosen = tuple(one for one in self.tasks if {*one.task.tags} & {*tags})
        if not chosen:
            problem = f"No task of {self.name!r} has a tag {', '.join(tags)[:60]!r}"
            raise _unchosen(problem, {tag for one in self.tasks for tag in one.task.tags}, "a tag")
        return replace(self, tasks=chosen)

    def first(self, limit: int | None) -> TaskSet:
        """Return the first tasks; all without a limit."""
        return self if limit is None else replace(self, tasks=self.tasks[:limit])

    def sizes(self) -> dict[str, int]:
        """Return how many tasks each split holds."""
        found = Counter(one.split for one in self.tasks)
        return {name: found[name] for name in (*PARTS, *sorted(found.keys() - PARTS.keys())) if found[name]}

    @classmethod
    def of(
        cls,
        tasks: Sequence[EvalTask | Mapping[str, Any]],
        *,
        name: str = "tasks",
        folder: Path | None = None,
        deny: Sequence[str] = (),
        canaries: Sequence[str] = (),
    ) -> TaskSet:
        """Return a set of tasks made by a program.

        Args:
            tasks: The tasks, or their JSON objects.
            name: What it is called.
            folder: What their files are relative to; the current folder by default.
            deny: Hosts closed to its runs.
            canaries: Texts that mark its pages.

        Raises:
            BadInput: One is not a task, a file is missing, or two have one id.
        """
        root = folder or Path.cwd()
        rows = [(f"task {number}", one) for number, one in enumerate(tasks, 1)]
        placed = (placed_task(one if isinstance(one, EvalTask) else made_task(one, where), root, where)
                  for where, one in rows)  # fmt: skip
        return cls(name=name, tasks=_distinct(placed, rows), deny=tuple(deny), canaries=tuple(canaries))


def read_task_set(path: Path) -> TaskSet:
    """Read a task set: a JSONL file with a task a line, or a folder of such files and of `*.json` with one task each.

    Raises:
        BadInput: It cannot be read, or a line is not a task; the error names the file and the line.
    """
    files = _sources(path)
    rows: list[tuple[str, Mapping[str, Any]]] = []
    for source in files:
        rows += list(_rows(source))
    if not rows:
        problem = f"The task set {_short(path)!r} does not contain a task."
        raise BadInput(problem, fix=f"write one JSON object a line. {_KEYS}")
    folder = path if path.is_dir() else path.parent
    placed = (placed_task(made_task(row, where), folder, where) for where, row in rows)
    return TaskSet(name=followed(path).stem, tasks=_distinct(placed, rows))


def made_task(row: Mapping[str, Any], where: str) -> EvalTask:
    """Return a task from its JSON object.

    Args:
        row: The object.
        where: Where it stands, for errors.

    Raises:
        BadInput: It is not a task.
    """
    unknown = [key for key in row if key not in EvalTask.model_fields]
    if unknown:
        near = difflib.get_close_matches(str(unknown[0]), EvalTask.model_fields, n=1)
        keys = ", ".join(EvalTask.model_fields)
        fix = f"did you mean {near[0]!r}?" if near else f"keys are {keys}; --benchmark reads others."
        raise BadInput(f"{where}: the key {str(unknown[0])[:60]!r} is unknown.", fix=fix)
    try:
        return EvalTask.model_validate(row)
    except ValidationError as error:
        raise BadInput(
            f"{where} is not a task: {reasons_in_document(error, 2)[:200]}.", fix=f"mend it. {_KEYS}"
        ) from error
    except TeaError as error:
        raise BadInput(f"{where}: {error.problem}", fix=error.fix) from error


def placed_task(task: EvalTask, folder: Path, where: str) -> PlacedTask:
    """Return a task with its files found and digested.

    Raises:
        BadInput: A file is missing, no regular one, outside of the folder, or two have one name.
    """
    from tea.journal.header import TaskFile
    from tea.runs.task_file import find_files

    try:
        paths = find_files(TaskFile(task=task.task, files=task.files), folder) if task.files else {}
        digests = {name: _digest(path) for name, path in paths.items()}
        work, scoring = task.work_digest(digests), task.scoring_digest()
    except Refused as error:
        raise BadInput(f"{where} is not a task: {error}.", fix=f"mend it. {_KEYS}") from error
    except TeaError as error:
        raise BadInput(f"{where}: {error.problem}", fix=error.fix) from error
    named = task if task.id else task.model_copy(update={"id": digest_of([work, scoring])[:12]})
    return PlacedTask(task=named, paths=paths, work=work, scoring=scoring)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a task."""
    made = EvalTask.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def _unchosen(problem: str, there: set[str], what: str) -> BadInput:
    """Return the error for a choice of no task; the names of the set are words of its author, not the remedy's."""
    names = ", ".join(map(repr, sorted(there)))[:120] or "none"
    return BadInput(f"{problem}, but: {names}.", fix=f"name {what} of the set.")


def _sources(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(one for one in path.iterdir() if one.suffix in (".jsonl", ".json") and one.is_file())
        if not found:
            fix = "put tasks there, as .jsonl or .json; the files of a benchmark are read with --benchmark."
            raise BadInput(f"The folder {_short(path)!r} does not contain a task set.", fix=fix)
        return found
    if not path.exists():
        raise BadInput(f"There is no task set {_short(path)!r}.", fix="name a JSONL file or a folder.")
    return [path]


def _rows(source: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of a file, each with its file and line."""
    try:
        data = read_regular(followed(source), _LIMIT).removeprefix(_BOM)
    except (OSError, Refused) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"The task set {_short(source)!r} cannot be read: {reason}.", fix="check it.") from error
    if source.suffix == ".json":
        where = in_sentence(source.name)
        yield where, _object(data, where)
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            where = f"{in_sentence(source.name)}, line {number}"
            yield where, _object(line, where)


def _object(data: bytes, where: str) -> Mapping[str, Any]:
    try:
        value = parse_json_strict(data, where)
    except TeaError as error:
        raise BadInput(error.problem, fix=f"mend it. {_KEYS}") from error
    if not isinstance(value, Mapping):
        raise BadInput(f"{where} is not a JSON object.", fix='write {"task": "...", "expected": "..."}.')
    return cast("Mapping[str, Any]", value)


def _distinct(tasks: Iterator[PlacedTask], rows: Sequence[tuple[str, Any]]) -> tuple[PlacedTask, ...]:
    """Return the tasks, each with an id of its own.

    Raises:
        BadInput: Two have the same.
    """
    found: dict[str, tuple[str, PlacedTask]] = {}
    for (where, _), one in zip(rows, tasks, strict=True):
        if one.id in found:
            problem = f"{where} and {found[one.id][0]} have the same id {one.id[:60]!r}."
            raise BadInput(problem, fix="give each an id of its own, or remove one of them.")
        found[one.id] = where, one
    return tuple(one for _, one in found.values())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _short(path: Path) -> str:
    return str(path)[-80:]
