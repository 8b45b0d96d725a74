"""Journals: the append-only record of each run, with one writer at a time.

On disk, `<root>/<run>/journal.jsonl` (see `lines`), `<root>/<run>/lease`, `<root>/<run>/blobs/` and
`<root>/<run>/messages/`. A run appears
with lease, first records, and all that was put beside them, in one rename. `<root>/.counter` numbers the runs (see
`counter`), and their order is that of their numbers. An append is one write, so it survives
SIGKILL; it survives a loss of power after `sync`, which many callers share.
"""

import os
import re
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Protocol, Self

from tea.errors import BadInput, Conflict, Damaged
from tea.store.access import require_own_run
from tea.store.attempt_folders import ATTEMPTS
from tea.store.blobs import Blobs, FileBlobs
from tea.store.counter import NAME, Counter
from tea.store.files import damaged, publish, reading, shown, writing
from tea.store.lease import Lease, fence, held, left, started
from tea.store.lines import JournalReading, Wanted, read_last, read_number
from tea.store.messages import FileMessages, Messages
from tea.store.scratch import Scratch, sync_folder
from tea.store.writer import JOURNAL, LEASE, Durability, FileJournalWriter
from tea.types import JsonObject

BLOBS, MESSAGES = "blobs", "messages"
Begin = Callable[[Path, Blobs], Sequence[JsonObject | str]]
"""Gives the first records of a run, from the folder where what lies beside them is put, and its blobs."""

_NAMED_HERE = re.compile(r"[0-9a-f]{32}")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}", re.ASCII)


class JournalStore(Protocol):
    """A store of the journals of runs."""

    def create(self, run: str, begin: "Begin | None" = None) -> "JournalWriter":
        """Create the journal of a new run, and acquire its lease.

        Args:
            run: The run.
            begin: Gives its first records. The run is seen by nobody before it has them.

        Raises:
            Conflict: That run exists.
            StorageError: It cannot be written; nothing of it is left, nor where `begin` raises.
        """
        ...

    def resume(self, run: str) -> "JournalWriter":
        """Acquire the journal of a run again, after its last whole record; the writer's `torn` counts the bytes cut.

        Raises:
            BadInput: There is no such run.
            Conflict: Another process holds it.
            Damaged: A line is not what was written.
        """
        ...

    def read(self, run: str, start: int = 0, wanted: Wanted | None = None) -> Iterator[JsonObject]:
        """Return the records of a run from number `start` on; also while it is written.

        Args:
            run: The run.
            start: Number of the first record.
            wanted: Tells of a line whether its record is given out; all are verified.

        Raises:
            BadInput: There is no such run.
            Damaged: From the iteration, when a line is not what was written.
        """
        ...

    def last(self, run: str) -> JsonObject | None:
        """Return the last record, verified against the one before, in constant time.

        Raises:
            BadInput: There is no such run.
            StorageError: It cannot be read. Where its end tells nothing, None is returned, and `read` tells why.
        """
        ...

    def runs(self, known: Container[str] = ()) -> list[str]:
        """Return all runs, the latest first; including runs with a lost journal, reported on reading.

        Args:
            known: Runs to leave out, without looking at them.
        """
        ...

    def size(self, run: str) -> int:
        """Return the size of a run in bytes, including all files beside its journal.

        Raises:
            BadInput: There is no such run.
        """
        ...

    def remove(self, run: str) -> int:
        """Remove a run permanently, with all files beside its journal, and return the bytes freed.

        Raises:
            BadInput: There is no such run.
            Conflict: A living process holds it.
            StorageError: It cannot be removed.
        """
        ...

    def held(self, run: str) -> bool:
        """Return whether a living process is writing the run at this moment.

        Raises:
            BadInput: There is no such run.
        """
        ...

    def fence(self, run: str) -> None:
        """Take a run away from its process: it stops at its next append, and another may resume the run.

        Raises:
            BadInput: There is no such run.
            StorageError: The lease cannot be written.
        """
        ...

    def blobs(self, run: str) -> Blobs:
        """Return the blobs of a run.

        Raises:
            BadInput: There is no such run.
        """
        ...

    def messages(self, run: str) -> Messages:
        """Return the messages to a run.

        Raises:
            BadInput: There is no such run.
        """
        ...


class JournalWriter(Protocol):
    """The only writer of one run, as long as it is open; a context manager for its closing."""

    @property
    def run(self) -> str:
        """The run."""
        ...

    @property
    def epoch(self) -> int:
        """How many writers have held the run, this one included."""
        ...

    @property
    def position(self) -> int:
        """Number of the next record."""
        ...

    @property
    def torn(self) -> int:
        """Bytes of an unfinished record cut off when the run was resumed."""
        ...

    def append(self, records: Sequence[JsonObject | str]) -> None:
        """Add records in one write: all of them, or none. They survive the end of the process at any moment.

        Args:
            records: JSON objects, or their text, compact and on one line each, where that is at hand.

        Raises:
            BadInput: A record is not JSON, or too large; none was written.
            Conflict: The lease was lost.
            StorageError: They cannot be written, or the writer is closed or was given up after an earlier failure.
        """
        ...

    async def sync(self) -> None:
        """Make everything appended so far survive a loss of power; callers at the same time share one disk write.

        Raises:
            StorageError: The disk does not confirm; the writer is given up, because nobody knows what it kept.
        """
        ...

    def close(self) -> None:
        """Release the run; a second call has no effect. It does not sync."""
        ...

    def __enter__(self) -> Self:
        """Return the writer."""
        ...

    def __exit__(self, *error: object) -> None:
        """Close the writer."""
        ...


class FileJournals:
    """Journals in a folder, shared by any number of processes; each run has one writer at a time.

    Reading creates nothing; a missing folder holds no runs.

    Args:
        root: The folder, usually `<home>/traces`.
        durability: What every append survives; see `FileJournalWriter`.
    """

    def __init__(self, root: Path, durability: Durability = "flush") -> None:
        self._root = root.absolute()
        self._durability: Durability = durability
        self._scratch = Scratch(self._root, private=True)
        self._counter = Counter(self._root / NAME, self._highest)

    def create(self, run: str, begin: Begin | None = None) -> FileJournalWriter:
        """See `JournalStore.create`."""
        folder = self._folder(run)
        with writing(folder), self._scratch.folder() as temporary:
            self._scratch.settle(self._root)
            records = begin(temporary, FileBlobs(temporary / BLOBS, self._scratch)) if begin else ()
            number = self._counter.next()
            writer = FileJournalWriter(run, temporary, self._durability, new=True, number=number)
            try:
                writer.append(records)
                if not publish(temporary, folder):
                    raise Conflict(f"The run {run!r} exists already.", fix="choose another id, or resume that run.")
                try:
                    writer.moved(folder)
                except BaseException:
                    os.rename(folder, temporary)
                    raise
            except BaseException:
                writer.close()
                raise
            return writer

    def resume(self, run: str) -> FileJournalWriter:
        """See `JournalStore.resume`."""
        folder = self._existing(run)
        with reading(folder / JOURNAL):
            require_own_run(folder, folder / JOURNAL)
            _require_no_links(folder, folder / BLOBS, folder / ATTEMPTS)
        with writing(folder):
            self._scratch.settle(self._root)
        return FileJournalWriter(run, folder, self._durability)

    def read(self, run: str, start: int = 0, wanted: Wanted | None = None) -> JournalReading:
        """See `JournalStore.read`; a torn end is left out, with its size in `torn` of the result."""
        folder = self._existing(run)
        return JournalReading(folder / JOURNAL, start, left(folder / LEASE), wanted)

    def last(self, run: str) -> JsonObject | None:
        """See `JournalStore.last`."""
        return read_last(self._existing(run) / JOURNAL)

    def runs(self, known: Container[str] = ()) -> list[str]:
        """See `JournalStore.runs`."""
        with reading(self._root):
            names = os.listdir(self._root) if os.path.lexists(self._root) else []
            fresh = [name for name in names if name not in known and _RUN.fullmatch(name)]
            found = [name for name in fresh if _may_be_run(self._root / name)]
        return sorted(found, key=self._place, reverse=True)

    def size(self, run: str) -> int:
        """See `JournalStore.size`."""
        folder = self._existing(run)
        with reading(folder):
            return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())

    def remove(self, run: str) -> int:
        """See `JournalStore.remove`; the run is moved out of sight with one rename, whole or not at all."""
        folder, freed = self._existing(run), self.size(run)
        with writing(folder):
            lease = Lease(folder / LEASE)
            try:
                with self._scratch.folder() as temporary:
                    os.rename(folder, temporary / run)
                sync_folder(self._root)
            finally:
                lease.release()
        return freed

    def held(self, run: str) -> bool:
        """See `JournalStore.held`."""
        return held(self._existing(run) / LEASE)

    def fence(self, run: str) -> None:
        """See `JournalStore.fence`."""
        fence(self._existing(run) / LEASE)

    def blobs(self, run: str) -> FileBlobs:
        """See `JournalStore.blobs`."""
        return FileBlobs(self._existing(run) / BLOBS, self._scratch)

    def messages(self, run: str) -> FileMessages:
        """See `JournalStore.messages`."""
        folder = self._existing(run) / MESSAGES
        with reading(folder):
            is_link = folder.is_symlink()
        if is_link:
            raise _linked(folder)
        return FileMessages(folder, self._scratch)

    def _place(self, run: str) -> tuple[int, int, str]:
        """Return the sort key of a run: its number; unnumbered runs of old come first, by the clock."""
        number = read_number(self._root / run / JOURNAL)
        return number, 0 if number else started(self._root / run / LEASE), run

    def _highest(self) -> int:
        """Return the highest number of a run."""
        names = filter(_RUN.fullmatch, os.listdir(self._root))
        return max((read_number(self._root / name / JOURNAL) for name in names), default=0)

    def _folder(self, run: str) -> Path:
        if not _RUN.fullmatch(run):
            fix = "use letters, digits, - and _, at most 128, as `tea runs` shows them."
            raise BadInput(f"{run[:80]!r} is not the id of a run.", fix=fix)
        return self._root / run

    def _existing(self, run: str) -> Path:
        folder = self._folder(run)
        with reading(folder):
            if not _is_run(folder):
                raise BadInput(f"There is no run {run!r} in {shown(self._root)}.", fix="list the runs with `tea runs`.")
        return folder


def _is_run(folder: Path) -> bool:
    """Return whether a folder is a run's; a link is not, as writes would go elsewhere."""
    return not folder.is_symlink() and ((folder / JOURNAL).exists() or (folder / LEASE).exists())


def _require_no_links(*folders: Path) -> None:
    """Raise Damaged for folders of a run with a link in them: work on its files would go on elsewhere."""
    for folder in folders:
        if folder.is_dir():
            with os.scandir(folder) as entries:
                link = next((one.path for one in entries if one.is_symlink()), None)
            if link is not None:
                raise _linked(Path(link))


def _linked(path: Path) -> Damaged:
    return damaged(path, "it is a link, which may lead out of the home")


def _may_be_run(folder: Path) -> bool:
    """Return whether a folder is a run's; an inaccessible one is if it has such a name."""
    try:
        return _is_run(folder)
    except PermissionError:
        return _NAMED_HERE.fullmatch(folder.name) is not None
