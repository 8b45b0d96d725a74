"""Policy: the operator's rules for calls; asked before anything happens, and recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from tea.components.operation import Traits
from tea.policy.rules import Decision as Decision
from tea.policy.verdict import Verdict
from tea.runs.call import CallRequest as CallRequest
from tea.types import Principal

Remember = Callable[[str, str, Sequence[str]], object]
"""Keeps that a version, by digest and name, may send to destinations for good."""


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


@runtime_checkable
class ReasoningPolicy(Protocol):
    """A policy with reasons for its decisions."""

    def verdict(self, request: CallRequest) -> Verdict:
        """Return the decision on a call under one of its names, with its reason."""
        ...


class AllowTrusted:
    """A policy allowing all trusted components, without questions."""

    async def decide(self, request: CallRequest) -> Decision:
        """Allow every call."""
        return "allow"

    def standing(self, ref: str, traits: Traits, principal: Principal) -> Decision | None:
        """Allow, once for all, unless a subclass decides otherwise about single calls."""
        return "allow" if type(self).decide is AllowTrusted.decide else None
