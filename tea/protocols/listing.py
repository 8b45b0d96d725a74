"""Listing: one line of a list, for people, retrieval and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tea.managers.source.text import SourceText
from tea.manifest import Manifest
from tea.refs import FIRST, Kind
from tea.types import State

Origin = Literal["bundled", "registry"]
FORM = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One line of a list: what it is, which version is current, and where it comes from.

    A damaged component has no version, and its description says what is wrong with it.

    Args:
        description: The first line of what it is for.
        category: The broad group it declares in its metadata, empty for none.
        toolkit: The set of tools it belongs to, by its metadata, empty for none.
        digest: Of the current version; empty where it is damaged.
        text: All that it says of itself, for retrieval; see `tea.manifest.Manifest.words`.
    """

    kind: Kind
    name: str
    version: str = ""
    description: str = ""
    state: State = "active"
    origin: Origin = "registry"
    trusted: bool = False
    category: str = ""
    toolkit: str = ""
    digest: str = ""
    text: str = ""


def stored_facts(found: Manifest, state: State) -> dict[str, Any]:
    """Return the fields of the line of a stored version, as JSON; where they or their making change, `FORM` does."""
    return {
        "version": found.version,
        "description": found.description.partition("\n")[0],
        "state": state,
        "origin": "bundled" if found.lineage.how == "bundled" else "registry",
        "category": str(found.metadata.get("category", "")),
        "toolkit": str(found.metadata.get("toolkit", "")),
        "digest": found.digest,
        "text": found.words(),
    }


def shipped_facts(text: SourceText) -> dict[str, Any]:
    """Return the same of what is shipped and not stored yet; it is not executed, so its operations are unknown."""
    return {
        "version": str(FIRST),
        "description": text.description.partition("\n")[0],
        "origin": "bundled",
        "category": str(text.metadata.get("category", "")),
        "toolkit": str(text.metadata.get("toolkit", "")),
        "text": f"{text.name.replace('_', ' ')}\n{text.description}",
    }
