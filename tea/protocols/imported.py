"""Imported manifests: descriptions written by others and not yet compared with their source here."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from tea.components.manifest import Lineage, Manifest, is_recipe
from tea.errors import BadComponent
from tea.protocols.reading import Reading
from tea.source.text import check_characters


def received(library: Reading[Any], found: Manifest) -> Manifest:
    """Return a manifest from elsewhere in a form for listing; no untrusted source is executed.

    What is only read, or trusted already, is described anew from its source; what other code says of itself counts
    until a person vouches for it.

    Raises:
        BadComponent: It has a form that this house does not write, or characters that hide what it says.
    """
    check_characters(found.source, found.files)
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


def _described(library: Reading[Any], found: Manifest) -> Manifest:
    text = library.draft(found.source, found.files, found.requires)
    made = library.build(text, found.version, Lineage(), found.created, found.reason)
    return replace(made, lineage=found.lineage)
