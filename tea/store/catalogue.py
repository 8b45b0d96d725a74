"""The catalogue: listed facts of every component, kept beside the registry to avoid reading components again.

It is derived. On disk, `<root>/.catalogue/<kinds>.json`, which git ignores; it can be lost, torn or out of date at any
time, and several processes may write it at once. So a row counts only while the stamps of the files it was made from
are those that the disk shows now: the folder of heads, the newest head, and the version that it names. A catalogue
that somebody else wrote does not count, since it tells the words of components that are trusted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic_core import from_json, to_json

from tea.clock import epoch_nanoseconds
from tea.refs import plural
from tea.store.files import read_regular, write_all
from tea.store.scratch import PUBLIC_FOLDER, Scratch, make_derived
from tea.store.strict import Refused
from tea.types import JsonObject, JsonValue

FOLDER = ".catalogue"
_LIMIT = 2**30
_CHECK = 32
_COARSE, _FINE = 2 * 10**9, 10**8  # nanoseconds; see `settled`
_WORTH = 64  # rows that cost as much to read as the whole catalogue costs to write, roughly


Facts = tuple[JsonValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """The listed facts of one component, and their source.

    Args:
        facts: What it shows, as JSON values, as many for each component as its form has; None where it is out of sight.
        head: Number of the head that was read; 0 where nothing may be kept, because there is none or it is damaged.
        version: The version that was read, None where the head names none.
    """

    facts: Facts | None
    head: int = 0
    version: str | None = None


Describe = Callable[[str], Described]
Mark = Callable[[JsonValue], str]
Stamp = tuple[int, ...]
_Row = tuple[Any, ...]  # flat, since thousands are made: stamp, head, version, whether it is in sight, facts
_HEAD, _VERSION, _SHOWN, _FACTS = range(9, 13)


class Catalogue:
    """The rows of every kind of one registry in a folder, safe to read from any number of threads.

    Args:
        root: The registry's folder.
        scratch: Where it is written before it takes the place of the one before.
        mark: Makes the marks of this account; without it nothing is kept on disk.
        least: From how many rows on it is kept on disk; fewer are read as fast without.
        clock: Tells the time in nanoseconds, as the files' own times do.
    """

    def __init__(
        self,
        root: Path,
        scratch: Scratch,
        mark: Mark | None = None,
        least: int = _WORTH,
        clock: Callable[[], int] = epoch_nanoseconds,
    ) -> None:
        self._root, self._scratch, self._mark, self._least, self._clock = root, scratch, mark, least, clock
        self._seen: dict[str, _Seen] = {}
        self._unsaved: Counter[str] = Counter()

    def survey(
        self, kind: str, names: Sequence[str], form: int, describe: Describe, *, pointers: bool = False
    ) -> Mapping[str, Facts | None]:
        """Return the listed facts of each of `names`; the identical object as long as nothing has changed.

        Args:
            kind: Their kind.
            names: Names that the registry holds now.
            form: Number of the form of the facts; rows of another form are not used.
            describe: Reads one component.
            pointers: Whether it is enough that no pointer has moved since this process looked: what was written into
                an immutable file in place is then not seen.
        """
        seen = self._seen.get(kind)
        rows: dict[str, _Row] = {}
        found: dict[str, Facts | None] = {}
        with _Stamps(self._root / plural(kind)) as stamps:
            same = stamps.same_pointers if pointers and seen is not None else stamps.same
            known = self._known(kind, form) if seen is None else seen.rows
            kept = seen is not None and seen.names == names and len(known) == len(names)
            if seen is not None and kept and same(names, known.values()):  # rows are in the names' order
                return seen.found
            for name in names:
                row = known.get(name)
                if row is not None and same((name,), (row,)):
                    rows[name], found[name] = row, row[_FACTS:] if row[_SHOWN] else None
                    continue
                described, row = _read(name, describe, stamps, self._clock())
                found[name] = described.facts
                if row is not None:
                    rows[name] = row
                    self._unsaved[kind] += 1
        self._seen[kind] = _Seen(list(names), rows, found)
        if self._mark is not None and self._unsaved[kind] * _WORTH >= len(rows) >= self._least:
            self._unsaved[kind] = 0
            self._save(self._path(kind), {"form": form, **_columns(rows)})
        return found

    def mark(self, kind: str, name: str) -> tuple[int, int] | None:
        """Return a mark of a name's heads, equal as long as they do not change; None shortly after a change."""
        try:
            facts = os.stat(f"{self._root}/{plural(kind)}/{name}/heads")
        except OSError:
            return None
        return (facts.st_ino, facts.st_ctime_ns) if settled(facts.st_ctime_ns, self._clock()) else None

    def _known(self, kind: str, form: int) -> dict[str, _Row]:
        kept = self._load(self._path(kind), form)
        try:
            return _rows(kept) if kept else {}
        except (TypeError, ValueError, KeyError):
            return {}

    def _load(self, path: Path, form: int) -> dict[str, Any]:
        """Return the document on disk; empty if it is missing, torn, of another form, or written by somebody else."""
        try:
            mark, _, data = read_regular(path, _LIMIT)[_CHECK + 1 :].partition(b"\n")
            if self._mark is not None and compare_digest(mark, self._marked(data)):
                kept = cast("dict[str, Any]", from_json(data))
                return kept if kept["form"] == form else {}
        except (OSError, Refused, ValueError, TypeError, KeyError):
            pass
        return {}

    def _save(self, path: Path, document: JsonObject) -> None:
        """Write a catalogue to disk if possible; the last of several writers wins, and all of them are correct."""
        data = to_json(document)
        data = self._marked(data) + b"\n" + data
        with suppress(OSError):
            make_derived(path.parent, PUBLIC_FOLDER)
            with self._scratch.file() as (temporary, descriptor):
                write_all(descriptor, _check(data) + b"\n" + data)
                os.replace(temporary, path)

    def _marked(self, data: bytes) -> bytes:
        return b"" if self._mark is None else self._mark({"catalogue": _check(data).decode()}).encode()

    def _path(self, kind: str) -> Path:
        return self._root / FOLDER / f"{plural(kind)}.json"


class _Seen(NamedTuple):
    """The result of one survey: the names, the valid rows, and the listed facts."""

    names: Sequence[str]
    rows: Mapping[str, _Row]
    found: Mapping[str, Facts | None]


class _Stamps:
    """A reader of stamps from the disk: inode, time of the last change of content or entries, and size.

    The time is `ctime`, which nobody can set back, as `mtime` can be when a file is copied or unpacked.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = -1

    def __enter__(self) -> _Stamps:
        with suppress(OSError):
            self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        return self

    def __exit__(self, *error: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def of(self, name: str, head: int, version: str | None) -> Stamp:
        """Return the stamp of a component's state, empty if a file is missing or inaccessible."""
        at = self._descriptor
        try:
            one = os.stat(f"{name}/heads", dir_fd=at)
            two = os.stat(f"{name}/heads/{head:06d}.json", dir_fd=at, follow_symlinks=False)
            stamp = one.st_ino, one.st_ctime_ns, one.st_size, two.st_ino, two.st_ctime_ns, two.st_size
            if version is None:
                return (*stamp, 0, 0, 0)
            one = os.stat(f"{name}/versions/{version}.json", dir_fd=at, follow_symlinks=False)
            return (*stamp, one.st_ino, one.st_ctime_ns, one.st_size)
        except OSError:
            return ()

    def same(self, names: Iterable[str], rows: Iterable[_Row]) -> bool:
        """Return whether components still match the stamps of their rows."""
        pairs = zip(names, rows, strict=True)
        return all(self.of(name, row[_HEAD], row[_VERSION]) == row[:_HEAD] for name, row in pairs)

    def same_pointers(self, names: Iterable[str], rows: Iterable[_Row]) -> bool:
        """Return whether no head of any component was added or replaced since its row was made."""
        look, at = os.stat, self._descriptor
        try:
            for name, row in zip(names, rows, strict=True):
                facts = look(name + "/heads", dir_fd=at)
                if facts.st_ctime_ns != row[1] or facts.st_ino != row[0]:
                    return False
        except OSError:
            return False
        return True

    def settled(self, name: str, stamp: Stamp, moment: int) -> bool:
        """Return whether a component did not change since `moment`, so a later read matches its stamp.

        A change so shortly before that it may have the same time as one after counts as later.
        """
        try:
            versions = os.stat(f"{name}/versions", dir_fd=self._descriptor).st_ctime_ns
        except OSError:
            return False
        return bool(stamp) and all(settled(changed, moment) for changed in (versions, *stamp[1::3]))


def _read(name: str, describe: Describe, stamps: _Stamps, moment: int) -> tuple[Described, _Row | None]:
    """Read one component at `moment`, with its row if nothing changed during or shortly before the read."""
    found = describe(name)
    if not found.head:
        return found, None
    stamp = stamps.of(name, found.head, found.version)
    if not stamps.settled(name, stamp, moment):
        return found, None
    return found, (*stamp, found.head, found.version, found.facts is not None, *(found.facts or ()))


def _columns(rows: Mapping[str, _Row]) -> dict[str, Any]:
    """Return rows as columns, a form read in half the time as it creates fewer objects."""
    width = max(map(len, rows.values()), default=0)
    even = (row + (None,) * (width - len(row)) for row in rows.values())
    return {"names": list(rows), "columns": list(zip(*even, strict=True))}


def _rows(kept: Mapping[str, Any]) -> dict[str, _Row]:
    """Return the rows of columns; raises ValueError if they are incomplete."""
    if len(kept["columns"]) < _FACTS:
        raise ValueError("columns are missing")
    return dict(zip(kept["names"], zip(*kept["columns"], strict=True), strict=True))


def settled(changed: int, moment: int) -> bool:
    """Return whether a change is early enough before `moment` for a later one to have another time, in nanoseconds.

    File systems tell times apart by two seconds or better. Where one keeps more of a time than its milliseconds, the
    time is that of the system's clock, which ticks at least a hundred times a second: ten of these ticks are enough.
    """
    return changed < moment - (_FINE if changed % 10**6 else _COARSE)


def whole(path: Path) -> bool:
    """Return whether a file is a catalogue as it was written.

    Raises:
        OSError: It cannot be read.
    """
    try:
        data = read_regular(path, _LIMIT)
    except Refused:
        return False
    return data[:_CHECK] == _check(data[_CHECK + 1 :])


def _check(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECK // 2).hexdigest().encode()
