"""Shelf: the components of one kind that there are, in the registry, or shipped and not used yet."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from tea.errors import AlreadyRegistered, Damaged, UnknownComponent
from tea.managers.head import Head
from tea.managers.source_text import SourceText
from tea.managers.trust import Trust
from tea.managers.version import VersionManager, timestamp
from tea.manifest import Lineage, Manifest, source_digest
from tea.protocols.listing import Listing, damaged_listing, shipped_listing, stored_listing
from tea.refs import FIRST, Kind, Ref, Version, is_digest

Build = Callable[[SourceText, str, Lineage, str, str], Manifest]
Draft = Callable[[str, Mapping[str, str]], SourceText]
_BY_PEOPLE = frozenset({"hand", "bundled", "copy", "restore"})


class Shelf:
    """Finds, stores and lists; the source of what is shipped becomes a stored version when it is first used.

    All methods block for short file operations.

    Args:
        kind: The kind.
        versions: The versions in the registry.
        trust: What may run.
        build: Makes the manifest of checked source; raises BadComponent.
        draft: Checks source, and says what it is for; raises BadComponent.
    """

    def __init__(self, kind: Kind, versions: VersionManager, trust: Trust, build: Build, draft: Draft) -> None:
        self.kind: Kind = kind
        self._versions, self._trust, self._build, self._draft = versions, trust, build, draft
        self._shipped: dict[str, SourceText] = {}
        self._described: dict[str, Manifest] = {}

    def ship(self, texts: Iterable[SourceText]) -> None:
        """Take sources that came with tea or an installed package."""
        self._shipped = {text.name: text for text in texts}
        self._trust.ship(text_digest(text) for text in self._shipped.values())

    def register(
        self, text: SourceText, version: str | None, reason: str, lineage: Lineage, author: str | None
    ) -> Manifest:
        """Store checked source as a new version, and make it current; whatever fails, fails before anything is written.

        Raises:
            BadRef: `version` is not a version.
            BadComponent: The source is not usable.
            AlreadyRegistered: `version` exists.
        """
        first = self._build(text, str(Version.parse(version or str(FIRST))), lineage, timestamp(), reason)
        shipped = self._unstored(text.name)
        if version is not None and shipped is not None:
            self._check_free(Ref(kind=self.kind, name=text.name, selector=version), shipped)
        self._store(text.name)
        parent = lineage.parent or self._versions.head(self.kind, text.name).current
        made = replace(first, lineage=replace(lineage, parent=parent))
        return self._add(made, version, author, current=True)

    def resolve(self, ref: Ref) -> Manifest:
        """Return what `ref` means.

        Raises:
            UnknownComponent: Nothing; the error names the nearest.
        """
        head = self._versions.head(self.kind, ref.name)
        shipped = self._unstored(ref.name)
        if shipped is not None and self._means(ref, head, shipped):
            return shipped
        found = self._versions.resolve(ref)
        if found is None:
            raise self._unknown(ref, shipped if head.number == 0 else None)
        return found

    def pin(self, ref: Ref) -> Manifest:
        """Return what `ref` means, stored, so that its digest can always be found again."""
        found, shipped = self.resolve(ref), self._unstored(ref.name)
        stored = self._store(ref.name) if shipped is not None and shipped.digest == found.digest else None
        return stored or found

    def history(self, name: str) -> list[Manifest]:
        """Return every version in sight, oldest first."""
        self.resolve(Ref(kind=self.kind, name=name))
        shipped = self._unstored(name)
        stored = [one for one in self._versions.history(self.kind, name) if shipped is None or one.ref != shipped.ref]
        return stored + ([shipped] if shipped else [])

    def restore(self, ref: Ref, reason: str, author: str | None) -> Manifest:
        """Make a historical version current.

        Raises:
            UnknownComponent: There is no such version in sight.
        """
        if ref.selector is None:
            fix = f"`tea history {ref}` shows its versions; write {ref}@VERSION."
            raise UnknownComponent(f"{ref} names no version to restore.", fix=fix)
        found = self.pin(ref)
        self._versions.restore(self.kind, ref.name, found.version, reason=reason, author=author)
        return found

    def rollback(self, name: str, reason: str, author: str | None) -> Manifest:
        """Go back to the pointer before the current one.

        Raises:
            RegistryError: There is no earlier pointer.
        """
        ref = Ref(kind=self.kind, name=name)
        self.resolve(ref)
        head = self._versions.head(self.kind, name)
        if head.number and self._follows(name, head):
            self._store(name)
        self._versions.rollback(self.kind, name, reason=reason, author=author)
        return self.resolve(ref)

    def unregister(self, name: str, reason: str, author: str | None) -> Head:
        """Take a component out of sight; its bytes stay."""
        self.resolve(Ref(kind=self.kind, name=name))
        self._store(name)
        return self._versions.unregister(self.kind, name, reason=reason, author=author)

    def listings(self) -> list[Listing]:
        """Return what is there, by name."""
        names = sorted({*self._versions.names(self.kind), *self._shipped})
        return [one for name in names if (one := self._listing(name)) is not None]

    def _listing(self, name: str) -> Listing | None:
        try:
            head = self._versions.head(self.kind, name)
            if head.current is not None:
                return self._stored_listing(head, self.resolve(Ref(kind=self.kind, name=name)))
        except Damaged as error:
            return damaged_listing(self.kind, name, error)
        if head.number or name not in self._shipped:
            return None
        text = self._draft(self._shipped[name].source, self._shipped[name].files)
        return shipped_listing(text, text_digest(self._shipped[name]))

    def _stored_listing(self, head: Head, found: Manifest) -> Listing:
        return stored_listing(found, head.states.get(found.version, "active"), self._trust(found.digest))

    def _add(self, made: Manifest, version: str | None, author: str | None, *, current: bool) -> Manifest:
        manifest = self._versions.add(
            self.kind,
            made.name,
            lambda wanted: replace(made, version=wanted),
            version=version,
            current=current,
            author=author,
        )
        if manifest.lineage.how in _BY_PEOPLE:
            self._trust.grant(manifest.digest, str(manifest.ref))
        return manifest

    def _store(self, name: str) -> Manifest | None:
        """Store the shipped source as a version, current only where the current one was shipped too."""
        shipped = self._unstored(name)
        if shipped is None:
            return None
        head = self._versions.head(self.kind, name)
        made = replace(shipped, lineage=Lineage(how="bundled", parent=head.current), created=timestamp())
        leads = head.number == 0 or self._follows(name, head)
        try:
            return self._add(made, shipped.version, "tea", current=leads)
        except AlreadyRegistered:  # another process was faster, with these bytes or others
            return self._store(name) or self._versions.resolve(shipped.ref.at(shipped.digest))

    def _unstored(self, name: str) -> Manifest | None:
        """Return the shipped version of `name` unless the registry has its bytes and a head."""
        text = self._shipped.get(name)
        if text is None:
            return None
        digest, head = text_digest(text), self._versions.head(self.kind, name)
        if head.number and self._versions.holds(self.kind, name, digest):
            return None
        if digest not in self._described:
            self._described[digest] = self._build(text, str(FIRST), Lineage(how="bundled"), "", "shipped")
        first = self._described[digest]
        begun = self._versions.resolve(first.ref.at(digest))
        if begun is not None:
            return begun
        build: Callable[[str], Manifest] = lambda wanted: replace(first, version=wanted)  # noqa: E731
        return build(self._versions.next_version(self.kind, name, build))

    def _means(self, ref: Ref, head: Head, shipped: Manifest) -> bool:
        """Tell whether `ref` means the shipped version that is not stored."""
        if ref.selector is None:
            return head.number == 0 or self._follows(ref.name, head)
        in_sight = head.number == 0 or head.current is not None
        return ref.selector == shipped.digest or (in_sight and ref.selector == shipped.version)

    def _follows(self, name: str, head: Head) -> bool:
        """Tell whether the current version was shipped, so that a newer shipped one takes its place."""
        if head.current is None:
            return False
        return self._versions.manifest(self.kind, name, head.current).lineage.how == "bundled"

    def _check_free(self, ref: Ref, shipped: Manifest) -> None:
        if ref.selector in (shipped.version, *self._versions.store.versions(self.kind, ref.name)):
            raise AlreadyRegistered(f"{ref} exists already.", fix="take the next version; a version never changes.")

    def _unknown(self, ref: Ref, shipped: Manifest | None) -> UnknownComponent:
        if shipped is not None:
            return UnknownComponent(f"{ref.at(None)} has no {ref.selector!r}.", fix=f"it has {shipped.version}.")
        if ref.selector is not None and is_digest(ref.selector) and self._listing(ref.name) is not None:
            problem = f"{ref.at(None)} has no version of that digest."
            return UnknownComponent(problem, fix=f"`tea history {ref.at(None)}` shows its versions.")
        names = {*self._versions.names(self.kind), *self._shipped}
        near = [one for one in difflib.get_close_matches(ref.name, names) if self._listing(one) is not None]
        fix = f"did you mean {near[0]!r}?" if near else f"`tea list {self.kind}` shows what there is."
        return UnknownComponent(f"No {self.kind} is named {ref.name!r}.", fix=fix)


def text_digest(text: SourceText) -> str:
    """Return the digest that a checked source has in the registry."""
    return source_digest(text.kind, text.name, text.source, text.files, text.requires)
