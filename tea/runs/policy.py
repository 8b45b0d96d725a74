"""Policy: the operator's rules for calls; asked before anything happens, and recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, get_args, runtime_checkable

from tea.components.operation import Traits
from tea.runs.call import CallRequest as CallRequest
from tea.types import Principal, Untrusted

Decision = Literal["allow", "once", "ask", "deny"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)  # the strictest last
BEYOND = ("external", "irreversible")  # effects that leave the workspace


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

    What declares no effects runs, since whoever registered it vouched for it. What is not trusted runs in a sandbox; a
    person is asked about each call of its own to what may leave the workspace, or does not say that it does not.

    Args:
        settings: What the operator decides instead about the effects `external` and `irreversible`.
    """

    def __init__(self, settings: Mapping[str, Decision] | None = None) -> None:
        self._settings = settings or {}

    async def decide(self, request: CallRequest) -> Decision:
        """Decide by the effects declared by the operation."""
        traits = request.traits
        if _stays(traits, request.principal):
            return "allow"
        said = self._settings.get(traits.effects, "once")
        return "ask" if isinstance(request.principal, Untrusted) and said != "deny" else said

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Allow operations declaring no effects beyond the workspace once for all."""
        return "allow" if _stays(traits, principal) else None


def _stays(traits: Traits, principal: Principal) -> bool:
    """Return whether a call stays within the workspace, as far as it is known; of whom nobody trusts nothing may leave.

    What reads an address tells it what is read.
    """
    if isinstance(principal, Untrusted):
        return traits.declared and traits.effects not in BEYOND and not traits.network
    return not traits.declared or traits.effects not in BEYOND


class AllowTrusted:
    """A policy allowing all trusted components, without questions."""

    async def decide(self, request: CallRequest) -> Decision:
        """Allow."""
        return "allow"

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Allow, once for all, unless a subclass decides otherwise about single calls."""
        return "allow" if type(self).decide is AllowTrusted.decide else None
