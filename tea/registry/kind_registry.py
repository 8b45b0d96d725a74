"""KindRegistry: the components of one kind, in the registry, or shipped and not used yet."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tea.clock import timestamp
from tea.components.manifest import Lineage, Manifest, is_recipe
from tea.errors import AlreadyRegistered, BadInput, Damaged, RegistryError, UnknownComponent
from tea.refs import FIRST, KINDS, Kind, Ref, Version, is_digest, plural
from tea.registry.head import Head
from tea.registry.list_cache import ListCache, Outline, Shipped
from tea.registry.own_words import Build, Draft, OfTrusted, OwnWords
from tea.registry.row import Row
from tea.registry.version import Again, Guard, NewVersion, VersionManager
from tea.source.cache import SourceCache
from tea.source.requires import installed
from tea.source.text import SourceText, text_digest
from tea.source.trust import Trust
from tea.types import State

_BY_PEOPLE = frozenset({"hand", "bundled", "copy", "restore"})
_SHIPPED = "shipped"
_ENTER = "use it inside `async with Platform(...) as tea:`."


class KindRegistry:
    """The registry of one kind; the source of a shipped component becomes a stored version on first use.

    All methods block for short file operations.

    Args:
        kind: The kind.
        versions: The versions in the registry.
        trust: What may run.
        draft: Checks source without executing it; raises BadComponent.
        build: Makes the manifest of checked source; raises BadComponent.
        outline: Says what shipped source is for; raises BadComponent.
        of_trusted: See `OwnWords`.
    """

    def __init__(
        self,
        kind: Kind,
        versions: VersionManager,
        trust: Trust,
        draft: Draft,
        build: Build,
        outline: Outline,
        of_trusted: OfTrusted | None,
    ) -> None:
        self.kind: Kind = kind
        self._versions, self._trust, self._build = versions, trust, build
        self.words = OwnWords(trust, draft, build, of_trusted)
        self._kept = SourceCache(trust.path.parent)
        self._shown = ListCache(kind, versions, trust, outline, self.resolve, self.words, self._kept)
        self._opened = False  # whether what is shipped was looked at
        self._shipped: Mapping[str, Shipped] = {}  # replaced as a whole, since other threads look meanwhile
        self._described: dict[str, Manifest] = {}

    def ship(self, texts: Iterable[SourceText]) -> None:
        """Set the sources shipped with tea or an installed package."""
        found = {text.name: Shipped(text, text_digest(text)) for text in texts}
        self._trust.ship(one.digest for one in found.values())
        self._shipped, self._opened = found, True

    def register(
        self,
        text: SourceText,
        wanted: NewVersion,
        *,
        fresh: bool = False,
        current: bool = True,
        again: Again = "add",
        guard: Guard = lambda _: None,
        trusted: bool = True,
    ) -> Manifest:
        """Store checked source as a new version, and make it current; every failure comes before anything is written.

        Without `current` the one that is current stays so. A person's own becomes trusted where `trusted` says so.

        With `fresh` one of several that take the same free name at once gets it; see `VersionManager.add` for `guard`,
        and for `again`, which counts where no version is wanted.

        Raises:
            BadRef: The version wanted is not a version.
            BadComponent: The source is not usable.
            AlreadyRegistered: That version exists.
        """
        version, lineage = wanted.version, wanted.lineage
        first = self._build(text, str(Version.parse(version or str(FIRST))), lineage, timestamp(), wanted.reason)
        shipped = self.unstored(text.name)
        if version is not None and shipped is not None:
            self._check_free(Ref(kind=self.kind, name=text.name, selector=version), shipped)
        self._store(text.name)
        head = self._versions.head(self.kind, text.name)
        made = replace(first, lineage=replace(lineage, parent=lineage.parent or head.current))
        if fresh:
            build: Callable[[str], Manifest] = lambda chosen: replace(made, version=chosen)  # noqa: E731
            version = version or self._versions.next_version(self.kind, made.name, build, head, self.words.worded)
            if not set(self._versions.store.versions(self.kind, made.name)) <= set(head.removed):
                problem = f"{made.ref.at(None)} exists already."
                raise AlreadyRegistered(problem, fix="choose another name, or update it.")
        again = again if version is None else "add"
        return self._add(
            made, version, wanted.author, current=current, again=again, trusted=trusted, head=head, guard=guard
        )

    def resolve(self, ref: Ref) -> Manifest:
        """Return the version of `ref`.

        Raises:
            UnknownComponent: Nothing; the error names the nearest.
        """
        return self._resolved(ref, self._versions.head(self.kind, ref.name))

    def _resolved(self, ref: Ref, head: Head) -> Manifest:
        """Return the version of `ref` by the newest head of its name."""
        if head.number and head.current is None and ref.selector is None:
            raise self._unknown(ref, None)
        current = head.current is not None and ref.selector is None
        found = self._versions.resolve(ref, head) if current else None  # first, so that no version is read twice
        shipped = self.unstored(ref.name, head)
        if shipped is not None and self._means(ref, head, shipped):
            return shipped
        found = found or self._versions.resolve(ref, head)
        if found is None:
            raise self._unknown(ref, shipped if head.number == 0 else None)
        return self.words.of(found)

    def exact(self, ref: Ref, digest: str) -> Manifest:
        """Return a pinned version, listed or hidden, after checking its digest.

        Raises:
            UnknownComponent: There is no such version.
            Damaged: It has other bytes.
        """
        try:
            found = self._versions.manifest(self.kind, ref.name, str(ref.selector))
        except UnknownComponent:
            shipped = self.unstored(ref.name)
            if shipped is None or shipped.ref != ref:
                raise
            found = shipped
        if found.digest != digest:
            raise Damaged(f"{ref} does not have the bytes that were pinned.", fix="bring its version file back.")
        return self.words.of(found)

    def pin(self, ref: Ref) -> Manifest:
        """Return the version of `ref`, stored, so its digest can always be found again."""
        return self.pinned(ref)[0]

    def pinned(self, ref: Ref) -> tuple[Manifest, State]:
        """Return the version of `ref` as `pin` does, and its state."""
        head = self._versions.head(self.kind, ref.name)
        found = self._pinned(ref, head)
        return found, head.states.get(found.version, "active")

    def _pinned(self, ref: Ref, head: Head) -> Manifest:
        found, shipped = self._resolved(ref, head), self.unstored(ref.name, head)
        stored = self._store(ref.name) if shipped is not None and shipped.digest == found.digest else None
        if stored is None and found.created:
            return found
        if stored is None:  # another process stored it meanwhile, as a version of its own
            stored = self._versions.resolve(found.ref.at(found.digest))
        return self.words.of(stored or found)

    def history(self, name: str) -> list[Manifest]:
        """Return every version in sight, oldest first."""
        self.resolve(Ref(kind=self.kind, name=name))
        shipped = self.unstored(name)
        stored = [one for one in self._versions.history(self.kind, name) if shipped is None or one.ref != shipped.ref]
        return [*map(self.words.of, stored), *([shipped] if shipped else [])]

    def restore(self, ref: Ref, reason: str, author: str | None) -> Manifest:
        """Make a historical version current.

        Raises:
            UnknownComponent: There is no such version in sight.
        """
        if ref.selector is None:
            fix = f"`tea history {ref}` shows its versions; write {ref}@VERSION."
            raise UnknownComponent(f"{ref} does not name a version to restore.", fix=fix)
        found = self.pin(ref)
        self._versions.restore(self.kind, ref.name, found.version, reason=reason, author=author)
        return found

    def rollback(self, name: str, reason: str, author: str | None) -> Manifest:
        """Make the version current that was current before.

        Raises:
            RegistryError: No other version was current before.
        """
        ref = Ref(kind=self.kind, name=name)
        self.resolve(ref)
        head = self._versions.head(self.kind, name)
        if head.number and self._follows(name, head):
            self._store(name)
        self._versions.rollback(self.kind, name, reason=reason, author=author)
        return self.resolve(ref)

    def unregister(self, name: str, reason: str, author: str | None) -> Head:
        """Hide a component; its bytes stay."""
        self.resolve(Ref(kind=self.kind, name=name))
        self._store(name)
        return self._versions.unregister(self.kind, name, reason=reason, author=author)

    def duplicate(self, found: Manifest, wanted: NewVersion) -> Manifest:
        """Store the same content as a further version; the current one stays current.

        Raises:
            AlreadyRegistered: The version wanted exists.
        """
        lineage = Lineage(how="copy", parent=found.version)
        changes = found.changes if self.words.recorded(found) else ()  # not what its sender says
        made = replace(found, lineage=lineage, created=timestamp(), reason=wanted.reason, changes=changes)
        version = None if wanted.version is None else str(Version.parse(wanted.version))
        return self._add(made, version, wanted.author, current=False, trusted=False)

    def purgeable(self, ref: Ref) -> list[str]:
        """Return the version named by a ref, or all versions of an unregistered component.

        Raises:
            RegistryError: It is registered, and no version is named.
            UnknownComponent: There is nothing to purge.
        """
        if ref.selector is not None:
            chosen = self._versions.chosen(ref)
        elif self.has(ref.name):
            raise RegistryError(f"{ref} is registered.", fix=f"name a version, {ref}@X.Y.Z, or unregister it first.")
        else:
            chosen = self._versions.living(self.kind, ref.name)
        if not chosen:
            raise self._unknown(ref, None)
        return chosen

    def has(self, name: str) -> bool:
        """Return whether a component of the given name is listed."""
        head = self._versions.head(self.kind, name)
        return head.current is not None or (head.number == 0 and name in self._shipped)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the names neither shipped nor ever registered."""
        known = {*self._shipped, *self._versions.names(self.kind)}
        return [name for name in names if name not in known]

    def state(self, found: Manifest) -> State:
        """Return the state of a version."""
        return self._versions.head(self.kind, found.name).states.get(found.version, "active")

    def listings(self, *, pointers: bool = False) -> Sequence[Row]:
        """Return the listed components, by name; the very same object as long as nothing has changed.

        Args:
            pointers: Whether it is enough that no pointer has moved since this process looked.

        Raises:
            BadInput: The registry is empty, and the platform was not entered, so the shipped ones are not known yet.
        """
        found = self._shown.all(self._shipped, pointers=pointers)
        if not (found or self._opened or any(map(self._versions.names, KINDS))):
            problem = f"The platform was not entered, so the {plural(self.kind)} that ship with tea are not known."
            raise BadInput(problem, fix=_ENTER)
        return found

    def _add(
        self,
        made: Manifest,
        version: str | None,
        author: str | None,
        *,
        current: bool,
        again: Again = "add",
        trusted: bool = True,
        head: Head | None = None,
        guard: Guard = lambda _: None,
    ) -> Manifest:
        trusted = trusted and by_people(made.lineage)
        added = self._versions.add(
            self.kind,
            made.name,
            lambda wanted: replace(made, version=wanted),
            version=version,
            current=current,
            again=again,
            author=author,
            head=head,
            guard=guard,
            worded=self.words.worded,
            trust=partial(self._trust.grant, made.digest, str(made.ref.at(None))) if trusted else lambda: None,
        )
        if trusted:  # an untrusted version may have the sender's words, even if its source is trusted by now
            self.words.trust(made)
        if added == replace(made, version=added.version):  # else it was there, whoever wrote it
            self.words.record(added)
        return self.words.of(added)

    def _store(self, name: str) -> Manifest | None:
        """Store the shipped source as a version, current only if the current one was shipped too."""
        shipped = self.unstored(name)
        if shipped is None:
            return None
        head = self._versions.head(self.kind, name)
        made = replace(shipped, lineage=Lineage(how="bundled", parent=head.current), created=timestamp())
        leads = head.number == 0 or self._follows(name, head)
        try:
            return self._add(made, shipped.version, "tea", current=leads)
        except AlreadyRegistered:  # another process was faster, with these bytes or others
            return self._store(name) or self._versions.resolve(shipped.ref.at(shipped.digest))

    def unstored(self, name: str, head: Head | None = None) -> Manifest | None:
        """Return the shipped version of `name`, unless the registry has its bytes and a head.

        Args:
            name: The name.
            head: The newest head, if it was read already.
        """
        shipped = self._shipped.get(name)
        if shipped is None:
            return None
        digest, head = shipped.digest, head or self._versions.head(self.kind, name)
        if head.number and self._versions.holds(self.kind, name, digest):
            return None
        if digest not in self._described:
            self._described[digest] = self._first(shipped)
            self.words.take(self._described[digest])
        first = self._described[digest]
        begun = self._versions.resolve(first.ref.at(digest))
        if begun is not None:
            return self.words.of(begun)
        build: Callable[[str], Manifest] = lambda wanted: replace(first, version=wanted)  # noqa: E731
        return build(self._versions.next_version(self.kind, name, build, worded=self.words.worded))

    def _first(self, shipped: Shipped) -> Manifest:
        """Return a shipped source as its first version, without executing it where another process has described it."""
        text = shipped.text
        key = (_SHIPPED, self.kind, shipped.digest, installed(text.requires), *text.changes)
        found = None if is_recipe(text.source) else self._kept.read(*key)  # a recipe depends on other components
        if found is not None:
            return Manifest.from_json(found)
        made = self._build(text, str(FIRST), Lineage(how="bundled"), "", "shipped")
        self._kept.keep(made.to_json(), *key)
        return made

    def _means(self, ref: Ref, head: Head, shipped: Manifest) -> bool:
        """Return whether `ref` means the shipped version, not stored yet."""
        if ref.selector is None:
            return head.number == 0 or self._follows(ref.name, head)
        in_sight = head.number == 0 or head.current is not None
        return ref.selector == shipped.digest or (in_sight and ref.selector == shipped.version)

    def _follows(self, name: str, head: Head) -> bool:
        """Return whether the current version was shipped, and a newer shipped one therefore replaces it."""
        if head.current is None:
            return False
        found = self._versions.manifest(self.kind, name, head.current)
        return found.lineage.how == "bundled" and not self.words.is_forged(found)

    def _check_free(self, ref: Ref, shipped: Manifest) -> None:
        if ref.selector in (shipped.version, *self._versions.store.versions(self.kind, ref.name)):
            raise AlreadyRegistered(f"{ref} exists already.", fix="take the next version; a version never changes.")

    def _unknown(self, ref: Ref, shipped: Manifest | None) -> UnknownComponent:
        if shipped is not None:
            return UnknownComponent(f"{ref.at(None)} has no {ref.selector!r}.", fix=f"it has {shipped.version}.")
        if (
            ref.selector is not None
            and is_digest(ref.selector)
            and self._shown.one(ref.name, self._shipped) is not None
        ):
            problem = f"{ref.at(None)} has no version of that digest."
            return UnknownComponent(problem, fix=f"`tea history {ref.at(None)}` shows its versions.")
        names = {*self._versions.names(self.kind), *self._shipped}
        near = [
            one for one in difflib.get_close_matches(ref.name, names) if self._shown.one(one, self._shipped) is not None
        ]
        if not near and not self._opened:
            problem = (
                f"No {self.kind} is named {ref.name!r}, and what is shipped is not known before a platform is entered."
            )
            return UnknownComponent(problem, fix=_ENTER)
        fix = f"did you mean {near[0]!r}?" if near else f"`tea list {self.kind}` shows what there is."
        return UnknownComponent(f"No {self.kind} is named {ref.name!r}.", fix=fix)


def by_people(lineage: Lineage) -> bool:
    """Return whether a lineage starts with a person's responsibility."""
    return lineage.how in _BY_PEOPLE
