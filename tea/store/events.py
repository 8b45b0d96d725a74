"""Append-only streams of events, each event written once for its key, by any number of processes.

On disk, `<root>/<stream>.jsonl`: one JSON object a line, with the stream's name, the event's key and the event.
An append looks for the key and writes its line under one lock (`flock`), in one write, and is synced before it
returns. Only the end can be torn, by a crash in the middle of a write: such an end lacks its newline, was never
reported as written, is ignored by readers and cut off by the next append.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from tea.errors import BadArguments, StorageError
from tea.store.files import damaged, open_regular, shown, storage_error, write_all, writing
from tea.store.scratch import make_folders, sync_folder
from tea.store.strict import Refused, as_json_object, dumps, loads
from tea.types import JsonObject

EVENT_LIMIT = 256 * 1024
STREAM_LIMIT = 64 * 2**20

_OPEN_STREAMS = 32
_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


class EventStore(Protocol):
    """Where events are kept; every method blocks, so call it in a thread."""

    def append(self, stream: str, key: str, event: JsonObject) -> bool:
        """Add an event at the end of a stream, unless the stream has one of that key.

        Args:
            stream: Any name; a stream begins with its first event.
            key: What makes the event one and the same, however often it is sent.
            event: JSON data, with its key and stream at most `EVENT_LIMIT` bytes.

        Returns:
            Whether it was added.

        Raises:
            BadArguments: The event is not JSON, or too large.
            StorageError: It cannot be written, or the stream is full.
            Damaged: The stream is not what was written.
        """
        ...

    def read(self, stream: str) -> tuple[JsonObject, ...]:
        """Return the events of a stream, oldest first, for looking at only; none where there is no such stream.

        Raises:
            StorageError: They cannot be read.
            Damaged: The stream is not what was written.
        """
        ...


class FileEvents:
    """An `EventStore` in a folder.

    Args:
        root: The folder; created with the first event.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._streams: OrderedDict[str, _Stream] = OrderedDict()
        self._lock = threading.Lock()

    def append(self, stream: str, key: str, event: JsonObject) -> bool:
        """Add an event; see `EventStore.append`."""
        return self._stream(stream).append(key, _line(stream, key, event))

    def read(self, stream: str) -> tuple[JsonObject, ...]:
        """Return the events; see `EventStore.read`."""
        return self._stream(stream).read()

    def _stream(self, name: str) -> _Stream:
        with self._lock:
            found = self._streams.pop(name, None) or _Stream(self._root / _file_name(name), name)
            self._streams[name] = found
            if len(self._streams) > _OPEN_STREAMS:
                self._streams.popitem(last=False)
            return found


class _Stream:
    """One file, and what was read of it so far."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._lock = threading.Lock()
        self._forget((0, 0))

    def append(self, key: str, line: bytes) -> bool:
        with self._lock, writing(self._path):
            make_folders(self._path.parent)
            with self._open(os.O_RDWR | os.O_CREAT | os.O_APPEND, fcntl.LOCK_EX) as descriptor:
                self._catch_up(descriptor)
                if key in self._keys:
                    return False
                if self._end + len(line) > STREAM_LIMIT:
                    raise StorageError(f"{shown(self._path)} is full.", fix="start a new session.")
                self._write(descriptor, line)
                self._catch_up(descriptor)
                return True

    def read(self) -> tuple[JsonObject, ...]:
        with self._lock:
            try:
                with self._open(os.O_RDONLY, fcntl.LOCK_SH) as descriptor:
                    self._catch_up(descriptor)
            except FileNotFoundError:
                return ()
            except OSError as problem:
                raise storage_error("read", self._path, problem) from problem
            return tuple(self._events)

    @contextmanager
    def _open(self, flags: int, lock: int) -> Generator[int]:
        try:
            descriptor = open_regular(self._path, flags)
        except Refused as reason:
            raise damaged(self._path, str(reason)) from reason
        try:
            fcntl.flock(descriptor, lock)
            yield descriptor
        finally:
            os.close(descriptor)

    def _write(self, descriptor: int, line: bytes) -> None:
        """Add a line after the last whole one, or nothing."""
        os.ftruncate(descriptor, self._end)
        try:
            write_all(descriptor, line)
            os.fsync(descriptor)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(descriptor, self._end)
            raise
        if self._end == 0:
            sync_folder(self._path.parent)

    def _catch_up(self, descriptor: int) -> None:
        """Read what this and other processes have added since."""
        status = os.fstat(descriptor)
        identity = (status.st_dev, status.st_ino)
        if status.st_size > STREAM_LIMIT:
            raise damaged(self._path, f"it has {status.st_size:,} bytes, and {STREAM_LIMIT:,} are allowed")
        if identity != self._identity or status.st_size < self._end:
            self._forget(identity)
        *whole, _torn = _read(descriptor, self._end, status.st_size).split(b"\n")
        for line in whole:
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            record = as_json_object(loads(line))
            if record.keys() != {"stream", "key", "event"} or record["stream"] != self._name:
                raise Refused("it is no event of this stream")
            event = as_json_object(record["event"])
        except Refused as reason:
            raise damaged(self._path, f"line {len(self._events) + 1}: {reason}") from reason
        self._end += len(line) + len(b"\n")
        self._keys.add(record["key"])
        self._events.append(event)

    def _forget(self, identity: tuple[int, int]) -> None:
        self._identity = identity
        self._end = 0
        self._keys: set[Any] = set()
        self._events: list[JsonObject] = []


def _line(stream: str, key: str, event: JsonObject) -> bytes:
    try:
        line = dumps({"stream": stream, "key": key, "event": event}) + b"\n"
        loads(line)
    except Refused as reason:
        raise BadArguments(f"The event cannot be stored: {reason}.", fix="give plain data.") from reason
    if len(line) > EVENT_LIMIT:
        problem = f"The event has {len(line):,} bytes, and {EVENT_LIMIT:,} are allowed."
        raise BadArguments(problem, fix="record less, or write a file and record its name.")
    return line


def _read(descriptor: int, start: int, end: int) -> bytes:
    parts = list[bytes]()
    while start < end and (part := os.pread(descriptor, end - start, start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _file_name(stream: str) -> str:
    if _FILE_NAME.fullmatch(stream):
        return f"{stream}.jsonl"
    return f"sha256-{sha256(stream.encode('utf-8', 'surrogatepass')).hexdigest()}.jsonl"
