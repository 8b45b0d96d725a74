"""The history of a workspace: each change with the replaced content, and snapshots of all files."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from io import BufferedReader
from typing import Any, cast

from tea import RootedFolder, ToolError

FOLDER = ".tea"
MOST_CHANGES = 200
MOST_KEPT = 500_000_000
MOST_SNAPSHOTS = 20
MOST_FILES = 10_000
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed file: digests of its content before and after, None for no file.

    `size` is what an appended file had before; `moved` is the earlier name of a moved one; `link` is where a deleted
    link led.
    """

    name: str
    before: str | None = None
    after: str | None = None
    size: int | None = None
    moved: str | None = None
    link: str | None = None


class History:
    """The contents replaced by changes, in a folder of its own.

    Args:
        files: The workspace.
        kept: Where the history is, which may be the workspace itself.
    """

    def __init__(self, files: RootedFolder, kept: RootedFolder) -> None:
        self._files, self._kept = files, kept

    def record(self, action: str, changes: Iterable[Change], change: Callable[[], None]) -> None:
        """Keep the content before a change, make the change, and forget the oldest ones beyond the limit."""
        found = list(changes)
        for one in found:
            if one.before is not None and one.size is None and one.moved is None:
                self._keep(one.name, one.before)
        number = max(self._numbers(), default=0) + 1
        entry = {"action": action, "changes": [asdict(one) for one in found]}
        self._kept.write(_entry(number), json.dumps(entry).encode())
        try:
            change()
        except BaseException:
            self._kept.remove(_entry(number))
            raise
        self._prune()

    def undo(self) -> tuple[str, list[str]]:
        """Take the newest change back, and return its action and the names of its files.

        Raises:
            ToolError: There is none, or a file was changed by something else since.
        """
        for number in sorted(self._numbers(), reverse=True):
            action, changes = self._read(number)
            if all(one.moved is None and self._is_before(one) for one in changes):  # a crash came before the change
                self._kept.remove(_entry(number))
                continue
            for one in changes:
                self._check(one)
            for one in reversed(changes):
                self._take_back(one)
            self._kept.remove(_entry(number))
            return action, sorted({one.moved or one.name for one in changes})
        raise ToolError("There is no change to take back.", fix="restore a snapshot, or write the file again.")

    def before(self, name: str) -> bytes | None:
        """Return the content of a file before its newest change; None for no file.

        Raises:
            ToolError: No change of it is kept.
        """
        for number in sorted(self._numbers(), reverse=True):
            for one in self._read(number)[1]:
                if name == one.name:
                    return self._earlier(one)
        raise ToolError(f"No change of {name[:100]!r} is kept.", fix="compare it with another file or a snapshot.")

    def save(self, label: str) -> Mapping[str, str]:
        """Keep all files under a label, and return their digests by name.

        Raises:
            ToolError: The label is unusable or taken, or there are too many snapshots.
        """
        path, taken = _snapshot(label), self.snapshots()
        if len(taken) >= MOST_SNAPSHOTS or label in taken:
            problem = f"There are {len(taken)} snapshots, of which {label[:40]!r} may be one."
            raise ToolError(problem, fix=f"choose another name; {MOST_SNAPSHOTS} are kept.")
        digests = self._digests()
        for name, digest in digests.items():
            self._keep(name, digest)
        self._kept.write(path, json.dumps(digests).encode(), replace=False)
        return digests

    def saved(self, label: str) -> Mapping[str, str]:
        """Return the digests of a snapshot's files by name.

        Raises:
            ToolError: There is none.
        """
        if label not in self.snapshots():
            known = ", ".join(sorted(self.snapshots())) or "none"
            raise ToolError(f"There is no snapshot {label[:40]!r}.", fix=f"there are: {known}.")
        found = self._json(_snapshot(label))
        return {str(name): str(digest) for name, digest in found.items()}

    def content(self, digest: str) -> bytes:
        """Return kept bytes.

        Raises:
            ToolError: They are gone or not what they were.
        """
        self._verify(digest)
        with self._object(digest) as file:
            return file.read()

    def restore(self, label: str) -> list[str]:
        """Bring all files back as they were in a snapshot, as one change, and return the names of the changed ones."""
        wanted, there = self.saved(label), self._digests()
        names = sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))
        for digest in {wanted[name] for name in names if name in wanted}:
            self._verify(digest)
        changes = [Change(name=name, before=there.get(name), after=wanted.get(name)) for name in names]

        def change() -> None:
            for name in names:
                if name in wanted:
                    self._put(name, wanted[name])
                else:
                    self._files.remove(name)

        if names:
            self.record("restore_snapshot", changes, change)
        return names

    def snapshots(self) -> list[str]:
        """Return the labels of the snapshots."""
        return [name.rpartition("/")[2].removesuffix(".json") for name in self._names("snapshots/")]

    def digest(self, name: str) -> str | None:
        """Return the digest of a file, None if there is none."""
        if not self._files.is_file(name):
            return None
        with self._files.reading(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def extended(self, name: str, data: bytes) -> tuple[str, str]:
        """Return the digests of a file as it is, and as it will be with some bytes at its end."""
        with self._files.reading(name) as file:
            found = hashlib.sha256()
            for piece in _pieces(file):
                found.update(piece)
        before = found.hexdigest()
        found.update(data)
        return before, found.hexdigest()

    def _digests(self) -> dict[str, str]:
        names = [name for name, _ in self._files.files()]
        if len(names) > MOST_FILES:
            raise ToolError(f"There are more than {MOST_FILES} files.", fix="keep fewer files.")
        return {name: digest for name in names if (digest := self.digest(name)) is not None}

    def _earlier(self, one: Change) -> bytes | None:
        if one.moved is not None:
            with self._files.reading(one.name) as file:
                return file.read()
        if one.size is not None:
            with self._files.reading(one.name) as file:
                return file.read(one.size)
        return None if one.before is None else self.content(one.before)

    def _is_before(self, one: Change) -> bool:
        if one.link is not None:
            return self._files.link_target(one.name) == one.link
        return self.digest(one.name) == one.before

    def _check(self, one: Change) -> None:
        now = self.digest(one.name)
        if one.link is not None:
            usable = self._files.link_target(one.name) is None and self._files.status(one.name) is None
        elif one.moved is not None:
            usable = self._files.status(one.name) is not None and self._files.status(one.moved) is None
        else:
            usable = now in (one.after, one.before)
        if not usable:
            problem = f"{one.name[:100]!r} was changed by something else since."
            raise ToolError(problem, fix="restore a snapshot, or write the file again.")

    def _take_back(self, one: Change) -> None:
        if one.moved is not None:
            self._files.move(one.name, one.moved)
        elif one.link is not None:
            self._files.make_link(one.name, one.link)
        elif one.before is None:
            if self._files.is_file(one.name):
                self._files.remove(one.name)
        elif one.size is not None:
            self._files.write(one.name, cast(bytes, self._earlier(one)))
        else:
            self._put(one.name, one.before)

    def _keep(self, name: str, digest: str) -> None:
        path = f"{FOLDER}/objects/{digest}"
        if not self._kept.is_file(path):
            with self._files.reading(name) as file:
                self._kept.write(path, _pieces(file))

    def _verify(self, digest: str) -> None:
        with self._object(digest) as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise ToolError("The kept content is damaged.", fix="write the file again.")

    def _put(self, name: str, digest: str) -> None:
        self._verify(digest)
        with self._object(digest) as file:
            self._files.write(name, _pieces(file))

    def _object(self, digest: str) -> AbstractContextManager[BufferedReader]:
        if not re.fullmatch(r"[0-9a-f]{64}", digest) or not self._kept.is_file(f"{FOLDER}/objects/{digest}"):
            raise ToolError("The kept content is missing.", fix="write the file again.")
        return self._kept.reading(f"{FOLDER}/objects/{digest}")

    def _names(self, below: str) -> list[str]:
        if self._kept.status(FOLDER) is None:
            return []
        return [name for name, _ in self._stored() if name.startswith(f"{FOLDER}/{below}")]

    def _stored(self) -> Iterator[tuple[str, int]]:
        for name, found in self._kept.files(hidden=True, below=FOLDER):
            yield name, found.st_size

    def _numbers(self) -> list[int]:
        found = (re.fullmatch(r".*/(\d{6})\.json", name) for name in self._names("changes/"))
        return [int(one[1]) for one in found if one]

    def _read(self, number: int) -> tuple[str, list[Change]]:
        entry = self._json(_entry(number))
        try:
            return str(entry["action"]), [Change(**one) for one in entry["changes"]]
        except (KeyError, TypeError) as error:
            raise ToolError("The history is damaged.", fix="restore a snapshot, or go on without it.") from error

    def _json(self, path: str) -> dict[str, Any]:
        with self._kept.reading(path) as file:
            try:
                found = json.loads(file.read())
            except ValueError as error:
                raise ToolError("The history is damaged.", fix="go on without it.") from error
        if not isinstance(found, dict):
            raise ToolError("The history is damaged.", fix="go on without it.")
        return cast("dict[str, Any]", found)

    def _prune(self) -> None:
        """Forget the oldest changes beyond the limits, and unneeded contents."""
        numbers = sorted(self._numbers())
        sizes = {name.rpartition("/")[2]: size for name, size in self._stored() if "/objects/" in name}
        if len(numbers) <= MOST_CHANGES and sum(sizes.values()) <= MOST_KEPT:
            return
        needed = {digest for label in self.snapshots() for digest in self.saved(label).values()}
        left = MOST_KEPT - sum(sizes.get(one, 0) for one in needed)
        for kept, number in enumerate(reversed(numbers), 1):
            own = {one.before for one in self._read(number)[1] if one.before} - needed
            left -= sum(sizes.get(one, 0) for one in own)
            if kept > MOST_CHANGES or left < 0:
                self._kept.remove(_entry(number))
                left = -1
            else:
                needed |= own
        for digest in {*sizes} - needed:
            self._kept.remove(f"{FOLDER}/objects/{digest}")


def _pieces(file: BufferedReader) -> Iterator[bytes]:
    while piece := file.read(BLOCK):
        yield piece


def _entry(number: int) -> str:
    return f"{FOLDER}/changes/{number:06}.json"


def _snapshot(label: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", label):
        raise ToolError(f"{label[:40]!r} is not a name of a snapshot.", fix="use up to 40 letters, digits, - and _.")
    return f"{FOLDER}/snapshots/{label}.json"
