"""Lock: versions and digests of components as one small file to commit, for runs with exactly those."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import Field, ValidationError

from tea.components.manifest import Manifest
from tea.components.operation import reasons_in_document
from tea.errors import BadInput, Damaged, UnknownComponent
from tea.journal.pin import pins
from tea.journal.record import TraceRecord
from tea.protocols.manager import ContextManager
from tea.protocols.reach import reached
from tea.refs import NAME, Kind, Ref
from tea.store.bulk import write_whole
from tea.store.files import parse_json_strict, read_regular
from tea.store.strict import Refused, dumps
from tea.types import Record

LOCK_FILE = "tea.lock"
LOCKED_KINDS: tuple[Kind, ...] = ("agent", "environment", "memory", "prompt", "tool")
_LIMIT = 16 * 2**20
_NAME = rf"^({'|'.join(LOCKED_KINDS)}):{NAME.pattern}$"
Libraries = Mapping[Kind, ContextManager]


class Locked(Record):
    """A locked component: its version for people, its digest for verification."""

    version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class Lock(Record):
    """A lock file: components by `kind:name`."""

    lock: Literal[1] = 1
    components: dict[Annotated[str, Field(pattern=_NAME)], Locked]

    @property
    def use(self) -> dict[str, str]:
        """Its form in a task's `use`."""
        return {name: one.digest for name, one in self.components.items()}

    def write(self, path: Path) -> None:
        """Write it, sorted and with one component a line, for readable changes in version control.

        Raises:
            StorageError: It cannot be written.
        """
        lines = [
            f"    {dumps(name).decode()}: {dumps(one.model_dump()).decode()}"
            for name, one in sorted(self.components.items())
        ]
        body = ",\n".join(lines)
        write_whole(path, f'{{\n  "lock": {self.lock},\n  "components": {{\n{body}\n  }}\n}}\n'.encode())

    @classmethod
    def read(cls, path: Path) -> Lock:
        """Read a lock file.

        Raises:
            BadInput: There is none, or it is not a lock file.
        """
        fix = "`tea lock` writes one."
        try:
            data = parse_json_strict(read_regular(path, _LIMIT), f"The lock file {path.name!r}")
            return cls.model_validate(data)
        except (OSError, Refused) as error:
            raise BadInput(f"There is no lock file {str(path)[-80:]!r} that can be read.", fix=fix) from error
        except ValidationError as error:
            raise BadInput(
                f"{path.name!r} is not a lock file: {reasons_in_document(error, 1)[:150]}.", fix=fix
            ) from error


async def lock_current(libraries: Libraries) -> Lock:
    """Lock every component usable by a run, deprecated or not, in its current version."""
    return Lock(components=await _current(libraries))


async def lock_refs(libraries: Libraries, refs: Iterable[Ref]) -> Lock:
    """Lock components, and all components reachable from them; see `tea.protocols.reach`.

    Raises:
        UnknownComponent: There is no such component.
        Archived: One is kept for the record only, so that no run could use it.
        BadInput: One is needed in two versions, which no run could use at once.
    """
    is_known = await _known(libraries)
    found: dict[str, Locked] = {}
    wanted = [(ref, "") for ref in refs]
    while wanted:
        ref, by = wanted.pop()
        name = str(ref.at(None))
        if name in found and ref.selector is None:
            continue
        config = await libraries[ref.kind].usable(ref)
        one = Locked(version=config.version, digest=config.digest)
        if name not in found:
            found[name] = one
            wanted += [(other, name) for other in reached(config, is_known, libraries[config.kind].services)]
        elif found[name] != one:
            problem = f"{name} is needed as {found[name].version} and, by {by or 'your words'}, as {one.version}."
            raise BadInput(problem, fix="a lock holds one version of each: lock them apart, with --out.")
    return Lock(components=found)


async def lacking(lock: Lock, libraries: Libraries, ref: Ref) -> list[str]:
    """Return the components reachable from a locked one but missing in the lock; a run needing one ends there.

    Raises:
        UnknownComponent: A version of the lock is not there.
    """
    is_known = await _known(libraries)
    seen: set[str] = set()
    wanted = [str(ref.at(None))]
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in lock.components:
            one, locked = Ref.parse(name), lock.components[name]
            config = await libraries[one.kind].exact(one.at(locked.version), locked.digest)
            wanted += [str(it.at(None)) for it in reached(config, is_known, libraries[config.kind].services)]
    return sorted(seen - lock.components.keys())


def lock_run(records: Iterable[TraceRecord]) -> Lock:
    """Lock the components used by a run, each in its last version if the run was forked to another one."""
    found: dict[str, Locked] = {}
    for one in pins(records):
        ref = Ref.parse(one.ref)
        found[str(ref.at(None))] = Locked(version=cast(str, ref.selector), digest=one.digest)
    return Lock(components=found)


async def verify(lock: Lock, libraries: Libraries) -> None:
    """Check for the presence of every component, byte for byte.

    Raises:
        UnknownComponent: One is not; the error names the first, and what is there instead.
        BadInput: Version and digest of one are not of the same version.
    """
    current = await _current(libraries)
    for name, one in lock.components.items():
        if current.get(name) == one:
            continue
        ref = Ref.parse(name)
        library = libraries[ref.kind]
        try:
            await library.exact(ref.at(one.version), one.digest)
            continue
        except (UnknownComponent, Damaged):
            found = await _by_digest(library, ref.at(one.digest))
        if found is not None:
            problem = f"The lock file says {name}@{one.version}, and its digest is that of {found.version}."
            raise BadInput(problem, fix="lock again with `tea lock`.")
        here = f"current is {current[name].version} with other bytes" if name in current else "there is none here"
        problem = f"{name}@{one.version} of the lock file is missing: {here}."
        raise UnknownComponent(problem, fix="bring that version back, or lock again with `tea lock`.")


async def _by_digest(library: ContextManager, ref: Ref) -> Manifest | None:
    try:
        return await library.info(ref)
    except UnknownComponent:
        return None


async def _known(libraries: Libraries) -> Callable[[Kind, str], bool]:
    current = await _current(libraries)
    return lambda kind, name: f"{kind}:{name}" in current


async def _current(libraries: Libraries) -> dict[str, Locked]:
    listed = [one for kind in LOCKED_KINDS for one in await libraries[kind].list(state=None)]
    usable = [one for one in listed if one.digest and one.state != "archived"]
    return {f"{one.kind}:{one.name}": Locked(version=one.version, digest=one.digest) for one in usable}
