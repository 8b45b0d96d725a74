"""The real registry and journals behind one operation a line, for a harness that kills, tears and starves them.

    python -m tea.testing.crash_adapter batch --root DIR     operations on standard input, an answer for each line
    python -m tea.testing.crash_adapter once FILE --root DIR  one operation; exit code 0 done, 3 conflict, 2 failed
    python -m tea.testing.crash_adapter dump --root DIR      what is there, as one JSON object

`DIR` is a home: `tea doctor --home DIR` reads it too. Operations are `{"id", "op": "register", "name", "version",
"payload"}` and `{"id", "op": "append", "run", "payload"}`. Answers are `ok ID`, `conflict ID` and `err ID MESSAGE`, in
order, each only when the disk has confirmed everything; `-` stands for an id that cannot be used.

A payload is any JSON value. Its digest in `dump` is taken over the UTF-8 bytes of a text, and over the canonical JSON
(sorted keys, no spaces) of any other value. A version belongs to whoever first made it current, so exactly one
`register` is answered `ok`, also when the same bytes are sent twice; one whose writer died before that is completed by
the next that sends the same bytes. An `append` whose id the run holds already, with the same payload, is `ok` and adds
nothing; with another payload it is a conflict. A run that another process holds is waited for, at most 10 seconds.
"""

import argparse
import asyncio
import hashlib
import json
import os
import select
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from tea.errors import AlreadyRegistered, BadInput, Conflict, TeaError
from tea.managers.head import Head
from tea.managers.version import VersionManager, operator, timestamp
from tea.manifest import Manifest, canonical
from tea.refs import Kind, Ref
from tea.store.files import FILE_LIMIT, parse_json_strict, read_json_strict
from tea.store.journal import FileJournals
from tea.store.registry import FileRegistry
from tea.store.writer import FileJournalWriter
from tea.types import JsonObject, JsonValue

KIND: Kind = "prompt"
WAIT_SECONDS = 10.0

_FORMAT = 1
_CONFLICT = 3
_POLL_SECONDS = 0.005
_MOST_OPEN = 16
_ATTEMPTS = 1000
_OPERATIONS = {"register": ("name", "version"), "append": ("run",)}


class Adapter:
    """Carries out operations on one home.

    Args:
        root: The home; created with the first operation.
    """

    def __init__(self, root: Path) -> None:
        self.registry = FileRegistry(root / "registry")
        self.journals = FileJournals(root / "traces", "synced")
        self._author = operator()
        self._open: dict[str, _Run] = {}

    def answer(self, read: Callable[[], Any]) -> tuple[int, str]:
        """Carry out one operation, and return the exit code and the line that answer it."""
        id: JsonValue = "-"
        try:
            operation = read()
            id = _id(operation)
            _check(operation)
            if operation["op"] == "register":
                self._register(operation["name"], operation["version"], _text(operation["payload"]))
            else:
                self._append(operation["run"], id, operation["payload"])
        except (AlreadyRegistered, Conflict):
            return _CONFLICT, f"conflict {id}"
        except TeaError as error:
            return error.exit_code, f"err {id} {' '.join(str(error).split())}"
        return 0, f"ok {id}"

    def release(self) -> None:
        """Give all runs back."""
        while self._open:
            self._open.popitem()[1].writer.close()

    def dump(self) -> dict[str, Any]:
        """Return everything that can be read, and a line for each thing that cannot."""
        found: dict[str, Any] = {"records": [], "current": {}, "traces": {}, "problems": []}

        def tried(look: Callable[[], object]) -> None:
            try:
                look()
            except TeaError as error:
                found["problems"].append(error.problem)

        versions = VersionManager(self.registry)
        for name in self.registry.names(KIND):
            for version in self.registry.versions(KIND, name):
                tried(lambda name=name, version=version: found["records"].append(_record(versions, name, version)))
            tried(lambda name=name: found["current"].update(_current(versions, name)))
        for run in sorted(self.journals.runs()):
            found["traces"][run] = {"ids": [], "torn": False}
            tried(partial(self._read, run, found["traces"][run]))
        return found

    def _register(self, name: str, version: str, text: str) -> None:
        before, _ = self.registry.head(KIND, name)
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
        held = self._held(run)
        try:
            if id not in held.payloads:
                record = {"v": _FORMAT, "time": timestamp(), "kind": "append", "id": id, "payload": payload}
                held.writer.append([record])
                held.payloads[id] = _digest(payload)
                return
            if held.payloads[id] != _digest(payload):
                raise Conflict(f"{run} holds another record {id!r}.", fix="choose another id.")
            asyncio.run(held.writer.sync())
        except TeaError:
            self._open.pop(run).writer.close()
            raise

    def _held(self, run: str) -> "_Run":
        deadline = time.monotonic() + WAIT_SECONDS
        while run not in self._open:
            try:
                if len(self._open) >= _MOST_OPEN:
                    self.release()
                self._open[run] = self._taken(run)
            except Conflict:
                # Whoever waits holds nothing, so that no two wait for each other.
                self.release()
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_SECONDS)
        return self._open[run]

    def _taken(self, run: str) -> "_Run":
        try:
            writer = self.journals.resume(run)
        except BadInput:
            writer = self.journals.create(run)
        try:
            records = [record for record in self.journals.read(run) if _appended(record)]
        except BaseException:
            writer.close()
            raise
        return _Run(writer=writer, payloads={record["id"]: _digest(record["payload"]) for record in records})

    def _read(self, run: str, trace: dict[str, Any]) -> None:
        reading = self.journals.read(run)
        for record in reading:
            if _appended(record):
                trace["ids"].append(record["id"])
        trace["torn"] = reading.torn > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A run that this process holds, and the digests of its payloads by id."""

    writer: FileJournalWriter
    payloads: dict[JsonValue, str]


def main(arguments: list[str]) -> int:
    """Do what the command line says, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tea.testing.crash_adapter")
    parser.add_argument("mode", choices=("batch", "once", "dump"))
    parser.add_argument("file", nargs="?", type=Path, help="the operation, for once")
    parser.add_argument("--root", type=Path, required=True, help="the home")
    given = parser.parse_args(arguments)
    if (given.mode == "once") != (given.file is not None):
        parser.error("once takes a FILE, batch and dump take none")
    adapter = Adapter(given.root)
    try:
        if given.mode == "batch":
            return _batch(adapter)
        if given.mode == "once":
            code, line = adapter.answer(lambda: read_json_strict(given.file, 2 * FILE_LIMIT))
            _say(sys.stderr if code else sys.stdout, line)
            return code
        _say(sys.stdout, json.dumps(adapter.dump(), ensure_ascii=False))
    except TeaError as error:
        _say(sys.stderr, f"crash_adapter: {error}")
        return error.exit_code
    except OSError as error:
        _say(sys.stderr, f"crash_adapter: {error}. Fix: look at its standard input and output.")
        return BadInput.exit_code
    finally:
        adapter.release()
    return 0


def _batch(adapter: Adapter) -> int:
    for line in _lines(sys.stdin.fileno(), adapter.release):
        _say(sys.stdout, adapter.answer(partial(parse_json_strict, line, "The operation"))[1])
    return 0


def _lines(descriptor: int, idle: Callable[[], None]) -> Generator[bytes]:
    """Yield the lines of a pipe as they come; before it waits for more, it lets go what others may want."""
    rest = b""
    while True:
        *whole, rest = rest.split(b"\n")
        yield from whole
        if not select.select([descriptor], [], [], 0)[0]:
            idle()
        part = os.read(descriptor, 2**16)
        if not part:
            break
        rest += part
    if rest:
        yield rest


def _say(stream: Any, line: str) -> None:
    stream.write(line + "\n")
    stream.flush()


def _id(operation: JsonValue) -> JsonValue:
    id = cast("dict[str, Any]", operation).get("id") if isinstance(operation, dict) else None
    if isinstance(id, int) and not isinstance(id, bool):
        return id
    if isinstance(id, str) and id.isprintable() and 0 < len(id) <= 200 and " " not in id:
        return id
    fix = "send an object whose id is a number or a word of at most 200 characters."
    raise BadInput("The operation has no usable id.", fix=fix)


def _check(operation: dict[str, Any]) -> None:
    if operation.get("op") not in _OPERATIONS:
        raise BadInput("The operation is neither register nor append.", fix="name one of them as its op.")
    for name in _OPERATIONS[operation["op"]]:
        if not isinstance(operation.get(name), str):
            raise BadInput(f"The operation's {name} is no text.", fix=f"send its {name}.")
    if "payload" not in operation:
        raise BadInput("The operation has no payload.", fix="send any JSON value.")
    if operation["op"] == "register":
        Ref.parse(f"{KIND}:{operation['name']}@{operation['version']}")


def _appended(record: JsonObject) -> bool:
    return record.get("kind") == "append" and "id" in record and "payload" in record


def _text(payload: JsonValue) -> str:
    return payload if isinstance(payload, str) else canonical(payload).decode()


def _digest(payload: JsonValue) -> str:
    return hashlib.sha256(canonical(payload)).hexdigest()


def _record(versions: VersionManager, name: str, version: str) -> list[str]:
    source = versions.manifest(KIND, name, version).source
    return [name, version, hashlib.sha256(source.encode()).hexdigest()]


def _current(versions: VersionManager, name: str) -> dict[str, str]:
    current = versions.resolve(Ref(kind=KIND, name=name))
    return {name: current.version} if current else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
