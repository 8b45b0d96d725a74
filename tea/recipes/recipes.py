"""Recipes: checking, describing and defining transformations, and following their operands."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from tea.components.definition import Definition
from tea.components.json_schema import value_faults
from tea.components.manifest import (
    Lineage,
    Manifest,
    is_recipe,
    source_digest,
)
from tea.errors import AlreadyRegistered, BadComponent, Conflict, RegistryError, StorageError
from tea.prompts.skills import is_skill
from tea.recipes.dependents import Reference, referring
from tea.recipes.planning import continues, planned
from tea.recipes.recipe import (
    AnyRecipe,
    Chooser,
    Direction,
    Operand,
    Transform,
    a_kind,
    read_recipe,
    transformation,
    write_recipe,
)
from tea.refs import Kind, Ref
from tea.registry.version import VersionManager
from tea.source.dynamic import check_told
from tea.source.text import SourceText, check_characters, check_texts
from tea.source.trust import Trust
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.recipes.transforms import Work

_GUARD_KNOWS = frozenset({"action", "arguments", "state"})
_ATTEMPTS, _MOST_FOLLOWED, _MOST_NAMED = 10, 50, 30
# The recipes that wait for their operands, and those that have followed theirs meanwhile, each once.
_following: ContextVar[tuple[frozenset[str], dict[str, Manifest]] | None] = ContextVar("following", default=None)
_log = logging.getLogger(__name__)
_Way: TypeAlias = "tuple[Manifest, _Way | None]"  # a part, and what it is a part of


class Library(Protocol):
    """The library of one kind, as needed by transformations."""

    async def info(self, ref: str | Ref) -> Manifest:
        """Return a version's configuration."""
        ...

    async def pin(self, ref: str | Ref) -> Manifest:
        """Return a configuration after storing it."""
        ...

    def own(self, found: Manifest) -> Manifest:
        """Return a stored version described by its own source if it is trusted."""
        ...

    async def register(
        self, what: object, *, reason: str = "", lineage: Lineage | None = None, after: int | None = None
    ) -> Manifest:
        """Store a component as a new version, only as the change after the given number if there is one."""
        ...

    async def update(
        self, name: str, what: object, *, reason: str = "", lineage: Lineage | None = None, after: int | None = None
    ) -> Manifest:
        """Change the component of an existing name, with a new version or an equal earlier one."""
        ...


class Recipes:
    """The operations on transformations, except the life of components.

    Args:
        versions: Where operands are found by digest.
        trust: What may run.
        work: The loop of agents that choose.
    """

    def __init__(self, versions: VersionManager, trust: Trust, work: Work) -> None:
        self._versions, self._trust, self._work = versions, trust, work
        self._libraries: Mapping[Kind, Library] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._read: dict[str, tuple[Operand, ...]] = {}  # the parts of versions, by digest

    def join(self, libraries: Mapping[Kind, Library]) -> None:
        """Set the libraries for looking up operands by name."""
        self._libraries = libraries

    def draft(self, source: str, files: Mapping[str, str], kind: Kind) -> SourceText:
        """Check a recipe's text without looking anything up.

        Raises:
            BadComponent: It is not a recipe of something of that kind.
        """
        if files:
            raise BadComponent("A recipe is one document.", fix="register it without further files.")
        check_characters(source)
        recipe = read_recipe(source)
        check_texts(json.loads(write_recipe(recipe)))
        target = Direction.of(recipe.transform).target
        if target != kind:
            problem = f"{recipe.transform} does not make {a_kind(kind)}."
            raise BadComponent(problem, fix=f"register it as {a_kind(target)}.")
        return SourceText(kind=kind, name=recipe.name, source=write_recipe(recipe), description=recipe.description)

    def manifest(self, text: SourceText, version: str, lineage: Lineage, created: str, reason: str) -> Manifest:
        """Return the manifest of a checked recipe; nothing is executed.

        Raises:
            BadComponent: Its operands are not there, do not fit, or are made of what it makes.
        """
        recipe = read_recipe(text.source)
        operands = self._operands(recipe)
        self._check_circle(Ref(kind=text.kind, name=text.name), operands)
        found = self._defined(recipe, operands)
        return Manifest(
            kind=found.kind,
            name=found.name,
            version=version,
            description=found.description,
            source=text.source,
            operations={name: operation.signature for name, operation in found.operations.items()},
            metadata=dict(found.metadata),
            evolvable=found.evolvable,
            rules=found.rules,
            recovery=found.recovery,
            sharing=found.sharing,
            lineage=lineage,
            created=created,
            reason=reason,
        )

    def definition(self, manifest: Manifest) -> Definition:
        """Return the definition of a stored recipe; nothing of it is code, so an untrusted one is read, too.

        Raises:
            BadComponent: Its operands are not there.
            Damaged: The manifest says of the recipe what it does not.
        """
        recipe = read_recipe(manifest.source)
        found = self._defined(recipe, self._operands(recipe))
        check_told(manifest, found)
        return found

    async def transform(
        self, how: str, operands: str | Sequence[str], options: JsonObject, kind: Kind
    ) -> list[Manifest]:
        """Make components from others, and register them; every failure comes before anything is written.

        Args:
            how: One of the six.
            operands: Refs of what is transformed, the kind only where it is another.
            options: Further fields of the recipe; `name` is by default the operand's.
            kind: The kind that is to be made.

        Returns:
            What was made: one component, for E2T one tool for each action and for the state.

        Raises:
            BadComponent: The operands or options do not fit.
            UnknownComponent: There is no such operand.
            AlreadyRegistered: Something else has the name.
        """
        transform = transformation(how)
        direction, library = Direction.of(transform), self._libraries[kind]
        if direction.target != kind:
            problem = f"{transform} does not make {a_kind(kind)}."
            raise BadComponent(problem, fix=f"ask the protocol of {direction.target}s.")
        names = [operands] if isinstance(operands, str) else list(operands)
        if not names:
            raise BadComponent(f"{transform} got nothing to transform.", fix=f"name {a_kind(direction.source)}.")
        refs = [Ref.parse(name, kind=direction.source) for name in names]
        found = [await self._found(transform, ref, direction) for ref in refs]
        recipes = planned(transform, found, options)
        for recipe in recipes:
            await self._check_new(recipe, found, library)
        for ref in refs:
            await self._libraries[direction.source].pin(ref.at(ref.selector))
        return [await self._registered(recipe, library) for recipe in recipes]

    async def follow(self, config: Manifest, ref: Ref) -> Manifest:
        """Return a version of a recipe with current operands, made now if they have changed since.

        Args:
            config: Its current version.
            ref: How it was asked for; with a selector it stays as it is.

        Raises:
            BadComponent: It is asked for by itself, so that it would follow without end, or by way of too many others.
        """
        if ref.selector is not None or not is_recipe(config.source):
            return config
        recipe, name = read_recipe(config.source), str(config.ref.at(None))
        ahead, done = _following.get() or (frozenset[str](), dict[str, Manifest]())
        if not recipe.follow:
            return config
        if name in ahead or len(ahead) >= _MOST_FOLLOWED:
            problem = f"{name} would follow itself, or too many other recipes."
            raise BadComponent(problem, fix="restore an earlier version of it.")
        if name not in done:
            token = _following.set((ahead | {name}, done))
            try:
                done[name] = await self._up_to_date(recipe, config)
            finally:
                _following.reset(token)
        return done[name]

    async def _up_to_date(self, recipe: AnyRecipe, config: Manifest) -> Manifest:
        """Return the version of a following recipe with current operands; the given one where they no longer fit."""
        try:
            moved = await self._moved(recipe, config)
            return config if moved is None else await self._followed(config, moved)
        except (BadComponent, RegistryError) as error:
            _log.warning("%s stays as it is, since its operands no longer fit: %s", config.ref, error)
            return config

    def referring(self, ref: Ref) -> list[Reference]:
        """Return the listed recipes referring to a component, or to the one version in `ref`.

        Reads every component once, so it is for rare questions such as whether a version may be purged.
        """
        return referring(self._versions, ref)

    def is_of_trusted(self, source: str) -> bool:
        """Return whether a recipe takes all its words from trusted parts, at any depth; any other source does."""
        left, seen = list(_operands(source)), set[str]()
        while left:
            one = left.pop()
            if not self._trust(one.digest):
                return False
            if one.digest not in seen:
                left += self._parts(one)
            seen.add(one.digest)
        return True

    def _parts(self, operand: Operand) -> tuple[Operand, ...]:
        """Return the operands of a recipe, none of a shipped version; each version is read once."""
        if operand.digest not in self._read:
            try:
                found = self._versions.resolve(replace(operand.parsed, operation=None).at(operand.digest))
            except (RegistryError, StorageError):  # it cannot be looked up, so what is made of it is not described
                return ()
            if found is None:
                return ()
            self._read[operand.digest] = _operands(found.source)
        return self._read[operand.digest]

    def check_operands(self, source: str) -> None:
        """Raise BadComponent for a hidden operand, as its bytes may be about to be removed.

        Raises:
            BadComponent: It is.
        """
        for one in read_recipe(source).operands if is_recipe(source) else ():
            ref = replace(one.parsed, operation=None)
            if ref.selector in self._versions.head(ref.kind, ref.name).removed:
                raise BadComponent(f"{ref} was unregistered.", fix="transform registered components.")

    def _operands(self, recipe: AnyRecipe) -> list[Manifest]:
        return [self._operand(recipe, operand) for operand in recipe.operands]

    def _operand(self, recipe: AnyRecipe, operand: Operand) -> Manifest:
        ref = replace(operand.parsed, operation=None)
        found = self._known(ref.at(operand.digest))
        if found is None:
            problem = f"{recipe.name!r} is made of {ref}, which is not in the registry with the digest it names."
            raise BadComponent(problem, fix="load or register that version first, or transform what is there.")
        return found

    def _check_circle(self, made: Ref, operands: Sequence[Manifest]) -> None:
        """Raise BadComponent if an operand, at any depth, has the new component's name; each is read once."""
        seen = {one.digest for one in operands}
        ahead: list[_Way] = [(one, None) for one in operands]
        while ahead:
            way = ahead.pop()
            one = way[0]
            if one.ref.at(None) == made:
                problem = f"{made} would be made of itself, by way of {_told_way(way)}."
                raise BadComponent(problem[:300], fix="give it another name.")
            if is_recipe(one.source):
                recipe = read_recipe(one.source)
                for operand in recipe.operands:
                    if operand.digest not in seen:
                        seen.add(operand.digest)
                        ahead.append((self._operand(recipe, operand), way))

    async def _found(self, transform: Transform, ref: Ref, direction: Direction) -> Manifest:
        if ref.kind != direction.source:
            problem = f"{transform} cannot transform {a_kind(ref.kind)}: {ref}."
            more = "; `open_skill` lets an agent read skills" if ref.kind == "prompt" else ""
            raise BadComponent(problem, fix=f"name {a_kind(direction.source)}{more}.")
        if ref.operation is not None:
            raise BadComponent(f"{ref} names an operation.", fix="name the component; E2T takes all its actions.")
        return await self._libraries[ref.kind].info(ref)

    def _defined(self, recipe: AnyRecipe, operands: Sequence[Manifest]) -> Definition:
        from tea.recipes.transforms import defined

        return defined(recipe, operands, self._work)

    async def _check_new(self, recipe: AnyRecipe, found: Sequence[Manifest], library: Library) -> None:
        """Raise an error for an impossible recipe, or one with a name already used otherwise.

        Raises:
            BadComponent: Its operands, prompt or guard do not fit.
            AlreadyRegistered: Something else has its name.
        """
        kind = Direction.of(recipe.transform).target
        self._defined(recipe, found)
        await asyncio.to_thread(self._check_circle, Ref(kind=kind, name=recipe.name), found)
        if isinstance(recipe, Chooser):
            prompt = await self._libraries["prompt"].info(Ref.parse(recipe.prompt, kind="prompt"))
            if is_skill(prompt):
                problem = f"{prompt.ref} is a skill, not a prompt to choose calls through."
                raise BadComponent(problem, fix="make the agent of `open_skill` and other tools, without --prompt.")
            await self._check_guard(recipe)
        if isinstance(recipe, Chooser) and recipe.memory is not None:
            await self._libraries["memory"].info(Ref.parse(recipe.memory, kind="memory"))
        await self._continued(recipe, library)

    async def _check_guard(self, recipe: Chooser) -> None:
        if recipe.guard is None:
            return
        config = await self._libraries["tool"].info(Ref.parse(recipe.guard, kind="tool"))
        call = config.operation("call")
        if strange := set(cast("list[str]", call.parameters.get("required", []))) - _GUARD_KNOWS:
            problem = f"The guard {config.ref} needs {min(strange)!r}, which is not among the arguments of a guard."
            raise BadComponent(problem, fix="let it take action, arguments and state.")
        if value_faults(call.returns, "") and value_faults(call.returns, None):
            problem = f"The guard {config.ref} does not return text, so it cannot allow a call."
            raise BadComponent(problem, fix="let it return the reason to refuse a call, or an empty text to allow it.")

    async def _registered(self, recipe: AnyRecipe, library: Library) -> Manifest:
        """Register a recipe; concurrent calls with the same one, here or in other processes, make one version."""
        source, ref = write_recipe(recipe), Ref(kind=Direction.of(recipe.transform).target, name=recipe.name)
        async with self._turns[str(ref)]:
            for _ in range(_ATTEMPTS):
                head = await asyncio.to_thread(self._versions.head, ref.kind, ref.name)
                there = await self._continued(recipe, library)
                if there is not None and there.source == source:
                    return there
                store = library.register if there is None else partial(library.update, recipe.name)
                with suppress(Conflict):  # another process was faster; what it made decides
                    return await store(source, reason=recipe.transform, after=head.number)
        raise Conflict(f"{ref} is being changed by many at once.", fix="try again.")

    async def _continued(self, recipe: AnyRecipe, library: Library) -> Manifest | None:
        """Return the component continued by a recipe, None if its name is free.

        Raises:
            AlreadyRegistered: Something else has its name.
        """
        there = await _present(library, recipe.name)
        if there is not None and not continues(recipe, there):
            of = ""
            if is_recipe(there.source):
                before = read_recipe(there.source)
                of = f", made by {before.transform} of {', '.join(str(one.parsed) for one in before.operands)}"
            fix = f"give `name`, or unregister {there.ref.at(None)} first."
            raise AlreadyRegistered(f"{there.ref.at(None)} is something else already{of[:200]}.", fix=fix)
        return there

    async def _moved(self, recipe: AnyRecipe, config: Manifest) -> AnyRecipe | None:
        """Return the recipe with current operands, None if they are the same, or older than the recipe's own pointer.

        So a person may take a recipe back, and it stays there until an operand changes again.
        """
        current = tuple([await self._current(operand) for operand in recipe.operands])
        if current == recipe.operands:
            return None
        refs = [config.ref, *(operand.parsed for operand in current)]
        times = [(await asyncio.to_thread(self._versions.head, ref.kind, ref.name)).time for ref in refs]
        return None if max(times[1:]) < times[0] else recipe.model_copy(update={"operands": current})

    async def _followed(self, config: Manifest, moved: AnyRecipe) -> Manifest:
        """Make the version with changed operands current; concurrent requests make one."""
        library, name, source = self._libraries[config.kind], config.ref.at(None), write_recipe(moved)
        digest, before = source_digest(config.kind, config.name, source, {}, ()), read_recipe(config.source).operands
        reason = "follows " + ", ".join(one.ref for one in moved.operands if one not in before)
        async with self._turns[str(name)]:
            head = await asyncio.to_thread(self._versions.head, name.kind, name.name)
            now = await library.info(name)
            if now.digest != config.digest:
                return now
            await asyncio.to_thread(self.manifest, self.draft(source, {}, config.kind), "1.0.0", Lineage(), "", "")
            if self._trust(config.digest) and self.is_of_trusted(source):
                await asyncio.to_thread(self._trust.grant, digest, f"{name}, which {reason}")
            lineage = Lineage(how="follow")
            with suppress(Conflict):
                return await library.update(name.name, source, reason=reason, lineage=lineage, after=head.number)
            return await library.info(name)

    def _known(self, ref: Ref) -> Manifest | None:
        try:
            found = self._versions.resolve(ref)
        except RegistryError:
            return None
        library = self._libraries.get(ref.kind)
        return found if found is None or library is None else library.own(found)

    async def _current(self, operand: Operand) -> Operand:
        ref = operand.parsed
        config = await self._libraries[ref.kind].pin(Ref(kind=ref.kind, name=ref.name))
        return Operand(ref=str(replace(ref, selector=config.version)), digest=config.digest)


def _operands(source: str) -> tuple[Operand, ...]:
    return read_recipe(source).operands if is_recipe(source) else ()


def _told_way(way: _Way | None) -> str:
    """Return the names from the outermost recipe to a part, as many as an error has room for."""
    names = list[str]()
    while way is not None:
        part, way = way
        names.append(f"{part.kind}:{part.name}")
    return " of ".join(reversed(names[-_MOST_NAMED:]))


async def _present(library: Library, name: str) -> Manifest | None:
    try:
        return await library.info(name)
    except RegistryError:
        return None
