"""Rules of a run: the policy made of the operator's by its options and its task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import cast

from tea.errors import BadInput
from tea.journal.header import RunConfig
from tea.journal.history import History
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.status import ASKED
from tea.kernel.key import check_key
from tea.policy.rules import Rule, effects_of, first_fitting, read_option, read_task_rules
from tea.policy.verdict import Verdict
from tea.refs import Ref
from tea.runs.operator_policy import OperatorPolicy
from tea.runs.pins import Pins
from tea.runs.policy import CallRequest, Decision, Policy, ReasoningPolicy
from tea.types import JsonValue

_CALLED = ("tool", "environment", "agent", "policy")


def run_policy(policy: Policy, run_config: RunConfig) -> Policy:
    """Return the policy of a run.

    Args:
        policy: That of the platform.
        run_config: Holds the rules of the options, and those of the task, that narrow.

    Raises:
        BadInput: One of them is not a rule.
    """
    rules = tuple(map(read_option, run_config.rules))
    narrowing = read_task_rules(run_config.narrowing)
    if isinstance(policy, OperatorPolicy):
        return policy.with_rules(rules, narrowing)
    return Narrowed(policy, (*rules, *narrowing)) if rules or narrowing else policy


class Narrowed:
    """A policy of a program, narrowed by rules.

    Args:
        policy: The policy.
        rules: Rules; one that is stricter than the policy decides.
    """

    def __init__(self, policy: Policy, rules: tuple[Rule, ...]) -> None:
        self._policy, self._rules = policy, rules

    async def decide(self, request: CallRequest) -> Decision:
        """Return the stricter decision, of the policy and of the rules."""
        said = await self._policy.decide(request)
        named = request.ref, effects_of(request.traits), request.principal.name, request.arguments
        rule = first_fitting(self._rules, named)
        return said if rule is None else stricter(Verdict(decision=said, rule=""), rule).decision


def recorded_call(past: History, pins: Pins, key: str, ways: Mapping[str, tuple[str, ...]]) -> CallRequest:
    """Return a call held by a journal, without the knowledge of its time.

    Args:
        past: The journal.
        pins: The versions it pinned.
        key: Key of the call.
        ways: The places of the operator's ways out of the sandbox, by the name of the way.

    Raises:
        BadInput: There is no such call.
    """
    for one in past.records:
        data = as_mapping(one.data)
        if one.key != key or one.kind not in ("start", "evidence", ASKED) or not data.get("target"):
            continue
        target, told = str(data["target"]), as_mapping(data.get("data"))
        if one.kind == "start" and data.get("kind") not in _CALLED:
            break
        arguments = told if one.kind == ASKED else told.get("arguments", {})
        try:
            config = pins.pinned(target, told.get("digest"))
        except KeyError:
            break
        run = past.run_config
        operation = Ref.parse(target).operation or ""
        call = CallRequest.to(config, operation, run.principal, run.run, run.session, ways)
        return call._replace(arguments=arguments, agent=one.agent, key=key, state=state_before(past.records, key))
    fix = f"`tea trace {past.run_config.run}` shows its calls with their keys."
    raise BadInput(f"The run has no call with the key {key[:60]!r}.", fix=fix)


def state_before(records: Iterable[TraceRecord], key: str) -> JsonValue:
    """Return the last state of an environment looked at before a call was decided; None if none was."""
    found: JsonValue = None
    for one in records:
        data = as_mapping(one.data)
        if one.kind == "evidence" and one.key.startswith(check_key(key)) and str(data.get("target")).endswith("#state"):
            found = as_mapping(as_mapping(data.get("data")).get("response")).get("value")
    return found


async def reasoned(policy: Policy, request: CallRequest) -> Verdict:
    """Return a policy's decision on a call under one of its names, with its reason if it gives one."""
    if _gives_reasons(type(policy)):
        return cast(ReasoningPolicy, policy).verdict(request)
    return Verdict(decision=await policy.decide(request), rule=f"the policy {type(policy).__name__} of the program")


@lru_cache
def _gives_reasons(policy: type[Policy]) -> bool:
    """Return whether a policy gives reasons; looking up the members of a protocol at each call costs too much."""
    return issubclass(policy, ReasoningPolicy)


def stricter(verdict: Verdict, rule: Rule) -> Verdict:
    """Return the stricter one of a decision and a rule."""
    return verdict.stricter(Verdict(decision=rule.decision, rule=rule.words))
