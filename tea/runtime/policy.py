"""Policy: what the operator lets a call do; asked before anything happens, and recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from tea.operation import Traits
from tea.types import JsonObject, Principal

Decision = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """One call that asks for permission.

    Args:
        ref: The exact operation that acts.
        arguments: Its arguments.
        traits: What the operation declares, its effects class above all.
        principal: Who it is made for.
        run: Id of the run; may be empty outside of any.
        session: Id of the session; may be empty outside of any.
        agent: Name of the agent that asks, empty for a person.
        key: Key of the effect.
        through: What was called in its place, the first call first, where transformations made other names for it: a
            tool that is an agent, an action that is a tool. Nobody is asked about these; whoever allows or denies by
            name looks at all `names`.
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
        """All operations that the call goes by: what acts, then what was called in its place."""
        return (self.ref, *self.through)


class Policy(Protocol):
    """Decides about calls; a task may narrow it, never widen it."""

    async def decide(self, request: CallRequest) -> Decision:
        """Return whether the call may go ahead, may not, or waits for a person."""
        ...


@runtime_checkable
class StandingPolicy(Protocol):
    """A policy that decides about some operations once, whatever the single call is."""

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Return what holds for every call of an operation; None where each call has to be asked for.

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
