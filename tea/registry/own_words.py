"""Own words: what a trusted version says of itself comes from its own bytes, whatever the registry says of it.

A registry may come from elsewhere, and a digest covers the source alone. So what a manifest tells beside it counts if
this account wrote it, or has compared it with the source before; else the source, which may run, is described anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from tea.components.manifest import Lineage, Manifest, canonical
from tea.components.operation import Signature, Traits
from tea.errors import StorageError, TeaError
from tea.source.text import SourceText
from tea.source.trust import Trust

Build = Callable[[SourceText, str, Lineage, str, str], Manifest]
Draft = Callable[[str, Mapping[str, str], tuple[str, ...]], SourceText]
_TOLD = ("description", "operations", "metadata", "evolvable", "rules", "recovery", "sharing")


def words_digest(found: Manifest) -> str:
    """Return the digest of all that a manifest tells of its source."""
    data = found.to_json()
    return "sha256:" + hashlib.sha256(canonical({name: data[name] for name in _TOLD})).hexdigest()


class OwnWords:
    """Gives trusted versions of one kind in their own words; all methods block.

    Args:
        trust: What may run, and which manifests this account knows to tell what their source says.
        draft: Checks source without executing it; raises TeaError.
        build: Describes checked source, executing what is code; raises TeaError.
    """

    def __init__(self, trust: Trust, draft: Draft, build: Build) -> None:
        self._trust, self._draft, self._build = trust, draft, build
        self._made: dict[str, Manifest] = {}

    def of(self, found: Manifest) -> Manifest:
        """Return a version with the words of its own source where it is trusted, else as it is."""
        if self._made.get(found.digest) is found or not self._trust(found.digest) or self._trust.told(_entry(found)):
            return found
        made = self._described(found)
        if made is None:
            return _silent(found)
        if words_digest(made) == words_digest(found):
            self.vouch(found)
            return found
        return replace(found, **{name: getattr(made, name) for name in _TOLD})

    def take(self, made: Manifest) -> None:
        """Take a manifest that was just made of its source, so that it need not be made again."""
        self._made[made.digest] = made

    def vouch(self, made: Manifest) -> None:
        """Remember that a manifest tells what its source says, as it was made of it; not where trust is lacking."""
        if self._trust(made.digest):
            with suppress(StorageError):  # then it is compared again
                self._trust.told.grant(_entry(made), str(made.ref.at(None)))

    def differs(self, found: Manifest) -> bool:
        """Return whether a trusted version's manifest says what its source does not."""
        if not self._trust(found.digest) or self._trust.told(_entry(found)):
            return False
        made = self._described(found)
        return made is not None and (_said(made) != _said(found) or not set(_texts(found)) <= set(_texts(made)))

    def _described(self, found: Manifest) -> Manifest | None:
        """Return what a source says of itself, None where that cannot be told here, as it needs what is not here."""
        if found.digest not in self._made:
            with suppress(TeaError):
                text = self._draft(found.source, found.files, found.requires)
                made = self._build(text, found.version, Lineage(), found.created, found.reason)
                if made.digest == found.digest:
                    self.take(made)
        return self._made.get(found.digest)


def _entry(found: Manifest) -> str:
    return f"{found.digest}/{words_digest(found)}"


def _silent(found: Manifest) -> Manifest:
    """Return a version that cannot be described here, and so cannot be used either, without what is told of it."""
    mute = {
        name: Signature(name=name, description="", parameters={"type": "object"}, returns={}, traits=Traits())
        for name in found.operations
    }
    words = "It cannot be described here: what its source needs is missing, or its source is refused."
    return replace(found, description=words, operations=mute, metadata={}, rules="")


def _said(found: Manifest) -> bytes:
    """Return what a manifest tells but for schemas, whose wording changes with the library that writes them."""
    operations = {
        name: [one.description, [example.call for example in one.examples], str(one.traits), sorted(_fields(one))]
        for name, one in found.operations.items()
    }
    others = [found.description, found.evolvable, found.rules, found.recovery, found.sharing]
    return canonical([others, operations, dict(found.metadata)])


def _fields(one: Signature) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", one.parameters.get("properties", {}))


def _texts(value: object) -> Iterator[str]:
    """Yield every text in what a manifest tells, however deep."""
    if isinstance(value, Manifest):
        data = value.to_json()
        yield from _texts({name: data[name] for name in _TOLD})
    elif isinstance(value, Mapping):
        for key, one in cast("Mapping[str, object]", value).items():
            yield key
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in cast("list[object]", value):
            yield from _texts(one)
    elif isinstance(value, str):
        yield value
