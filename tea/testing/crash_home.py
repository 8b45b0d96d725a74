"""The crash adapter's operations on one home: register, append, and dump its content."""

import hashlib
import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from tea.clock import timestamp
from tea.components.manifest import Manifest, canonical
from tea.errors import AlreadyRegistered, BadInput, Conflict, TeaError
from tea.refs import Kind, Version, check_name, check_selector
from tea.registry.head import Head
from tea.registry.version import VersionManager, operator
from tea.store.files import shown
from tea.store.journal import FileJournals
from tea.store.registry import FileRegistry
from tea.store.repair import REGISTRY, TRACES, examine
from tea.store.writer import FileJournalWriter
from tea.types import JsonObject, JsonValue

KIND: Kind = "prompt"
WAIT_SECONDS = 10.0

_FORMAT = 1
_CONFLICT = 3
_POLL_SECONDS = 0.005
_TURN_SECONDS = 0.2
_MOST_OPEN = 128
_ATTEMPTS = 1000
_OPERATIONS = {"register": ("name", "version"), "append": ("run",)}


class Adapter:
    """An executor of operations on one home.

    Args:
        root: The home; created with the first operation.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.registry = FileRegistry(root / REGISTRY)
        self.journals = FileJournals(root / TRACES, "synced")
        self._author = operator()
        self._open: dict[str, _Run] = {}
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most_open = min(_MOST_OPEN, files // 8) if files > 0 else _MOST_OPEN

    def answer(self, read: Callable[[], JsonValue], salvage: Callable[[], JsonValue] = lambda: "-") -> tuple[int, str]:
        """Execute one operation, and return its exit code and its answer line.

        Args:
            read: Gives the operation.
            salvage: Gives the id to answer when `read` does not.
        """
        id: JsonValue = None
        try:
            operation = read()
            id = id_of(operation)
            _check(operation)
            if operation["op"] == "register":
                self._register(operation["name"], operation["version"], _text(operation["payload"]))
            else:
                self._append(operation["run"], id, operation["payload"])
        except (AlreadyRegistered, Conflict):
            return _CONFLICT, f"conflict {id}"
        except TeaError as error:
            return error.exit_code, f"err {salvage() if id is None else id} {' '.join(str(error).split())}"
        return 0, f"ok {id}"

    def release(self) -> None:
        """Release all runs."""
        while self._open:
            self._open.popitem()[1].writer.close()

    def dump(self) -> dict[str, Any]:
        """Return all readable content, and a line for each unreadable part."""
        if self.root.exists() and not self.root.is_dir():
            raise BadInput(f"{shown(self.root)} is not a folder.", fix="name the home with --root.")
        found: dict[str, Any] = {"records": [], "current": {}, "traces": {}}
        problems: list[str] = []

        def told(look: Callable[[], list[Any]]) -> list[Any]:
            try:
                return look()
            except TeaError as error:
                problems.append(error.problem)
                return []

        versions = VersionManager(self.registry)
        for name in told(partial(self.registry.names, KIND)):
            for version in told(partial(self.registry.versions, KIND, name)):
                found["records"] += told(partial(_record, versions, name, version))
            found["current"].update(told(partial(_current, versions, name)))
        for run in sorted(told(self.journals.runs)):
            found["traces"][run] = {"ids": [], "torn": False}
            told(partial(self._read, run, found["traces"][run]))
        problems += [one.problem for one in examine(self.root, mend=False) if not one.mendable]
        return {**found, "problems": list(dict.fromkeys(problems))}

    def _register(self, name: str, version: str, text: str) -> None:
        before = self.registry.newest(KIND, name)
        made = Manifest(kind=KIND, name=name, version=version, description=name, source=text, created=timestamp())
        try:
            self.registry.create(KIND, name, version, made.to_json())
        except AlreadyRegistered:
            if self.registry.read(KIND, name, version).get("source") != text:
                raise
            before = 0
        for _ in range(_ATTEMPTS):
            number, head = self.registry.head(KIND, name)
            if any(self._head(name, one).get("current") == version for one in range(before + 1, number + 1)):
                raise AlreadyRegistered(f"{name}@{version} exists already.", fix="take the next version.")
            change = {"current": version, "undo": number or None, "author": self._author, "time": timestamp()}
            try:
                self.registry.advance(KIND, name, {**Head().to_json(), **head, **change}, number)
            except Conflict:
                continue
            return
        raise Conflict(f"{name} is changed by too many at once.", fix="try again.")

    def _head(self, name: str, number: int) -> dict[str, Any]:
        return self.registry.head(KIND, name, number)[1]

    def _append(self, run: str, id: JsonValue, payload: JsonValue) -> None:
        record = {"v": _FORMAT, "time": timestamp(), "kind": "append", "id": id, "payload": payload}
        held = self._held_run(run, record)
        try:
            if id not in held.payloads:
                held.writer.append([record])
                held.payloads[id] = _digest(payload)
            elif held.payloads[id] != _digest(payload):
                raise Conflict(f"{run} holds another record {id!r}.", fix="choose another id.")
            else:
                held.writer.confirm()
        except TeaError:
            self._open.pop(run).writer.close()
            raise

    def _held_run(self, run: str, record: JsonObject) -> "_Run":
        """Return a run held by this process; a newly created one contains `record`."""
        deadline = time.monotonic() + WAIT_SECONDS
        if run in self._open and time.monotonic() > self._open[run].until:
            # Others may be waiting, so it is out of their reach for a turn only.
            self._open.pop(run).writer.close()
            time.sleep(2 * _POLL_SECONDS)
        while run not in self._open:
            try:
                if len(self._open) >= self._most_open:
                    self.release()
                self._open[run] = self._taken(run, record)
            except Conflict:
                # Whoever waits holds nothing, so that no two wait for each other.
                self.release()
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_SECONDS)
        return self._open[run]

    def _taken(self, run: str, record: JsonObject) -> "_Run":
        began = time.monotonic()
        try:
            writer = self.journals.resume(run)
        except BadInput:
            writer = self.journals.create(run, lambda folder, blobs: [record])
            return _Run(writer=writer, payloads=_payloads([record]), until=began + _TURN_SECONDS)
        try:
            payloads = _payloads(self.journals.read(run))
        except BaseException:
            writer.close()
            raise
        now = time.monotonic()
        return _Run(writer=writer, payloads=payloads, until=now + _TURN_SECONDS + 4 * (now - began))

    def _read(self, run: str, trace: dict[str, Any]) -> list[Any]:
        """Fill in the readable part of a run."""
        reading = self.journals.read(run)
        for record in reading:
            if _appended(record):
                trace["ids"].append(record["id"])
        trace["torn"] = reading.torn > 0
        return trace["ids"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A run held by this process for a turn, with the digests of its payloads by id."""

    writer: FileJournalWriter
    payloads: dict[JsonValue, str]
    until: float


def id_of(operation: JsonValue) -> JsonValue:
    """Return the id of an operation.

    Raises:
        BadInput: It has none that an answer could name.
    """
    id = cast("dict[str, Any]", operation).get("id") if isinstance(operation, dict) else None
    if isinstance(id, int) and not isinstance(id, bool):
        return id
    if isinstance(id, str) and id.isprintable() and 0 < len(id) <= 200 and " " not in id:
        return id
    fix = "send an object whose id is a number or a word of at most 200 characters."
    raise BadInput("The operation has no usable id.", fix=fix)


def _check(operation: dict[str, Any]) -> None:
    names = next((names for op, names in _OPERATIONS.items() if op == operation.get("op")), None)
    if names is None:
        raise BadInput("The operation is neither register nor append.", fix="name one of them as its op.")
    for name in names:
        if not isinstance(operation.get(name), str):
            raise BadInput(f"The operation's {name} is not text.", fix=f"send its {name}.")
    if "payload" not in operation:
        raise BadInput("The operation has no payload.", fix="send any JSON value.")
    if operation["op"] == "register":
        Version.parse(check_selector(operation["version"]))
        check_name(operation["name"])


def _payloads(records: Iterable[JsonObject]) -> dict[JsonValue, str]:
    return {record["id"]: _digest(record["payload"]) for record in records if _appended(record)}


def _appended(record: JsonObject) -> bool:
    return record.get("kind") == "append" and "id" in record and "payload" in record


def _text(payload: JsonValue) -> str:
    return payload if isinstance(payload, str) else canonical(payload).decode()


def _digest(payload: JsonValue) -> str:
    return hashlib.sha256(canonical(payload)).hexdigest()


def _record(versions: VersionManager, name: str, version: str) -> list[list[str]]:
    source = versions.manifest(KIND, name, version).source
    return [[name, version, hashlib.sha256(source.encode()).hexdigest()]]


def _current(versions: VersionManager, name: str) -> list[tuple[str, str]]:
    current = versions.head(KIND, name).current
    return [(name, current)] if current else []
