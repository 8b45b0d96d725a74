"""Faults, processes suffering them, and the invariants of a home after any."""

import fcntl
import hashlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from stat import S_ISDIR
from typing import Any

import pytest

from tea.testing.crash_adapter import main
from tea.testing.crash_home import Adapter

CALLS = ("open", "write", "fsync", "fdatasync", "link", "rename", "replace", "mkdir", "ftruncate", "scandir", "stat")
CALLS += ("fstat", "read", "unlink", "rmdir", "listdir", "dup")
Act = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
Operation = dict[str, Any]
PATIENCE = 30


class Fault:
    """Let the n-th call to the system go wrong, as `act` does it."""

    def __init__(self, patch: pytest.MonkeyPatch, number: int, act: Act) -> None:
        self.left = number
        self.hit = ""
        for name in CALLS:
            patch.setattr(os, name, self._wrapped(name, getattr(os, name), act))
        patch.setattr(fcntl, "flock", self._wrapped("flock", fcntl.flock, act))

    def _wrapped(self, name: str, call: Callable[..., Any], act: Act) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left:
                return call(*arguments, **options)
            self.hit = name
            return act(call, arguments, options)

        return wrapped


def refuse(number: int) -> Act:
    def act(call: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if call is os_write:
            half = arguments[1][: len(arguments[1]) // 2]
            os_write(arguments[0], half)
        raise OSError(number, os.strerror(number))

    return act


def die(*, after: bool) -> Act:
    def act(call: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        try:
            if after:
                call(*arguments, **options)
            elif call is os_write:
                os_write(arguments[0], arguments[1][: len(arguments[1]) // 2])
        finally:
            os.kill(os.getpid(), signal.SIGKILL)

    return act


os_write = os.write


def register(id: str, name: str, version: str, payload: Any) -> Operation:
    return {"id": id, "op": "register", "name": name, "version": version, "payload": payload}


def append(id: str, run: str, payload: Any) -> Operation:
    return {"id": id, "op": "append", "run": run, "payload": payload}


def sha(payload: str) -> str:
    return hashlib.sha256(payload.encode()).hexdigest()


def carried_out(adapter: Adapter, operation: Operation) -> tuple[int, str]:
    """Carry out one operation in this process, as `once` does."""
    try:
        return adapter.answer(lambda: operation)
    finally:
        adapter.release()


@dataclass
class Done:
    """One operation, between when it was sent and when its answer was read."""

    operation: Operation
    began: float
    ended: float = 0.0
    answer: str = ""


class Process:
    """A process of the adapter's `batch`, forked from this one, sending one operation after the other."""

    def __init__(self, root: Path, operations: list[Operation], prepare: Callable[[], object]) -> None:
        there, self._to = os.pipe()
        self._from, back = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.dup2(there, 0)
                os.dup2(back, 1)
                os.closerange(3, 1024)
                sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
                prepare()
                code = main(["batch", "--root", str(root)])
            finally:
                os._exit(code)
        os.close(there)
        os.close(back)
        self.done: list[Done] = []
        self.alive = True
        self._left = list(operations)
        self._read = b""
        self._send()

    def fileno(self) -> int:
        return self._from

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def listen(self) -> None:
        """Read its answers; send the next operation after each, and let it end after the last."""
        part = os.read(self._from, 2**16)
        if not part:
            self._end()
            return
        *lines, self._read = (self._read + part).split(b"\n")
        for line in lines:
            self.done[-1].ended, self.done[-1].answer = time.monotonic(), line.decode()
            self._send()

    def _send(self) -> None:
        if not self._left:
            os.close(self._to)
            self._to = -1
            return
        self.done.append(Done(self._left.pop(0), time.monotonic()))
        line = memoryview(json.dumps(self.done[-1].operation).encode() + b"\n")
        with suppress(BrokenPipeError):
            while line:
                line = line[os_write(self._to, line) :]

    def _end(self) -> None:
        self.alive = False
        _, status = os.waitpid(self.pid, 0)
        assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)
        os.close(self._from)
        if self._to >= 0:
            os.close(self._to)


def together(processes: list[Process], each_answer: Callable[[int], object]) -> None:
    """Let processes work until all have ended; `each_answer` is told how many answers there are."""
    deadline = time.monotonic() + PATIENCE
    while living := [one for one in processes if one.alive]:
        ready, _, _ = select(living, [], [], 1)
        for one in ready:
            one.listen()
        each_answer(sum(bool(done.answer) for one in processes for done in one.done))
        assert time.monotonic() < deadline, "a process hangs"


@contextmanager
def watched(root: Path) -> Iterator[None]:
    """Let another process read everything all the time, and fail if it ever sees damage, or anything vanish."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.closerange(3, 1024)
            code = _watch(root)
        finally:
            os._exit(code)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGTERM)
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def _watch(root: Path) -> int:
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    before: dict[str, Any] = {"records": [], "traces": {}}
    while not stopped:
        now = Adapter(root).dump()
        assert now["problems"] == []
        assert all(record in now["records"] for record in before["records"])
        for run, trace in before["traces"].items():
            assert now["traces"][run]["ids"][: len(trace["ids"])] == trace["ids"]
        before = now
    return 0


@dataclass
class History:
    """All requests and answers of processes on one home."""

    root: Path
    done: list[Done] = field(default_factory=list[Done])
    streams: list[list[Done]] = field(default_factory=list[list[Done]])

    def add(self, processes: list[Process]) -> None:
        for one in processes:
            self.streams.append(one.done)
            self.done += one.done

    def check(self) -> dict[str, Any]:
        """Check the present invariants, and return the adapter's dump."""
        found = Adapter(self.root).dump()
        assert found["problems"] == []
        self._check_versions(found)
        self._check_current(found)
        self._check_order(found)
        for one in self.done:
            words = one.answer.split(" ", 2)
            assert not one.answer or (words[0] in ("ok", "conflict", "err") and words[1] == one.operation["id"])
            assert words[0] != "err", one.answer
        return found

    def _check_versions(self, found: dict[str, Any]) -> None:
        there = {(name, version): digest for name, version, digest in found["records"]}
        assert len(there) == len(found["records"])
        for key, digest in there.items():
            asked = [one for one in self._registered() if (one.operation["name"], one.operation["version"]) == key]
            assert digest in {sha(one.operation["payload"]) for one in asked}, "only whole payloads are visible"
            won = [one for one in asked if one.answer.startswith("ok")]
            assert len(won) <= 1, "one winner for each version"
            assert all(sha(one.operation["payload"]) == digest for one in won)
        acknowledged = [one.operation for one in self._registered() if one.answer.startswith("ok")]
        assert {(one["name"], one["version"]) for one in acknowledged} <= there.keys(), "what was acknowledged stays"

    def _check_current(self, found: dict[str, Any]) -> None:
        for name in {one.operation["name"] for one in self._registered() if one.answer.startswith("ok")}:
            current = found["current"][name]
            won = [one for one in self._registered() if one.operation["name"] == name and one.answer.startswith("ok")]
            ended = next((one.ended for one in won if one.operation["version"] == current), time.monotonic())
            later = [one for one in won if one.began > ended]
            assert not later, f"{name} is at {current}, which was acknowledged before {later[0].operation['version']}"

    def _check_order(self, found: dict[str, Any]) -> None:
        for run, trace in found["traces"].items():
            assert trace["ids"], "no run without a record"
            assert len(set(trace["ids"])) == len(trace["ids"]), "no record twice"
            place = {id: number for number, id in enumerate(trace["ids"])}
            for stream in self.streams:
                sent = [one for one in stream if one.operation.get("run") == run]
                kept = [place[one.operation["id"]] for one in sent if one.operation["id"] in place]
                assert kept == sorted(kept), "records keep the order in which they were sent"
                assert all(one.operation["id"] in place for one in sent if one.answer.startswith("ok"))

    def _registered(self) -> list[Done]:
        return [one for one in self.done if one.operation["op"] == "register"]


class Disk:
    """The disk's confirmed state: the bytes of each file, and the names in each folder, as last synced."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._files: dict[int, bytes] = {}
        self._folders: dict[int, dict[str, tuple[int, bool]]] = {}
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, self._synced)

    def after_power_loss(self, folder: Path, copy: Path) -> None:
        """Write a folder's surviving files to another place."""
        self._restore(folder.stat().st_ino, copy)

    def _restore(self, number: int, copy: Path) -> None:
        copy.mkdir()
        for name, (inner, is_folder) in self._folders.get(number, {}).items():
            if is_folder:
                self._restore(inner, copy / name)
            else:
                (copy / name).write_bytes(self._files.get(inner, b""))

    def _synced(self, descriptor: int) -> None:
        place = Path(f"/proc/self/fd/{descriptor}")
        number = os.fstat(descriptor).st_ino
        if place.is_dir():
            looks = {name: os.stat(name, dir_fd=descriptor, follow_symlinks=False) for name in os.listdir(descriptor)}
            self._folders[number] = {name: (one.st_ino, S_ISDIR(one.st_mode)) for name, one in looks.items()}
        else:
            self._files[number] = place.read_bytes()


def jumping_clock(patch: pytest.MonkeyPatch, chance: random.Random) -> None:
    """Let the time of day jump by up to ten years, in both directions, at each look."""
    years = 10 * 365 * 86400
    now = time.time
    patch.setattr(time, "time", lambda: now() + chance.uniform(-years, years))
    patch.setattr(time, "time_ns", lambda: int((now() + chance.uniform(-years, years)) * 1e9))
