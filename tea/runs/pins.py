"""Pins: the versions used by one run, from its first look at each until it ends, and their definitions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from tea.components.definition import Definition
from tea.components.manifest import Manifest, is_recipe
from tea.errors import BadInput, Damaged, NotLocked, RegistryError, UnknownComponent
from tea.journal.header import OFFERED
from tea.journal.pin import RESOLVE, Exact, Pin, exact_of, outcome_of, pins_in, target_of
from tea.kernel.gate import Gate
from tea.kernel.pending import Inline
from tea.protocols.manager import ContextManager
from tea.refs import Kind, Ref
from tea.source.trust import untrusted
from tea.types import JsonObject, JsonValue

Library = ContextManager


class Pins:
    """The pinned versions of a run; a found one stays the same for it through all changes of the registry.

    Args:
        gate: Records what the program is told.
        libraries: The managers of each kind.
        use: Selectors of components by `kind:name`, before what is current.
        versions: Which version of those with the same bytes, for what `use` names by its digest.
        locked: Whether nothing else may be used.
        without: Names that may not be used, `name` or `kind:name`.
    """

    def __init__(
        self,
        gate: Gate,
        libraries: Mapping[Kind, Library],
        use: Mapping[str, str],
        versions: Mapping[str, str],
        *,
        locked: bool,
        without: Sequence[str] = (),
    ) -> None:
        self._gate, self._libraries, self._locked = gate, libraries, locked
        self._use, self._versions, self._without = use, versions, frozenset(without)
        self._pins: dict[str, Manifest] = {}
        self._held: dict[str, Manifest] = {}
        self._stored: dict[Exact, Manifest] = {}
        self._definitions: dict[Exact, Definition] = {}
        self._instead: dict[str, Exact] = {}
        self._sandboxed: Mapping[str, bool] = {}
        self._trust, self._doubted = libraries["tool"].services.trust, set[str]()

    def may_use(self, name: str) -> bool:
        """Return whether the run's lock, if it has one, contains a component, `kind:name`, not switched off."""
        return not self._is_off(name) and (not self._locked or name in self._use)

    def _is_off(self, name: str) -> bool:
        kind, _, bare = name.partition(":")
        return kind in OFFERED and not self._without.isdisjoint((name, bare))

    async def resolve(self, ref: Ref) -> Manifest:
        """Return the version pinned by this run; the first lookup pins it, and is recorded.

        Where a run is forked just behind that record, the program has not been told of it, and the fork decides.

        Raises:
            UnknownComponent: There is none.
        """
        (found,) = await self.resolve_all((ref,))
        if self._pins.get(str(component(ref))) is not found:
            (found,) = await self.resolve_all((ref,))
        return found

    async def resolve_all(self, refs: Sequence[Ref]) -> list[Manifest]:
        """Return the versions of several refs pinned by this run; one effect pins all those not pinned yet.

        Raises:
            UnknownComponent: One of them does not exist; then none is pinned.
        """
        names = [str(component(ref)) for ref in refs]
        new = {name: ref for name, ref in zip(names, refs, strict=True) if name not in self._pins}

        async def perform(key: str) -> JsonValue:
            return outcome_of([await self.pin(ref) for ref in new.values()])

        found = dict[str, Manifest]()
        if new:
            target = target_of(new)
            for one in pins_in(target, await self._gate.effect(RESOLVE, target, {}, perform, Inline.READ)):
                if one.exact not in self._stored:
                    problem = f"{one.ref} is not in the registry with the bytes this run pinned."
                    raise Damaged(problem, fix="bring its version file back.")
                config = found[one.asked] = self._stored[one.exact]
                if self._instead.get(one.asked, one.exact) == one.exact:  # else a fork lets go of it again
                    found[one.asked] = self._pins.setdefault(one.asked, config)
        return [found.get(name) or self._pins[name] for name in names]

    async def pin(self, ref: Ref) -> Manifest:
        """Return the version this run uses since its first lookup; only `resolve` records it.

        Raises:
            UnknownComponent: There is none.
            NotLocked: It is not what the run's lock names.
        """
        name = str(component(ref))
        if name in self._held:
            return self._held[name]
        bare = name if ref.selector is None else str(Ref(kind=ref.kind, name=ref.name))
        if self._is_off(bare):
            raise UnknownComponent(f"{bare} is switched off for this run.", fix="do without it.")
        if not self.may_use(bare):
            raise not_locked(bare)
        trusted = self._trust.digests()  # before any words are taken
        config = await self._found(component(ref), name)
        self._require_locked(bare, config)
        await self._load(config)
        self._keep(config, trusted)
        return self._held.setdefault(name, config)

    async def stock(
        self,
        pins: Iterable[Pin],
        instead: Mapping[str, str] | None = None,
        sandboxed: Mapping[str, bool] | None = None,
        *,
        goes_on: bool = False,
    ) -> None:
        """Load the versions pinned by a journal in advance, for a replay without waiting.

        Args:
            pins: What it pinned, as recorded.
            instead: Selectors of other versions, by `kind:name`.
            sandboxed: Whether each component worked in a sandbox, by exact ref; that stays, whoever is trusted now.
            goes_on: Whether the run does more than the journal holds; then it may use what `pin` would give it.

        Raises:
            UnknownComponent: One of them is not there.
            Damaged: One of them has other bytes now.
            NotLocked: A run that goes on would use what its lock does not name.
            Quarantined: A run that goes on would do what the words of one say that nobody trusts.
        """
        self._sandboxed = {**self._sandboxed, **(sandboxed or {})}
        for pin in pins:
            ref = Ref.parse(pin.ref)
            chosen = (instead or {}).get(str(ref.at(None)))
            library = self._libraries[ref.kind]
            trusted = self._trust.digests()
            config = await (library.info(ref.at(chosen)) if chosen else library.exact(ref, pin.digest))
            if goes_on:
                self._require_locked(str(ref.at(None)), config)
                if not library.executed and config.digest not in trusted:
                    raise untrusted(config.ref)
            self._stored[pin.exact] = self._held[pin.asked] = config
            self._keep(config, trusted)
            worked = self._placed(config) is not None
            with suppress(*(() if worked else (RegistryError, BadInput))):  # its call told that it cannot be loaded
                await self._load(config, at_once=True)

    def _require_locked(self, name: str, config: Manifest) -> None:
        """Raise NotLocked for a version of a component, `kind:name`, other than the one named by the run's lock."""
        if self._locked and config.digest != self._use.get(name):
            raise NotLocked(f"{config.ref} is not what the lock file says.", fix="lock again with `tea lock`.")

    def believes(self, digest: str) -> bool:
        """Return whether a version's declarations are believed: it is trusted, and was when this run looked it up.

        The run keeps the words of that look, which are those of a sender as long as nobody trusts the version.
        """
        return digest not in self._doubted and self._trust(digest)

    def exact(self, ref: str, digest: str) -> Manifest:
        """Return a version held by this run, by its ref, perhaps with an operation, and its digest."""
        return self._stored[str(Ref.parse(ref).selector), digest]

    def pinned(self, ref: str, digest: str | None) -> Manifest:
        """Return a version held by this run, by its exact ref, and by its digest if known.

        Raises:
            KeyError: It holds none.
        """
        if digest is not None:
            return self.exact(ref, digest)
        return self._held[str(component(Ref.parse(ref)))]

    async def definition(self, config: Manifest) -> Definition:
        """Return the definition of a version, loaded when first needed.

        The first of several that load at once counts: what a definition holds, such as a lock, is one for a run.

        Raises:
            RegistryError: Its source may not run, or cannot be loaded.
        """
        found = self._definitions.get(exact_of(config))
        if found is None:
            placed = self._placed(config)
            loaded = await self._libraries[config.kind].definition(config, sandboxed_then=placed)
            found = self._definitions.setdefault(exact_of(config), loaded)
        return found

    def _placed(self, config: Manifest) -> bool | None:
        """Return whether a version with a scope ran in a sandbox earlier in this run, None if it did not run."""
        scopes = [name for name, one in config.operations.items() if one.traits.scope]
        acted = config.kind == "environment" and any(f"{config.ref}#{name}" in self._sandboxed for name in scopes)
        return True if acted else self._sandboxed.get(str(config.ref))

    def loaded(self, config: Manifest) -> Definition | None:
        """Return the definition of a version, None until it is loaded."""
        return self._definitions.get(exact_of(config))

    def ready(self, config: Manifest) -> Definition:
        """Return the definition of a version with a scope, loaded for its call.

        Raises:
            Damaged: An earlier process loaded it, and this one cannot.
        """
        if (found := self.loaded(config)) is None:
            raise Damaged(
                f"{config.ref} was loaded for its call, and cannot be now.", fix="bring back what it requires."
            )
        return found

    def change(self, use: Mapping[str, JsonObject]) -> None:
        """Release the pins of components changed by a fork; the next touch pins the changed version.

        Args:
            use: Of each `kind:name`, `ref` and `digest` of that version.
        """
        for name, one in use.items():
            self._instead[name] = Pin(name, one["ref"], one["digest"]).exact
            self._pins.pop(name, None)
            self._held.pop(name, None)

    async def _found(self, ref: Ref, name: str) -> Manifest:
        library = self._libraries[ref.kind]
        if name in self._versions:
            return await library.pin_exact(ref.at(self._versions[name]), self._use[name])
        return await library.pin(ref.at(ref.selector or self._use.get(name)))

    def _keep(self, config: Manifest, trusted: Container[str]) -> None:
        """Hold a version and make it available by its exact ref too, listed or not.

        Its words are those of a sender unless it was among the `trusted` ones before it was looked up.
        """
        if config.digest not in trusted:
            self._doubted.add(config.digest)
        self._stored[exact_of(config)] = config
        self._held.setdefault(str(config.ref), config)

    async def _load(self, config: Manifest, *, at_once: bool = False) -> None:
        """Load a version with a scope, as it runs inside the program's own branches, without waits outside the gate.

        Trusted source of an agent or a tool does what its manifest says, so it may wait for the effect of its first
        call; how other versions are carried out is known from their definition alone.
        """
        if not any(one.traits.scope for one in config.operations.values()):
            return
        trusted = self._trust(config.digest)
        if at_once or config.kind == "environment" or is_recipe(config.source) or not trusted:
            await self.definition(config)


def not_locked(name: str) -> NotLocked:
    """Return the error for a locked run in need of a component, `kind:name`, missing in its lock."""
    fix = f"lock again: `tea lock` for all there is, or `tea lock REF... {name}` for some and what they reach."
    return NotLocked(f"{name} is not in the lock file.", fix=fix)


def require_used(names: Iterable[str], used: Container[str]) -> None:
    """Raise BadInput for another version of a component unused by the run, as it would change nothing.

    Raises:
        BadInput: One of `names`, each `kind:name`, is not among what was `used`.
    """
    for name in names:
        if name not in used:
            raise BadInput(f"The run never used {name}.", fix="name a component that `tea trace RUN -v` shows.")


def component(ref: Ref) -> Ref:
    """Return a ref without its operation."""
    return ref if ref.operation is None else replace(ref, operation=None)
