"""What others sent: manifests whose words nobody here has compared with their source."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from tea.components.manifest import Lineage, Manifest, canonical
from tea.errors import BadComponent, Damaged
from tea.protocols.reading import Reading
from tea.recipes.recipe import is_recipe


def received(library: Reading[Any], found: Manifest) -> Manifest:
    """Return a manifest that others wrote, fit to be listed; nothing is executed that is not trusted.

    What is only read, or trusted already, is described anew from its source; what other code says of itself is
    compared with its source when a person vouches for it.

    Raises:
        BadComponent: It has a form that this house does not write.
    """
    if not library.executed:
        return _described(library, found)
    for one in found.operations.values():
        properties: Any = one.parameters.get("properties", {})
        if not isinstance(properties, dict) or not all(
            isinstance(schema, dict) for schema in cast("dict[str, object]", properties).values()
        ):
            raise BadComponent(f"{found.ref} has an operation without a schema.", fix="save it again.")
    if not is_recipe(found.source) and library.services.trust(found.digest):
        with suppress(BadComponent):  # what it needs is not installed here
            made = _described(library, found)
            return made if made.digest == found.digest else found
    return found


def check_words(library: Reading[Any], found: Manifest) -> None:
    """Refuse a manifest with other words than its source has, which is executed: a person vouches for what they read.

    Raises:
        Damaged: The words are not its source's.
    """
    with suppress(BadComponent):  # what it needs is not here; then it cannot be executed either
        made = _described(library, found)
        if made.digest == found.digest and _words(made) != _words(found):
            problem = f"What the registry says of {found.ref} is not what its source declares, so it is not trusted."
            raise Damaged(problem, fix="register its source by hand.")


def _described(library: Reading[Any], found: Manifest) -> Manifest:
    text = library.draft(found.source, found.files, found.requires)
    made = library.build(text, found.version, Lineage(), found.created, found.reason)
    return replace(made, lineage=found.lineage)


def _words(found: Manifest) -> tuple[object, ...]:
    """Return what a manifest tells people and models, but for what depends on the library that writes schemas."""
    said = {
        name: (
            one.description,
            one.traits,
            one.examples,
            {key: schema.get("description") for key, schema in one.parameters.get("properties", {}).items()},
        )
        for name, one in found.operations.items()
    }
    declared = found.evolvable, found.recovery, found.sharing
    return found.description, found.rules, *declared, canonical(dict(found.metadata)), said
