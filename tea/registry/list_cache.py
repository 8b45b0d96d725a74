"""ListCache: the lines that a list of one kind has, of what is stored and of what is shipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from tea.components.manifest import Manifest
from tea.errors import Damaged, UnknownComponent
from tea.refs import Kind, Ref
from tea.registry.row import FORM, Facts, Row, line, shipped_facts, stored_facts
from tea.registry.version import VersionManager
from tea.source.text import SourceText
from tea.source.trust import Trust
from tea.store.catalogue import Described
from tea.store.catalogue import Facts as Stored
from tea.types import JsonValue

Outline = Callable[[str], SourceText]


class Shipped(NamedTuple):
    """A source that came with tea or an installed package."""

    text: SourceText
    digest: str


_Listed = tuple[Mapping[str, Stored | None], Mapping[str, Shipped], Set[str], Sequence[Row]]


class ListCache:
    """Makes the lines of a list, and keeps them as long as nothing has changed; all methods block.

    Args:
        kind: The kind.
        versions: The versions in the registry.
        trust: What may run.
        outline: Says what shipped source is for; raises BadComponent.
        current: Says which version a name means; raises UnknownComponent.
    """

    def __init__(
        self,
        kind: Kind,
        versions: VersionManager,
        trust: Trust,
        outline: Outline,
        current: Callable[[Ref], Manifest],
    ) -> None:
        self._kind: Kind = kind
        self._versions, self._trust, self._outline, self._current = versions, trust, outline, current
        self._said: Mapping[str, tuple[JsonValue, ...]] = {}
        self._listed: _Listed | None = None

    def all(self, shipped: Mapping[str, Shipped], *, pointers: bool) -> Sequence[Row]:
        """Return the lines by name; the very same object as long as nothing has changed.

        Args:
            shipped: What is shipped, by name.
            pointers: Whether it is enough that no pointer has moved since this process looked.
        """
        stored = self._versions.store.survey(self._kind, FORM, self._described, pointers=pointers)
        trusted, before = self._trust.digests(), self._listed
        if before is not None and before[0] is stored and before[1] is shipped and before[2] == trusted:
            return before[3]
        found: list[Row] = []
        lasting = True
        for name in sorted({*stored, *shipped}):
            facts = stored.get(name)
            if name not in stored:
                found.append(self._shipped(name, shipped))
            elif name in shipped and not _leads(facts, shipped[name]):
                found += filter(None, [self.one(name, shipped)])
                lasting = lasting and facts is None
            elif facts is not None:
                found.append(line(self._kind, name, facts := Facts._make(facts), trusted=facts.digest in trusted))
        self._listed = (stored, shipped, trusted, found) if lasting else None
        return found

    def one(self, name: str, shipped: Mapping[str, Shipped]) -> Row | None:
        """Return the line of a name, None where a list has none."""
        try:
            head = self._versions.head(self._kind, name)
            if head.current is not None:
                found = self._current(Ref(kind=self._kind, name=name))
                facts = stored_facts(found, head.states.get(found.version, "active"))
                return line(self._kind, name, facts, trusted=self._trust(found.digest))
        except Damaged as error:
            return line(self._kind, name, _damaged(error), trusted=False)
        except UnknownComponent:  # somebody unregistered it between two looks
            return None
        return None if head.number or name not in shipped else self._shipped(name, shipped)

    def _described(self, name: str) -> Described:
        """Return what a list shows of the stored versions of `name`."""
        try:
            head = self._versions.head(self._kind, name)
            found = self._versions.resolve(Ref(kind=self._kind, name=name))
        except Damaged as error:
            return Described(facts=_damaged(error))
        except UnknownComponent:  # somebody purged it between two looks
            return Described(facts=None)
        if found is None:
            return Described(facts=None, head=head.number)
        facts = stored_facts(found, head.states.get(found.version, "active"))
        return Described(facts=facts, head=head.number, version=found.version)

    def _shipped(self, name: str, shipped: Mapping[str, Shipped]) -> Row:
        digest, said = shipped[name].digest, self._said
        if digest not in said:
            texts = {one.digest: one.text for one in shipped.values()}
            outline: Callable[[str], Facts] = lambda one: shipped_facts(self._outline(texts[one].source), one)  # noqa: E731
            said = self._said = self._versions.store.outlines(self._kind, texts, FORM, outline)
        return line(self._kind, name, Facts._make(said[digest]), trusted=True)


def _leads(facts: tuple[JsonValue, ...] | None, shipped: Shipped) -> bool:
    """Tell whether what is stored of a shipped component is current as it stands, without the shipped source."""
    if facts is None:
        return False
    stored = Facts._make(facts)
    return bool(stored.digest) and (stored.origin != "bundled" or stored.digest == shipped.digest)


def _damaged(error: Damaged) -> Facts:
    return Facts(description=error.problem.partition("\n")[0])
