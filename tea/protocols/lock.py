"""Lock: versions and digests of components as one small file to commit, and runs that use exactly those."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, ValidationError

from tea.errors import BadInput, UnknownComponent
from tea.managers.tracer import TraceRecord, as_mapping
from tea.operation import reasons
from tea.protocols.manager import ContextManager
from tea.refs import Kind, Ref
from tea.store.bulk import write_whole
from tea.store.files import parse_json_strict, read_regular
from tea.store.strict import Refused, dumps
from tea.types import Record

LOCK_FILE = "tea.lock"
LOCKED_KINDS: tuple[Kind, ...] = ("agent", "environment", "prompt", "tool")
_LIMIT = 16 * 2**20
_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_ALWAYS = ("tool:done", "tool:todo")
Libraries = Mapping[Kind, ContextManager[Any]]


class Locked(Record):
    """One component: its version for people, its digest for certainty."""

    version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class Lock(Record):
    """A lock file: components by `kind:name`."""

    lock: Literal[1] = 1
    components: dict[str, Locked]

    @property
    def use(self) -> dict[str, str]:
        """What a task's `use` says for it."""
        return {name: one.digest for name, one in self.components.items()}

    def write(self, path: Path) -> None:
        """Write it, sorted and one component a line, so that version control shows what changed.

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
        """Read one.

        Raises:
            BadInput: There is none, or it is no lock file.
        """
        fix = "`tea lock` writes one."
        try:
            data = parse_json_strict(read_regular(path, _LIMIT), f"The lock file {path.name!r}")
            return cls.model_validate(data)
        except (OSError, Refused) as error:
            raise BadInput(f"There is no lock file {str(path)[-80:]!r} that can be read.", fix=fix) from error
        except ValidationError as error:
            raise BadInput(f"{path.name!r} is no lock file: {reasons(error, 1)[:150]}.", fix=fix) from error


async def lock_current(libraries: Libraries) -> Lock:
    """Lock everything that is active, in its current version."""
    return Lock(components=await _current(libraries))


async def lock_refs(libraries: Libraries, refs: Iterable[Ref]) -> Lock:
    """Lock components, and all that they name: a name of a component in their source or facts counts.

    Raises:
        UnknownComponent: There is no such component.
    """
    current = await _current(libraries)
    by_word: dict[str, list[str]] = {}
    for name in current:
        by_word.setdefault(name.partition(":")[2], []).append(name)
    found: dict[str, Locked] = {}
    wanted = [(str(ref.at(None)), ref.selector) for ref in refs]
    wanted += [(name, None) for name in _ALWAYS if name in current and wanted]
    while wanted:
        name, selector = wanted.pop()
        if name in found:
            continue
        ref = Ref.parse(name).at(selector)
        config = await libraries[ref.kind].info(ref)
        found[name] = Locked(version=config.version, digest=config.digest)
        words = set(_NAME.findall(f"{config.source}\n{config.metadata}"))
        wanted += [(other, None) for word in words & by_word.keys() for other in by_word[word]]
    return Lock(components=found)


def lock_run(records: Iterable[TraceRecord]) -> Lock:
    """Lock what a run used; where it was forked to another version, that one."""
    found: dict[str, Locked] = {}
    wanted: set[str] = set()
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "start" and data["kind"] == "resolve" and not data["target"].startswith("model:"):
            wanted.add(record.key)
        elif record.kind == "done" and record.key in wanted:
            _add(found, as_mapping(data["data"])["ref"], as_mapping(data["data"])["digest"])
        elif record.kind == "evidence" and "target" in data:
            _add(found, data["target"], as_mapping(data["data"])["digest"])
    return Lock(components=found)


async def verify(lock: Lock, libraries: Libraries) -> None:
    """Make sure that every component is here, byte for byte.

    Raises:
        UnknownComponent: One is not; the error names the first, and what is there instead.
    """
    current = await _current(libraries)
    for name, one in lock.components.items():
        if current.get(name) == one:
            continue
        ref = Ref.parse(name)
        try:
            await libraries[ref.kind].exact(ref.name, one.digest)
        except (UnknownComponent, KeyError) as error:
            here = f"current is {current[name].version} with other bytes" if name in current else "there is none here"
            problem = f"{name}@{one.version} of the lock file is missing: {here}."
            raise UnknownComponent(problem, fix="bring that version back, or lock anew with `tea lock`.") from error


async def _current(libraries: Libraries) -> dict[str, Locked]:
    listed = [one for kind in LOCKED_KINDS for one in await libraries[kind].list()]
    return {f"{one.kind}:{one.name}": Locked(version=one.version, digest=one.digest) for one in listed if one.digest}


def _add(found: dict[str, Locked], target: str, digest: str) -> None:
    ref = Ref.parse(target.partition("#")[0])
    found[str(ref.at(None))] = Locked(version=cast(str, ref.selector), digest=digest)
