"""OperatorPolicy: the shipped policy: the operator's rules, and provenance after untrusted reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tea.characters import in_sentence
from tea.components.operation import Traits
from tea.policy.content import addressed, addresses_within, host_of
from tea.policy.destination import (
    STATE,
    canonical_address,
    destinations_of,
    names_origin,
    permits,
    stands_in,
    texts_in,
)
from tea.policy.destination import names_address as names_place
from tea.policy.provenance import UNKNOWN, Source
from tea.policy.rules import BEYOND, UNDECLARED, Decision, PolicySettings, Rule, effects_of, first_fitting
from tea.policy.verdict import Verdict
from tea.runs.call import CallRequest
from tea.types import Principal, Untrusted

_DEFAULTS: dict[str, Decision] = {
    "reads": "allow",
    "writes": "allow",
    "external": "once",
    "irreversible": "once",
    UNDECLARED: "allow",
}
_MOST_SOURCES = 3

Remembered = Callable[[str, Sequence[str]], bool]


def nothing_remembered(digest: str, destinations: Sequence[str]) -> bool:
    """Return False: no person allowed the destinations for good."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPolicy:
    """The shipped policy.

    A rule that denies comes first, then the first rule that fits, the class of effects, and the default: reads and
    writes of the workspace are allowed, other effects asked about once for each version. After untrusted reading a call
    beyond the workspace goes ahead only where it says where it goes, and each of its destinations was named by a
    person, the operator's list or a person's lasting answer; unless the person of this run named them, it also holds no
    address that nobody named. A page is fetched only from an address that stood in what the branch was given.

    Args:
        settings: The operator's, of `[policy]`.
        rules: Of the options of a run; they come before those of the settings.
        narrowing: Of the task, and stricter only.
        remembered: Tells whether a person allowed destinations to a version for good, by its digest.
        ungranted: What the settings would allow if a person granted the home; empty where nothing is missing.
    """

    settings: PolicySettings = field(default_factory=PolicySettings)
    rules: tuple[Rule, ...] = ()
    narrowing: tuple[Rule, ...] = ()
    remembered: Remembered = nothing_remembered
    ungranted: str = ""

    def with_rules(self, rules: tuple[Rule, ...], narrowing: tuple[Rule, ...]) -> OperatorPolicy:
        """Return the policy of one run.

        Args:
            rules: Of its options.
            narrowing: Of its task.
        """
        return replace(self, rules=(*rules, *self.rules), narrowing=narrowing) if rules or narrowing else self

    async def decide(self, request: CallRequest) -> Decision:
        """Return the decision on a call."""
        return self.verdict(request).decision

    def verdict(self, request: CallRequest) -> Verdict:
        """Return the decision on a call, with its reason."""
        found = self._widest(request)
        if isinstance(request.principal, Untrusted) and not _is_local(request.traits):
            found = found.stricter(
                Verdict(
                    decision="ask",
                    rule="what nobody trusts is asked about whenever it may leave the workspace",
                    why="is called by what nobody trusts, and needs a person's consent",
                    destinations=found.destinations,
                    sources=request.known.sources,
                )
            )
        named = request.ref, effects_of(request.traits), request.principal.name, request.arguments
        narrow = first_fitting(self.narrowing, named)
        if narrow is None:
            return found
        return found.stricter(Verdict(decision=narrow.decision, rule=_rule_words(narrow), why=_why(narrow.decision)))

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Return the decision on all calls of an operation, if nothing but its traits counts."""
        effects = effects_of(traits)
        if isinstance(principal, Untrusted) and not _is_local(traits):
            return None
        rules = (*self.narrowing, *self.rules, *self.settings.rules)
        if any(one.effects in ("", effects) for one in rules) or effects in BEYOND:
            return None
        if self.settings.provenance and not traits.scope and (effects == UNDECLARED or traits.network):
            return None  # what was read before counts; of a scope its own calls are decided
        return "allow" if self.settings.classes.get(effects, "allow") == "allow" else None

    def _widest(self, request: CallRequest) -> Verdict:
        """Return the decision without the narrowing rules of the task."""
        traits, effects = request.traits, effects_of(request.traits)
        named = request.ref, effects, request.principal.name, request.arguments
        rule = first_fitting((*self.rules, *self.settings.rules), named)
        places = self._places(request)
        if rule is not None and (
            rule.decision in ("ask", "deny")
            or (rule.decision == "allow" and (rule.after_untrusted or _covers(rule, traits)))
        ):
            words = _rule_words(rule)
            return Verdict(decision=rule.decision, rule=words, why=_why(rule.decision), destinations=places)
        base = self._base(effects, rule)
        if base.decision in ("ask", "deny") or not self.settings.provenance:
            return base._replace(destinations=places)
        if effects == UNDECLARED:
            return base if traits.scope else self._undeclared(request, base, rule)
        if effects in BEYOND:
            return self._beyond(request, base, places)
        return self._fetching(request, base, places) if traits.network and not traits.scope else base

    def _base(self, effects: str, rule: Rule | None) -> Verdict:
        """Return the decision before any effect of earlier reading."""
        said = self.settings.classes.get(effects)
        if rule is not None:
            return Verdict(decision=rule.decision, rule=_rule_words(rule))
        if said is not None:
            return Verdict(decision=said, rule=f"{effects} = {said} of [policy] in tea.toml", why=_why(said))
        rule_words = f"the default for {effects} effects"
        if effects in BEYOND and self.ungranted:
            rule_words += f", as nobody granted what [policy] allows: {self.ungranted}"
        return Verdict(decision=_DEFAULTS[effects], rule=rule_words)

    def _undeclared(self, request: CallRequest, base: Verdict, rule: Rule | None) -> Verdict:
        """Return the decision on an undeclared operation: after untrusted reading, one question per version."""
        sources = request.known.untrusted
        if not sources or rule is not None:
            return base
        return Verdict(
            decision="once",
            rule="provenance: what declares no effects is asked about once after untrusted reading",
            why=f"declares no effects and comes after untrusted reading ({_read(sources)}); a person's consent is "
            "needed, once for this version",
            sources=sources,
            version=f"{request.digest}/{UNDECLARED}",
        )

    def _beyond(self, request: CallRequest, base: Verdict, places: tuple[str, ...]) -> Verdict:
        """Return the decision on a call leaving the workspace."""
        unnamed, sources = self._unnamed(request, places), request.known.sources
        if not places:  # its own earlier results, given with consent, need no further question
            sources = tuple(one for one in sources if one.kind != UNKNOWN or one.what not in request.names)
        does, law = "", "provenance: after untrusted reading a call goes only where a person named its destination"
        if unnamed:
            does = f"would go to {_listed(unnamed)}, which nobody named,"
        elif not places:
            does = "leaves the workspace"
        elif _hides(request):
            does = "leaves the workspace, declares no destinations, and holds words that nobody typed,"
        elif carried := self._carried(request, places) if sources else ():
            does = f"would pass on {_listed(carried)}, which nobody named,"
            law = "provenance: after untrusted reading only a person's own words let an unknown address be passed on"
        if not does:
            rule = "provenance: every destination was named by a person, an allow-list or a lasting answer"
            return Verdict(decision="allow", rule=rule, destinations=places)
        if not sources:
            return base._replace(destinations=places, unnamed=unnamed)
        return Verdict(
            decision="ask",
            rule=law,
            why=f"{does} after untrusted reading ({_read(sources)}); it needs a person's consent",
            destinations=places,
            unnamed=unnamed,
            sources=sources,
        )

    def _fetching(self, request: CallRequest, base: Verdict, places: tuple[str, ...]) -> Verdict:
        """Return the decision on a call reading the network: it follows links, and composes no address."""
        sources, nowhere = request.known.sources, not places and bool(request.traits.destinations)
        if not sources or not (places or nowhere):
            return base._replace(destinations=places)
        unnamed = self._unnamed(request, places, fetching=True)
        if not unnamed and not nowhere:
            rule = "provenance: the address stood in what the branch was given, or was named"
            return Verdict(decision=base.decision, rule=rule, destinations=places)
        return Verdict(
            decision="ask",
            rule="provenance: after untrusted reading only addresses that stood in an outcome are fetched",
            why=f"would fetch {_listed(unnamed) or 'from where it does not say'}, which stood nowhere like that and "
            f"nobody named, after untrusted reading ({_read(sources)}); it needs a person's consent",
            destinations=places,
            unnamed=unnamed,
            sources=sources,
        )

    def _places(self, request: CallRequest) -> tuple[str, ...]:
        """Return the destinations of a call: those declared, else each argument in the form of an address."""
        declared = request.traits.destinations
        if request.reaches:
            return request.reaches
        if declared is None:
            return addressed(request.arguments)
        return destinations_of(declared, request.arguments, request.state)

    def _unnamed(self, request: CallRequest, places: Sequence[str], *, fetching: bool = False) -> tuple[str, ...]:
        """Return the destinations named by neither a person nor the operator, unless allowed for good by a person."""
        left = tuple(one for one in places if not self._is_named(request, one, fetching=fetching))
        return () if left and self.remembered(request.digest, left) else left

    def _is_named(self, request: CallRequest, place: str, *, fetching: bool) -> bool:
        address = canonical_address(place)
        if fetching and address and address in request.known.linked:
            return True
        return self._is_listed(place) or _is_typed(request, place, fetching=fetching)

    def _is_listed(self, place: str) -> bool:
        return any(permits(pattern, place) for pattern in self.settings.destinations)

    def _carried(self, request: CallRequest, places: Sequence[str]) -> tuple[str, ...]:
        """Return the addresses in the words of a call, as they stand, that neither a person nor the operator named.

        Where the person of this run named all destinations, they may be told anything.
        """
        if all(_is_typed(request, one) for one in places):
            return ()
        declared = request.traits.destinations or ()
        words = [one for name, one in request.arguments.items() if name not in declared]
        return tuple(standing for one, standing in addresses_within(words).items() if not self._is_known(request, one))

    def _is_known(self, request: CallRequest, address: str) -> bool:
        """Return whether an address in the words of a call, or its host, was named."""
        names = (address,) if "://" in address else (address, host_of(address))
        return any(self._is_listed(one) or _is_typed(request, one, fetching=True) for one in names)


def observes(traits: Traits) -> bool:
    """Return whether a destination of an operation is a field of its environment's state."""
    return any(name.startswith(STATE) for name in traits.destinations or ())


def places_in_front(request: CallRequest) -> tuple[str, ...]:
    """Return the destinations of a call given by the state of its environment, not by its arguments."""
    traits = request.traits
    return destinations_of(traits.destinations or (), request.arguments, request.state) if observes(traits) else ()


def _is_local(traits: Traits) -> bool:
    """Return whether calls of an operation stay within the workspace; reading an address reveals the request."""
    return traits.declared and traits.effects not in BEYOND and not traits.network


def _is_typed(request: CallRequest, place: str, *, fetching: bool = False) -> bool:
    """Return whether a person's words contain a place.

    Args:
        request: The call.
        place: One of its destinations, or of the addresses in its words.
        fetching: Whether a bare host stands for its addresses without a query.
    """
    typed, address = request.known.typed, canonical_address(place)
    if address and observes(request.traits):
        return any(names_origin(text, address) for text in typed)
    if address and fetching:
        return any(names_place(text, address) for text in typed)
    return any(stands_in(place, text) for text in typed)


def _hides(request: CallRequest) -> bool:
    """Return whether a call may go anywhere: it declares no destinations, and a person did not type all its words."""
    if request.traits.destinations is not None:
        return False
    typed = request.known.typed
    return not all(any(stands_in(one, text) for text in typed) for one in texts_in(request.arguments))


def _covers(rule: Rule, traits: Traits) -> bool:
    """Return whether a rule holds each destination of an operation to a pattern."""
    return bool(traits.destinations) and set(traits.destinations or ()) <= set(rule.arguments)


def _rule_words(rule: Rule) -> str:
    return f"{rule.words} ({rule.place})" if rule.place else rule.words


def _why(decision: Decision) -> str:
    return "needs a person's consent" if decision == "ask" else ""


def _listed(places: Sequence[str]) -> str:
    return ", ".join(map(in_sentence, places))


def _read(sources: Sequence[Source]) -> str:
    shown = "; ".join(one.words for one in sources[:_MOST_SOURCES])
    more = len(sources) - _MOST_SOURCES
    return f"{shown}; and {more} more" if more > 0 else shown
