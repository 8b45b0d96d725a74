"""Derived data: the check of data derived from registry and journals, and the removal of damaged files."""

import os
from collections.abc import Callable, Generator
from pathlib import Path

from tea.errors import StorageError
from tea.store.catalogue import FOLDER, whole
from tea.store.counter import NAME, sound
from tea.store.database import discard, fault
from tea.store.files import reading, shown
from tea.store.repair import REGISTRY, TRACES, Finding

_DATABASES = {
    ".corpus/corpus.sqlite": "`tea corpus add` makes it again",
    f"{REGISTRY}/.vectors/vectors.sqlite": "it is made again",
    f"{TRACES}/usage/usage.sqlite": "it is made again from the journals, with what was erased of it by hand",
}

_COUNTERS = {
    TRACES: "the next run counts from the journals",
    f"{TRACES}/evaluations": "the next evaluation counts from the others",
}


def examine_derived(home: Path, *, mend: bool) -> Generator[Finding]:
    """Yield the problems with databases and catalogues; a damaged one is repaired by removal.

    Args:
        home: Folder of `registry/` and `traces/`; a missing one has nothing wrong.
        mend: Whether to mend.
    """
    for name, again in _DATABASES.items():
        path = home.absolute() / name
        if os.path.lexists(path):  # what lies in a folder that is closed to us is found with that
            yield from _database(path, again, mend)
    for path in sorted((home.absolute() / REGISTRY / FOLDER).glob("*.json")):
        yield from _checked(path, whole, "the next list writes it again", mend)
    for folder, again in _COUNTERS.items():
        path = home.absolute() / folder / NAME
        if os.path.lexists(path):
            yield from _checked(path, sound, again, mend)


def _database(path: Path, again: str, mend: bool) -> Generator[Finding]:
    try:
        problem = fault(path)
    except StorageError as error:
        yield Finding(problem=error.problem)
        return
    if problem:
        yield _removed(path, problem, again, mend)


def _checked(path: Path, is_whole: Callable[[Path], bool], again: str, mend: bool) -> Generator[Finding]:
    """Check a reproducible file."""
    try:
        with reading(path):
            found = is_whole(path)
    except StorageError as error:
        yield Finding(problem=error.problem)
        return
    if not found:
        yield _removed(path, "it is not what was written", again, mend)


def _removed(path: Path, problem: str, again: str, mend: bool) -> Finding:
    if mend:
        discard(path)
    mended = f"removed; {again}" if mend and not os.path.lexists(path) else ""
    return Finding(problem=f"{shown(path)} is damaged: {problem}.", mendable=True, mended=mended)
