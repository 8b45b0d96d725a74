"""Holding: the versions that one run uses, from its first look at each until it ends, and what they define."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tea.definition import Definition
from tea.errors import Damaged, NotLocked
from tea.managers.pin import RESOLVE, outcome_of, pins_in, target_of
from tea.manifest import Manifest
from tea.protocols.lock import not_locked
from tea.protocols.manager import ContextManager
from tea.refs import Kind, Ref
from tea.runtime.gate import Gate
from tea.types import JsonObject, JsonValue

Library = ContextManager[Manifest]


class Holding:
    """Finds versions for a run; what it has found once stays the same for it, whatever becomes of the registry.

    Args:
        gate: Records what the program is told.
        libraries: The managers of each kind.
        use: Selectors of components by `kind:name`, before what is current.
        locked: Whether nothing else may be used.
    """

    def __init__(self, gate: Gate, libraries: Mapping[Kind, Library], use: Mapping[str, str], *, locked: bool) -> None:
        self._gate, self._libraries, self._use, self._locked = gate, libraries, use, locked
        self._pins: dict[str, Manifest] = {}
        self._held: dict[str, Manifest] = {}
        self._stored: dict[str, Manifest] = {}
        self._definitions: dict[str, Definition] = {}
        self._instead: dict[str, str] = {}

    def may_use(self, name: str) -> bool:
        """Return whether the run's lock, where it has one, names a component, `kind:name`."""
        return not self._locked or name in self._use

    async def resolve(self, ref: Ref) -> Manifest:
        """Return the version this run has pinned; the first touch decides, and is recorded.

        Where a run is forked just behind that record, the program has not been told of it, and the fork decides.

        Raises:
            UnknownComponent: There is none.
        """
        (found,) = await self.resolve_all((ref,))
        if self._pins.get(str(component(ref))) is not found:
            (found,) = await self.resolve_all((ref,))
        return found

    async def resolve_all(self, refs: Sequence[Ref]) -> list[Manifest]:
        """Return the same of several, to tell the program; one effect pins all that the run has not touched yet.

        Raises:
            UnknownComponent: There is none of one of them; then none is pinned.
        """
        names = [str(component(ref)) for ref in refs]
        new = {name: ref for name, ref in zip(names, refs, strict=True) if name not in self._pins}

        async def perform(key: str) -> JsonValue:
            return outcome_of([await self.pin(ref) for ref in new.values()])

        found = dict[str, Manifest]()
        if new:
            target = target_of(new)
            for one in pins_in(target, await self._gate.effect(RESOLVE, target, {}, perform, "looks")):
                if one.digest not in self._stored:
                    problem = f"{one.ref} is not in the registry with the bytes this run pinned."
                    raise Damaged(problem, fix="bring its version file back.")
                config = found[one.asked] = self._stored[one.digest]
                if self._instead.get(one.asked, one.digest) == one.digest:  # else a fork lets go of it again
                    found[one.asked] = self._pins.setdefault(one.asked, config)
        return [found.get(name) or self._pins[name] for name in names]

    async def pin(self, ref: Ref) -> Manifest:
        """Return the version that this run holds on to from its first look; only `resolve` tells the program.

        Raises:
            UnknownComponent: There is none.
            NotLocked: It is not what the run's lock names.
        """
        name = str(component(ref))
        if name in self._held:
            return self._held[name]
        library = self._libraries[ref.kind]
        selector = ref.selector or self._use.get(name)
        bare = name if ref.selector is None else str(Ref(kind=ref.kind, name=ref.name))
        if not self.may_use(bare):
            raise not_locked(bare)
        config = await library.pin(component(ref).at(selector))
        if self._locked and config.digest != self._use[bare]:
            raise NotLocked(f"{config.ref} is not what the lock file says.", fix="lock anew with `tea lock`.")
        await self._load(config)
        self._stored[config.digest] = config
        return self._held.setdefault(name, config)

    async def stock(self, pins: Iterable[tuple[str, str]], instead: Mapping[str, str] | None = None) -> None:
        """Have the versions that a journal pinned at hand, so that a replay waits for nothing.

        Args:
            pins: Each ref and its digest, as recorded.
            instead: Selectors of other versions, by `kind:name`.
        """
        for text, digest in pins:
            ref = Ref.parse(text)
            chosen = (instead or {}).get(str(ref.at(None)))
            library = self._libraries[ref.kind]
            config = await (library.info(ref.at(chosen)) if chosen else library.exact(ref.name, digest))
            self._stored[digest] = self._stored[config.digest] = self._held[text] = config
            await self._load(config)

    def exact(self, digest: str) -> Manifest:
        """Return the version with that digest, which this run holds."""
        return self._stored[digest]

    async def definition(self, config: Manifest) -> Definition:
        """Return what a version defines, loaded at the first need.

        The first of several that load at once counts: what a definition holds, such as a lock, is one for a run.

        Raises:
            RegistryError: Its source may not run, or cannot be loaded.
        """
        found = self._definitions.get(config.digest)
        if found is None:
            loaded = await self._libraries[config.kind].definition(config)
            found = self._definitions.setdefault(config.digest, loaded)
        return found

    def loaded(self, digest: str) -> Definition:
        """Return the same of one with a scope, which is loaded when it is found."""
        return self._definitions[digest]

    def change(self, use: Mapping[str, JsonObject]) -> None:
        """Let go of what a fork uses in another version; the next touch pins that one.

        Args:
            use: Of each `kind:name`, the `digest` of that version.
        """
        for name, one in use.items():
            self._instead[name] = one["digest"]
            self._pins.pop(name, None)
            self._held.pop(name, None)

    async def _load(self, config: Manifest) -> None:
        """Load what runs inside the program's own branches, which wait for nothing but the gate."""
        if any(one.traits.scope for one in config.operations.values()):
            await self.definition(config)


def component(ref: Ref) -> Ref:
    """Return a ref without its operation."""
    return ref if ref.operation is None else replace(ref, operation=None)
