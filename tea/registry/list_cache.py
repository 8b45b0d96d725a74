"""ListCache: the rows of one kind's list, for stored and shipped components."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from tea.components.manifest import Manifest, is_recipe
from tea.errors import BadComponent, Damaged, ResourceExhausted, StorageError, UnknownComponent
from tea.refs import Kind, Ref
from tea.registry.own_words import OwnWords
from tea.registry.row import FORM, Facts, Row, line, shipped_facts, stored_facts
from tea.registry.version import VersionManager
from tea.source.cache import SourceCache
from tea.source.text import SourceText
from tea.source.trust import Trust
from tea.store.catalogue import Described
from tea.store.catalogue import Facts as Stored
from tea.types import JsonValue

Outline = Callable[[str], SourceText]


class Shipped(NamedTuple):
    """A source shipped with tea or an installed package."""

    text: SourceText
    digest: str


_Listed = tuple[Mapping[str, Stored | None], Mapping[str, Shipped], Set[str], int, Sequence[Row]]


class ListCache:
    """The rows of a list, cached as long as nothing has changed; all methods block.

    Args:
        kind: The kind.
        versions: The versions in the registry.
        trust: What may run.
        outline: Says what shipped source is for; raises BadComponent.
        current: Says which version a name means; raises UnknownComponent.
        own_words: The descriptions of trusted versions, from their own source.
        kept: Where the outlines of shipped components are kept for the next process.
    """

    def __init__(
        self,
        kind: Kind,
        versions: VersionManager,
        trust: Trust,
        outline: Outline,
        current: Callable[[Ref], Manifest],
        own_words: OwnWords,
        kept: SourceCache,
    ) -> None:
        self._kind: Kind = kind
        self._versions, self._trust, self._outline, self._current = versions, trust, outline, current
        self._own_words, self._kept = own_words, kept
        self._outlined: dict[str, Facts] = {}
        self._said: Mapping[str, tuple[JsonValue, ...]] = {}
        self._listed: _Listed | None = None

    def all(self, shipped: Mapping[str, Shipped], *, pointers: bool) -> Sequence[Row]:
        """Return the rows by name; the very same object as long as nothing has changed.

        Args:
            shipped: What is shipped, by name.
            pointers: Whether it is enough that no pointer has moved since this process looked.
        """
        stored = self._versions.store.survey(self._kind, FORM, self._described, pointers=pointers)
        trusted, told, before = self._trust.digests(), self._trust.told.entries(), self._listed
        if before is not None and before[0] is stored and before[1] is shipped and before[2:4] == (trusted, len(told)):
            return before[4]
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
                facts = Facts._make(facts)
                if name not in shipped:  # whatever its manifest says
                    facts = facts._replace(origin="registry")
                if facts.digest in trusted and f"{facts.digest}/{facts.words}" not in told:
                    facts = self._own(name, facts, trusted)
                found.append(line(self._kind, name, facts, trusted=facts.digest in trusted))
        self._listed = (stored, shipped, trusted, len(told), found) if lasting else None
        return found

    def one(self, name: str, shipped: Mapping[str, Shipped]) -> Row | None:
        """Return the row of a name, None if it is not listed."""
        trusted = self._trust.digests()  # before any words are taken
        try:
            head = self._versions.head(self._kind, name)
            if head.current is not None:
                found = self._current(Ref(kind=self._kind, name=name))
                facts = stored_facts(found, head.states.get(found.version, "active"))
                return line(self._kind, name, facts, trusted=found.digest in trusted)
        except ResourceExhausted:
            raise
        except StorageError as error:
            return line(self._kind, name, _damaged(error), trusted=False)
        except UnknownComponent:  # somebody unregistered it between two looks
            return None
        return None if head.number or name not in shipped else self._shipped(name, shipped)

    def _own(self, name: str, facts: Facts, trusted: Set[str]) -> Facts:
        """Return the description in a trusted version's own source, without executing it."""
        try:
            found = self._versions.manifest(self._kind, name, facts.version)
            if found.digest != facts.digest:  # its file was changed since it was listed
                facts = stored_facts(found, facts.state)._replace(origin="registry")
                if found.digest not in trusted:
                    return facts
            if is_recipe(found.source):  # which holds no code
                own = stored_facts(self._own_words.of(found), "active")
            elif facts.digest in self._outlined:
                own = self._outlined[facts.digest]
            else:
                own = self._outlined[facts.digest] = shipped_facts(self._outline(found.source), facts.digest)
        except (BadComponent, Damaged, UnknownComponent):
            own = Facts(description="Its source cannot be read.", text=name)
        return facts._replace(**{key: getattr(own, key) for key in ("description", "category", "toolkit", "text")})

    def _described(self, name: str) -> Described:
        """Return the listed facts of the stored versions of `name`."""
        try:
            head = self._versions.head(self._kind, name)
            found = self._versions.resolve(Ref(kind=self._kind, name=name))
        except ResourceExhausted:
            raise
        except StorageError as error:
            return Described(facts=_damaged(error))
        except UnknownComponent:  # somebody purged it between two looks
            return Described(facts=None)
        if found is None:
            return Described(facts=None, head=head.number)
        facts = stored_facts(found, head.states.get(found.version, "active"))
        if self._own_words.is_recipe(found):
            facts = facts._replace(words="")
        return Described(facts=facts, head=head.number, version=found.version)

    def _shipped(self, name: str, shipped: Mapping[str, Shipped]) -> Row:
        digest, said = shipped[name].digest, self._said
        if digest not in said:
            said = self._said = self._outlines({one.digest: one.text for one in shipped.values()})
        return line(self._kind, name, Facts._make(said[digest]), trusted=True)

    def _outlines(self, texts: Mapping[str, SourceText]) -> Mapping[str, tuple[JsonValue, ...]]:
        """Return the listed facts of shipped sources, cached in the operator's state, never in a registry."""
        key = ("outlines", self._kind, str(FORM), *sorted(texts))
        found = self._kept.read(*key)
        if found is None:
            found = {one: tuple(shipped_facts(self._outline(text.source), one)) for one, text in texts.items()}
            self._kept.keep(found, *key)
        return found


def _leads(facts: tuple[JsonValue, ...] | None, shipped: Shipped) -> bool:
    """Return whether the stored facts of a shipped component are current, without the shipped source."""
    if facts is None:
        return False
    stored = Facts._make(facts)
    return bool(stored.digest) and (stored.origin != "bundled" or stored.digest == shipped.digest)


def _damaged(error: StorageError) -> Facts:
    return Facts(description=error.problem.partition("\n")[0])
