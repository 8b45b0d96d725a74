"""Repair: finding the effects of crashes and damage in the stores, and mending them without guesses.

Mended is what a crash leaves behind: half-written files of dead writers go, and an unfinished record at the end of a
journal is cut off, its bytes kept beside it. A file that is not what was written is only named: to mend it would be to
make something up.
"""

import os
import re
import stat
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tea.errors import BadInput, StorageError
from tea.refs import KINDS, NAME, Kind, is_digest, plural
from tea.store.environments import SUFFIX
from tea.store.events import STREAM_LIMIT
from tea.store.files import damaged, open_regular, read_regular, reading, shown, storage_error, write_new
from tea.store.journal import FileJournals
from tea.store.lease import verify
from tea.store.lines import LINE_LIMIT
from tea.store.registry import FileRegistry
from tea.store.scratch import Scratch
from tea.store.sealed import unsealed
from tea.store.strict import Refused, as_json_object, loads
from tea.store.writer import JOURNAL, LEASE

REGISTRY, TRACES, MEMORY = "registry", "traces", "memory"
_RUN = re.compile(r"[0-9a-f]{32}")  # as tea names them


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem found in a store.

    Args:
        problem: Which file it is and what is wrong, in one line.
        mendable: Whether it can be mended.
        mended: What was done about it; empty when nothing was.
    """

    problem: str
    mendable: bool = False
    mended: str = ""


def examine(home: Path, *, mend: bool) -> list[Finding]:
    """Return the problems with the heads, journals, blobs, messages, streams of memory and scratch folders of a home.

    What living writers are at is left alone. Whether the documents of versions make sense is not looked at.

    Args:
        home: Folder of `registry/` and `traces/`; a missing one has nothing wrong.
        mend: Whether to mend what can be mended.
    """
    registry, traces = home.absolute() / REGISTRY, home.absolute() / TRACES
    inside = (root / ".tmp" for root in (registry, traces))
    found = [
        *_no_folders(registry, traces, traces / MEMORY, *inside),
        *_leftovers(registry, mend),
        *_leftovers(traces, mend),
    ]
    for kind in KINDS:
        found += _named(_components(FileRegistry(registry), registry, kind))
    found += _named(_streams(traces / MEMORY))
    runs = [path for path in _listed(traces) if _RUN.fullmatch(path.name)]
    found += _no_folders(*runs)
    found += (Finding(problem=damaged(one, "it is a link, and no run").problem) for one in runs if one.is_symlink())
    return [*found, *_named(_runs(FileJournals(traces), traces, mend))]


def _named(findings: Iterable[Finding]) -> Generator[Finding]:
    """Yield findings; a failure to look at something is a finding, too."""
    try:
        yield from findings
    except StorageError as error:
        yield Finding(problem=error.problem)


def _listed(folder: Path) -> list[Path]:
    """Return the entries of a folder, none if it cannot be read; that fault is found elsewhere."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _no_folders(*paths: Path) -> Generator[Finding]:
    """Yield a finding for each path of anything but a folder; a missing path is fine."""
    for path in paths:
        try:
            found = stat.S_ISDIR(os.lstat(path).st_mode) or (path.is_symlink() and path.is_dir())
        except FileNotFoundError:
            continue
        except OSError as problem:
            yield Finding(problem=storage_error("read", path, problem).problem)
            continue
        if not found:
            yield Finding(problem=damaged(path, "it is not a folder").problem)


def _leftovers(root: Path, mend: bool) -> Generator[Finding]:
    for path, gone in Scratch(root).abandoned(remove=mend):
        problem = f"{shown(path)} was left by a writer that died."
        yield Finding(problem=problem, mendable=True, mended="removed" if gone else "")


def _components(registry: FileRegistry, root: Path, kind: Kind) -> Generator[Finding]:
    folder = root / plural(kind)
    yield from _no_folders(folder, *(path for path in _listed(folder) if NAME.fullmatch(path.name)))
    for name in registry.names(kind):
        yield from _no_folders(folder / name / "heads", folder / name / "versions")
        yield from _named(_heads(registry, folder / name, kind, name))


def _heads(registry: FileRegistry, folder: Path, kind: Kind, name: str) -> Generator[Finding]:
    versions = set(registry.versions(kind, name))
    if not versions:
        yield Finding(problem=f"{shown(folder)} is damaged: it holds no version.")
    for number in range(1, registry.newest(kind, name) + 1):
        try:
            current = registry.head(kind, name, number)[1].get("current")
        except StorageError as error:
            yield Finding(problem=error.problem)
            continue
        if isinstance(current, str) and current not in versions:
            versions.update(registry.versions(kind, name))  # it may have been added meanwhile
        if isinstance(current, str) and current not in versions:
            path = folder / "versions" / f"{str(current)[:40]}.json"
            versions.add(current)
            yield Finding(problem=f"{shown(path)} is missing: head {number} points to it.")


def _streams(folder: Path) -> Generator[Finding]:
    with reading(folder):
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in paths:
        if path.suffix == ".jsonl":
            yield from _named(_events(path))
        elif path.suffix == SUFFIX:
            yield from _named(_state(path))


def _events(path: Path) -> Generator[Finding]:
    """Check each whole line; an end without newline is left out by readers and cut off by the next writer."""
    with reading(path):
        for number, line in enumerate(read_regular(path, STREAM_LIMIT).split(b"\n")[:-1], 1):
            try:
                as_json_object(loads(line))
            except Refused as reason:
                yield Finding(problem=damaged(path, f"line {number}: {reason}").problem)
                return


def _state(path: Path) -> Generator[Finding]:
    """Check the kept state of an environment."""
    if path.exists():  # else it was removed meanwhile
        unsealed(path)
    yield from ()


def _runs(journals: FileJournals, traces: Path, mend: bool) -> Generator[Finding]:
    for run in journals.runs():
        with suppress(BadInput):  # it was removed meanwhile
            yield from _named(_journal(journals, traces / run, mend))
            yield from _lease(traces / run / LEASE)
            yield from _no_folders(traces / run / "workspace")
            yield from _named(_blobs(journals, traces / run))
            yield from _named(_messages(journals, run))


def _journal(journals: FileJournals, folder: Path, mend: bool) -> Generator[Finding]:
    records = journals.read(folder.name)
    for _ in records:
        pass
    path = folder / JOURNAL
    if journals.held(folder.name):
        return
    if records.torn:
        problem = f"{shown(path)} ends with {records.torn} bytes of an unfinished record."
        yield Finding(problem=problem, mendable=True, mended=_cut(journals, folder, records.end.size) if mend else "")
    if records.end.lines == 0:
        yield Finding(problem=f"{shown(path)} holds no record: the run never began, or its journal was cut.")


def _lease(path: Path) -> Generator[Finding]:
    """Check the lines of a run's holders; a run may be copied elsewhere without them."""
    try:
        if os.path.lexists(path):
            verify(path)
    except StorageError as error:
        yield Finding(problem=error.problem)


def _cut(journals: FileJournals, folder: Path, size: int) -> str:
    """Cut off an unfinished record and keep its bytes aside; return a description, empty if it failed."""
    path = folder / JOURNAL
    try:
        tail = _tail(path, size)
        aside = folder / f"torn-{size}-{sha256(tail).hexdigest()[:8]}"
        write_new(aside, tail, Scratch(folder.parent, private=True))
        with journals.resume(folder.name):
            return f"cut off, and kept in {shown(aside)}"
    except StorageError:
        return ""


def _tail(path: Path, size: int) -> bytes:
    with reading(path):
        descriptor = open_regular(path)
        try:
            return os.pread(descriptor, LINE_LIMIT + 1, size)
        finally:
            os.close(descriptor)


def _messages(journals: FileJournals, run: str) -> Generator[Finding]:
    """Read the messages to a run, up to the first damaged one."""
    journals.messages(run).read(0)
    yield from ()


def _blobs(journals: FileJournals, folder: Path) -> Generator[Finding]:
    blobs = journals.blobs(folder.name)
    digests = [f"sha256:{path.name}" for path in sorted((folder / "blobs").glob("??/*"))]
    for digest in filter(is_digest, digests):
        try:
            blobs.get(digest)
        except StorageError as error:
            yield Finding(problem=error.problem)
