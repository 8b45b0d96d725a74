"""The registry: immutable versions, and numbered heads naming the current one.

On disk, `<root>/<kinds>/<name>/versions/X.Y.Z.json` and `<root>/<kinds>/<name>/heads/NNNNNN.json`. Every file is
created exclusively and never changed, so there is no lock to hold, nothing to repair after a crash, and a reader
never waits for a writer. The first version of a name appears together with its folder in one rename: a name that
is listed has a version. Each file carries a check of its document, so that damage is found and named; a head also
holds its number, so that no copy of an older one passes for it.
"""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from tea.clock import epoch_nanoseconds
from tea.errors import AlreadyRegistered, BadRef, Conflict, StorageError, UnknownComponent
from tea.refs import KINDS, NAME, Version, check_name, is_version, plural
from tea.store.access import require_own_folders
from tea.store.bulk import Whole, fill, place
from tea.store.catalogue import Catalogue, Describe, Facts, Mark, settled
from tea.store.files import damaged, publish, reading, write_new, write_over, writing
from tea.store.scratch import Scratch, make_folders, sync_folder
from tea.store.sealed import sealed, unsealed, unsealed_numbered
from tea.types import JsonObject

Stamp = tuple[int, int]
_HEAD = re.compile(r"([0-9]{6}|[1-9][0-9]{6,17})\.json", re.ASCII)


class FileRegistry:
    """A registry in a folder, shared by any number of processes.

    Reading creates nothing; a missing folder is an empty registry.

    Args:
        root: The folder, usually `<home>/registry`.
        mark: Makes the marks of this account, by which it knows its own catalogue again.
    """

    def __init__(self, root: Path, mark: Mark | None = None) -> None:
        self._root = root.absolute()
        self.moves = 0
        self._last: tuple[Path, Stamp | None, int] | None = None  # the last look at heads
        self._names: dict[str, tuple[Stamp, tuple[str, ...]]] = {}
        self._scratch = Scratch(self._root)
        self.catalogue = Catalogue(self._root, self._scratch, mark)

    def create(self, kind: str, name: str, version: str, document: JsonObject) -> None:
        """See `RegistryStore.create`."""
        path = _within(self._version(kind, name, version))
        data = sealed(document)
        if not (self._create_name(path, data) or self._create_file(path, data)):
            self._confirm(path)
            fix = "take the next version; a version never changes once it exists."
            raise AlreadyRegistered(f"{kind}:{name}@{version} exists already.", fix=fix)

    def advance(self, kind: str, name: str, head: JsonObject, expected: int) -> int:
        """See `RegistryStore.advance`."""
        heads = self._component(kind, name) / "heads"
        data = sealed(head, expected + 1)
        with reading(heads):
            if not heads.parent.is_dir():
                raise _unknown(kind, name)
        path = _within(heads / f"{expected + 1:06d}.json")
        if expected > 0 and not _head_number(path.name):
            raise damaged(heads / f"{expected:06d}.json", "no change can follow its number")
        if self._listed(heads) != expected or not self._create_file(path, data):
            raise Conflict(f"{kind}:{name} was changed by someone else at the same time.", fix="try again.")
        self.moves += 1
        return expected + 1

    def head(self, kind: str, name: str, number: int | None = None) -> tuple[int, dict[str, Any]]:
        """See `RegistryStore.head`."""
        heads = self._component(kind, name) / "heads"
        chosen = self.newest(kind, name) if number is None else number
        return (chosen, _head(heads, chosen)) if chosen else (0, {})

    def newest(self, kind: str, name: str) -> int:
        """Return the number of the newest head, readable or not; 0 if there is none."""
        heads = self._component(kind, name) / "heads"
        with reading(heads):
            require_own_folders(heads.parent)
        stamp, newest = _stamp(heads), _newest(heads)
        self._last = heads, stamp, newest
        return newest

    def read(self, kind: str, name: str, version: str) -> dict[str, Any]:
        """See `RegistryStore.read`."""
        path = self._version(kind, name, version)
        with reading(path):
            require_own_folders(path.parent.parent)
            if not os.path.lexists(path):
                raise _unknown(kind, name, version, self.versions(kind, name))
        return unsealed(path)

    def create_all(self, components: Iterable[Whole]) -> None:
        """See `RegistryStore.create_all`."""
        folders: dict[Path, dict[str, bytes]] = {}
        for one in components:
            files = {f"versions/{Version.parse(v)}.json": sealed(document) for v, document in one.versions.items()}
            heads = enumerate(one.heads, start=1)
            files |= {f"heads/{number:06d}.json": sealed(head, number) for number, head in heads}
            folders[self._component(one.kind, one.name)] = files
        place(folders, self._scratch)
        self.moves += 1

    def bury(self, kind: str, name: str, version: str, document: JsonObject) -> None:
        """See `RegistryStore.bury`."""
        self.read(kind, name, version)
        write_over(_within(self._version(kind, name, version)), sealed(document), self._scratch)
        self.moves += 1

    def versions(self, kind: str, name: str) -> list[str]:
        """See `RegistryStore.versions`."""
        files = _file_names(self._component(kind, name) / "versions")
        found = sorted((numbers, file) for file in files if (numbers := _version_numbers(file)))
        return [file.removesuffix(".json") for _, file in found]

    def highest(self, kind: str, name: str) -> str | None:
        """See `RegistryStore.highest`."""
        files = _file_names(self._component(kind, name) / "versions")
        highest = max(((numbers, file) for file in files if (numbers := _version_numbers(file))), default=None)
        return highest[1].removesuffix(".json") if highest else None

    def names(self, kind: str) -> list[str]:
        """See `RegistryStore.names`."""
        folder = self._kind(kind)
        stamp, moment = _stamp(folder), epoch_nanoseconds()
        known = self._names.get(kind)
        if known is not None and known[0] == stamp:
            return list(known[1])
        with reading(folder):
            entries = [entry for entry in _entries(folder) if NAME.fullmatch(entry.name)]
            found = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        if stamp is not None and settled(stamp[1], moment):
            self._names[kind] = stamp, tuple(found)
        return found

    def mark(self, kind: str, name: str) -> object:
        """See `RegistryStore.mark`."""
        return self.catalogue.mark(kind, name) if NAME.fullmatch(name) else None

    def survey(self, kind: str, form: int, describe: Describe, *, pointers: bool = False) -> Mapping[str, Facts | None]:
        """See `RegistryStore.survey`."""
        return self.catalogue.survey(kind, self.names(kind), form, describe, pointers=pointers)

    def _create_name(self, path: Path, data: bytes) -> bool:
        """Create the folder of a new name with its first version in it, or return False if the name is there."""
        component = path.parent.parent
        with writing(path):
            if component.is_dir():
                return False
            self._scratch.settle(component.parent)
            with self._scratch.folder() as temporary:
                fill(temporary, {f"versions/{path.name}": data}, durable=True)
                if not publish(temporary, component):
                    return False
                try:
                    self._scratch.settle(component)
                except BaseException:
                    _withdraw(path)
                    raise
        return True

    def _listed(self, heads: Path) -> int:
        """Return the number of the newest head, from the last look if the folder is unchanged.

        That may miss what another did within a tick of the file system's clock. But the number that this one wants is
        then taken, and who wants to create its file finds that out.
        """
        last, stamp = self._last, _stamp(heads)
        return last[2] if last is not None and last[:2] == (heads, stamp) else _newest(heads)

    def _create_file(self, path: Path, data: bytes) -> bool:
        with writing(path):
            self._scratch.settle(path.parent.parent)
            make_folders(path.parent)
        return write_new(path, data, self._scratch)

    def _confirm(self, path: Path) -> None:
        """Make another writer's version durable, as it may have died before syncing."""
        with writing(path):
            self._scratch.settle(path.parent.parent)
            sync_folder(path.parent)

    def _kind(self, kind: str) -> Path:
        if kind not in KINDS:
            raise BadRef(f"{kind[:80]!r} is not a kind of component.", fix=f"kinds are {', '.join(KINDS)}.")
        return self._root / plural(kind)

    def _component(self, kind: str, name: str) -> Path:
        return self._kind(kind) / check_name(name)

    def _version(self, kind: str, name: str, version: str) -> Path:
        return self._component(kind, name) / "versions" / f"{Version.parse(version)}.json"


def _within(path: Path) -> Path:
    """Return the path of a file to write, of a component without links among its folders.

    Raises:
        Damaged: One is a link, so the file would be written elsewhere.
    """
    for folder in (path.parent, path.parent.parent):
        with writing(path):
            linked = folder.is_symlink()
        if linked:
            raise damaged(folder, "it is a link, and what is written there would be written elsewhere")
    return path


def _withdraw(path: Path) -> None:
    """Remove a first version; entries added to its folder by another process stay."""
    with suppress(OSError):
        os.unlink(path)
        for folder in (path.parent, path.parent.parent / "heads", path.parent.parent):
            os.rmdir(folder)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with reading(folder):
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except FileNotFoundError:
            return []


def _file_names(folder: Path) -> list[str]:
    with reading(folder):
        try:
            return os.listdir(folder)
        except FileNotFoundError:
            return []


@lru_cache(maxsize=4096)
def _version_numbers(file: str) -> tuple[int, int, int] | None:
    """Return the numbers of a version's file, None for any other."""
    version = file.removesuffix(".json")
    if version == file or not is_version(version):
        return None
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


@lru_cache(maxsize=4096)
def _head_number(file: str) -> int:
    """Return the number of a head's file, 0 for any other."""
    match = _HEAD.fullmatch(file)
    return int(match[1]) if match else 0


def _stamp(folder: Path) -> Stamp | None:
    """Return a stamp of a folder, changed by every new entry; None if the folder is missing."""
    with reading(folder), suppress(FileNotFoundError):
        facts = os.stat(folder)
        return facts.st_ino, facts.st_ctime_ns
    return None


def _newest(heads: Path) -> int:
    return max(map(_head_number, _file_names(heads)), default=0)


def _head(heads: Path, number: int) -> dict[str, Any]:
    """Return the document of a head; one without its number is of before heads had one, as are those before it."""
    path, before = (heads / f"{one:06d}.json" for one in (number, number - 1))
    document, numbered = unsealed_numbered(path, number)
    if not numbered and number > 1:
        with suppress(StorageError):  # what is wrong with that one is found where it is read
            numbered = unsealed_numbered(before, number - 1)[1]
        if numbered:
            raise damaged(path, "it holds no number, and the one before it does")
    return document


def _unknown(kind: str, name: str, version: str = "", versions: list[str] | None = None) -> UnknownComponent:
    if versions:
        return UnknownComponent(
            f"{kind}:{name} has no version {version}.", fix=f"use one of {', '.join(versions[-5:])}."
        )
    return UnknownComponent(f"There is no {kind} {name!r}.", fix=f"list what there is with `tea list {plural(kind)}`.")
