"""Dependents: the recipes made of a component."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tea.components.manifest import is_recipe
from tea.errors import BadComponent, RegistryError, StorageError
from tea.recipes.recipe import read_recipe
from tea.refs import Kind, Ref
from tea.registry.version import VersionManager

_KINDS: tuple[Kind, ...] = ("tool", "environment", "agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A recipe with a reference to a version.

    Args:
        recipe: Ref of the recipe's version.
        operand: Ref of what it refers to.
    """

    recipe: Ref
    operand: Ref


def referring(versions: VersionManager, ref: Ref) -> list[Reference]:
    """Return the listed recipes referring to a component, or to the one version in `ref`.

    Reads every component once, so it is for rare questions.
    """
    found = (one for kind in _KINDS for name in versions.names(kind) for one in _references(versions, kind, name))
    return [one for one in found if ref in (one.operand, one.operand.at(None))]


def _references(versions: VersionManager, kind: Kind, name: str) -> Iterator[Reference]:
    removed = set(versions.head(kind, name).removed)
    for version in versions.store.versions(kind, name):
        if version in removed:
            continue
        try:
            source = str(versions.store.read(kind, name, version).get("source", ""))
            operands = read_recipe(source).operands if is_recipe(source) else ()
        except (StorageError, RegistryError, BadComponent):
            continue
        own = Ref(kind=kind, name=name, selector=version)
        yield from (Reference(recipe=own, operand=replace(one.parsed, operation=None)) for one in operands)
