"""Policy: what the operator lets a call do; asked before anything happens, and recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from tea.operation import Traits
from tea.types import JsonObject, Principal

Decision = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """One call that asks for permission.

    Args:
        ref: The exact operation.
        arguments: Its arguments.
        traits: What the operation declares, its effects class above all.
        principal: Who it is made for.
        run: Id of the run; may be empty outside of any.
        session: Id of the session; may be empty outside of any.
        agent: Name of the agent that asks, empty for a person.
        key: Key of the effect.
    """

    ref: str
    arguments: JsonObject
    traits: Traits
    principal: Principal
    run: str
    session: str
    agent: str
    key: str


class Policy(Protocol):
    """Decides about calls; a task may narrow it, never widen it."""

    async def decide(self, request: CallRequest) -> Decision:
        """Return whether the call may go ahead, may not, or waits for a person."""
        ...


class AllowTrusted:
    """The default: what is trusted may run; what is not is quarantined before it is asked for."""

    async def decide(self, request: CallRequest) -> Decision:
        """Allow."""
        return "allow"
