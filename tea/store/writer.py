"""The writer of one run's journal: one write for each append, one shared disk write for many syncs."""

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from tea.errors import StorageError
from tea.store.files import open_regular, reading, shown, storage_error, write_all, writing
from tea.store.lease import Lease
from tea.store.lines import End, JournalReading, encode
from tea.store.scratch import PRIVATE_FILE, sync_folder
from tea.types import JsonObject

Durability = Literal["flush", "synced"]

JOURNAL = "journal.jsonl"
LEASE = "lease"


class FileJournalWriter:
    """The only writer of one journal, as long as it is open.

    It takes the lease, verifies the journal, and cuts off a torn end.

    Args:
        run: The run.
        folder: Where its journal and lease are.
        durability: `flush` survives SIGKILL; `synced` also a loss of power, at the price of one disk write each.
        new: Whether the run is being made, so that the folder holds neither.
        number: The number of a run that is being made, for its first record.

    Raises:
        Conflict: Another writer holds the lease.
        Damaged: A line is not what was written.
        StorageError: The files cannot be read or written.
    """

    def __init__(self, run: str, folder: Path, durability: Durability, *, new: bool = False, number: int = 0) -> None:
        self.run = run
        self._path = folder / JOURNAL
        self._durability = durability
        self._number = number
        self._synced: End | None = None
        self._unusable = ""
        self._appending = threading.Lock()
        self._syncing = asyncio.Lock()
        self._lease = Lease(folder / LEASE, new=new)
        try:
            self._descriptor, self._end, self.torn = _new(self._path) if new else _open(self._path, self._lease.left)
        except BaseException:
            self._lease.release()
            raise

    @property
    def epoch(self) -> int:
        """How many writers have held the run, this one included."""
        return self._lease.epoch

    @property
    def position(self) -> int:
        """Number of the next record."""
        return self._end.lines

    def append(self, records: Sequence[JsonObject | str]) -> None:
        """See `JournalWriter.append`."""
        with self._appending:
            self._require_usable()
            self._lease.check()
            lines: list[bytes] = []
            end = self._end
            for record in records:
                line, end = encode(record, end, self._number)
                lines.append(line)
            if lines:
                self._write(b"".join(lines), end)

    async def sync(self) -> None:
        """See `JournalWriter.sync`."""
        wanted = self._end.size
        async with self._syncing:
            if self._synced is not None and self._synced.size >= wanted:
                return
            self._require_usable()
            with writing(self._path):
                end, descriptor = self._end, os.dup(self._descriptor)
            # Shielded, and on a descriptor of its own: cancelling the caller or closing the writer stops no disk.
            committing = asyncio.get_running_loop().run_in_executor(None, self._commit, descriptor, end)
            committing.add_done_callback(_note_failure)
            await asyncio.shield(committing)

    def confirm(self) -> None:
        """Sync like `sync`, and wait for it.

        Raises:
            StorageError: The disk does not confirm.
        """
        if self._synced is None or self._synced.size < self._end.size:
            self._require_usable()
            with writing(self._path):
                self._commit(os.dup(self._descriptor), self._end)

    def moved(self, folder: Path) -> None:
        """Set the writer's path after the folder of its run was renamed."""
        self._path = folder / JOURNAL
        self._lease.moved(folder / LEASE)
        if self._synced is not None:
            sync_folder(folder.parent)

    def close(self) -> None:
        """See `JournalWriter.close`."""
        with self._appending:
            if self._descriptor >= 0:
                descriptor, self._descriptor = self._descriptor, -1
                self._unusable = "it is closed"
                self._lease.release(self._synced.lines if self._synced else 0)
                os.close(descriptor)

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the writer."""
        self.close()

    def _require_usable(self) -> None:
        if self._unusable:
            fix = "resume the run."
            raise StorageError(f"Cannot append to {shown(self._path)}: {self._unusable}.", fix=fix)

    def _write(self, data: bytes, end: End) -> None:
        before = self._end
        try:
            write_all(self._descriptor, data)
            self._end = end
            if self._durability == "synced":
                self._commit(os.dup(self._descriptor), end)
        except BaseException as problem:
            self._end = before
            self._cut_back(before.size)
            if isinstance(problem, OSError):
                raise storage_error("write", self._path, problem) from problem
            raise

    def _cut_back(self, size: int) -> None:
        try:
            os.ftruncate(self._descriptor, size)
        except OSError as problem:
            self._unusable = f"a half-written line could not be cut off ({problem.strerror})"

    def _commit(self, descriptor: int, end: End) -> None:
        try:
            os.fdatasync(descriptor)
            if self._synced is None:
                sync_folder(self._path.parent)
                sync_folder(self._path.parent.parent)
            self._synced = max(end, self._synced or end)
        except OSError as problem:
            self._unusable = f"the disk did not confirm an earlier write ({problem.strerror})"
            raise storage_error("write", self._path, problem) from problem
        finally:
            os.close(descriptor)


def _note_failure(committing: asyncio.Future[None]) -> None:
    """Retrieve a failed commit's exception even if no task awaits it; the writer is unusable from then on."""
    if not committing.cancelled():
        committing.exception()


def _new(path: Path) -> tuple[int, End, int]:
    """Create a journal, and return the same values as `_open`."""
    with reading(path), writing(path):
        return open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), End(), 0


def _open(path: Path, least: int) -> tuple[int, End, int]:
    """Open a journal after its last whole line; return its descriptor, its end, and the number of bytes cut off."""
    with reading(path), writing(path):
        descriptor = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
    try:
        records = JournalReading(path, start=sys.maxsize, least=least)
        for _ in records:
            pass
        if records.torn:
            with writing(path):
                os.ftruncate(descriptor, records.end.size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, records.end, records.torn
