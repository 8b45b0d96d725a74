"""VersionManager: adding versions, moving pointers, and purging bytes."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tea.clock import timestamp
from tea.components.manifest import Lineage, Manifest
from tea.errors import AlreadyRegistered, BadComponent, Conflict, Purged, RegistryError, UnknownComponent
from tea.refs import FIRST, Kind, Ref, check_alias
from tea.registry.head import Head
from tea.registry.stored import Stored, Worded
from tea.registry.tombstone import Tombstone
from tea.types import State


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """The facts of a version about to be added, except its content.

    Args:
        version: The version wanted, `X.Y.Z`; the next one by the kind of change if None.
        reason: Why, in words.
        lineage: Where it comes from; written by hand by default.
        author: Who adds it; the operator by default.
    """

    version: str | None = None
    reason: str = ""
    lineage: Lineage = field(default_factory=Lineage)
    author: str | None = None


_ATTEMPTS = 50
Guard = Callable[[Head], None]
Again = Literal["add", "keep", "lead"]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A version in the registry, about to lead or not.

    Args:
        manifest: The version.
        leads: Whether the pointer moves to it.
        reason: Why it does, in words.
        new: Whether this registration wrote it.
        removed: The numbers out of sight when it was written; one of them may be its own, if its old file was lost.
    """

    manifest: Manifest
    leads: bool
    reason: str
    new: bool = False
    removed: tuple[str, ...] = ()

    def is_hidden_in(self, head: Head) -> bool:
        """Return whether a head hides the version, and did not when it was written."""
        return self.manifest.version in head.removed and self.manifest.version not in self.removed


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
        trust: Callable[[], None] = lambda: None,
        worded: Worded = lambda found: found,
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
            trust: Called when the version is there and `guard` lets it become current, before anybody uses it.
            worded: Gives the current version the words of its own source, to tell the kind of change.

        Raises:
            AlreadyRegistered: `version` exists; nothing was written.
        """
        placed: _Placed | None = None
        for _ in range(_ATTEMPTS):
            newest, head = head or self.head(kind, name), None
            self._ask(guard, newest, placed, author)
            if placed is None or not placed.new:
                placed = self._place(kind, name, build, version, again, newest, worded, current=current)
                if placed is None:  # somebody took the number meanwhile
                    continue
                self._ask(guard, newest, placed, author)
            elif placed.is_hidden_in(newest):  # whoever took it out of sight meanwhile came after it
                return placed.manifest
            trust()
            if self._lead(placed, newest, author):
                return placed.manifest
        refused = Conflict(f"{kind}:{name} is being registered by many at once.", fix="try again.")
        self._take_back(placed, author, refused)
        raise refused

    def restore(self, kind: Kind, name: str, version: str, *, author: str | None = None, reason: str = "") -> Head:
        """Make a historical version current; history only grows.

        Raises:
            UnknownComponent: There is no such version in sight.
        """
        ref = Ref(kind=kind, name=name, selector=version)
        self._in_sight(ref)

        def change(head: Head) -> Head:
            if version in head.removed:
                raise _gone(ref)
            return head.leading(version)

        return self._advance(kind, name, change, author, reason or f"restored {version}")

    def rollback(self, kind: Kind, name: str, *, author: str | None = None, reason: str = "") -> Head:
        """Make the version current that was current before; repeated calls go further back.

        Raises:
            RegistryError: No other version was current before.
        """

        def change(head: Head) -> Head:
            removed = frozenset(head.removed)
            target = self._head(kind, name, head.undo) if head.undo else None
            while target is not None and target.current in removed:
                target = self._head(kind, name, target.undo) if target.undo else None
            if target is None or target.current is None:
                problem = f"{kind}:{name} was not at another version before, so there is none to go back to."
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

    def _place(
        self,
        kind: Kind,
        name: str,
        build: Callable[[str], Manifest],
        version: str | None,
        again: Again,
        head: Head,
        worded: Worded,
        *,
        current: bool,
    ) -> _Placed | None:
        """Return the stored version with the same bytes, else write one; None if another process took its number."""
        versions = self.store.versions(kind, name) if version is None else []
        if again != "add":
            wanted = build(str(FIRST))
            found = self.same(wanted.ref.at(wanted.digest), head, versions)
            if found is not None:
                leads = again == "lead" and found.version != head.current
                return _Placed(found, leads=leads, reason=wanted.reason or f"updated to {found.version}")
        manifest = build(version or self._following(versions[-1:], kind, name, build, head, worded))
        if (found := self._adopted(manifest, version, head)) is not None:
            return _Placed(found, leads=head.number == 0, reason=found.reason)
        try:
            self._create(manifest)
        except AlreadyRegistered:
            if version is not None:
                raise
            return None
        except Conflict:
            return None
        return _Placed(manifest, leads=current, reason=manifest.reason, new=True, removed=head.removed)

    def _lead(self, placed: _Placed, head: Head, author: str | None) -> bool:
        """Move the pointer to a placed version if it is to lead; False if somebody else moved it first."""
        if placed.leads:
            made = head.leading(placed.manifest.version)
        elif placed.new and head.number == 0:  # the first head lists it, and makes nothing current
            made = head
        else:
            return True
        try:
            self._write(placed.manifest.kind, placed.manifest.name, head, made, author, placed.reason)
        except Conflict:
            return False
        return True

    def _ask(self, guard: Guard, head: Head, placed: _Placed | None, author: str | None) -> None:
        """Ask the guard about a head, and take back a version written before if it refuses."""
        try:
            guard(head)
        except (BadComponent, Conflict) as refused:
            self._take_back(placed, author, refused)
            raise

    def _take_back(self, placed: _Placed | None, author: str | None, refused: BadComponent | Conflict) -> None:
        if placed is not None and placed.new:
            self._withdraw(placed.manifest, author or operator(), refused.problem)

    def _create(self, manifest: Manifest) -> None:
        self.store.create(manifest.kind, manifest.name, manifest.version, manifest.to_json())
        self._digests[manifest.kind, manifest.name, manifest.version] = manifest.digest

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

    def _adopted(self, manifest: Manifest, version: str | None, head: Head) -> Manifest | None:
        """Return the same content if it is stored already and needs no version of its own.

        That is what ships with tea, stored by another process, and what a registration left that died between its
        version and its first head; it may also be taken back by its writer, but not after it became that.
        """
        bundled = manifest.lineage.how == "bundled"
        if head.number and not bundled:
            return None
        try:
            found = self._by_digest(manifest.ref.at(manifest.digest))
        except Purged:
            return None
        return found if found is not None and (bundled or version in (None, found.version)) else None

    def _advance(
        self, kind: Kind, name: str, change: Callable[[Head], Head], author: str | None, reason: str | None
    ) -> Head:
        """Write the next head, made from the newest; without a reason `change` gives one."""
        for _ in range(_ATTEMPTS):
            head = self.head(kind, name)
            made = change(head)
            try:
                return self._write(kind, name, head, made, author, reason)
            except Conflict:
                continue
        raise Conflict(f"{kind}:{name} is being changed by many at once.", fix="try again.")

    def _write(self, kind: Kind, name: str, head: Head, made: Head, author: str | None, reason: str | None) -> Head:
        """Write a head after another one; raises Conflict if somebody else was first."""
        why = made.reason if reason is None else reason
        made = replace(made, author=author or operator(), reason=why, time=timestamp())
        return replace(made, number=self.store.advance(kind, name, made.to_json(), head.number))


def _check_in_sight(head: Head, ref: Ref) -> None:
    """Raise an error for a change of a component or version hidden since the last look."""
    if head.current is None or ref.selector in head.removed:
        raise _gone(ref)


def _gone(ref: Ref) -> UnknownComponent:
    return UnknownComponent(f"{ref} was unregistered meanwhile.", fix=f"see `tea history {ref.at(None)}`.")


def operator() -> str:
    """Return the name of the account running this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
