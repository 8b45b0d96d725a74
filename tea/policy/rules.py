"""Rules: decisions of the operator about calls, as written in `[policy]`, in options and in task files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, cast, get_args

from tea.components.operation import Traits
from tea.errors import BadInput
from tea.policy.destination import fits_pattern, fits_wildcards, parts_of, permits, texts_in
from tea.refs import Ref
from tea.types import JsonObject

Decision = Literal["allow", "once", "ask", "deny"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)  # the strictest last
BEYOND = ("external", "irreversible")  # effects that leave the workspace
UNDECLARED = "undeclared"
CLASSES = ("reads", "writes", *BEYOND, UNDECLARED)
_NARROWING: tuple[Decision, ...] = ("ask", "deny")
_KEYS = ("component", "effects", "principal", "arguments", "decision", "after_untrusted")
_OPTION = re.compile(r"(?P<what>[^=()]+?)(?:\((?P<arguments>.*)\))?=(?P<decision>[a-z]+)", re.DOTALL)
_ANY = "*"
_LONGEST = 4_096  # characters of a pattern, each of which is compared with texts of any length


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A decision on the calls within its terms.

    Args:
        decision: `allow`, `once` (for each version), `ask` (each time) or `deny`.
        component: Pattern of the component, `name`, `kind:name` or `kind:name#operation`; every one by default.
        effects: Class of effects, or `undeclared`; every one by default.
        principal: Pattern of the principal.
        arguments: Patterns by argument: every text in that argument has to fit, and there has to be one.
        after_untrusted: Whether an `allow` also holds after untrusted reading, wherever the call sends to.
        place: Where it is written, for people.
    """

    decision: Decision
    component: str = _ANY
    effects: str = ""
    principal: str = _ANY
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    after_untrusted: bool = False
    place: str = ""

    def fits(self, ref: str, effects: str, principal: str, arguments: JsonObject) -> bool:
        """Return whether the rule is about a call.

        Args:
            ref: The exact operation.
            effects: Its class of effects, or `undeclared`.
            principal: Name of whom it is made for.
            arguments: Those of the call.
        """
        if self.effects not in ("", effects) or not fits_wildcards(principal, self.principal):
            return False
        if self.component != _ANY and not any(fits_wildcards(name, self.component) for name in _names(ref)):
            return False
        fits = _fits_all if self.decision in _NARROWING else _permits_all
        return all(fits(arguments.get(name), pattern) for name, pattern in self.arguments.items())

    @property
    def words(self) -> str:
        """The rule on one line."""
        about = self.component if self.component != _ANY or not self.effects else ""
        given = ", ".join(f"{name}={pattern}" for name, pattern in self.arguments.items())
        parts = (about, self.effects, f"({given})" if given else "", _for(self.principal))
        said = " ".join(filter(None, parts))
        return f"{said} = {self.decision}{', after untrusted reading too' if self.after_untrusted else ''}"

    def to_json(self) -> dict[str, Any]:
        """Return the rule as written in `[[policy.rules]]`."""
        data: dict[str, Any] = {"component": self.component, "decision": self.decision}
        if self.effects:
            data["effects"] = self.effects
        if self.principal != _ANY:
            data["principal"] = self.principal
        if self.arguments:
            data["arguments"] = dict(self.arguments)
        if self.after_untrusted:
            data["after_untrusted"] = True
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """The table `[policy]` of `tea.toml`.

    Args:
        classes: Decisions by class of effects: `reads`, `writes`, `external`, `irreversible`, `undeclared`.
        rules: Rules, the first that fits decides; one that denies comes before all others.
        destinations: Patterns of places that may be sent to after untrusted reading.
        provenance: Whether what a branch has read counts.
    """

    classes: Mapping[str, Decision] = field(default_factory=dict[str, Decision])
    rules: tuple[Rule, ...] = ()
    destinations: tuple[str, ...] = ()
    provenance: bool = True

    @classmethod
    def read(cls, table: Mapping[str, Any], place: str = "[policy] in tea.toml") -> PolicySettings:
        """Return the settings of a table.

        Args:
            table: The table.
            place: Where it is written, for people.

        Raises:
            BadInput: It holds what is not a setting.
        """
        file = place.partition(" in ")[2] or place
        classes: dict[str, Decision] = {
            name: _decision(value, f"policy.{name}", file) for name, value in table.items() if name in CLASSES
        }
        for name in table:
            if name not in (*CLASSES, "rules", "destinations", "provenance"):
                near = get_close_matches(name, (*CLASSES, "rules", "destinations", "provenance"), n=1)
                fix = f"did you mean {near[0]!r}?" if near else f"write {', '.join(CLASSES)}, rules or destinations."
                raise BadInput(f"{f'policy.{name[:60]}'!r} is not a setting of the policy.", fix=fix)
        provenance = table.get("provenance", True)
        if not isinstance(provenance, bool):
            raise BadInput("policy.provenance is not true or false.", fix="write one of the two.")
        destinations = table.get("destinations", [])
        if not _are_texts(destinations):
            raise BadInput("policy.destinations is not a list of patterns.", fix='write ["*@example.org"].')
        _check_lengths("policy.destinations", destinations)
        rules = read_rules(table.get("rules", []), place)
        return cls(classes=classes, rules=rules, destinations=tuple(destinations), provenance=provenance)

    @property
    def widening(self) -> dict[str, Any]:
        """The settings allowing more than the defaults do, as JSON; empty if none does."""
        found: dict[str, Any] = {}
        classes = {name: said for name, said in self.classes.items() if name in BEYOND and said == "allow"}
        rules = [one.to_json() for one in self.rules if one.decision == "allow"]
        for name, value in (("classes", classes), ("rules", rules), ("destinations", list(self.destinations))):
            if value:
                found[name] = value
        return found if self.provenance else {**found, "provenance": False}

    def narrowed(self) -> PolicySettings:
        """Return the settings without all parts allowing more than the defaults do."""
        classes: dict[str, Decision] = {
            name: said for name, said in self.classes.items() if name not in BEYOND or said != "allow"
        }
        rules = tuple(one for one in self.rules if one.decision in _NARROWING)
        return PolicySettings(classes=classes, rules=rules)


def read_rules(value: object, place: str) -> tuple[Rule, ...]:
    """Return the rules of a list of tables.

    Args:
        value: The list.
        place: Where it is written, for people.

    Raises:
        BadInput: One is not a rule.
    """
    if not isinstance(value, list | tuple):
        raise BadInput("The rules of the policy are not a list.", fix="write [[policy.rules]] tables.")
    return tuple(_rule(one, f"rule {number} of {place}") for number, one in enumerate(cast("list[object]", value), 1))


def read_task_rules(value: object) -> tuple[Rule, ...]:
    """Return the rules of a task file.

    Raises:
        BadInput: One is not a rule, or allows something.
    """
    if value is None:
        return ()
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        settings = PolicySettings.read(table, "the task")
        classes = [Rule(decision=said, effects=name, place="the task") for name, said in settings.classes.items()]
        rules = (*settings.rules, *classes)
        if settings.destinations or "provenance" in table:
            raise BadInput("The task widens the policy.", fix="write rules that ask or deny.")
    else:
        rules = read_rules(value, "the task")
    for one in rules:
        if one.decision not in _NARROWING:
            problem = f"The task says {one.decision!r}: a task narrows the policy and never widens it."
            raise BadInput(problem, fix="let its rules ask or deny.")
    return rules


def read_option(text: str) -> Rule:
    """Return the rule of an option: `external=deny`, `send=ask`, `tool:send(to=*@example.org)=allow`.

    Raises:
        BadInput: It is not a rule.
    """
    found = _OPTION.fullmatch(text.strip())
    if found is None:
        problem = f"--policy {text[:80]!r} is not a rule."
        raise BadInput(problem, fix="write effects=DECISION, NAME=DECISION or NAME(ARGUMENT=PATTERN)=DECISION.")
    what, given = found["what"].strip(), found["arguments"] or ""
    arguments: dict[str, str] = {}
    for part in filter(None, (one.strip() for one in given.split(","))):
        name, sign, pattern = part.partition("=")
        if not sign:
            raise BadInput(f"--policy {text[:80]!r} has no pattern for {name!r}.", fix="write ARGUMENT=PATTERN.")
        arguments[name.strip()] = pattern.strip()
    about = {"effects": what} if what in CLASSES else {"component": what}
    data = {**about, "arguments": arguments, "decision": found["decision"]}
    return _rule(data, f"--policy {text.strip()}", f"--policy {text.strip()}")


def effects_of(traits: Traits) -> str:
    """Return the class of effects of an operation for the rules; `undeclared` if it declares none."""
    return UNDECLARED if traits.effects in BEYOND and not traits.declared else traits.effects


def first_fitting(rules: Iterable[Rule], names: Sequence[Any]) -> Rule | None:
    """Return the rule deciding a call: a denying one, else the first one to fit; None without any.

    Args:
        rules: The rules in their order.
        names: What `Rule.fits` takes.
    """
    first: Rule | None = None
    for one in rules:
        if one.fits(*names):
            if one.decision == "deny":
                return one
            first = first or one
    return first


def _rule(data: object, shown: str, place: str = "") -> Rule:
    """Return the rule in a table.

    Raises:
        BadInput: It is not a rule.
    """
    if not isinstance(data, Mapping):
        raise BadInput(f"The {shown} is not a table.", fix="write component, effects, arguments and decision.")
    table = cast("Mapping[str, Any]", data)
    for name in table:
        if name not in _KEYS:
            near = get_close_matches(str(name), _KEYS, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"its keys are {', '.join(_KEYS)}."
            raise BadInput(f"The {shown} has an unknown key {str(name)[:60]!r}.", fix=fix)
    effects = table.get("effects", "")
    if effects not in ("", *CLASSES):
        raise BadInput(f"The {shown} has effects {str(effects)[:40]!r}.", fix=f"write one of {', '.join(CLASSES)}.")
    texts = {name: table.get(name, _ANY) for name in ("component", "principal")}
    arguments: object = table.get("arguments", {})
    patterned = isinstance(arguments, Mapping) and _are_texts([*cast("Mapping[Any, Any]", arguments).values()])
    if not _are_texts([*texts.values()]) or not patterned:
        raise BadInput(f"The {shown} has a pattern that is not text.", fix="write patterns as text.")
    patterns = cast("Mapping[str, str]", arguments)
    _check_lengths(f"The {shown}", [*texts.values(), *patterns.values()])
    after = table.get("after_untrusted", False)
    if not isinstance(after, bool):
        raise BadInput(f"after_untrusted of the {shown} is not true or false.", fix="write one of the two.")
    return Rule(
        decision=_decision(table.get("decision"), "decision", shown),
        effects=effects,
        arguments=patterns,
        after_untrusted=after,
        place=place or shown,
        **texts,
    )


def _decision(value: object, shown: str, place: str) -> Decision:
    if value not in DECISIONS:
        problem = f"{shown} = {str(value)[:60]!r} in {place} is not a decision."
        raise BadInput(problem, fix=f"write one of {', '.join(DECISIONS)}.")
    return value


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) and one for one in cast("list[object]", value))


def _check_lengths(shown: str, patterns: Iterable[str]) -> None:
    longest = max(map(len, patterns), default=0)
    if longest > _LONGEST:
        problem = f"{shown[:80]} has a pattern of {longest:,} characters; {_LONGEST:,} are the most."
        raise BadInput(problem, fix="write * for what may vary.")


def _fits_all(value: object, pattern: str) -> bool:
    texts = list(texts_in(value))
    return bool(texts) and all(fits_pattern(one, pattern) for one in texts)


def _permits_all(value: object, pattern: str) -> bool:
    """Return whether an allowing pattern fits each part of each text."""
    parts = [part for text in texts_in(value) for part in (parts_of(text) or [text])]
    return bool(parts) and all(permits(pattern, one) for one in parts)


def _names(ref: str) -> tuple[str, ...]:
    parsed = Ref.parse(ref)
    full = f"{parsed.kind}:{parsed.name}"
    return parsed.name, full, f"{parsed.name}#{parsed.operation}", f"{full}#{parsed.operation}", ref


def _for(principal: str) -> str:
    return "" if principal == _ANY else f"for {principal}"
