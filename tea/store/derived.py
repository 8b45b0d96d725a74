"""What is derived from registry and journals, and can be made again: is it whole, and if not, away with it."""

from collections.abc import Generator
from pathlib import Path

from tea.errors import StorageError
from tea.store.catalogue import FOLDER, whole
from tea.store.database import discard, fault
from tea.store.files import reading, shown
from tea.store.repair import REGISTRY, TRACES, Finding

_DATABASES = {
    f"{REGISTRY}/.vectors/vectors.sqlite": "it is made again",
    f"{TRACES}/usage/usage.sqlite": "it is made again from the journals, with what was erased of it by hand",
}


def examine_derived(home: Path, *, mend: bool) -> Generator[Finding]:
    """Yield what is wrong with databases and catalogues; a damaged one is mended by removing it.

    Args:
        home: Folder of `registry/` and `traces/`; a missing one has nothing wrong.
        mend: Whether to mend.
    """
    for name, again in _DATABASES.items():
        path = home.absolute() / name
        if path.exists():
            yield from _database(path, again, mend)
    for path in sorted((home.absolute() / REGISTRY / FOLDER).glob("*.json")):
        yield from _catalogue(path, mend)


def _database(path: Path, again: str, mend: bool) -> Generator[Finding]:
    try:
        problem = fault(path)
    except StorageError as error:
        yield Finding(problem=error.problem)
        return
    if problem:
        yield _removed(path, problem, again, mend)


def _catalogue(path: Path, mend: bool) -> Generator[Finding]:
    try:
        with reading(path):
            sound = whole(path)
    except StorageError as error:
        yield Finding(problem=error.problem)
        return
    if not sound:
        yield _removed(path, "it is not what was written", "the next list writes it again", mend)


def _removed(path: Path, problem: str, again: str, mend: bool) -> Finding:
    if mend:
        discard(path)
    mended = f"removed; {again}" if mend and not path.exists() else ""
    return Finding(problem=f"{shown(path)} is damaged: {problem}.", mendable=True, mended=mended)
