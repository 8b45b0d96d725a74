"""ContextManager: the life of every component of one kind, from source to versions to instances."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tea.components.manifest import Lineage, Manifest, is_recipe
from tea.errors import Archived, BadComponent
from tea.protocols.editor import Editor
from tea.protocols.reading import Reading, Services
from tea.refs import Ref, check_name
from tea.registry.head import Head
from tea.registry.own_words import check_draft
from tea.registry.tombstone import Tombstone
from tea.registry.version import NewVersion
from tea.source.trust import untrusted
from tea.types import State

if TYPE_CHECKING:
    from tea.registry.transfer import Loaded


class ContextManager(Reading):
    """The manager of one kind's components: registration, versions, lists and instances.

    The source of what is shipped with tea is read at `init` and becomes a stored version when a run
    first uses it; until then nothing is written.

    Source: paper, Definitions 4, 7 and 10.
    """

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._editor = Editor(self, self._registry)

    async def init(self) -> list[str]:
        """Read the shipped components, without executing them; return the problems by file."""
        return await asyncio.to_thread(self._editor.ship)

    async def register(
        self,
        what: object,
        *,
        version: str | None = None,
        reason: str = "",
        lineage: Lineage | None = None,
        author: str | None = None,
        after: int | None = None,
    ) -> Manifest:
        """Store a component as a new version and make it current; a name used before continues its history.

        Bytes that a version in sight has already are stored no second time, unless a version is wanted: that version is
        returned, and what is current stays. So a program that registers at its start may be started any number of
        times, and undoes no rollback.

        Args:
            what: Source text, the path of a file (a `Path`, or text of one line such as `greet.py`), or a live function
                or class.
            version: The version wanted, else the next one by the kind of change.
            reason: Why, in words.
            lineage: Where it comes from; written by hand by default.
            author: Who registers it; the operator by default.
            after: Only as the change that follows this number of the name's head, 0 where there is none.

        Raises:
            BadComponent: It is not a usable component of this kind; nothing is written.
            AlreadyRegistered: That version exists; nothing is written.
            Conflict: Its newest head is not `after`; what was written is taken back.
        """
        wanted = NewVersion(version=version, reason=reason, lineage=lineage or Lineage(), author=author)
        return await asyncio.to_thread(self._editor.register, what, None, wanted, after)

    async def update(
        self,
        name: str,
        what: object,
        *,
        version: str | None = None,
        reason: str = "",
        lineage: Lineage | None = None,
        author: str | None = None,
        after: int | None = None,
    ) -> Manifest:
        """Give a registered component a new implementation, as a new version.

        Bytes that a version in sight has already are stored no second time, unless a version is wanted: that version
        becomes current.

        Raises:
            UnknownComponent: There is none of that name.
            BadComponent: The source defines another name, or is not usable; nothing is written.
            Conflict: Its newest head is not number `after`; what was written is taken back.
        """
        wanted = NewVersion(version=version, reason=reason, lineage=lineage or Lineage(), author=author)
        return await asyncio.to_thread(self._editor.register, what, name, wanted, after)

    async def restore(self, ref: str | Ref, *, reason: str = "", author: str | None = None) -> Manifest:
        """Make a historical version, `name@version`, current.

        Raises:
            UnknownComponent: There is no such version; the error lists those there are.
        """
        return await asyncio.to_thread(self._registry.restore, self.ref(ref), reason, author)

    async def rollback(self, name: str, *, reason: str = "", author: str | None = None) -> Manifest:
        """Make the version current that was current before.

        Raises:
            RegistryError: No other version was current before.
        """
        return await asyncio.to_thread(self._registry.rollback, check_name(name), reason, author)

    async def unregister(self, name: str, *, reason: str = "", author: str | None = None) -> Head:
        """Remove a component from the active set, and hide its history.

        Raises:
            UnknownComponent: There is none of that name.
        """
        return await asyncio.to_thread(self._registry.unregister, check_name(name), reason, author)

    async def copy(
        self,
        ref: str | Ref,
        *,
        name: str | None = None,
        version: str | None = None,
        reason: str = "",
        author: str | None = None,
    ) -> Manifest:
        """Copy a version: under another name, also changed in its source, or as a further version of the same name.

        Args:
            ref: What is copied.
            name: The new name; without one the copy is a further version, and the current one stays current.
            version: The version wanted, else the next one.
            reason: Why, in words.
            author: Who copies it; the operator by default.

        Raises:
            AlreadyRegistered: That name or version exists; nothing is written.
            Quarantined: Source under another name would be trusted, and what it comes from is not.
        """
        wanted = NewVersion(version=version, reason=reason, author=author)
        return await asyncio.to_thread(self._editor.copy, self.ref(ref), name, wanted)

    async def setvars(
        self,
        name: str | Ref,
        values: Mapping[str, str],
        *,
        reason: str = "",
        lineage: Lineage | None = None,
        author: str | None = None,
        current: bool = True,
    ) -> Manifest:
        """Rewrite parts of a component's text, as a new version with lineage.

        Args:
            name: Which component; `name@selector` starts from another version than the current one.
            values: The new texts, by the names that `vars` gives.
            reason: Why, in words.
            lineage: Where they come from; written by hand by default.
            author: Who writes them; the operator by default.
            current: Whether the new version becomes the current one.

        Raises:
            BadInput: They are the texts that are there, or no texts by name; nothing is written.
            NotEvolvable: The component, or one of the pieces, may not be rewritten.
            UnknownComponent: It has no such piece.
            BadComponent: The result is not usable; nothing is written.
            Quarantined: No person wrote them and they are code, or what they change is not trusted.
        """
        wanted = NewVersion(reason=reason, lineage=lineage or Lineage(), author=author)
        write = partial(self._editor.setvars, self.ref(name), values, wanted, current=current)
        return await asyncio.to_thread(write)

    async def deprecate(self, ref: str | Ref, *, reason: str = "", author: str | None = None) -> Head:
        """Remove a version from lists and retrieval; it can still be called."""
        return await self._mark(ref, "deprecated", reason, author)

    async def archive(self, ref: str | Ref, *, reason: str = "", author: str | None = None) -> Head:
        """Keep a version for the record: only runs with it pinned may still call it."""
        return await self._mark(ref, "archived", reason, author)

    async def activate(self, ref: str | Ref, *, reason: str = "", author: str | None = None) -> Head:
        """Bring a deprecated or archived version back into use."""
        return await self._mark(ref, "active", reason, author)

    async def alias(self, ref: str | Ref, alias: str, *, reason: str = "", author: str | None = None) -> Head:
        """Point a movable tag such as `prod` to a version.

        Raises:
            BadRef: `alias` is not an alias.
        """
        found = await asyncio.to_thread(self._registry.pin, self.ref(ref))
        return await asyncio.to_thread(self.services.versions.alias, found.ref, alias, reason=reason, author=author)

    async def unalias(self, name: str, alias: str, *, reason: str = "", author: str | None = None) -> Head:
        """Remove a movable tag.

        Raises:
            UnknownComponent: There is no such tag.
        """
        take = self.services.versions.unalias
        return await asyncio.to_thread(take, self.kind, check_name(name), alias, reason=reason, author=author)

    async def trust(self, ref: str | Ref) -> Manifest:
        """Trust a version, allowing the execution of its source; by digest, so no other bytes are covered.

        From then on what is told of it is what its source says.

        Raises:
            BadComponent: Its source cannot be used, or is stored in a form other than tea's own; nothing of it is
                executed to find that out.
        """
        found = await self.info(ref)
        if self.executed and is_recipe(found.source):
            text = await asyncio.to_thread(self.services.recipes.draft, found.source, found.files, self.kind)
            if not self.services.recipes.is_of_trusted(found.source):
                problem = f"{found.ref} takes its words from what is not trusted."
                raise BadComponent(problem, fix="trust what it is made of first: its source names that.")
        else:
            text = await asyncio.to_thread(self.draft, found.source, found.files, found.requires)
        check_draft(text, found)
        await asyncio.to_thread(self.services.trust.grant, found.digest, str(found.ref))
        return await asyncio.to_thread(self.own, found)

    async def purge(self, ref: str | Ref, *, reason: str = "", author: str | None = None) -> list[Tombstone]:
        """Remove bytes permanently: of one version, or of all versions of an unregistered component, with its usage.

        What stays keeps each number from ever meaning other bytes, and says who purged it, when and why. Aliases that
        stood for it go with it.

        Raises:
            RegistryError: It is in use: registered and no version named, current, or pinned by a recipe.
            UnknownComponent: There is nothing to purge.
        """
        wanted = self.ref(ref)
        purged = await asyncio.to_thread(self._editor.purge, wanted, reason, author)
        if wanted.selector is None:
            await asyncio.to_thread(self.services.retrieval.forget, self.kind, wanted.name)
        return purged

    async def save(self, path: str | Path, names: Iterable[str] | None = None) -> list[str]:
        """Write components with their whole history to one JSON file; see `tea.protocols.bundle`.

        Args:
            path: The file; one that is there is replaced.
            names: Which ones; all that the registry has by default.

        Raises:
            UnknownComponent: There is none of that name.
        """
        from tea.protocols.bundle import save_components

        refs = None if names is None else [self.ref(name) for name in names]
        return list((await save_components({self.kind: self}, Path(path), refs)).components)

    async def load(self, path: str | Path) -> Loaded:
        """Load the components of a file written by `save`; they are listed, but execution needs a person's trust.

        Raises:
            BadInput: The file is not what was saved, or holds another kind; nothing is changed.
            AlreadyRegistered: A version is there with other bytes; nothing is changed.
        """
        from tea.protocols.bundle import load_components

        return await load_components({self.kind: self}, Path(path))

    async def pin(self, ref: str | Ref) -> Manifest:
        """Return a configuration for use, stored, so its digest can always be found again.

        What is not executed is trusted here, since who uses it does what it says.

        Raises:
            Archived: The version is kept for the record only.
            Quarantined: It is not executed, and nobody trusts it yet.
        """
        wanted = self.ref(ref)
        trusted = self._trusted()
        mark = self._known.mark(wanted)
        found = self._known.pinned(wanted, mark) or await self._look(wanted, mark)
        self._check_trusted(found, trusted)
        return found

    async def pin_exact(self, ref: str | Ref, digest: str) -> Manifest:
        """Return a version pinned by another run, for use; see `exact`.

        Raises:
            UnknownComponent: There is no such version.
            Damaged: Its bytes are not those of the digest.
            Archived: The version is kept for the record only.
            Quarantined: It is not executed, and nobody trusts it yet.
        """
        trusted = self._trusted()
        found = await self.exact(ref, digest)
        _check_usable(found, await asyncio.to_thread(self._registry.state, found))
        self._check_trusted(found, trusted)
        return found

    async def usable(self, ref: str | Ref) -> Manifest:
        """Return the configuration `pin` would return now; nothing is stored.

        Raises:
            Archived: The version is kept for the record only.
        """
        found = await self.info(ref)
        _check_usable(found, await asyncio.to_thread(self._registry.state, found))
        return found

    async def transform(self, how: str, operands: str | Sequence[str], **options: Any) -> list[Manifest]:
        """Make components of this kind out of others, as stored recipes.

        Args:
            how: One of A2T, E2T, T2E, T2A, A2E and E2A.
            operands: Refs of what is transformed; the version that is current is pinned.
            **options: Further fields of the recipe, see `tea.recipes.recipe`: `name`, `description`, `follow`,
                `prompt`, `guard`, `shared`, `state`, `actions` and others.

        Returns:
            What was made: one component, for E2T one tool for each action and for the state.

        Raises:
            BadComponent: The operands or options do not fit; nothing is written.
            UnknownComponent: There is no such operand; nothing is written.
            AlreadyRegistered: Something else has the name; nothing is written.
        """
        return await self.services.recipes.transform(how, operands, options, self.kind)

    async def _look(self, wanted: Ref, mark: object) -> Manifest:
        """Return the current version of a ref, stored; a recipe may have to follow its operands.

        Raises:
            Archived: The version is kept for the record only.
        """
        found, state = await asyncio.to_thread(self._registry.pinned, wanted)
        _check_usable(found, state)
        self._known.keep(wanted, mark, found)
        return await self.services.recipes.follow(found, wanted) if self.executed else found

    def _trusted(self) -> Collection[str]:
        """Return the digests trusted before a look at a component never executed, see `judged`."""
        return () if self.executed else self.services.trust.digests()

    def _check_trusted(self, found: Manifest, trusted: Collection[str]) -> None:
        """Raise Quarantined for an untrusted component never executed, as nothing checks it later."""
        if not self.executed and found.digest not in trusted:
            raise untrusted(found.ref)

    async def _mark(self, ref: str | Ref, state: State, reason: str, author: str | None) -> Head:
        found = await asyncio.to_thread(self._registry.pin, self.ref(ref))
        return await asyncio.to_thread(self.services.versions.mark, found.ref, state, reason=reason, author=author)


def _check_usable(found: Manifest, state: State) -> None:
    if state == "archived":
        raise Archived(f"{found.ref} is archived.", fix=f"use another version: `tea history {found.ref.at(None)}`.")
