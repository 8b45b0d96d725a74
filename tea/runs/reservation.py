"""Reservation: the most one model call may use, the amount held for it, and the usage of its attempts so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tea.models.prices import worst_case
from tea.types import Attempt, Usage, changed

Cost: TypeAlias = tuple[int, float]
"""Tokens and US dollars; an unknown price counts nothing."""
Unknown: TypeAlias = tuple[int, float | None]
"""Tokens and US dollars that may have been used, None where no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimated maximum usage of a model call.

    Args:
        input_tokens: About how many tokens the question has.
        max_output: Most tokens of the answer; None for a model that counts none, for which nothing is reserved.
        prices: US dollars per million tokens, the highest of all who may answer; empty when unknown.
        unpriced: Whether somebody may answer whose price is not known.
    """

    input_tokens: int = 0
    max_output: int | None = None
    prices: Mapping[str, float] = field(default_factory=dict[str, float])
    unpriced: bool = False

    def usd(self, output: int) -> float | None:
        """Return its maximum cost with the given number of output tokens."""
        return worst_case(self.prices, self.input_tokens, output)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAttempt:
    """An attempt failed in the middle of its answer: its model, its error, and its approximate usage."""

    attempt: Attempt
    usage: Usage


@dataclass(slots=True, kw_only=True, eq=False)
class Reservation:
    """The amount held for one call, unchanged by its attempts until the call is settled.

    Args:
        wanted: What the call may use at most.
        tokens: Tokens that are held back.
        usd: US dollars that are held back, None where no price is known.
        max_output: Most tokens that its answer may then have; None for a model that counts none.
        lost: Its tries that broke.
        unknown: What its tries used at most of which nobody knows: those that nothing was heard of, and those of an
            earlier process of the run. Dollars are None where no price is known.
        trying: What the try that now goes on may use at most; None before the first and between two.
    """

    wanted: Estimate = field(default_factory=Estimate)
    tokens: int = 0
    usd: float | None = 0.0
    max_output: int | None = None
    lost: list[FailedAttempt] = field(default_factory=list[FailedAttempt])
    unknown: list[Unknown] = field(default_factory=list[Unknown])
    trying: Cost | None = None

    @property
    def held(self) -> Cost:
        """The amount held."""
        return self.tokens, self.usd or 0.0

    @property
    def used(self) -> Cost:
        """The usage of its failed attempts, with the maximum of those with unknown usage."""
        used = [(one.usage.input_tokens + one.usage.output_tokens, one.usage.usd) for one in self.lost]
        used += self.unknown
        return sum(tokens for tokens, _ in used), sum(usd or 0.0 for _, usd in used)

    @property
    def claimed(self) -> Cost:
        """The maximum usage of its attempts begun so far; before the first one, the amount held."""
        used = self.used
        if self.trying is None:
            return max(used[0], self.tokens), max(used[1], self.usd or 0.0)
        return used[0] + self.trying[0], used[1] + self.trying[1]

    def broke(self, attempt: Attempt, usage: Usage) -> None:
        """Record a failed attempt, charged with at most the amount reserved for it.

        Both are estimates: the usage of the whole body, the reservation of its messages and tools. The body is a
        little longer, and without a limit this difference would overspend a budget.
        """
        if self.max_output is not None:
            tokens, usd = self.trying or self.held
            asked = max(0, min(usage.input_tokens, tokens - usage.output_tokens))
            most = usage.usd if self.usd is None or usage.usd is None else min(usage.usd, usd)
            usage = changed(usage, input_tokens=asked, usd=most)
        self.lost.append(FailedAttempt(attempt=attempt, usage=usage))
        self.trying = None

    def unheard(self) -> None:
        """Record an attempt with an unknown outcome at its maximum usage, as it may have been answered."""
        tokens, usd = self.trying or self.held
        self.unknown.append((tokens, None if self.usd is None else usd))
        self.trying = None
