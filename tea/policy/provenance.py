"""Provenance: the untrusted sources of a branch's words, computed from delivered outcomes and pinned traits.

Nothing of it is stored: a run keeps it in memory, and a replay, a resume and a fork compute it again, as each of them
delivers the same outcomes in the same order to the same program.

The branches inside of one scope share the variables of its program, so they share what they have read. A scope begins
with that of its surroundings, and gives the union back at its end. What leaves a scope otherwise, through files, the
memory or the state of agents, passes the run's store; through an environment, that environment's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from tea.characters import in_sentence, on_one_line
from tea.components.operation import Traits
from tea.kernel.key import outer
from tea.policy.destination import addresses_in, canonical_address, texts_in
from tea.policy.rules import BEYOND, effects_of
from tea.types import JsonObject, JsonValue

UNKNOWN = "unknown"
"""The kind of the outcomes of operations that declare no effects, or to send: perhaps others' words, perhaps not."""
_READERS = ("reads", "writes")
_MOST = 12  # sources remembered of each sort: what counts is whether there is one, a person is shown some
_SHOWN = 160


class Source(NamedTuple):
    """An untrusted source.

    Args:
        kind: `read` (an operation's outcome), `unknown` (of one without declared effects, or one that sends), `file`,
            `memory` or `session` (of earlier runs), `component` (the words of an imported one).
        what: What was read: an operation, a file.
        about: What it was asked for, for example an address.
        key: Key of the effect.
    """

    kind: str
    what: str
    about: str = ""
    key: str = ""

    @property
    def words(self) -> str:
        """The source on one line; names and words of others stand for themselves alone."""
        ours = self.kind in ("memory", "session")  # in words of tea's own, or with a name that is one word
        what = self.what if ours else in_sentence(self.what)
        about = f" of {in_sentence(self.about)}" if self.about else ""
        return f"{what}{about}{f' (call {self.key})' if self.key else ''}"


class Known(NamedTuple):
    """The knowledge of a branch at the beginning of a call.

    Args:
        sources: The untrusted sources of what its words may hold.
        linked: Addresses among the arguments that stood in an outcome delivered to it, in canonical form.
        typed: The words that persons typed: the task, messages, answers.
    """

    sources: tuple[Source, ...] = ()
    linked: frozenset[str] = frozenset()
    typed: tuple[str, ...] = ()

    @property
    def untrusted(self) -> tuple[Source, ...]:
        """The sources without those of operations declaring nothing."""
        return tuple(one for one in self.sources if one.kind != UNKNOWN)


class Delivered(NamedTuple):
    """A call with its outcome.

    Args:
        ref: The operation.
        key: Key of the call.
        traits: Those of its operation, None where they are not known.
        arguments: Those of the call.
        environment: Name of the environment acted in, empty without one.
        outcome: Its outcome, as JSON.
    """

    ref: str
    key: str
    traits: Traits | None
    arguments: JsonObject
    environment: str = ""
    outcome: JsonValue = None

    @property
    def source(self) -> Source:
        """The outcome as a source, with the subject of the request."""
        texts = list(texts_in(dict(self.arguments)))
        about = next((text for text in texts if canonical_address(text.strip())), texts[0] if texts else "")
        line = on_one_line(about)
        left_out = f" [... {len(line) - _SHOWN:,} characters]" if len(line) > _SHOWN else ""
        return Source("read", self.ref, f"{line[:_SHOWN]}{left_out}", self.key)

    @property
    def sends_words(self) -> bool:
        """Whether texts among its arguments may leave the workspace."""
        beyond = self.traits is None or self.traits.effects in BEYOND
        return beyond and any(map(_holds_text, self.arguments.values()))

    @property
    def reads_network(self) -> bool:
        """Whether the operation reads the network and says nothing of its outcome."""
        return self.traits is not None and self.traits.network and self.traits.returns_untrusted is None

    def links(self, *, clean: bool) -> set[str]:
        """Return the addresses of the outcome open to be followed.

        A local operation can put an address together from what it is given, so after untrusted reading only those that
        came from the network count, and never what the arguments hold already: a server may repeat it.

        Args:
            clean: Whether nothing untrusted was read before.
        """
        traits = self.traits
        if not clean and (traits is None or not traits.network or effects_of(traits) not in _READERS):
            return set()
        found = _links(self.outcome)
        if found and not clean:
            given = [text.casefold() for text in texts_in(dict(self.arguments))]
            found = {one for one in found if not any(one.partition("://")[2].casefold() in text for text in given)}
        return found


@dataclass(slots=True)
class Reading:
    """The sources read by a scope, and the addresses found in them.

    Args:
        sources: In the order of delivery.
        links: Addresses, in canonical form.
        counts: How many sources it holds, by sort.
    """

    sources: dict[Source, None] = field(default_factory=dict[Source, None])
    links: set[str] = field(default_factory=set[str])
    counts: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})

    def add(self, sources: Iterable[Source]) -> None:
        """Add sources; of each sort the first are remembered."""
        for one in sources:
            if self.has_room(one.kind) and one not in self.sources:
                self.sources[one] = None
                self.counts[one.kind == UNKNOWN] += 1

    def has_room(self, kind: str) -> bool:
        """Return whether another source of its sort would be remembered."""
        return self.counts[kind == UNKNOWN] < _MOST

    def join(self, other: Reading) -> None:
        """Add the whole content of another one."""
        self.add(other.sources)
        self.links |= other.links

    def copy(self) -> Reading:
        """Return one with the same content."""
        return Reading(dict(self.sources), set(self.links), dict(self.counts))


class Provenance:
    """The provenance of one run.

    Args:
        files: Names of the task's files.
        shared: Whether its session may hold content of other runs.
    """

    def __init__(self, files: Sequence[str] = (), *, shared: bool = False) -> None:
        self.typed: tuple[str, ...] = ()
        self._shared = shared
        self._scopes: dict[str, Reading] = {"": Reading()}
        self._inside: dict[str, Reading] = {}
        self._answers: defaultdict[str, list[str]] = defaultdict(list)
        self._store = Reading()
        self._environments: defaultdict[str, Reading] = defaultdict(Reading)
        self._sent_to = set[str]()
        given = [Source("file", name) for name in files]
        self._store.add(given)
        self._scopes[""].add(one for one in given if not _is_plain(one.what))

    def known(self, place: str, arguments: JsonObject) -> Known:
        """Return the knowledge at a place of the run, for a call with arguments.

        Args:
            place: Path of a branch, or the key of the effect around a call from inside of it.
            arguments: Those of the call.
        """
        readings = self._around(place)
        sources = dict[Source, None]()
        for reading in readings:
            sources |= reading.sources
        links = [reading.links for reading in readings if reading.links]
        texts = texts_in(dict(arguments)) if links else ()
        asked = {address for text in texts if (address := canonical_address(text.strip()))}
        linked = frozenset(one for one in asked if any(one in shown for shown in links))
        return Known(sources=tuple(sources), linked=linked, typed=self.typed)

    def enter(self, key: str) -> None:
        """Begin a scope with the reading of its parent."""
        self._scopes[key] = self._around(outer(key))[0].copy()

    def leave(self, key: str) -> None:
        """End a scope, and add its reading to its parent's."""
        reading = self._scopes.pop(key)
        self._around(outer(key))[0].join(reading)

    def begin(self, place: str, traits: Traits, environment: str = "") -> None:
        """Add the reading of a scope to the stores open to writing by one of its calls.

        Args:
            place: Path of the branch.
            traits: Those of the operation.
            environment: Name of the environment acted in, empty without one.
        """
        reading = self._around(place)[0]
        if traits.effects != "reads":
            self._store.join(reading)
        if environment:
            self._environments[environment].join(reading)

    def deliver(self, place: str, call: Delivered, inside: Iterable[Delivered] = ()) -> None:
        """Add an outcome to the reading of a scope.

        Args:
            place: Path of the branch.
            call: The call, with its outcome.
            inside: The calls made from inside of it, without outcomes.
        """
        self._inside.pop(call.key, None)
        reading = self._around(place)[0]
        reading.links |= self._links(call, clean=not reading.sources)
        for one in (call, *inside):
            self._take(reading, one)
        self.hear(call.key)

    def deliver_inside(self, key: str, call: Delivered) -> None:
        """Add the outcome of a call from inside an effect to the knowledge of the later calls inside of it."""
        around = self._around(key)
        reading = self._inside.setdefault(key, Reading())
        reading.links |= self._links(call, clean=not any(one.sources for one in around))
        self._take(reading, call)

    def kept(self, place: str) -> None:
        """Add the reading of a scope to the run's store: a change of its memory or state."""
        self._store.join(self._around(place)[0])

    def recalled(self, place: str, value: JsonValue, *, lasting: bool = False) -> None:
        """Add the run's store to the reading of a scope: a reading of its memory or state.

        Args:
            place: Path of the branch.
            value: What was read.
            lasting: Whether it is kept beyond sessions.
        """
        if value in (None, "", [], {}):
            return
        reading = self._around(place)[0]
        clean = not (reading.sources or self._store.sources or lasting or self._shared)
        reading.join(self._store)
        if lasting or self._shared:
            reading.add((Source("memory", "the memory of earlier runs"),))
        if clean:
            reading.links |= _links(value)

    def read(self, place: str, source: Source) -> None:
        """Add a source to the reading of a scope."""
        self._around(place)[0].add((source,))

    def seen(self, place: str, names: Iterable[str]) -> None:
        """Add files of the workspace to the reading of a scope."""
        reading = self._around(place)[0]
        reading.add(Source("file", name) for name in names)
        reading.join(self._store)

    def say(self, texts: Iterable[str]) -> None:
        """Add words typed by a person."""
        self.typed += tuple(texts)

    def answered(self, effect: str, text: str) -> None:
        """Store a person's answer to a question from inside an effect until its outcome is delivered."""
        if text not in self._answers[effect]:
            self._answers[effect].append(text)

    def hear(self, effect: str) -> None:
        """Add a person's answers to the questions from inside an effect, after its outcome is delivered."""
        self.typed += tuple(self._answers.pop(effect, ()))

    def _links(self, call: Delivered, *, clean: bool) -> set[str]:
        """Return the addresses of an outcome open to be followed.

        An environment that was sent words after untrusted reading gives none: a page may put them together from these.
        """
        return call.links(clean=clean) if clean or call.environment not in self._sent_to else set()

    def _take(self, reading: Reading, call: Delivered) -> None:
        """Add the sources of an outcome to a reading, and to its store."""
        if call.environment and call.sends_words and reading.sources:
            self._sent_to.add(call.environment)
        traits, found = call.traits, list[Source]()
        told = [reading]
        if traits is None or traits.effects != "reads":
            told.append(self._store)
        if call.environment:
            told.append(self._environments[call.environment])
        if traits is None or traits.returns_untrusted or (call.reads_network and effects_of(traits) in _READERS):
            found.append(call.source)
        elif call.reads_network:
            if any(one.has_room(UNKNOWN) for one in told):
                found.append(call.source._replace(kind=UNKNOWN))
        elif traits.returns_untrusted is None:
            found += self._store.sources
            if self._shared and call.environment:
                found.append(Source("session", f"environment:{call.environment}"))
        if call.environment and (traits is None or traits.returns_untrusted is None):
            found += self._environments[call.environment].sources
        for one in told:
            one.add(found)

    def _around(self, place: str) -> list[Reading]:
        """Return the reading of the innermost scope around a place; before it, those of the effects around."""
        found = [self._inside[place]] if place in self._inside else []
        scope = place
        while scope and scope not in self._scopes:
            scope = outer(scope)
        return [*found, self._scopes[scope]]


def _holds_text(value: JsonValue) -> bool:
    match value:
        case str():
            return True
        case Mapping():
            return bool(cast("Mapping[str, JsonValue]", value))  # its names may be words, too
        case list() | tuple():
            return any(map(_holds_text, cast("Sequence[JsonValue]", value)))
        case _:
            return False


def _links(value: JsonValue) -> set[str]:
    """Return the addresses in the texts of an outcome."""
    return {one for text in texts_in(value) if "://" in text for one in addresses_in(text)}


def _is_plain(name: str) -> bool:
    """Return whether the name of a file is too plain to hold an instruction: letters, digits and `_ - .` alone."""
    return len(name) <= 64 and all(one.isascii() and (one.isalnum() or one in "_-.") for one in name)
