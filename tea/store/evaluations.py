"""Evaluations: their results, and a ledger of every run of an evaluation, to go on after an interruption.

On disk, `<root>/ledgers/<name>.jsonl`, one line for each run begun, ended and graded, and `<root>/<id>/` with the files
of one evaluation; `<root>/.counter` numbers the evaluations in the order of their beginning, regardless of the clock,
and the number stands in the head. A ledger has one writer at a time, by a lock on its file. An append is one write, so
it survives SIGKILL; a line cut short at the end is dropped by the next writer.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from tea.errors import BadInput, Conflict, ResourceExhausted, TeaError
from tea.store.bulk import write_whole
from tea.store.counter import NAME, Counter
from tea.store.files import (
    damaged,
    open_regular,
    parse_json_strict,
    read_open,
    read_regular,
    reading,
    write_all,
    writing,
)
from tea.store.scratch import PRIVATE_FILE, PRIVATE_FOLDER, make_folders
from tea.store.strict import Refused, as_json_object, dumps, loads
from tea.types import JsonObject

HEAD = "evaluation.json"
NUMBER = "number"  # the name under which a head holds its place among all
_HIGHEST = 10**18 - 1
_LIMIT = 2**30
_NAME = re.compile(r"[0-9a-f]{8,64}", re.ASCII)


class Ledger:
    """The open ledger of one plan; only its holder appends.

    Args:
        descriptor: Its file, locked.
        path: Where that is.
    """

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor, self._path = descriptor, path

    def lines(self) -> list[JsonObject]:
        """Return all whole lines, and cut off the unfinished one of a dying process."""
        with reading(self._path):
            data = read_open(self._descriptor, _LIMIT)
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) != len(data):
            with writing(self._path):
                os.ftruncate(self._descriptor, len(whole))
        return _objects(whole)

    def append(self, line: JsonObject) -> None:
        """Write one line; it survives the death of this process."""
        with writing(self._path):
            write_all(self._descriptor, dumps(line) + b"\n")

    def sync(self) -> None:
        """Make everything written so far durable."""
        with writing(self._path):
            os.fsync(self._descriptor)


class FileEvaluations:
    """The evaluations of one home.

    Args:
        root: Their folder; made with the first one.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def ledger(self, name: str) -> Generator[Ledger]:
        """Open a ledger for appending, alone.

        Raises:
            Conflict: Another process has it open.
            StorageError: It cannot be written.
        """
        path = self._root / "ledgers" / f"{name}.jsonl"
        with writing(path):
            make_folders(path.parent, PRIVATE_FOLDER)
            try:
                descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            except Refused as error:
                raise Conflict(f"The ledger {path.name!r} is not a regular file.", fix="remove it.") from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                problem = "Another process is at the same evaluation."
                raise Conflict(problem, fix="wait for it, or end it; then this goes on where it stopped.") from None
            yield Ledger(descriptor, path)
        finally:
            os.close(descriptor)

    def folder(self, id: str) -> Path:
        """Return the folder of an evaluation's files, for people."""
        return self._root / id

    def write(self, id: str, files: Mapping[str, bytes]) -> Path:
        """Write files of an evaluation, each whole, its head last, and return their folder.

        Raises:
            Damaged: The folder is a link, so they would be written elsewhere.
            StorageError: They cannot be written.
        """
        folder = self.folder(id)
        with writing(folder):
            if folder.is_symlink():
                raise damaged(folder, "it is a link, which may lead out of the home")
            make_folders(folder, PRIVATE_FOLDER)
        for name in sorted(files, key=lambda one: one == HEAD):
            write_whole(folder / name, files[name])
        return folder

    def head(self, id: str) -> JsonObject:
        """Return the head of an evaluation.

        Raises:
            Damaged: It is not a JSON object.
            StorageError: It cannot be read.
        """
        path = self.folder(id) / HEAD
        with reading(path):
            return as_json_object(loads(read_regular(path, _LIMIT)))

    def rows(self, id: str, name: str) -> list[JsonObject]:
        """Return the lines of a file of an evaluation.

        Raises:
            StorageError: It cannot be read.
        """
        path = self.folder(id) / name
        with reading(path):
            return _objects(read_regular(path, _LIMIT))

    def next(self) -> int:
        """Return the number of the next evaluation.

        Raises:
            StorageError: The system refuses.
        """
        with writing(self._root):
            make_folders(self._root, PRIVATE_FOLDER)
            return Counter(self._root / NAME, lambda: max(self._numbers().values(), default=0)).next()

    def list(self) -> list[str]:
        """Return the ids of all evaluations, the latest first, by their numbers; unreadable ones last."""
        found = self._numbers()
        return sorted(found, key=lambda id: (-found[id], id))

    def find(self, name: str) -> str:
        """Return the evaluation with the given id, unique beginning of an id, or `last`.

        Raises:
            BadInput: None or several fit.
        """
        there = self.list()
        found = there[:1] if name == "last" else [one for one in there if one.startswith(name) and name]
        if len(found) == 1:
            return found[0]
        problem = f"{len(found) or 'No'} evaluations begin with {name[:60]!r}."
        problem = "There is no evaluation yet." if not there else problem
        raise BadInput(problem, fix="`tea eval list` lists them.")

    def _numbers(self) -> dict[str, int]:
        """Return the number of each evaluation, 0 if its head does not tell."""
        if not self._root.is_dir():
            return {}
        with reading(self._root):
            own = [one for one in self._root.iterdir() if _NAME.fullmatch(one.name) and not one.is_symlink()]
            there = [one.name for one in own if (one / HEAD).is_file()]
        return {id: self._number(id) for id in there}

    def _number(self, id: str) -> int:
        try:
            found = self.head(id).get(NUMBER)
        except ResourceExhausted:
            raise
        except TeaError:
            return 0
        return found if type(found) is int and 0 <= found <= _HIGHEST else 0


def _objects(data: bytes) -> list[JsonObject]:
    """Return the objects in lines, leaving out lines without one."""
    found: list[JsonObject] = []
    for line in data.split(b"\n"):
        if not line.lstrip().startswith(b"{"):  # to refuse what is not an object costs more than to read what is one
            continue
        try:
            one = parse_json_strict(line, "a line")
        except TeaError:
            continue
        if isinstance(one, Mapping):
            found.append(cast("dict[str, Any]", one))
    return found


def read_ledger(path: Path) -> list[JsonObject]:
    """Return the whole lines of a ledger, without opening it for appending.

    Raises:
        StorageError: It cannot be read.
    """
    with reading(path):
        data = read_regular(path, _LIMIT)
    return _objects(data[: data.rfind(b"\n") + 1])
