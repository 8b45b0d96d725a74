"""Reading: the components of one kind and the form of their source; nothing here changes any."""

from __future__ import annotations

import asyncio
import builtins
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from tea.components.definition import Definition
from tea.components.manifest import Lineage, Manifest, is_recipe
from tea.components.variable import Variable
from tea.errors import BadComponent, Quarantined, TeaError, UnknownComponent
from tea.journal.mask import Mask, secrets_among
from tea.prompts.manager import PromptManager
from tea.protocols.instances import instance_of
from tea.protocols.lookup_cache import LookupCache
from tea.recipes.recipes import Recipes
from tea.refs import Kind, Ref, check_name
from tea.registry.difference import Diff, diff
from tea.registry.kind_registry import KindRegistry, by_people
from tea.registry.row import Row
from tea.registry.version import VersionManager
from tea.retrieval.search import Match, Retrieval, check
from tea.source.bundled import read_source
from tea.source.dynamic import DynamicManager
from tea.source.requires import requirements
from tea.source.text import SourceText, check_characters, refusal
from tea.source.trust import Trust, untrusted
from tea.threads import Look
from tea.types import State
from tea.untrusted.describing import described
from tea.untrusted.workers import Workers

if TYPE_CHECKING:
    from tea.protocols.contract import ContractEntry
    from tea.sandbox.levels import Sandboxes

_SUFFIXES = (".py", ".md", ".json")


@dataclass(frozen=True, slots=True)
class Services:
    """The basic managers used by every protocol, and the folders of shipped components."""

    versions: VersionManager
    dynamic: DynamicManager
    prompts: PromptManager
    trust: Trust
    roots: tuple[Path, ...]
    recipes: Recipes
    retrieval: Retrieval
    workers: Workers
    sandboxes: Callable[[], Sandboxes]


class Reading:
    """The read access to the components of one kind: lookup, lists and descriptions.

    The form that their source has (Python, Markdown, a JSON document) is known to `draft`, `build` and `definition`
    alone; a kind with another form has its own.
    """

    kind: ClassVar[Kind]
    operation: ClassVar[str | None] = None
    executed: ClassVar[bool] = True

    def __init__(self, services: Services) -> None:
        self.services = services
        of_trusted = services.recipes.is_of_trusted if self.executed else None
        self._registry = KindRegistry(
            self.kind, services.versions, services.trust, self.draft, self.build, self.outline, of_trusted
        )
        self._listings = Look(self._registry.listings)
        self._known = LookupCache(self.kind, services.versions.store, services.trust)

    async def info(self, ref: str | Ref) -> Manifest:
        """Return a component's configuration.

        Raises:
            UnknownComponent: There is none; the error names the nearest.
        """
        return await self._find(self.ref(ref))

    async def judged(self, ref: str | Ref) -> tuple[Manifest, bool]:
        """Return a component's configuration, and whether it was trusted before its words were taken.

        Who asks for trust afterwards may take the words of a sender for those of a source that is trusted by now.

        Raises:
            UnknownComponent: There is none; the error names the nearest.
        """
        trusted = self.services.trust.digests()
        found = await self.info(ref)
        return found, found.digest in trusted

    async def exact(self, ref: str | Ref, digest: str) -> Manifest:
        """Return a pinned version, `name@version`, listed or hidden; never another one with the same bytes.

        Raises:
            UnknownComponent: There is no such version.
            Damaged: Its bytes are not those of the digest.
        """
        return await asyncio.to_thread(self._registry.exact, self.ref(ref), digest)

    async def get(self, ref: str | Ref) -> object:
        """Return a fresh instance of a component, or a tool's function.

        Raises:
            Quarantined: Its source is not trusted.
            CallFailed: It cannot be instantiated.
        """
        config = await self.info(ref)
        if not is_recipe(config.source) and not self.services.trust(config.digest):
            raise untrusted(config.ref)
        return instance_of(await self.definition(config))

    async def argument_model(self, ref: str | Ref, operation: str) -> type[BaseModel]:
        """Return the type-safe model of an operation's arguments, as strict as a call.

        Raises:
            UnknownComponent: There is no such operation.
        """
        config = await self.info(ref)
        schema, title = config.operation(operation).parameters, f"{config.name}_{operation}".title().replace("_", "")
        return await asyncio.to_thread(self.services.dynamic.model_from_schema, schema, title)

    async def definition(self, config: Manifest, *, sandboxed_then: bool | None = None) -> Definition:
        """Return the definition of a version, executing its source on first use; untrusted source only in a sandbox.

        Args:
            config: The version.
            sandboxed_then: Whether it worked in a sandbox earlier in a run that goes on or is replayed.

        Raises:
            Quarantined: Its source is not trusted, and cannot be executed in a sandbox, or was not earlier in its run.
        """
        if sandboxed_then is not None and not is_recipe(config.source):
            if sandboxed_then:
                return self._sandboxed(config)
            if not self.services.trust(config.digest):
                raise untrusted(config.ref)
        known = self._known.definition(config)
        if known is None:
            if not is_recipe(config.source) and not self.services.trust(config.digest):
                return self._sandboxed(config)
            known = await asyncio.to_thread(self._defined, config)
            self._known.keep_definition(config, known)
        return known

    async def list(self, *, state: State | None = "active", category: str | None = None) -> list[Row]:
        """Return the registered components, by name.

        Args:
            state: Only what is in that state; None for all.
            category: Only what declares that category in its metadata.
        """
        found = await self._listings()
        return [one for one in found if state in (None, one.state) and category in (None, one.category)]

    def holds(self, *, category: str | None = None) -> bool:
        """Return whether any active component is registered, of a category if one is given; blocks."""
        return any(one.state == "active" and category in (None, one.category) for one in self._registry.listings())

    async def missing(self, names: Iterable[str]) -> builtins.list[str]:
        """Return the names never used by a component, without reading any; for many names at once."""
        return await asyncio.to_thread(self._registry.missing, names)

    async def retrieve(
        self, query: str, k: int = 5, *, route: bool = False, among: Collection[str] | None = None
    ) -> builtins.list[Match]:
        """Return the active components fitting a query in words, the best first; see `Retrieval.find`.

        Args:
            query: What is wished for.
            k: How many at most, from 1 to 1,000.
            route: Prefer the best toolkits of the best categories.
            among: Only these names.

        Raises:
            BadInput: The query holds no word, or `k` is out of range.
            UnknownComponent: There is none of a name in `among`.
            ProviderError: The embedder that the settings name cannot be reached.
        """
        check(query, k)
        find = partial(self.services.retrieval.find, query=query, k=k, route=route, among=among)

        def look() -> tuple[Sequence[Row], set[str], builtins.list[Match]]:
            listings = self._registry.listings(pointers=True)
            strange = {*(among or ())} - {one.name for one in listings if one.state == "active"}
            return listings, strange, [] if strange else find(listings)

        listings, strange, matches = await asyncio.to_thread(look)
        for name in sorted(strange):
            await self.info(name)
        return await asyncio.to_thread(find, listings) if strange else matches

    async def contract(self, *, names: Iterable[str] | None = None) -> str:
        """Return one readable Markdown document of the components' interfaces, in their current state.

        Args:
            names: Only these, each perhaps with `@selector`; all that is active or deprecated by default.

        Raises:
            UnknownComponent: There is none of that name.
        """
        refs = None if names is None else [self.ref(name) for name in names]
        listed = [] if refs is not None else await self.list(state=None)
        known = [one for one in listed if one.state != "archived"]
        return await asyncio.to_thread(self._contract, refs, known)

    async def history(self, name: str) -> list[Manifest]:
        """Return every version in sight, oldest first."""
        return await asyncio.to_thread(self._registry.history, check_name(name))

    async def diff(self, old: str | Ref, new: str | Ref) -> Diff:
        """Return how two versions differ in source and schema."""
        return diff(await self.info(old), await self.info(new))

    async def vars(self, ref: str | Ref) -> list[Variable]:
        """Return a version's text as variables: sections of a prompt, source and files of code.

        Raises:
            UnknownComponent: There is none.
        """
        return self.variables(await self._find(self.ref(ref)))

    def ref(self, ref: str | Ref) -> Ref:
        """Return a ref of this kind.

        Raises:
            UnknownComponent: It names another kind.
        """
        parsed = Ref.parse(ref, kind=self.kind) if isinstance(ref, str) else ref
        if parsed.kind != self.kind:
            raise UnknownComponent(f"{str(parsed)!r} is not of kind {self.kind}.", fix=f"name one as {self.kind}:NAME.")
        return parsed

    def draft(self, source: str, files: Mapping[str, str], requires: tuple[str, ...] = ()) -> SourceText:
        """Check source without executing it; raises BadComponent."""
        if is_recipe(source):
            check_characters(source)
            return self.services.recipes.draft(source, files, self.kind)
        return self.services.dynamic.check(source, files, kind=self.kind, requires=requires)

    def outline(self, source: str) -> SourceText:
        """Return the description of source checked before; raises BadComponent."""
        return self.services.dynamic.outline(source, self.kind)

    def build(self, text: SourceText, version: str, lineage: Lineage, created: str, reason: str) -> Manifest:
        """Return the manifest of checked source; it is executed to be described, in a sandbox if no person wrote it.

        Raises:
            BadComponent: It is not usable.
            ToolError: No person wrote it, and there is no sandbox.
        """
        if is_recipe(text.source):
            return self.services.recipes.manifest(text, version, lineage, created, reason)
        if not by_people(lineage):
            boxes = self.services.sandboxes()
            return described(text, boxes, version=version, lineage=lineage, created=created, reason=reason)
        made = self.services.dynamic.describe(text, version=version, lineage=lineage, created=created, reason=reason)
        _check_secrets(made)
        return made

    def read(self, what: object) -> SourceText:
        """Return checked source from text, a path (also as text: `"greet.py"`), source with files, or a live object."""
        if isinstance(what, Path) or (isinstance(what, str) and _is_path(what)):
            return self._read_file(Path(what))
        if isinstance(what, SourceText):
            return self.draft(what.source, what.files, what.requires)
        if isinstance(what, str):
            return self.draft(what, {})
        text = self.services.dynamic.capture(what)
        if text.kind != self.kind:
            raise BadComponent(f"{text.name!r} is a {text.kind}, not a {self.kind}.", fix=f"give a {self.kind}.")
        return text

    def stored(self, ref: Ref) -> Ref:
        """Return a component without selector, after storing it if it is only shipped.

        Raises:
            UnknownComponent: There is none, and never was.
        """
        if not self.services.versions.head(self.kind, ref.name).number:
            self._registry.pin(ref)
        return Ref(kind=self.kind, name=ref.name)

    def own(self, found: Manifest) -> Manifest:
        """Return a stored version described by its own source if it is trusted; see `OwnWords`."""
        return self._registry.words.of(found)

    def worded(self, found: Manifest) -> Manifest:
        """Return a stored version with the words of its own source if it is trusted, and its origin as written."""
        return self._registry.words.worded(found)

    def recorded_here(self, found: Manifest) -> bool:
        """Return whether this account recorded the origin of a version: lineage, creation, reason and changes."""
        return self._registry.words.recorded(found)

    def record(self, found: Manifest) -> None:
        """Record the origin of a version as this account's own."""
        self._registry.words.record(found)

    def misdescribed(self, found: Manifest) -> str:
        """Return the fault of the registry's description of a trusted version, in words; empty without one."""
        return self._registry.words.fault(found)

    def unstored(self, name: str) -> Manifest | None:
        """Return the shipped component of a name, unless it is a stored version."""
        return self._registry.unstored(name)

    def variables(self, found: Manifest) -> list[Variable]:
        """Return the rewritable parts of a version's text: its source, and each of its files."""
        main = Variable(
            name="source", kind="source", value=found.source, description="Its main file.", trainable=found.evolvable
        )
        return [main, *(replace(main, name=path, value=text, description="") for path, text in found.files.items())]

    def rewritten(self, found: Manifest, values: Mapping[str, str]) -> SourceText:
        """Return a version's text with replaced parts, checked; raises BadComponent."""
        files = {path: values.get(path, text) for path, text in found.files.items()}
        return self.draft(values.get("source", found.source), files, found.requires)

    def requirements(self, source: str) -> tuple[str, ...]:
        """Return the distributions named by source as its requirements."""
        return requirements(source, ()) if self.executed else ()

    def _defined(self, config: Manifest) -> Definition:
        load = self.services.recipes.definition if is_recipe(config.source) else self.services.dynamic.load
        try:
            return load(config)
        except Quarantined as error:
            if config.version not in self.services.versions.head(self.kind, config.name).removed:
                raise
            raise untrusted(config.ref, config.ref.at(config.digest)) from error  # a recipe still uses it

    def _contract(self, refs: Iterable[Ref] | None, rows: Iterable[Row]) -> str:
        from tea.protocols.contract import contract

        trusted = self.services.trust.digests()  # before any words are taken, see `judged`
        if refs is not None:
            return contract(self.kind, (self._entry(ref, trusted) for ref in refs))
        return contract(self.kind, (self._listed_entry(row, trusted) for row in rows))

    def _sandboxed(self, config: Manifest) -> Definition:
        from tea.untrusted.definition import sandboxed

        return sandboxed(config, self.services.workers)

    def _entry(self, ref: Ref, trusted: Collection[str]) -> ContractEntry:
        from tea.protocols.contract import ContractEntry

        found = self._registry.resolve(ref)
        state = self.services.versions.head(self.kind, ref.name).states.get(found.version, "active")
        return ContractEntry(name=ref.name, found=found, state=state, trusted=found.digest in trusted)

    def _listed_entry(self, row: Row, trusted: Collection[str]) -> ContractEntry:
        from tea.protocols.contract import ContractEntry

        if not row.version:
            return ContractEntry(name=row.name, found=row.description)
        try:
            if row.origin == "bundled":  # it may not be stored yet
                return self._entry(Ref(kind=self.kind, name=row.name), trusted)
            found = self.own(self.services.versions.manifest(self.kind, row.name, row.version))
        except TeaError as error:
            return ContractEntry(name=row.name, found=error.problem)
        return ContractEntry(name=row.name, found=found, state=row.state, trusted=found.digest in trusted)

    async def _find(self, ref: Ref) -> Manifest:
        known = self._known.pinned(ref, self._known.mark(ref))
        return known or await asyncio.to_thread(self._registry.resolve, ref)

    def _read_file(self, path: Path) -> SourceText:
        return self.draft(*read_source(path))


def _check_secrets(made: Manifest) -> None:
    """Refuse a description with a secret absent from its source, such as in a default of `posix.environ`.

    Raises:
        BadComponent: It has one; the error gives its name alone.
    """
    written = "\n".join((made.source, *made.files.values()))
    secrets = {name: one for name, one in secrets_among(os.environ).items() if one not in written}
    told = json.dumps([made.metadata, *(one.to_json() for one in made.operations.values())], default=str)
    if Mask(secrets).plain(told) != told:
        name = next((one for one, value in secrets.items() if Mask({one: value}).plain(told) != told), "a variable")
        problem = f"The description of {made.name!r} holds the secret of {name[:60]}."
        raise refusal(problem, "write its defaults out, and read variables in its functions.")


def _is_path(text: str) -> bool:
    """Return whether a text is the path of a file rather than source: one line with the ending of a source file."""
    return "\n" not in text and text.strip().endswith(_SUFFIXES)
