"""Append-only streams of events, each event written once for its key, by any number of processes.

On disk, `<root>/<stream>.jsonl`: one JSON object a line, with the stream's name, the event's key and the event.
An append looks for the key and writes its line under one lock (`flock`), in one write. It survives the end of the
process at once, and a loss of power where it is synced before it returns, or once `sync` has. Only the end can be torn,
by a crash in the middle of a write: such an end lacks its newline, was never reported as written, is ignored by readers
and cut off by the next append.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from tea.errors import BadArguments, StorageError
from tea.store.access import foreign_hand
from tea.store.files import damaged, open_regular, reading, shown, storage_error, write_all, writing
from tea.store.scratch import PRIVATE_FILE, Scratch, sync_folder
from tea.store.strict import DEPTH, Refused, as_json_object, check_depth, dumps, loads
from tea.store.turn import claim
from tea.types import JsonObject

EVENT_LIMIT = 256 * 1024
STREAM_LIMIT = 64 * 2**20

_AROUND = 20  # levels that whoever tells of events may put around them
_OPEN_STREAMS, _OPEN_BYTES = 1024, 64 * 2**20
_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


class EventStore(Protocol):
    """A store of events; every method but `at_once`, `begun` and `claim` blocks, so call it in a thread."""

    def append(self, stream: str, key: str, event: JsonObject, *, synced: bool = True) -> bool:
        """Add an event at the end of a stream, unless the stream has one with the same key.

        Args:
            stream: Any name; a stream begins with its first event.
            key: What makes the event one and the same, however often it is sent.
            event: JSON data, with its key and stream at most `EVENT_LIMIT` bytes.
            synced: Whether it survives a loss of power, too, before this returns.

        Returns:
            Whether it was added.

        Raises:
            BadArguments: The event is not JSON, or too large.
            StorageError: It cannot be written, or the stream is full.
            Damaged: The stream is not what was written.
        """
        ...

    def at_once(self, stream: str, key: str, event: JsonObject) -> bool:
        """Add an event like `append` without `synced` if one write suffices, without waiting; return whether it did.

        Raises:
            BadArguments: The event is not JSON, or too large.
            StorageError: It cannot be written.
        """
        ...

    def begun(self, stream: str) -> bool:
        """Return whether a stream may hold events; one look, without waiting."""
        ...

    def sync(self, stream: str) -> None:
        """Make all events added here to a stream survive a loss of power.

        Raises:
            StorageError: The disk does not confirm.
        """
        ...

    def read(self, stream: str) -> tuple[JsonObject, ...]:
        """Return the events of a stream, oldest first, for reading only; empty if the stream does not exist.

        Raises:
            StorageError: They cannot be read.
            Damaged: The stream is not what was written.
        """
        ...

    def keyed(self, stream: str) -> tuple[tuple[str, JsonObject], ...]:
        """Return the same events as `read`, each with its key."""
        ...

    def streams(self) -> list[str]:
        """Return the names of all streams with an event; one with a damaged first line is left out.

        Raises:
            StorageError: They cannot be read.
        """
        ...

    def claim(self, stream: str) -> Callable[[], None] | None:
        """Claim a stream's turn and return its release, None if another has it; without waiting or locking events.

        A turn is had by one at a time, here or in another process, until it is given back or that process ends.

        Raises:
            StorageError: It cannot be written.
        """
        ...

    def remove(self, stream: str) -> None:
        """Remove a stream permanently, if it exists.

        Raises:
            StorageError: It cannot be removed.
        """
        ...


class FileEvents:
    """An `EventStore` in a folder.

    Args:
        root: The folder; created with the first event.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._scratch = Scratch(root.parent, private=True)
        self._streams: OrderedDict[str, _Stream] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()

    def append(self, stream: str, key: str, event: JsonObject, *, synced: bool = True) -> bool:
        """Add an event; see `EventStore.append`."""
        return self._stream(stream).append(key, _line(stream, key, event), synced)

    def at_once(self, stream: str, key: str, event: JsonObject) -> bool:
        """Add an event, if possible without waiting; see `EventStore.at_once`."""
        return self._stream(stream).at_once(key, _line(stream, key, event))

    def begun(self, stream: str) -> bool:
        """Return whether there may be events; see `EventStore.begun`."""
        return os.path.lexists(self._root / _file_name(stream))

    def sync(self, stream: str) -> None:
        """Make added events durable; see `EventStore.sync`."""
        self._stream(stream).sync()

    def read(self, stream: str) -> tuple[JsonObject, ...]:
        """Return the events; see `EventStore.read`."""
        return self._stream(stream).read()

    def keyed(self, stream: str) -> tuple[tuple[str, JsonObject], ...]:
        """Return the events with their keys; see `EventStore.keyed`."""
        return self._stream(stream).keyed()

    def streams(self) -> list[str]:
        """Return all streams; see `EventStore.streams`."""
        with reading(self._root):
            names = (_name_in(path) for path in sorted(self._root.glob("*.jsonl")))
            return [name for name in names if name is not None]

    def claim(self, stream: str) -> Callable[[], None] | None:
        """Claim a stream's turn; see `EventStore.claim`."""
        path = (self._root / _file_name(stream)).with_suffix(".lock")
        with writing(path):
            self._scratch.make(self._root)
        return claim(path)

    def remove(self, stream: str) -> None:
        """Remove a stream; see `EventStore.remove`."""
        path = self._root / _file_name(stream)
        with self._lock, writing(path):
            if (gone := self._streams.pop(stream, None)) is not None:
                self._held -= gone.counted
            path.unlink(missing_ok=True)

    def _stream(self, name: str) -> _Stream:
        with self._lock:
            found = self._streams.get(name)
            if found is None:
                found = self._streams[name] = _Stream(self._root / _file_name(name), name, self._scratch)
            self._streams.move_to_end(name)
            self._held += found.count()
            self._shrink()
            return found

    def _shrink(self) -> None:
        """Close the least recently used streams."""
        while len(self._streams) > _OPEN_STREAMS or (self._held > _OPEN_BYTES and len(self._streams) > 1):
            _, gone = self._streams.popitem(last=False)
            self._held -= gone.counted


class _Stream:
    """An event file, and the part of it read so far."""

    def __init__(self, path: Path, name: str, scratch: Scratch) -> None:
        self._path = path
        self._name = name
        self._scratch = scratch
        self._lock = threading.Lock()
        self.counted = 0
        self._forget((0, 0))

    def count(self) -> int:
        """Count the bytes of the events held in memory, and return the increase since the last count."""
        before, self.counted = self.counted, self._end
        return self.counted - before

    def append(self, key: str, line: bytes, synced: bool) -> bool:
        with self._lock, writing(self._path):
            self._scratch.make(self._path.parent)
            with self._open(os.O_RDWR | os.O_CREAT | os.O_APPEND, fcntl.LOCK_EX) as descriptor:
                self._catch_up(descriptor)
                if key in self._keys:
                    if synced and self._safe < self._end:
                        self._confirm(descriptor)
                    return False
                if self._end + len(line) > STREAM_LIMIT:
                    raise StorageError(f"{shown(self._path)} is full.", fix="start a new session.")
                os.ftruncate(descriptor, self._end)
                self._write(descriptor, line, synced)
                self._catch_up(descriptor)
                self._safe = self._end if synced else self._safe
                return True

    def at_once(self, key: str, line: bytes) -> bool:
        """Add a line unless others hold the file or wrote unread lines; return whether it was added."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if key in self._keys:
                return False
            with self._open(os.O_WRONLY | os.O_CREAT | os.O_APPEND, fcntl.LOCK_EX | fcntl.LOCK_NB) as descriptor:
                status = os.fstat(descriptor)
                known = self._end == 0 or (status.st_dev, status.st_ino) == self._identity
                if not known or status.st_size != self._end or self._end + len(line) > STREAM_LIMIT:
                    return False
                self._identity = status.st_dev, status.st_ino
                with writing(self._path):
                    self._write(descriptor, line, synced=False)
                self._keep(key, line, len(line))
                return True
        except OSError:  # a lock that others hold, or what `append` will tell
            return False
        finally:
            self._lock.release()

    def sync(self) -> None:
        with self._lock, writing(self._path), suppress(FileNotFoundError):
            if not 0 < self._safe == self._end:
                with self._open(os.O_RDONLY, fcntl.LOCK_SH) as descriptor:
                    self._confirm(descriptor)

    def read(self) -> tuple[JsonObject, ...]:
        with self._lock:
            try:
                with self._open(os.O_RDONLY, fcntl.LOCK_SH) as descriptor:
                    self._catch_up(descriptor)
            except FileNotFoundError:
                return ()
            except OSError as problem:
                raise storage_error("read", self._path, problem) from problem
            return tuple(self._decoded())

    def keyed(self) -> tuple[tuple[str, JsonObject], ...]:
        events = self.read()
        return tuple(zip(self._keys, events, strict=False))  # others may have added keys meanwhile

    @contextmanager
    def _open(self, flags: int, lock: int) -> Generator[int]:
        try:
            descriptor = open_regular(self._path, flags, PRIVATE_FILE)
        except Refused as reason:
            raise damaged(self._path, str(reason)) from reason
        try:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) != self._identity and (reason := foreign_hand(descriptor)):
                raise damaged(self._path, reason)
            fcntl.flock(descriptor, lock)
            yield descriptor
        finally:
            os.close(descriptor)

    def _write(self, descriptor: int, line: bytes, synced: bool) -> None:
        """Add a line after the last whole one, or nothing."""
        try:
            write_all(descriptor, line)
            if synced:
                self._confirm(descriptor)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(descriptor, self._end)
            raise

    def _confirm(self, descriptor: int) -> None:
        """Sync a file's content to disk, and its name if needed."""
        os.fsync(descriptor)
        if self._safe == 0:
            self._scratch.settle(self._path.parent)
            sync_folder(self._path.parent)
        self._safe = self._end

    def _catch_up(self, descriptor: int) -> None:
        """Read the events added by this and other processes since the last read."""
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
                raise Refused("it is not an event of this stream")
            event = as_json_object(record["event"])
        except Refused as reason:
            raise damaged(self._path, f"line {len(self._events) + 1}: {reason}") from reason
        self._keep(record["key"], event, len(line) + len(b"\n"))

    def _decoded(self) -> Generator[JsonObject]:
        """Yield the events; those written by this process are decoded on first access, a rare case."""
        for place, one in enumerate(self._events):
            if isinstance(one, bytes):
                one = self._events[place] = as_json_object(as_json_object(loads(one))["event"])
            yield one

    def _keep(self, key: Any, event: JsonObject | bytes, size: int) -> None:
        """Keep an event, or its line if written by this process."""
        self._end += size
        self._keys[key] = None
        self._events.append(event)

    def _forget(self, identity: tuple[int, int]) -> None:
        self._identity = identity
        self._end = 0
        self._safe = 0
        self._keys: dict[Any, None] = {}
        self._events: list[JsonObject | bytes] = []


def _line(stream: str, key: str, event: JsonObject) -> bytes:
    """Return an event's line, readable by any reader."""
    try:
        line = dumps({"stream": stream, "key": key, "event": event}) + b"\n"
        loads(line)
        check_depth(line.decode(), DEPTH - _AROUND)
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


def _name_in(path: Path) -> str | None:
    """Return the name of the stream in a file's first line."""
    with suppress(Refused, OSError), os.fdopen(open_regular(path), "rb") as file:
        name = as_json_object(loads(file.readline(EVENT_LIMIT))).get("stream")
        return name if isinstance(name, str) and _file_name(name) == path.name else None
    return None


def _file_name(stream: str) -> str:
    if _FILE_NAME.fullmatch(stream):
        return f"{stream}.jsonl"
    return f"sha256-{sha256(stream.encode('utf-8', 'surrogatepass')).hexdigest()}.jsonl"
