"""Readings: the sources read by the branches of a run, kept along with its calls and services."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tea.components.manifest import Manifest
from tea.components.operation import Traits
from tea.components.port import ServiceRequest
from tea.components.unseen import UnseenMatches
from tea.errors import NotConfigured, TeaError, UntrustedHome
from tea.journal.history import History
from tea.journal.record import as_mapping
from tea.journal.status import ASKED
from tea.kernel.gate import Gate
from tea.kernel.key import effect_key
from tea.policy.provenance import Delivered, Known, Provenance, Source
from tea.refs import Ref
from tea.runs.call import CallRequest
from tea.runs.pins import Pins
from tea.types import JsonObject, JsonValue, Principal

CONSENTS = ("allow", "deny", "always")
_WRITING = ("record", "save", "merge", "swap", "put", "put_in_turn")
_FINDING = ("list", "retrieve")
_READING = ("recall", "summarise", "insights", "load")


class Readings:
    """The sources read by the branches of a run: computed along with its events, and never written.

    Args:
        gate: That of the run; tells which branch is at work.
        pins: Know the versions behind recorded calls, and which of them are believed.
        files: Names of the task's files.
        shared: Whether its session may hold content of other runs.
        ways: The places of the operator's ways out of the sandbox, by the name of the way.
    """

    def __init__(
        self,
        gate: Gate,
        pins: Pins,
        files: tuple[str, ...],
        *,
        shared: bool,
        ways: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._gate, self._pins, self._ways = gate, pins, ways
        self._provenance = Provenance(files, shared=shared)
        self._calls: defaultdict[str, dict[str, Delivered]] = defaultdict(dict)
        self._recorded: defaultdict[str, list[tuple[str, str, JsonObject]]] = defaultdict(list)
        self._made = set[str]()
        self._asked, self._own, self._forks = "", True, False
        self.found: Known | None = None

    def begin_with(self, past: History) -> None:
        """Add the words at the beginning of a run, and restore those in its journal from inside of effects.

        The person of this account typed its task, unless agents of the same conversation wrote it; that of a run begun
        elsewhere is the words of others.
        """
        self._recall(past)
        task, self._own, self._forks = past.task, past.own, past.forks
        if not self._own:
            self._provenance.read("", Source("session", "a run that this account did not begin"))
            return
        if task.talk is None:
            self._provenance.say((task.task,))
            return
        self._provenance.say(task.talk.typed(task.task))
        if task.talk.retold:
            self._provenance.read("", Source("session", "what agents said before in the conversation"))

    def _recall(self, past: History) -> None:
        """Set the calls and answers from inside effects held by a journal, before its events are delivered."""
        choices: dict[str, Any] = {}
        for one in past.records:
            if one.kind == ASKED:
                data = as_mapping(one.data)
                choices[one.key] = data.get("choices", ()), "target" in data
            elif one.kind == "answer" and one.seq not in past.foreign:
                given, about_call = choices.get(one.key, ((), False))
                answer = str(as_mapping(one.data).get("answer", ""))
                self.answered(one.key, answer, CONSENTS if about_call else given)
            elif one.kind == "evidence" and "target" in (data := as_mapping(one.data)) and data.get("data"):
                self._recorded[effect_key(one.key)].append((one.key, data["target"], data["data"]))

    def known(self, arguments: JsonObject, inside: str = "") -> Known:
        """Return the present knowledge for a call with arguments.

        Args:
            arguments: Those of the call.
            inside: Key of the effect that the call is made from; the branch at work by default.
        """
        known = self._provenance.known(effect_key(inside) if inside else self._gate.path(), arguments)
        if self._asked and not inside and self._gate.next_key() == self._asked:
            self.found = known
        return known

    def ask(self, key: str) -> None:
        """Store the branch's knowledge at the call of a key as `found`, once the run reaches it."""
        self._asked = effect_key(key)

    def begin(self, call: CallRequest) -> CallRequest:
        """Note a call by the branch at work, and return the call with its key and the branch's knowledge."""
        known = self.known(call.arguments)
        self._provenance.begin(self._gate.path(), self._traits(call), _environment(call.config))
        return call._replace(key=self._gate.next_key(), known=known)

    def deliver(self, key: str, call: CallRequest, outcome: JsonValue) -> None:
        """Add a delivered outcome to the reading of the branch at work."""
        inside = self._calls.pop(key, {})
        for inner, target, data in self._recorded.pop(key, ()):
            inside.setdefault(inner, self._recorded_call(inner, target, data))
        believed = self._pins.believes(call.config.digest)
        traits = call.traits if believed else _worst(call.traits)
        if believed and _failed_with(outcome, NotConfigured, UntrustedHome):
            traits = replace(traits, returns_untrusted=False)
        self._provenance.deliver(self._gate.path(), _delivered(key, call, outcome, traits), inside.values())

    def deliver_inside(self, key: str, call: CallRequest, outcome: JsonValue) -> None:
        """Add the outcome of a call from inside an effect to the knowledge of the later calls inside of it."""
        delivered = _delivered(key, call, outcome, self._traits(call))
        self._provenance.deliver_inside(effect_key(key), delivered)
        self._calls[effect_key(key)][key] = delivered

    @contextmanager
    def scope(self, key: str, call: CallRequest) -> Generator[None]:
        """Begin a scope with the reading of its parent, and return the scope's reading at its end."""
        self._provenance.enter(key)
        if self._traits(call).returns_untrusted:
            self._provenance.read(key, Source("read", call.ref, key=key))
        try:
            yield
        finally:
            self._provenance.leave(key)

    def served(self, request: ServiceRequest, value: JsonValue, key: str) -> None:
        """Add the answer of a service to the reading of the branch at work, or its words to the run's store.

        Args:
            request: The request.
            value: What it gave.
            key: Key of its effect.
        """
        service, verb = request.service, request.verb
        if service in ("memory", "state"):
            if verb in _WRITING:
                self._provenance.kept(self._gate.path())
            elif verb in _READING:
                self._provenance.recalled(self._gate.path(), value, lasting=bool(request._asdict().get("lasting")))
        elif verb == "solutions" and value:
            self._provenance.recalled(self._gate.path(), value, lasting=True)
        elif service == "media":
            self._provenance.seen(self._gate.path(), request._asdict()["names"])
        elif service == "registry" and verb in _FINDING and not isinstance(request, UnseenMatches):
            self._note_listed(one for one in value if not one.get("trusted", True))
        elif service == "skills":
            for one in value if verb == "list" else [value]:
                if not one["trusted"]:
                    self._provenance.read(self._gate.path(), Source("component", f"prompt:{one['name']}"))
        elif service == "person":
            self._provenance.hear(key)

    def told(self, text: str, *, typed: bool, here: bool) -> None:
        """Add a message to the run, or to the origin of a fork.

        Args:
            text: Its words.
            typed: Whether a person of this account typed it.
            here: Whether it was sent to this run; others may write into a journal what was sent to another.
        """
        if typed and (here or (self._own and self._forks)):
            self._provenance.say((text,))
        else:
            self._provenance.read(self._gate.path(), Source("session", "a message that this account did not send"))

    def described(self, configs: Iterable[Manifest]) -> None:
        """Note the words of components shown to the branch at work; those of an untrusted one are words of others."""
        for one in configs:
            if not self._pins.believes(one.digest):
                self._words_of(str(one.ref))

    def made(self, ref: str) -> None:
        """Note a component made by the branch at work: its words derive from the readings so far, and no later ones."""
        self._made.add(ref)
        self._provenance.kept(self._gate.path())

    def prompted(self, prompt: Manifest) -> None:
        """Note a model call by the branch at work through a prompt; an imported prompt holds the words of others."""
        if prompt.metadata.get("skill") is not None:
            self._provenance.read(self._gate.path(), Source("component", str(prompt.ref)))

    def answered(self, key: str, answer: str, choices: Iterable[str]) -> None:
        """Keep a person's answer to a question inside an effect as typed words, unless it is one of the choices."""
        if answer not in tuple(choices):
            self._provenance.answered(effect_key(key), answer)

    def _note_listed(self, rows: Iterable[JsonObject]) -> None:
        """Record the words of untrusted components shown by a listing."""
        for one in rows:
            self._words_of(str(one.get("ref") or f"{one['name']}@{one['version']}"))

    def _words_of(self, ref: str) -> None:
        place = self._gate.path()
        if ref in self._made:
            self._provenance.seen(place, ())
        else:
            self._provenance.read(place, Source("component", ref))

    def _traits(self, call: CallRequest) -> Traits:
        """Return the effective traits: the worst ones for an untrusted operation."""
        return call.traits if self._pins.believes(call.config.digest) else _worst(call.traits)

    def _recorded_call(self, key: str, target: str, data: JsonObject) -> Delivered:
        """Return a call from inside an effect as its journal holds it."""
        try:
            config, operation = self._pins.exact(target, data["digest"]), Ref.parse(target).operation or ""
            call = CallRequest.to(config, operation, Principal(), "", "", self._ways)
            return _delivered(key, call._replace(arguments=data["arguments"]), None, self._traits(call))
        except (TeaError, KeyError):  # nothing is known of it any more, so it counts as the worst
            return Delivered(ref=target, key=key, traits=None, arguments={})


def _worst(traits: Traits) -> Traits:
    """Return the traits of an untrusted operation, as it may declare anything."""
    return replace(traits, returns_untrusted=True, effects="irreversible")


def _delivered(key: str, call: CallRequest, outcome: JsonValue, traits: Traits) -> Delivered:
    if call.passes_on:  # the inner call is delivered itself, so its words are not counted twice
        traits = replace(traits, returns_untrusted=False)
    return Delivered(
        ref=call.ref,
        key=key,
        traits=traits,
        arguments=call.arguments,
        environment=_environment(call.config),
        outcome=outcome,
    )


def _failed_with(outcome: JsonValue, *kinds: type[TeaError]) -> bool:
    """Return whether a response holds an error of one of some classes."""
    error = as_mapping(outcome).get("error")
    return error is not None and as_mapping(error).get("code") in {one.__name__ for one in kinds}


def _environment(config: Manifest) -> str:
    return config.name if config.kind == "environment" else ""
