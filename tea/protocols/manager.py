"""ContextManager: the life of every component of one kind, from source to versions to instances."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Generic, Literal, TypeVar, cast

from tea.component import Definition
from tea.errors import BadComponent, TeaError, UnknownComponent
from tea.managers.bundled import bundled_files, read_source
from tea.managers.dynamic import DynamicManager
from tea.managers.prompt import PromptManager
from tea.managers.source_requires import requirements
from tea.managers.source_text import SourceText
from tea.managers.trust import Trust
from tea.managers.version import Diff, Head, VersionManager, diff, timestamp
from tea.manifest import Lineage, Manifest, source_digest
from tea.refs import FIRST, NAME, Kind, Ref, check_name, is_digest
from tea.types import State

ConfigT = TypeVar("ConfigT", bound=Manifest)
Origin = Literal["bundled", "registry"]


@dataclass(frozen=True, slots=True)
class Services:
    """The basic managers that every protocol uses, and the folders of shipped components."""

    versions: VersionManager
    dynamic: DynamicManager
    prompts: PromptManager
    trust: Trust
    roots: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One line of a list: what it is, which version is current, and where it comes from."""

    kind: Kind
    name: str
    version: str
    description: str
    state: State
    origin: Origin
    trusted: bool
    category: str


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
        self._shipped: dict[str, SourceText] = {}

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
        return await asyncio.to_thread(self._resolve, self.ref(ref))

    async def exact(self, name: str, digest: str) -> ConfigT:
        """Return the stored version with that digest, in sight or not; for runs that pinned it.

        Raises:
            UnknownComponent: No stored version has it.
        """
        return await asyncio.to_thread(self._resolve, Ref(kind=self.kind, name=name, selector=digest))

    async def get(self, ref: str | Ref) -> object:
        """Return a fresh instance of a component, or a tool's function.

        Raises:
            Quarantined: Its source is not trusted.
        """
        definition = await self.definition(await self.info(ref))
        return definition.create() if definition.create else definition

    async def definition(self, config: Manifest) -> Definition:
        """Return what a version's source defines, executing it on first use."""
        return await asyncio.to_thread(self.services.dynamic.load, config)

    async def list(self, *, state: State | None = "active", category: str | None = None) -> list[Listing]:
        """Return what is registered, by name.

        Args:
            state: Only what is in that state; None for all.
            category: Only what declares that category in its metadata.
        """
        found = await asyncio.to_thread(self._listings)
        return [one for one in found if state in (None, one.state) and category in (None, one.category)]

    async def history(self, name: str) -> list[ConfigT]:
        """Return every version in sight, oldest first."""
        return await asyncio.to_thread(self._history, check_name(name))

    async def restore(self, ref: str | Ref, *, reason: str = "", author: str | None = None) -> ConfigT:
        """Make a historical version, `name@version`, current.

        Raises:
            UnknownComponent: There is no such version; the error lists those there are.
        """
        return await asyncio.to_thread(self._restore, self.ref(ref), reason, author)

    async def rollback(self, name: str, *, reason: str = "", author: str | None = None) -> ConfigT:
        """Go back to the pointer before the current one.

        Raises:
            RegistryError: There is no earlier pointer.
        """
        await self.info(name)
        await asyncio.to_thread(
            lambda: self.services.versions.rollback(self.kind, check_name(name), reason=reason, author=author)
        )
        return await self.info(name)

    async def unregister(self, name: str, *, reason: str = "", author: str | None = None) -> Head:
        """Take a component out of the active set and its history out of sight.

        Raises:
            UnknownComponent: There is none of that name.
        """
        return await asyncio.to_thread(self._unregister, check_name(name), reason, author)

    async def diff(self, old: str | Ref, new: str | Ref) -> Diff:
        """Return how two versions differ in source and schema."""
        return diff(await self.info(old), await self.info(new))

    async def pin(self, ref: str | Ref) -> ConfigT:
        """Return a configuration that is stored, so that its digest can always be found again."""
        return await asyncio.to_thread(self._pin, self.ref(ref))

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
        """Return the manifest of checked source."""
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

    def _init(self) -> list[str]:
        problems: list[str] = []
        for path in (path for root in self.services.roots for path in bundled_files(self.kind, root)):
            try:
                text = self._shipped_text(path)
                self._shipped[text.name] = text
            except TeaError as error:
                problems.append(f"{path.name}: {error}")
        self.services.trust.ship(_digest(text) for text in self._shipped.values())
        return problems

    def _shipped_text(self, path: Path) -> SourceText:
        """Return a shipped file's source; bytes that the registry holds were checked when they came in."""
        source, files = read_source(path)
        plain = SourceText(
            kind=self.kind, name=path.stem, source=source, files=files, requires=self.requirements(source)
        )
        known = NAME.fullmatch(path.stem) and self.services.versions.holds(self.kind, path.stem, _digest(plain))
        return plain if known else self.draft(source, files)

    def requirements(self, source: str) -> tuple[str, ...]:
        """Return the distributions that source names as its requirements."""
        return requirements(source, ())

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
        if name is not None and text.name != check_name(name):
            raise BadComponent(f"The source defines {text.name!r}, not {name!r}.", fix="keep the name.")
        self._pin_shipped(text.name)
        if name is not None:
            self._resolve(self.ref(name))
        parent = self.services.versions.head(self.kind, text.name).current
        made = replace(lineage or Lineage(), parent=parent)
        manifest = self._add(text, made, reason, version, author, current=True)
        return cast(ConfigT, manifest)

    def _add(
        self, text: SourceText, lineage: Lineage, reason: str, version: str | None, author: str | None, *, current: bool
    ) -> Manifest:
        first = self.build(text, version or str(FIRST), lineage, timestamp(), reason)
        build: Callable[[str], Manifest] = lambda wanted: replace(first, version=wanted)  # noqa: E731
        manifest = self.services.versions.add(
            self.kind, text.name, build, version=version, current=current, author=author
        )
        self.services.trust.grant(manifest.digest, str(manifest.ref))
        return manifest

    def _resolve(self, ref: Ref) -> ConfigT:
        versions = self.services.versions
        shipped = self._unstored(ref.name)
        head = versions.head(ref.kind, ref.name)
        leads = head.number == 0 or self._follows(ref.name, head)
        if shipped is not None and leads and ref.selector in (None, shipped.version, shipped.digest):
            return cast(ConfigT, shipped)
        found = versions.resolve(ref)
        if found is None:
            raise self._unknown(ref)
        return cast(ConfigT, found)

    def _pin(self, ref: Ref) -> ConfigT:
        found = self._resolve(ref)
        self._pin_shipped(ref.name)
        return cast(ConfigT, self.services.versions.resolve(ref.at(found.digest)) or found)

    def _pin_shipped(self, name: str) -> None:
        """Store the shipped source as a version, current only where the current one was shipped too."""
        if self._unstored(name) is None:
            return
        head = self.services.versions.head(self.kind, name)
        lineage = Lineage(how="bundled", parent=head.current)
        current = head.number == 0 or self._follows(name, head)
        self._add(self._shipped[name], lineage, "shipped", None, "tea", current=current)

    def _unstored(self, name: str) -> Manifest | None:
        """Return the shipped version of `name` if no stored version has its bytes."""
        text = self._shipped.get(name)
        if text is None:
            return None
        versions = self.services.versions
        if versions.head(self.kind, name).number and versions.holds(self.kind, name, _digest(text)):
            return None
        first = self.build(text, str(FIRST), Lineage(how="bundled"), "", "shipped")
        return replace(
            first, version=versions.next_version(self.kind, name, lambda wanted: replace(first, version=wanted))
        )

    def _follows(self, name: str, head: Head) -> bool:
        if head.current is None:
            return False
        return self.services.versions.manifest(self.kind, name, head.current).lineage.how == "bundled"

    def _unknown(self, ref: Ref) -> UnknownComponent:
        names = self._names()
        near = difflib.get_close_matches(ref.name, names, n=1)
        fix = f"did you mean {near[0]!r}?" if near else f"`tea list {self.kind}` shows what there is."
        if ref.selector is not None and is_digest(ref.selector) and ref.name in names:
            problem = f"{ref.at(None)} has no version of that digest."
            return UnknownComponent(problem, fix=f"`tea history {ref.at(None)}` shows its versions.")
        return UnknownComponent(f"No {self.kind} is named {ref.name!r}.", fix=fix)

    def _names(self) -> list[str]:
        versions = self.services.versions
        stored = [name for name in versions.names(self.kind) if versions.head(self.kind, name).current]
        hidden = set(versions.names(self.kind)) - set(stored)
        return sorted({*stored, *(name for name in self._shipped if name not in hidden)})

    def _listings(self) -> list[Listing]:
        return [self._listing(name) for name in self._names()]

    def _listing(self, name: str) -> Listing:
        head = self.services.versions.head(self.kind, name)
        if head.number == 0:
            return self._shipped_listing(self._shipped[name])
        manifest = self._resolve(Ref(kind=self.kind, name=name))
        return Listing(
            kind=self.kind,
            name=name,
            version=manifest.version,
            description=manifest.description.partition("\n")[0],
            state=head.states.get(manifest.version, "active"),
            origin="bundled" if manifest.lineage.how == "bundled" else "registry",
            trusted=self.services.trust(manifest.digest),
            category=str(manifest.metadata.get("category", "")),
        )

    def _shipped_listing(self, text: SourceText) -> Listing:
        return Listing(
            kind=self.kind,
            name=text.name,
            version=str(FIRST),
            description=text.description.partition("\n")[0],
            state="active",
            origin="bundled",
            trusted=True,
            category="",
        )

    def _history(self, name: str) -> list[ConfigT]:
        self._resolve(Ref(kind=self.kind, name=name))
        stored = self.services.versions.history(self.kind, name)
        shipped = self._unstored(name)
        return cast("list[ConfigT]", stored + ([shipped] if shipped else []))

    def _restore(self, ref: Ref, reason: str, author: str | None) -> ConfigT:
        if ref.selector is None:
            fix = f"`tea history {ref}` shows its versions; write {ref}@VERSION."
            raise UnknownComponent(f"{ref} names no version to restore.", fix=fix)
        found = self._pin(ref)
        self.services.versions.restore(self.kind, ref.name, found.version, reason=reason, author=author)
        return found

    def _unregister(self, name: str, reason: str, author: str | None) -> Head:
        self._resolve(Ref(kind=self.kind, name=name))
        self._pin_shipped(name)
        return self.services.versions.unregister(self.kind, name, reason=reason, author=author)


def _digest(text: SourceText) -> str:
    return source_digest(text.kind, text.name, text.source, text.files, text.requires)
