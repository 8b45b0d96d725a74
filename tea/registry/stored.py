"""Stored: the existing versions, and the meaning of refs; nothing here changes any."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tea.characters import in_sentence
from tea.components.manifest import Manifest
from tea.errors import Damaged, UnknownComponent
from tea.refs import FIRST, Kind, Ref, Version, is_digest, is_version
from tea.registry.change import change_between
from tea.registry.head import Head
from tea.registry.tombstone import Tombstone
from tea.store.registry_store import RegistryStore

Worded = Callable[[Manifest], Manifest]


class Stored:
    """The read access to the immutable versions and the movable pointers of every kind of component.

    All methods block for a short file operation; callers on an event loop use a thread.

    Args:
        store: Where they are kept.
    """

    def __init__(self, store: RegistryStore) -> None:
        self.store = store
        self._digests: dict[tuple[str, str, str], str] = {}

    def names(self, kind: Kind) -> list[str]:
        """Return the names ever registered, sorted; removed ones included."""
        return self.store.names(kind)

    def head(self, kind: Kind, name: str) -> Head:
        """Return the newest head; number 0 if the name was never registered."""
        return Head.from_json(*self.store.head(kind, name))

    def manifest(self, kind: Kind, name: str, version: str) -> Manifest:
        """Return one stored version, in any state.

        Raises:
            UnknownComponent: There is no such version, or its bytes were purged.
            Damaged: The file is not what was written, or is another component's.
        """
        found = self.document(kind, name, version)
        if isinstance(found, Tombstone):
            raise found.error()
        return found

    def document(self, kind: Kind, name: str, version: str) -> Manifest | Tombstone:
        """Return one stored version, or the tombstone of a purged one.

        Raises:
            UnknownComponent: There is no such version.
            Damaged: The file is not what was written, or is another component's.
        """
        wanted = Ref(kind=kind, name=name, selector=version)
        data = self.store.read(kind, name, version)
        try:
            found = Tombstone.of(data) or Manifest.from_json(data)
        except Damaged as error:
            raise Damaged(f"{wanted} is damaged: {error.problem}"[:240], fix=error.fix) from error
        if found.ref != wanted:
            raise Damaged(
                f"{wanted} is damaged: its file holds {in_sentence(str(found.ref))}.",
                fix="bring its version file back.",
            )
        self._digests[kind, name, version] = found.digest
        return found

    def history(self, kind: Kind, name: str) -> list[Manifest]:
        """Return the listed versions, oldest first."""
        removed = set(self.head(kind, name).removed)
        stored = (self.document(kind, name, v) for v in self.store.versions(kind, name) if v not in removed)
        return [one for one in stored if isinstance(one, Manifest)]

    def heads(self, kind: Kind, name: str) -> list[Head]:
        """Return every change of the pointers, oldest first."""
        newest = self.head(kind, name).number
        return [self._head(kind, name, number) for number in range(1, newest + 1)]

    def resolve(self, ref: Ref, head: Head | None = None) -> Manifest | None:
        """Return the version of `ref`, or None if the name is not registered; its newest `head` may be given.

        Raises:
            UnknownComponent: The name is there, but no such version or alias.
            Damaged: The version's file is not what was written, or is missing.
        """
        head = head or self.head(ref.kind, ref.name)
        if ref.selector is not None and is_digest(ref.selector):
            return self._by_digest(ref)
        if head.current is None:
            return None
        version = head.current if ref.selector is None else head.aliases.get(ref.selector, ref.selector)
        if is_version(version) and version not in head.removed and version in self.store.versions(ref.kind, ref.name):
            return self.manifest(ref.kind, ref.name, version)
        if ref.selector is None:
            problem = f"{ref} is damaged: its current version {version[:40]!r} is missing."
            raise Damaged(problem, fix=f"bring its version file back, or restore another: `tea history {ref}`.")
        removed = frozenset(head.removed)
        known = [v for v in self.store.versions(ref.kind, ref.name) if v not in removed]
        names = ", ".join([*known[-5:], *sorted(head.aliases)[:3]])[:120]
        raise UnknownComponent(f"{ref.at(None)} has no version {ref.selector!r}.", fix=f"it has {names or 'none'}.")

    def holds(self, kind: Kind, name: str, digest: str) -> bool:
        """Return whether a stored version has the given digest."""
        return any(self._digest(kind, name, one) == digest for one in self.store.versions(kind, name))

    def same(self, ref: Ref, head: Head, versions: Sequence[str]) -> Manifest | None:
        """Return the listed version with a ref's digest, preferably the current one, else the newest once current.

        What never was current may be what a registration left that died, or is about to take back.

        Args:
            ref: Names the digest.
            head: The head that tells what is in sight.
            versions: All versions of its name, lowest first.
        """
        if head.current is None:
            return None
        removed, led = frozenset(head.removed), None
        seen = [one for one in reversed(versions) if one not in removed]
        seen.sort(key=lambda one: one != head.current)
        alike = (one for one in seen if self._digest(ref.kind, ref.name, one) == ref.selector)
        for version in alike:
            if version != head.current and led is None:
                led = {one.current for one in self.heads(ref.kind, ref.name)}
            if led is None or version in led:
                found = self.document(ref.kind, ref.name, version)
                return found if isinstance(found, Manifest) else None
        return None

    def next_version(
        self,
        kind: Kind,
        name: str,
        build: Callable[[str], Manifest],
        head: Head | None = None,
        worded: Worded = lambda found: found,
    ) -> str:
        """Return the version after the highest, by the kind of change from the current one.

        Args:
            kind: The kind.
            name: The name.
            build: Makes the manifest for a version.
            head: The newest head, where it was read a moment ago.
            worded: Gives the current version the words of its own source.
        """
        last = self.store.highest(kind, name)
        return self._following([last] if last else [], kind, name, build, head or self.head(kind, name), worded)

    def lineage(self, kind: Kind, name: str, version: str) -> list[Manifest]:
        """Return a version and its ancestors, newest first; copies lead to their origin."""
        chain: dict[Ref, Manifest] = {}
        at: Ref | None = Ref(kind=kind, name=name, selector=version)
        while at is not None and at not in chain:
            found = chain[at] = self.manifest(at.kind, at.name, str(at.selector))
            parent = found.lineage.parent
            at = None if parent is None else Ref.parse(parent) if ":" in parent else at.at(parent)
        return list(chain.values())

    def living(self, kind: Kind, name: str) -> list[str]:
        """Return the versions with existing bytes, listed or hidden, lowest first."""
        versions = self.store.versions(kind, name)
        return [one for one in versions if isinstance(self.document(kind, name, one), Manifest)]

    def chosen(self, ref: Ref) -> list[str]:
        """Return the version selected by a ref, listed or hidden, as a list; empty if there is none."""
        selector = str(ref.selector)
        if is_digest(selector):
            found = self._by_digest(ref)
            return [found.version] if found else []
        version = self.head(ref.kind, ref.name).aliases.get(selector, selector)
        return [version] if version in self.store.versions(ref.kind, ref.name) else []

    def _following(
        self,
        last: Sequence[str],
        kind: Kind,
        name: str,
        build: Callable[[str], Manifest],
        head: Head,
        worded: Worded,
    ) -> str:
        if not last:
            return str(FIRST)
        highest = Version.parse(last[0])
        old = self.document(kind, name, head.current or last[0])
        if isinstance(old, Tombstone):
            return str(highest.bump("patch"))
        bumped = Version.parse(old.version).bump(change := change_between(worded(old), build(str(highest))))
        return str(bumped if bumped > highest else highest.bump(change))

    def _in_sight(self, ref: Ref) -> Manifest:
        found = self.resolve(ref)
        if found is None:
            raise UnknownComponent(f"{ref.at(None)} is not registered.", fix=f"`tea list {ref.kind}` shows what is.")
        return found

    def _by_digest(self, ref: Ref) -> Manifest | None:
        gone: Tombstone | None = None
        for version in self.store.versions(ref.kind, ref.name):
            if self._digest(ref.kind, ref.name, version) == ref.selector:
                found = self.document(ref.kind, ref.name, version)
                if isinstance(found, Tombstone):
                    gone = found
                elif found.digest == ref.selector:  # else its file was changed since it was read first
                    return found
        if gone is not None:
            raise gone.error()
        return None

    def _digest(self, kind: Kind, name: str, version: str) -> str:
        """Return a version's digest, cached from its first reading; empty if the file is damaged."""
        found = self._digests.get((kind, name, version))
        if found is None:
            try:
                found = self.document(kind, name, version).digest
            except Damaged:
                return ""
        return found

    def _head(self, kind: Kind, name: str, number: int) -> Head:
        return Head.from_json(*self.store.head(kind, name, number))
