"""Row: a row of a list, for people, retrieval and programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from tea.components.manifest import Manifest
from tea.refs import FIRST, Kind
from tea.registry.own_words import words_digest
from tea.source.text import SourceText
from tea.types import State

Origin = Literal["bundled", "registry"]
FORM = 7
SKILL = "skill"
"""The category of an imported skill, and the member of its metadata with the fields it came with."""
CONVERSATION = "conversation"
"""The category of agents that only a person speaks to."""
INTERNAL = ("solver", "bookkeeping", "part", "person", CONVERSATION)
"""The categories of components offered to no model unasked; what asks a person has to be named, too."""


class Facts(NamedTuple):
    """The facts of a row about the source and the state of a component; a change here changes `FORM`.

    Beside it stands the digest of what its manifest tells, by which that is known to be what its source says; empty for
    a recipe, whose words are those of its parts.
    """

    version: str = ""
    description: str = ""
    state: State = "active"
    origin: Origin = "registry"
    category: str = ""
    toolkit: str = ""
    digest: str = ""
    text: str = ""
    words: str = ""


class Row(NamedTuple):
    """A row of a list: the component, its current version, and its origin.

    A damaged component has no version, and its description says what is wrong with it. A tuple, since a list of ten
    thousand is made in a fifth of the time.

    Args:
        description: The first line of what it is for.
        category: The broad group it declares in its metadata, empty for none.
        toolkit: The set of tools it belongs to, by its metadata, empty for none.
        digest: Of the current version; empty where it is damaged.
        text: All that it says of itself, for retrieval; see `tea.components.manifest.Manifest.words`.
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


def line(kind: Kind, name: str, facts: Facts, *, trusted: bool) -> Row:
    """Return a row of a list; untrusted components do not count as shipped, even if the manifest says so."""
    version, description, state, origin, category, toolkit, digest, text, _ = facts
    origin = origin if trusted else "registry"
    return Row(kind, name, version, description, state, origin, trusted, category, toolkit, digest, text)


def stored_facts(found: Manifest, state: State) -> Facts:
    """Return the facts of a stored version's row."""
    return Facts(
        version=found.version,
        description=found.description.partition("\n")[0],
        state=state,
        origin="bundled" if found.lineage.how == "bundled" else "registry",
        category=_category(found.metadata),
        toolkit=str(found.metadata.get("toolkit", "")),
        digest=found.digest,
        text=found.words(),
        words=words_digest(found),
    )


def shipped_facts(text: SourceText, digest: str) -> Facts:
    """Return the same for a shipped source not stored yet; it is not executed, so its operations are unknown."""
    return Facts(
        version=str(FIRST),
        description=text.description.partition("\n")[0],
        origin="bundled",
        category=_category(text.metadata),
        toolkit=str(text.metadata.get("toolkit", "")),
        digest=digest,
        text=f"{text.name.replace('_', ' ')}\n{text.description}",
    )


def _category(metadata: Mapping[str, Any]) -> str:
    return str(metadata.get("category", SKILL if SKILL in metadata else ""))
