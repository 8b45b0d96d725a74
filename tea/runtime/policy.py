"""Policy: what the operator lets a call do; asked before anything happens, and recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

from tea.operation import Traits
from tea.types import JsonObject, Principal

Decision = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """One call that asks for permission.

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

    @property
    def names(self) -> tuple[str, ...]:
        """All operations that the call goes by, whichever of them this is about; what acts, if it is, is the first."""
        return (self.ref, *self.through)

    def under(self, name: str) -> CallRequest:
        """Return the same call under another of its names."""
        return replace(self, ref=name, through=tuple(one for one in self.names if one != name))


class Policy(Protocol):
    """Decides about calls; a task may narrow it, never widen it."""

    async def decide(self, request: CallRequest) -> Decision:
        """Return whether the call may go ahead, may not, or waits for a person; it is asked by each name of a call.

        Anything else allows nothing: it ends the run as a defect.
        """
        ...


@runtime_checkable
class StandingPolicy(Protocol):
    """A policy that decides about some operations once, whatever the single call is."""

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Return what holds for every call of an operation; None, or an error, where each call has to be asked for.

        Args:
            ref: The exact operation.
            traits: What it declares.
            principal: Who it is called for.
        """
        ...


class AllowTrusted:
    """The default: what is trusted may run; what is not is quarantined before it is asked for."""

    async def decide(self, request: CallRequest) -> Decision:
        """Allow."""
        return "allow"

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Allow, once for all, unless a subclass decides otherwise about single calls."""
        return "allow" if type(self).decide is AllowTrusted.decide else None
