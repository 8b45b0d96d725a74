"""LookupCache: the last lookups of one kind's refs, valid as long as nothing about them has changed."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

from tea.components.definition import Definition
from tea.components.manifest import Manifest, is_recipe
from tea.refs import Kind, Ref
from tea.source.trust import Trust
from tea.store.registry_store import RegistryStore

K = TypeVar("K")
V = TypeVar("V")
_MOST_PINS, _MOST_DEFINITIONS = 4096, 256


class LookupCache:
    """A cache of versions and their definitions, for all runs of a platform; both are immutable.

    Whether a ref still means the same, and its source may still run, is asked of the disk each time: two looks at one
    file each, so it may be asked on an event loop. Recipes are not remembered, as they follow what they are made of.

    Args:
        kind: The kind.
        store: Tells whether a pointer has moved.
        trust: What may run.
    """

    def __init__(self, kind: Kind, store: RegistryStore, trust: Trust) -> None:
        self._kind, self._store, self._trust = kind, store, trust
        self._pins: OrderedDict[Ref, tuple[object, Manifest]] = OrderedDict()
        self._definitions: OrderedDict[tuple[str, str], tuple[Manifest, Definition]] = OrderedDict()

    def mark(self, ref: Ref) -> object:
        """Return a mark for a lookup beginning now, to pass to `keep`.

        It is another one once anything was trusted, as from then on a version is described by its own source.
        """
        mark = self._store.mark(self._kind, ref.name)
        return mark and (mark, self._trust.stamp())

    def pinned(self, ref: Ref, mark: object) -> Manifest | None:
        """Return the stored version for `ref`, None if it has to be looked up."""
        found = self._pins.get(ref)
        return found[1] if found is not None and mark is not None and found[0] == mark else None

    def keep(self, ref: Ref, mark: object, found: Manifest) -> None:
        """Cache the result of a lookup begun with `mark`."""
        if mark is not None and not is_recipe(found.source):
            _put(self._pins, ref, (mark, found), _MOST_PINS)

    def definition(self, config: Manifest) -> Definition | None:
        """Return the cached definition of a version, None if it has to be loaded, or is not trusted."""
        found = self._definitions.get((config.version, config.digest))
        return found[1] if found is not None and found[0] is config and self._trust(config.digest) else None

    def keep_definition(self, config: Manifest, found: Definition) -> None:
        """Cache the definition of a version."""
        if not is_recipe(config.source):
            _put(self._definitions, (config.version, config.digest), (config, found), _MOST_DEFINITIONS)


def _put(kept: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > most:
        kept.popitem(last=False)
