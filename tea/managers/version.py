"""VersionManager: what versions there are, which one is current, and how it came to be."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from tea.errors import AlreadyRegistered, Conflict, Damaged, RegistryError, UnknownComponent
from tea.managers.change import change_between
from tea.managers.head import Head
from tea.manifest import Manifest
from tea.refs import FIRST, Kind, Ref, Version, check_alias, is_digest, is_version
from tea.store.registry import RegistryStore
from tea.types import State

_ATTEMPTS = 50


class VersionManager:
    """Keeps the immutable versions and the movable pointers of every kind of component.

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
        """Return the newest head; number 0 when the name was never registered."""
        return Head.from_json(*self.store.head(kind, name))

    def manifest(self, kind: Kind, name: str, version: str) -> Manifest:
        """Return one stored version, whatever its state.

        Raises:
            UnknownComponent: There is no such version.
            Damaged: The file is not what was written, or is another component's.
        """
        wanted = Ref(kind=kind, name=name, selector=version)
        document = self.store.read(kind, name, version)
        try:
            found = Manifest.from_json(document)
        except Damaged as error:
            raise Damaged(f"{wanted} is damaged: {error.problem}"[:240], fix=error.fix) from error
        if found.ref != wanted:
            raise Damaged(f"{wanted} is damaged: its file holds {found.ref}.", fix="bring its version file back.")
        self._digests[kind, name, version] = found.digest
        return found

    def history(self, kind: Kind, name: str) -> list[Manifest]:
        """Return the versions in sight, oldest first."""
        removed = set(self.head(kind, name).removed)
        return [self.manifest(kind, name, v) for v in self.store.versions(kind, name) if v not in removed]

    def heads(self, kind: Kind, name: str) -> list[Head]:
        """Return every change of the pointers, oldest first."""
        newest = self.head(kind, name).number
        return [self._head(kind, name, number) for number in range(1, newest + 1)]

    def resolve(self, ref: Ref) -> Manifest | None:
        """Return the version that `ref` means, or None when the name is not registered.

        Raises:
            UnknownComponent: The name is there, but no such version or alias.
            Damaged: The version's file is not what was written, or is missing.
        """
        head = self.head(ref.kind, ref.name)
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
        known = [v for v in self.store.versions(ref.kind, ref.name) if v not in head.removed]
        names = ", ".join([*known[-5:], *sorted(head.aliases)[:3]])[:120]
        raise UnknownComponent(f"{ref.at(None)} has no version {ref.selector!r}.", fix=f"it has {names or 'none'}.")

    def add(
        self,
        kind: Kind,
        name: str,
        build: Callable[[str], Manifest],
        *,
        version: str | None = None,
        current: bool = True,
        author: str | None = None,
    ) -> Manifest:
        """Store a new version and, unless told otherwise, make it current.

        Args:
            kind: The kind.
            name: The name.
            build: Makes the manifest for a version.
            version: The version wanted, or None for the next one by the kind of change.
            current: Whether the current pointer moves to it.
            author: Who adds it; the operator's user name by default.

        Raises:
            AlreadyRegistered: `version` exists; nothing was written.
        """
        for _ in range(_ATTEMPTS):
            manifest = build(version or self.next_version(kind, name, build))
            if adopted := self._adopted(manifest, version, author):
                return adopted
            try:
                self.store.create(kind, name, manifest.version, manifest.to_json())
            except AlreadyRegistered:
                if version is not None:
                    raise
                continue
            if current:
                self._point(kind, name, manifest.version, author, manifest.reason)
            elif self.head(kind, name).number == 0:
                self._advance(kind, name, lambda head: head, author, manifest.reason)
            return manifest
        raise Conflict(f"{kind}:{name} is being registered by many at once.", fix="try again.")

    def next_version(self, kind: Kind, name: str, build: Callable[[str], Manifest]) -> str:
        """Return the version after the highest, by the kind of change from the current one."""
        versions = self.store.versions(kind, name)
        if not versions:
            return str(FIRST)
        head = self.head(kind, name)
        highest = Version.parse(versions[-1])
        old = self.manifest(kind, name, head.current or versions[-1])
        bumped = Version.parse(old.version).bump(change := change_between(old, build(str(highest))))
        return str(bumped if bumped > highest else highest.bump(change))

    def restore(self, kind: Kind, name: str, version: str, *, author: str | None = None, reason: str = "") -> Head:
        """Make a historical version current; history only grows.

        Raises:
            UnknownComponent: There is no such version in sight.
        """
        self._in_sight(Ref(kind=kind, name=name, selector=version))
        return self._point(kind, name, version, author, reason or f"restored {version}")

    def rollback(self, kind: Kind, name: str, *, author: str | None = None, reason: str = "") -> Head:
        """Go back to the pointer before the current one; again goes further back.

        Raises:
            RegistryError: There is no earlier pointer.
        """
        head = self.head(kind, name)
        target = self._head(kind, name, head.undo) if head.undo else None
        if target is None or target.current is None or target.current in head.removed:
            problem = f"{kind}:{name} has no earlier pointer to go back to."
            raise RegistryError(problem, fix=f"`tea history {kind}:{name}` shows its versions; use `tea restore`.")
        why = reason or f"rolled back from {head.current}"
        return self._advance(kind, name, lambda h: replace(h, current=target.current, undo=target.undo), author, why)

    def unregister(self, kind: Kind, name: str, *, author: str | None = None, reason: str = "") -> Head:
        """Take a component out of sight; its bytes stay for runs that pinned them."""

        def change(head: Head) -> Head:
            return replace(
                head,
                current=None,
                undo=None,
                aliases={},
                states={},
                removed=tuple(self.store.versions(kind, name)),
            )

        return self._advance(kind, name, change, author, reason or "unregistered")

    def mark(self, ref: Ref, state: State, *, author: str | None = None, reason: str = "") -> Head:
        """Set a version's state: active, deprecated or archived."""
        version = self._in_sight(ref).version

        def change(head: Head) -> Head:
            rest = {v: s for v, s in head.states.items() if v != version}
            return replace(head, states=rest if state == "active" else {**rest, version: state})

        return self._advance(ref.kind, ref.name, change, author, reason or f"{version} is {state}")

    def alias(self, ref: Ref, alias: str, *, author: str | None = None, reason: str = "") -> Head:
        """Let a movable tag stand for a version.

        Raises:
            BadRef: `alias` is no alias.
        """
        check_alias(alias)
        version = self._in_sight(ref).version
        return self._advance(
            ref.kind,
            ref.name,
            lambda head: replace(head, aliases={**head.aliases, alias: version}),
            author,
            reason or f"{alias} is {version}",
        )

    def holds(self, kind: Kind, name: str, digest: str) -> bool:
        """Tell whether some stored version has that digest."""
        return any(self._digest(kind, name, one) == digest for one in self.store.versions(kind, name))

    def lineage(self, kind: Kind, name: str, version: str) -> list[Manifest]:
        """Return a version and its ancestors, newest first."""
        chain: dict[str, Manifest] = {}
        at: str | None = version
        while at is not None and at not in chain:
            chain[at] = self.manifest(kind, name, at)
            at = chain[at].lineage.parent
        return list(chain.values())

    def _adopted(self, manifest: Manifest, version: str | None, author: str | None) -> Manifest | None:
        """Return the same content where it is stored already and needs no version of its own.

        That is what ships with tea, stored by another process, and what a registration left that died between its
        version and its first head.
        """
        kind, name = manifest.kind, manifest.name
        head = self.head(kind, name)
        if head.number and manifest.lineage.how != "bundled":
            return None
        found = self._by_digest(Ref(kind=kind, name=name, selector=manifest.digest))
        if found is None or version not in (None, found.version):
            return None
        if head.number == 0:
            self._point(kind, name, found.version, author, found.reason)
        return found

    def _in_sight(self, ref: Ref) -> Manifest:
        found = self.resolve(ref)
        if found is None:
            raise UnknownComponent(f"{ref.at(None)} is not registered.", fix=f"`tea list {ref.kind}` shows what is.")
        return found

    def _by_digest(self, ref: Ref) -> Manifest | None:
        for version in self.store.versions(ref.kind, ref.name):
            if self._digest(ref.kind, ref.name, version) == ref.selector:
                return self.manifest(ref.kind, ref.name, version)
        return None

    def _digest(self, kind: Kind, name: str, version: str) -> str:
        """Return a version's digest, remembered from its first reading; empty where the file is damaged."""
        found = self._digests.get((kind, name, version))
        if found is None:
            try:
                found = self.manifest(kind, name, version).digest
            except Damaged:
                return ""
        return found

    def _head(self, kind: Kind, name: str, number: int) -> Head:
        return Head.from_json(*self.store.head(kind, name, number))

    def _point(self, kind: Kind, name: str, version: str, author: str | None, reason: str) -> Head:
        def change(head: Head) -> Head:
            undo = head.undo if head.current == version else (head.number if head.current else None)
            removed = tuple(v for v in head.removed if v != version)
            return replace(head, current=version, undo=undo, removed=removed)

        return self._advance(kind, name, change, author, reason)

    def _advance(self, kind: Kind, name: str, change: Callable[[Head], Head], author: str | None, reason: str) -> Head:
        for _ in range(_ATTEMPTS):
            head = self.head(kind, name)
            made = replace(change(head), author=author or operator(), reason=reason, time=timestamp())
            try:
                return replace(made, number=self.store.advance(kind, name, made.to_json(), head.number))
            except Conflict:
                continue
        raise Conflict(f"{kind}:{name} is being changed by many at once.", fix="try again.")


def operator() -> str:
    """Return the name of the person whose account this process runs under."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def timestamp() -> str:
    """Return the time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
