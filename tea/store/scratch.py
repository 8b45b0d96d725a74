"""The scratch folder of a store: unfinished files and folders stay there until they are whole.

Each entry is locked (`flock`) by its writer for as long as the writer lives. An entry without a lock therefore
belongs to a dead writer, and the next writer sweeps it away: nothing piles up, and no clock or process number is
trusted. A lock ends with its process, also by SIGKILL.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

# Who may do what with a file or folder that is created, as far as the umask leaves it. What tells of runs is private.
# No folder is made for others to write, whatever the umask: a home that they may write is refused.
PUBLIC_FILE, PUBLIC_FOLDER = 0o644, 0o755
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700

_ATTEMPTS = 100


class Scratch:
    """The scratch files and folders of one store, in `<root>/.tmp`.

    Args:
        root: The store's folder; entries can be linked or moved to anywhere inside it.
        private: Whether only this account may read what is written.
    """

    def __init__(self, root: Path, *, private: bool = False) -> None:
        self._root = root
        self._file_mode = PRIVATE_FILE if private else PUBLIC_FILE
        self._folder_mode = PRIVATE_FOLDER if private else PUBLIC_FOLDER
        self._folder = root / ".tmp"
        self._settled: set[str] = set()
        self._alive: set[str] = set()

    def settle(self, folder: Path, known: set[str] | None = None) -> None:
        """Create a missing folder, and make its name durable, with those of its parents up to the home.

        Also where others created them: they may have died before the disk knew. Each is looked after once.

        Args:
            folder: A folder of the store.
            known: Those that were looked after are noted here, where they need not be as long as the store is open.

        Raises:
            OSError: The system refuses.
        """
        noted = self._settled if known is None else known
        if (str(folder) in noted or str(folder) in self._settled) and folder.is_dir():
            return
        if self._root.parent in folder.parents:
            self.settle(folder.parent, known)
            with suppress(FileExistsError):
                os.mkdir(folder, self._folder_mode)
            sync_folder(folder.parent)
        else:
            make_folders(folder)
            if os.access(folder.parent, os.R_OK):  # what a home lies in may be closed to us, if it was there before
                sync_folder(folder.parent)
        noted.add(str(folder))

    def make(self, folder: Path) -> None:
        """Create a folder of the store, and any missing folders around it, durably.

        Raises:
            OSError: The system refuses.
        """
        if folder.is_dir():
            return
        make_folders(self._root.parent)
        inside = [one for one in folder.parents if self._root in (one, *one.parents)]
        for one in (*reversed(inside), folder):
            make_folders(one, self._folder_mode)

    @contextmanager
    def file(self) -> Generator[tuple[Path, int]]:
        """Create a new empty file and yield it with its descriptor; it is removed at the end if still there."""
        with self._entry(self._new_file) as entry:
            yield entry

    @contextmanager
    def folder(self) -> Generator[Path]:
        """Create a new empty folder and yield it; it is removed at the end if still there."""
        with self._entry(self._new_folder) as (path, _):
            yield path

    def abandoned(self, *, remove: bool) -> list[tuple[Path, bool]]:
        """Return the entries left by dead writers, each with its removal; the next writer removes them in any case.

        Args:
            remove: Whether to sweep it away at once.
        """
        found: list[tuple[Path, bool]] = []
        if self._folder.is_symlink():
            return found
        with suppress(OSError), os.scandir(self._folder) as entries:
            for path in sorted(Path(entry.path) for entry in entries):
                with suppress(OSError):
                    if _sweep_entry(path, remove=remove):
                        found.append((path, remove and not path.exists()))
        return found

    @contextmanager
    def _entry(self, make: Callable[[Path], int]) -> Generator[tuple[Path, int]]:
        if self._folder.is_symlink():  # the target of the link is not ours, and its files would be swept away
            raise NotADirectoryError(errno.ENOTDIR, "it is a link", str(self._folder))
        self._sweep()
        path, descriptor = self._claim(make)
        self._alive.add(path.name)
        try:
            yield path, descriptor
        finally:
            _remove(path)
            self._alive.discard(path.name)
            with suppress(OSError):
                os.close(descriptor)

    def _claim(self, make: Callable[[Path], int]) -> tuple[Path, int]:
        # Another writer may sweep an entry away in the moment before it is locked; then take another.
        for _ in range(_ATTEMPTS):
            path = self._folder / secrets.token_hex(8)
            with suppress(FileNotFoundError):
                descriptor = make(path)
                if _kept(path, descriptor):
                    return path, descriptor
            self.make(self._folder)
        raise FileNotFoundError(errno.ENOENT, "it vanishes while it is written", str(self._folder))

    def _new_file(self, path: Path) -> int:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, self._file_mode)

    def _new_folder(self, path: Path) -> int:
        os.mkdir(path, self._folder_mode)
        try:
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except BaseException:
            _remove(path)
            raise

    def _sweep(self) -> None:
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name not in self._alive:
                    with suppress(OSError):
                        _sweep_entry(Path(entry.path))


def make_folders(path: Path, mode: int = PUBLIC_FOLDER) -> None:
    """Create a folder with a mode, and any missing folders above it, durably."""
    if path.is_dir():
        return
    make_folders(path.parent)
    with suppress(FileExistsError):
        os.mkdir(path, mode)
    sync_folder(path.parent)


def make_private(path: Path) -> None:
    """Create a folder, and any missing folders above it, for this account alone, with any umask.

    So the XDG Base Directory Specification has it for folders of caches and state.
    """
    if path.is_dir():
        return
    make_private(path.parent)
    try:
        os.mkdir(path, PRIVATE_FOLDER)
    except FileExistsError:
        if not path.is_dir():
            raise


def make_derived(path: Path, mode: int) -> None:
    """Create a folder of derived data if it is missing, with a file telling git to leave it out."""
    if path.is_dir():
        return
    with suppress(FileExistsError):
        os.mkdir(path, mode)
    with suppress(FileExistsError):
        descriptor = os.open(path / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PUBLIC_FILE)
        try:
            os.write(descriptor, b"*\n")
        finally:
            os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make the entries of a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _kept(path: Path, descriptor: int) -> bool:
    try:
        if _locked(descriptor) and path.exists():
            return True
    except OSError:
        _remove(path)
        os.close(descriptor)
        raise
    os.close(descriptor)
    return False


def _sweep_entry(path: Path, *, remove: bool = True) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        abandoned = _locked(descriptor)
        if abandoned and remove:
            _remove(path)
        return abandoned
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    import fcntl  # not there where untrusted code is described without a kernel, and nothing is stored

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(path: Path) -> None:
    # Never an error: what was written is whole by now, and what stays behind is swept away later.
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        shutil.rmtree(path, ignore_errors=True)
