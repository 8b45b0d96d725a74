"""Policy: the operator's rules for calls; asked before anything happens, and recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args, runtime_checkable

from tea.components.operation import Traits
from tea.types import JsonObject, Principal

Decision = Literal["allow", "once", "ask", "deny"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)  # the strictest last
BEYOND = ("external", "irreversible")  # effects that leave the workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A call in need of permission.

    Args:
        ref: The exact operation that acts; where the call has other names, each of them in turn.
        arguments: The arguments of what acts.
        traits: What that declares, its effects class above all.
        principal: Who it is made for.
        run: Id of the run; may be empty outside of any.
        session: Id of the session; may be empty outside of any.
        agent: Name of the agent that asks, empty for a person.
        key: Key of the effect.
        through: The other names: what was called in the place of what acts, the first call first, where transformations
            made it: a tool that is an agent, an action that is a tool. The policy is asked by each name, and the
            strictest answer counts, so one that looks at `ref` alone denies what it denies; a person is asked once.
        digest: Of the version that acts.
    """

    ref: str
    arguments: JsonObject
    traits: Traits
    principal: Principal
    run: str
    session: str
    agent: str
    key: str
    through: tuple[str, ...] = ()
    digest: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the call's operation; the acting one is the first unless the call is under another name."""
        return (self.ref, *self.through)

    def under(self, name: str) -> CallRequest:
        """Return the same call under another of its names."""
        return replace(self, ref=name, through=tuple(one for one in self.names if one != name))


class Policy(Protocol):
    """The interface of a policy for calls; a task may narrow it, never widen it."""

    async def decide(self, request: CallRequest) -> Decision:
        """Return whether the call may go ahead, may not, or waits for a person; called for each name of a call.

        With `ask` a person consents to each call; with `once` to the first of a version, unless the task allows the
        component by its name. Anything else allows nothing: it ends the run as a defect.
        """
        ...


@runtime_checkable
class StandingPolicy(Protocol):
    """A policy with one decision for all calls of some operations."""

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Return the decision on every call of an operation; None, or an error, if each call has to be decided.

        Args:
            ref: The exact operation.
            traits: What it declares.
            principal: Who it is called for.
        """
        ...


class AskOnce:
    """The default: a person is asked once about each version declaring effects beyond the workspace.

    What declares no effects runs, since whoever registered it vouched for it; what is not trusted is quarantined
    before it is asked for.

    Args:
        settings: What the operator decides instead about the effects `external` and `irreversible`.
    """

    def __init__(self, settings: Mapping[str, Decision] | None = None) -> None:
        self._settings = settings or {}

    async def decide(self, request: CallRequest) -> Decision:
        """Decide by the effects declared by the operation."""
        traits = request.traits
        if not traits.declared or traits.effects not in BEYOND:
            return "allow"
        return self._settings.get(traits.effects, "once")

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Allow operations declaring no effects beyond the workspace once for all."""
        return None if traits.declared and traits.effects in BEYOND else "allow"


class AllowTrusted:
    """A policy allowing all trusted components, without questions."""

    async def decide(self, request: CallRequest) -> Decision:
        """Allow."""
        return "allow"

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Allow, once for all, unless a subclass decides otherwise about single calls."""
        return "allow" if type(self).decide is AllowTrusted.decide else None
