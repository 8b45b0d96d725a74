"""VersionManager: adding versions, moving pointers, and purging bytes."""

from __future__ import annotations

import getpass
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from tea.components.manifest import Manifest
from tea.errors import AlreadyRegistered, BadComponent, Conflict, Purged, RegistryError, UnknownComponent
from tea.refs import FIRST, Kind, Ref, check_alias
from tea.registry.head import Head
from tea.registry.stored import Stored
from tea.registry.tombstone import Tombstone
from tea.types import State

_ATTEMPTS = 50
Guard = Callable[[Head], None]
Again = Literal["add", "keep", "lead"]


class VersionManager(Stored):
    """The write access to immutable versions and the pointers of every kind of component."""

    def add(
        self,
        kind: Kind,
        name: str,
        build: Callable[[str], Manifest],
        *,
        version: str | None = None,
        current: bool = True,
        again: Again = "add",
        author: str | None = None,
        head: Head | None = None,
        guard: Guard = lambda _: None,
        vouch: Callable[[], None] = lambda: None,
    ) -> Manifest:
        """Store a new version and make it current, unless specified otherwise.

        Args:
            kind: The kind.
            name: The name.
            build: Makes the manifest for a version.
            version: The version wanted, or None for the next one by the kind of change.
            current: Whether the current pointer moves to it.
            again: Where a version has these bytes (see `same`), `add` one more, `keep` all as it is, or let it `lead`.
            author: Who adds it; the operator's user name by default.
            head: The newest head, where it was read a moment ago; a stale one is found out when the pointer moves.
            guard: Told the head that the pointer moves on from, before anything is written, and once more when the
                version is there for everybody to see and becomes current; what it raises takes the version back.
            vouch: Called when the version is there and `guard` lets it become current, before anybody uses it.

        Raises:
            AlreadyRegistered: `version` exists; nothing was written.
        """
        known = head

        def becoming(head: Head) -> None:
            guard(head)
            vouch()

        for _ in range(_ATTEMPTS):
            head, known = known or self.head(kind, name), None
            guard(head)
            versions = self.store.versions(kind, name) if version is None else []
            if there := self._there(build(str(FIRST)), again, versions, author, head, becoming):
                return there
            manifest = build(version or self._following(versions[-1:], kind, name, build, head))
            try:
                if adopted := self._adopted(manifest, version, author, head, becoming):
                    vouch()
                    return adopted
                self._create(manifest)
            except AlreadyRegistered:
                if version is not None:
                    raise
                continue
            except Conflict:
                continue
            if current:
                return self._led(manifest, author, head, becoming)
            return self._beside(manifest, author, head, vouch)
        raise Conflict(f"{kind}:{name} is being registered by many at once.", fix="try again.")

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

        def change(head: Head) -> Head:
            target = self._head(kind, name, head.undo) if head.undo else None
            while target is not None and target.current in head.removed:
                target = self._head(kind, name, target.undo) if target.undo else None
            if target is None or target.current is None:
                problem = f"{kind}:{name} has no earlier pointer to go back to."
                raise RegistryError(problem, fix=f"`tea history {kind}:{name}` shows its versions; use `tea restore`.")
            why = reason or f"rolled back from {head.current}"
            return replace(head, current=target.current, undo=target.undo, reason=why)

        return self._advance(kind, name, change, author, None)

    def unregister(self, kind: Kind, name: str, *, author: str | None = None, reason: str = "") -> Head:
        """Hide a component; its bytes stay for runs with them pinned."""

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
            _check_in_sight(head, ref.at(version))
            rest = {v: s for v, s in head.states.items() if v != version}
            return replace(head, states=rest if state == "active" else {**rest, version: state})

        return self._advance(ref.kind, ref.name, change, author, reason or f"{version} is {state}")

    def alias(self, ref: Ref, alias: str, *, author: str | None = None, reason: str = "") -> Head:
        """Point a movable tag to a version.

        Raises:
            BadRef: `alias` is not an alias.
        """
        check_alias(alias)
        version = self._in_sight(ref).version

        def change(head: Head) -> Head:
            _check_in_sight(head, ref.at(version))
            return replace(head, aliases={**head.aliases, alias: version})

        return self._advance(ref.kind, ref.name, change, author, reason or f"{alias} is {version}")

    def unalias(self, kind: Kind, name: str, alias: str, *, author: str | None = None, reason: str = "") -> Head:
        """Remove a movable tag.

        Raises:
            UnknownComponent: There is no such tag.
        """
        known = self.head(kind, name).aliases
        if alias not in known:
            fix = f"it has {', '.join(sorted(known)) or 'none'}."
            raise UnknownComponent(f"{kind}:{name} has no alias {alias[:64]!r}.", fix=fix)

        def change(head: Head) -> Head:
            return replace(head, aliases={tag: one for tag, one in head.aliases.items() if tag != alias})

        return self._advance(kind, name, change, author, reason or f"{alias} is removed")

    def purge(
        self,
        kind: Kind,
        name: str,
        versions: Sequence[str],
        *,
        check: Callable[[], None] = lambda: None,
        author: str | None = None,
        reason: str = "",
    ) -> list[Tombstone]:
        """Remove the bytes of versions permanently; tombstones reserve their numbers against other bytes.

        Args:
            kind: The kind.
            name: The name.
            versions: Which ones.
            check: Looks whether anybody needs them, before anything is changed, and once more when they are out of
                sight, so that nobody can begin to; what it raises brings them back.
            author: Who removes them; the operator's user name by default.
            reason: Why, in words.

        Raises:
            RegistryError: One is current; nothing is removed.
            UnknownComponent: There is no such version, or its bytes are gone.
        """
        check()
        before = self.head(kind, name)
        found = [self.manifest(kind, name, version) for version in versions]
        for one in found:
            if before.current == one.version:
                raise RegistryError(f"{one.ref} is current.", fix="unregister it, or make another version current.")
        why = reason or f"{', '.join(versions)[:80]} purged"
        head = self._advance(kind, name, lambda head: head.without(versions), author, why)
        try:
            check()
        except RegistryError as refused:
            self._advance(kind, name, lambda head: head.with_back(versions, before), author, refused.problem)
            raise
        return self._bury(found, head.author, reason, head.time)

    def _there(
        self,
        manifest: Manifest,
        again: Again,
        versions: Sequence[str],
        author: str | None,
        head: Head,
        guard: Guard,
    ) -> Manifest | None:
        """Return the listed version with the same bytes for use in its place, None if there is none."""
        found = None if again == "add" else self.same(manifest.ref.at(manifest.digest), head, versions)
        if found is None:
            return None
        guard(head)
        if again == "lead" and found.version != head.current:
            why = manifest.reason or f"updated to {found.version}"
            try:
                self._point(found.kind, found.name, found.version, author, why, head, guard)
            except UnknownComponent:  # somebody took it out of sight meanwhile
                return None
        return found

    def _beside(self, manifest: Manifest, author: str | None, head: Head, vouch: Callable[[], None]) -> Manifest:
        """List a new version, and leave the current one current."""
        vouch()
        if head.number == 0:
            self._advance(manifest.kind, manifest.name, lambda head: head, author, manifest.reason)
        return manifest

    def _create(self, manifest: Manifest) -> None:
        self.store.create(manifest.kind, manifest.name, manifest.version, manifest.to_json())
        self._digests[manifest.kind, manifest.name, manifest.version] = manifest.digest

    def _led(self, manifest: Manifest, author: str | None, head: Head, guard: Guard) -> Manifest:
        """Make a new version current, or remove it if the guard refuses."""
        try:
            self._point(manifest.kind, manifest.name, manifest.version, author, manifest.reason, head, guard)
        except UnknownComponent:  # whoever took it out of sight meanwhile came after it
            return manifest
        except (BadComponent, Conflict) as refused:
            self._withdraw(manifest, author or operator(), refused.problem)
            raise
        return manifest

    def _withdraw(self, manifest: Manifest, author: str, reason: str) -> None:
        """Remove a version refused as current, unless others with the same content have made it so.

        It goes out of sight first: who makes it current before that keeps it, who comes later finds it gone.
        """
        kind, name, version = manifest.kind, manifest.name, manifest.version
        before = self.head(kind, name)
        try:
            head = self._advance(kind, name, lambda head: head.without([version]), author, reason)
        except Conflict:
            return
        if any(one.current == version for one in self.heads(kind, name)):
            self._advance(kind, name, lambda head: head.with_back([version], before), author, reason)
        else:
            self._bury([manifest], author, reason, head.time)

    def _bury(self, found: Sequence[Manifest], author: str, reason: str, time: str) -> list[Tombstone]:
        stones = [
            Tombstone(
                kind=one.kind,
                name=one.name,
                version=one.version,
                digest=one.digest,
                author=author,
                reason=reason,
                time=time,
            )
            for one in found
        ]
        for stone in stones:
            self.store.bury(stone.kind, stone.name, stone.version, stone.to_json())
        return stones

    def _adopted(
        self, manifest: Manifest, version: str | None, author: str | None, head: Head, guard: Guard
    ) -> Manifest | None:
        """Return the same content if it is stored already and needs no version of its own.

        That is what ships with tea, stored by another process, and what a registration left that died between its
        version and its first head; it may also be taken back by its writer, but not after it became that.

        Raises:
            Conflict: Somebody else gave the name its first head.
        """

        def first(newest: Head) -> None:
            if newest.number:
                raise Conflict(f"{manifest.ref.at(None)} was registered by someone else meanwhile.", fix="try again.")
            guard(newest)

        kind, name = manifest.kind, manifest.name
        bundled = manifest.lineage.how == "bundled"
        if head.number and not bundled:
            return None
        try:
            found = self._by_digest(Ref(kind=kind, name=name, selector=manifest.digest))
        except Purged:
            return None
        if found is None or (version not in (None, found.version) and not bundled):
            return None
        if head.number == 0:
            self._point(kind, name, found.version, author, found.reason, head, first)
        return found

    def _point(
        self,
        kind: Kind,
        name: str,
        version: str,
        author: str | None,
        reason: str,
        known: Head | None = None,
        guard: Guard | None = None,
    ) -> Head:
        before = () if known is None else known.removed  # a number whose file was lost may be given anew

        def change(head: Head) -> Head:
            if guard is not None:
                guard(head)
            if version in head.removed and version not in before:
                raise _gone(Ref(kind=kind, name=name, selector=version))
            undo = head.undo if head.current == version else (head.number if head.current else None)
            removed = tuple(v for v in head.removed if v != version)
            return replace(head, current=version, undo=undo, removed=removed)

        return self._advance(kind, name, change, author, reason, known)

    def _advance(
        self,
        kind: Kind,
        name: str,
        change: Callable[[Head], Head],
        author: str | None,
        reason: str | None,
        known: Head | None = None,
    ) -> Head:
        """Write the next head, made from the newest, possibly `known`; without a reason `change` gives one."""
        for _ in range(_ATTEMPTS):
            head, known = known or self.head(kind, name), None
            made = change(head)
            why = made.reason if reason is None else reason
            made = replace(made, author=author or operator(), reason=why, time=timestamp())
            try:
                return replace(made, number=self.store.advance(kind, name, made.to_json(), head.number))
            except Conflict:
                continue
        raise Conflict(f"{kind}:{name} is being changed by many at once.", fix="try again.")


def _check_in_sight(head: Head, ref: Ref) -> None:
    """Raise an error for a change of a component or version hidden since the last look."""
    if head.current is None or ref.selector in head.removed:
        raise _gone(ref)


def _gone(ref: Ref) -> UnknownComponent:
    return UnknownComponent(f"{ref} was taken out of sight meanwhile.", fix=f"`tea history {ref.at(None)}` shows more.")


def operator() -> str:
    """Return the name of the account running this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def timestamp() -> str:
    """Return the time, ISO 8601 in UTC, to the millisecond."""
    seconds, rest = divmod(time.time_ns(), 10**9)
    return f"{_second(seconds)}.{rest // 10**6:03}Z"


@lru_cache(maxsize=8)
def _second(seconds: int) -> str:
    """Return a time to the second; cached, as most records have the same second as the one before."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
