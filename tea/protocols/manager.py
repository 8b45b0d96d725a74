"""ContextManager: the life of every component of one kind, from source to versions to instances."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar, cast

from pydantic import BaseModel

from tea.component import Definition
from tea.errors import BadComponent, Quarantined, TeaError, UnknownComponent
from tea.managers.bundled import bundled_files, bundled_root, read_source
from tea.managers.difference import Diff, diff
from tea.managers.dynamic import DynamicManager
from tea.managers.head import Head
from tea.managers.prompt import PromptManager
from tea.managers.source_requires import requirements
from tea.managers.source_text import SourceText
from tea.managers.trust import Trust
from tea.managers.version import VersionManager
from tea.manifest import Lineage, Manifest
from tea.protocols.instances import instance_of
from tea.protocols.listing import Listing
from tea.protocols.shelf import Shelf, text_digest
from tea.refs import NAME, Kind, Ref, check_name
from tea.types import State

ConfigT = TypeVar("ConfigT", bound=Manifest)
_BY_MACHINE = frozenset({"textgrad", "reflection", "generator", "imported"})


@dataclass(frozen=True, slots=True)
class Services:
    """The basic managers that every protocol uses, and the folders of shipped components."""

    versions: VersionManager
    dynamic: DynamicManager
    prompts: PromptManager
    trust: Trust
    roots: tuple[Path, ...]


class ContextManager(Generic[ConfigT]):
    """Registers, versions, lists and hands out the components of one kind.

    The source of what is shipped with tea is read at `init` and becomes a stored version when a run
    first uses it; until then nothing is written.

    Source: paper, Definitions 4, 7 and 10.
    """

    kind: ClassVar[Kind]
    operation: ClassVar[str | None] = None

    def __init__(self, services: Services) -> None:
        self.services = services
        self._shelf = Shelf(self.kind, services.versions, services.trust, self.build, self.draft)

    async def init(self) -> list[str]:
        """Read what is shipped, without executing it; return what is wrong with which file."""
        return await asyncio.to_thread(self._init)

    async def register(
        self,
        what: object,
        *,
        version: str | None = None,
        reason: str = "",
        lineage: Lineage | None = None,
        author: str | None = None,
    ) -> ConfigT:
        """Store a component as a new version and make it current; a name used before continues.

        Args:
            what: Source text, the path of a file, or a live function or class.
            version: The version wanted, else the next one by the kind of change.
            reason: Why, in words.
            lineage: Where it comes from; written by hand by default.
            author: Who registers it; the operator by default.

        Raises:
            BadComponent: It is no usable component of this kind; nothing is written.
            AlreadyRegistered: That version exists; nothing is written.
        """
        return await asyncio.to_thread(self._register, what, None, version, reason, lineage, author)

    async def update(
        self,
        name: str,
        what: object,
        *,
        version: str | None = None,
        reason: str = "",
        lineage: Lineage | None = None,
        author: str | None = None,
    ) -> ConfigT:
        """Give a registered component a new implementation, as a new version.

        Raises:
            UnknownComponent: There is none of that name.
            BadComponent: The source defines another name, or is not usable; nothing is written.
        """
        return await asyncio.to_thread(self._register, what, name, version, reason, lineage, author)

    async def info(self, ref: str | Ref) -> ConfigT:
        """Return a component's configuration.

        Raises:
            UnknownComponent: There is none; the error names the nearest.
        """
        return await self._find(self.ref(ref))

    async def exact(self, name: str, digest: str) -> ConfigT:
        """Return the stored version with that digest, in sight or not; for runs that pinned it.

        Raises:
            UnknownComponent: No stored version has it.
        """
        return await self._find(Ref(kind=self.kind, name=name, selector=digest))

    async def get(self, ref: str | Ref) -> object:
        """Return a fresh instance of a component, or a tool's function.

        Raises:
            Quarantined: Its source is not trusted.
            CallFailed: It cannot be instantiated.
        """
        return instance_of(await self.definition(await self.info(ref)))

    async def argument_model(self, ref: str | Ref, operation: str) -> type[BaseModel]:
        """Return the type-safe model of an operation's arguments, as strict as a call.

        Raises:
            UnknownComponent: There is no such operation.
        """
        config = await self.info(ref)
        schema, title = config.operation(operation).parameters, f"{config.name}_{operation}".title().replace("_", "")
        return await asyncio.to_thread(self.services.dynamic.model_from_schema, schema, title)

    async def definition(self, config: Manifest) -> Definition:
        """Return what a version's source defines, executing it on first use."""
        return await asyncio.to_thread(self.services.dynamic.load, config)

    async def list(self, *, state: State | None = "active", category: str | None = None) -> list[Listing]:
        """Return what is registered, by name.

        Args:
            state: Only what is in that state; None for all.
            category: Only what declares that category in its metadata.
        """
        found = await asyncio.to_thread(self._shelf.listings)
        return [one for one in found if state in (None, one.state) and category in (None, one.category)]

    async def history(self, name: str) -> list[ConfigT]:
        """Return every version in sight, oldest first."""
        return cast("list[ConfigT]", await asyncio.to_thread(self._shelf.history, check_name(name)))

    async def restore(self, ref: str | Ref, *, reason: str = "", author: str | None = None) -> ConfigT:
        """Make a historical version, `name@version`, current.

        Raises:
            UnknownComponent: There is no such version; the error lists those there are.
        """
        return cast(ConfigT, await asyncio.to_thread(self._shelf.restore, self.ref(ref), reason, author))

    async def rollback(self, name: str, *, reason: str = "", author: str | None = None) -> ConfigT:
        """Go back to the pointer before the current one.

        Raises:
            RegistryError: There is no earlier pointer.
        """
        return cast(ConfigT, await asyncio.to_thread(self._shelf.rollback, check_name(name), reason, author))

    async def unregister(self, name: str, *, reason: str = "", author: str | None = None) -> Head:
        """Take a component out of the active set and its history out of sight.

        Raises:
            UnknownComponent: There is none of that name.
        """
        return await asyncio.to_thread(self._shelf.unregister, check_name(name), reason, author)

    async def diff(self, old: str | Ref, new: str | Ref) -> Diff:
        """Return how two versions differ in source and schema."""
        return diff(await self.info(old), await self.info(new))

    async def pin(self, ref: str | Ref) -> ConfigT:
        """Return a configuration that is stored, so that its digest can always be found again."""
        return cast(ConfigT, await asyncio.to_thread(self._shelf.pin, self.ref(ref)))

    async def _find(self, ref: Ref) -> ConfigT:
        return cast(ConfigT, await asyncio.to_thread(self._shelf.resolve, ref))

    def ref(self, ref: str | Ref) -> Ref:
        """Return a ref of this kind.

        Raises:
            UnknownComponent: It names another kind.
        """
        parsed = Ref.parse(ref, kind=self.kind) if isinstance(ref, str) else ref
        if parsed.kind != self.kind:
            raise UnknownComponent(f"{str(parsed)!r} is no {self.kind}.", fix=f"name a {self.kind}.")
        return parsed

    def draft(self, source: str, files: Mapping[str, str]) -> SourceText:
        """Check source without executing it; raises BadComponent."""
        return self.services.dynamic.check(source, files, kind=self.kind)

    def build(self, text: SourceText, version: str, lineage: Lineage, created: str, reason: str) -> Manifest:
        """Return the manifest of checked source, which is executed to describe it.

        Raises:
            BadComponent: It is not usable.
            Quarantined: No person wrote it, so it may not be executed here.
        """
        if lineage.how in _BY_MACHINE:
            problem = f"{text.kind}:{text.name} was not written by a person, so it is not executed."
            raise Quarantined(problem, fix="read its source, then register it by hand.")
        return self.services.dynamic.describe(text, version=version, lineage=lineage, created=created, reason=reason)

    def read(self, what: object) -> SourceText:
        """Return checked source from text, a path, or a live object."""
        if isinstance(what, Path):
            return self._read_file(what)
        if isinstance(what, str):
            return self.draft(what, {})
        text = self.services.dynamic.capture(what)
        if text.kind != self.kind:
            raise BadComponent(f"{text.name!r} is a {text.kind}, not a {self.kind}.", fix=f"give a {self.kind}.")
        return text

    def requirements(self, source: str) -> tuple[str, ...]:
        """Return the distributions that source names as its requirements."""
        return requirements(source, ())

    def _init(self) -> list[str]:
        problems: list[str] = []
        found: dict[str, SourceText] = {}
        for path in (path for root in self.services.roots for path in bundled_files(self.kind, root)):
            try:
                text = self._shipped_text(path)
                if text.name in found:
                    raise BadComponent(f"{text.name!r} is shipped twice.", fix="rename one of them.")
                found[text.name] = text
            except TeaError as error:
                problems.append(f"{path.name}: {error}")
        self._shelf.ship(found.values())
        return problems

    def _shipped_text(self, path: Path) -> SourceText:
        """Return a shipped file's source, checked where nobody has done so: it is neither tea's own nor stored."""
        source, files = read_source(path)
        plain = SourceText(
            kind=self.kind, name=path.stem, source=source, files=files, requires=self.requirements(source)
        )
        if not NAME.fullmatch(path.stem):
            return self.draft(source, files)
        checked = path.is_relative_to(bundled_root()) or self._stored(plain)
        return plain if checked else self.draft(source, files)

    def _stored(self, text: SourceText) -> bool:
        return self.services.versions.holds(self.kind, text.name, text_digest(text))

    def _read_file(self, path: Path) -> SourceText:
        return self.draft(*read_source(path))

    def _register(
        self,
        what: object,
        name: str | None,
        version: str | None,
        reason: str,
        lineage: Lineage | None,
        author: str | None,
    ) -> ConfigT:
        text = self.read(what)
        if name is not None:
            self._shelf.resolve(Ref(kind=self.kind, name=check_name(name)))
            if text.name != name:
                raise BadComponent(f"The source defines {text.name!r}, not {name!r}.", fix="keep the name.")
        return cast(ConfigT, self._shelf.register(text, version, reason, lineage or Lineage(), author))
