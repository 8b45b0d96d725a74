"""Limits of steps and budget for one task, and the shares for delegated parts."""

from __future__ import annotations

import math
from typing import Any

from tea.components.context import Context
from tea.types import Budget, Result, changed

_KEPT_FOR_LAST = {"tokens": (2.0, 300), "usd": (3.0, 0.0)}  # times the dearest question, and more: a call is only
# made where its bytes, counted generously, and a short answer are covered
_GENEROUS, _ANSWER = 4 / 3, 300  # of a short question: its bytes are counted so, and tokens of its answer
_SECONDS = 0.1  # of the time that is left, kept for it
_KEPT = 0.1  # of the tokens and money that are left, kept for the last word on the work of several agents

SPENT = "The {limit} allowed no further question, so nothing more was looked up."


class Limits:
    """The remaining steps of an agent and the remaining budget of the run.

    Args:
        ctx: What the agent may reach.
        most: Most questions of its own.
        raised: Whether a budget of more steps raises that.

    `questions` is how many may still be asked, the next one included, and `tightest` the limit that says so.
    """

    def __init__(self, ctx: Context, most: int, *, raised: bool = False) -> None:
        self._ctx, self.most, self._raised = ctx, most, raised
        self._asked = 0
        self._limited, self._was_asked = True, False
        self._left: dict[str, float] = {}
        self._cost: dict[str, float] = {}
        self._size = 0
        self._short = 0.0
        self.questions, self.tightest = most, "step budget"

    def keep(self, tokens: int) -> None:
        """Keep the tokens of a short last question of about so many."""
        self._short = _GENEROUS * tokens + _ANSWER

    async def look(self) -> None:
        """Determine the number of requests left, including the next one."""
        if self._limited:
            remaining = await self._ctx.remaining()
            now = {name: value for name, value in remaining.items() if value is not None}
            for name, value in now.items():
                if self._was_asked and name != "steps" and name in self._left:
                    self._cost[name] = max(self._left[name] - value, self._cost.get(name, 0))
            self._left, self._limited, self._was_asked = now, bool(now), False
            self.most = max(self.most, int(now.get("steps", 0))) if self._raised else self.most
            self._raised = False
        self._count()

    def _count(self) -> None:
        """Count the requests left within each limit."""
        asked = {"steps": self.most - self._asked}
        asked |= {name: min(self._questions(name), asked.get(name, self.most)) for name in self._left}
        name = min(asked, key=lambda name: asked[name])
        self.tightest = "step budget" if name == "steps" else f"budget in {name}"
        self.questions = asked[name]

    @property
    def are_spent(self) -> bool:
        """Whether the budget of the run allows no further request."""
        return self._left.get("steps", 1) <= 0

    def used(self, tokens: int = 0) -> None:
        """Count a request of so many tokens; its other costs show at the next look."""
        self._size = max(tokens, self._size)
        self._asked += 1
        self._was_asked = True

    def text(self) -> str:
        """Return the remaining budget as text."""
        steps = int(min(self.most - self._asked, self._left.get("steps", self.most)))
        words = [f"{steps} step{'' if steps == 1 else 's'}"]
        words += [f"{int(self._left['tokens']):,} tokens"] if "tokens" in self._left else []
        words += [f"${self._left['usd']:.4g}"] if "usd" in self._left else []
        words += [f"{int(self._left['seconds'])} s"] if "seconds" in self._left else []
        return f"[left: {', '.join(words)}]"

    def expect(self, tokens: int) -> None:
        """Prepare for a next request of so many tokens: one longer than those before costs more than they did."""
        grown = tokens / self._size if self._size else 1.0
        if grown > 1:
            self._cost = {name: grown * cost for name, cost in self._cost.items() if name in _KEPT_FOR_LAST}
            self._size = tokens
            self._count()

    def room(self) -> float:
        """Return the most tokens of the next request to leave the budget for another one."""
        each = [
            self._size * (self._left[name] - more) / (times * cost)
            for name, (times, more) in _KEPT_FOR_LAST.items()
            if name in self._left and (cost := self._cost.get(name, 0.0))
        ]
        return min(each, default=math.inf)

    def share(self, among: int) -> Budget | None:
        """Return the maximum budget of each of several parallel agents, with a last request reserved.

        None where the run has no limit.
        """
        left = {name: value for name, value in self._left.items() if name != "seconds"}
        given: dict[str, Any] = {}
        for name, value in left.items():
            kept = 1 if name == "steps" else self._for_last(name)
            part = (value - kept) / among
            given[name] = part if name == "usd" else int(part)
        if "seconds" in self._left:
            given["seconds"] = self._left["seconds"] * (1 - _SECONDS)
        if not given:
            return None
        return Budget.model_validate({name: _least(name, value) for name, value in given.items()})

    def can_share(self, among: int) -> bool:
        """Return whether anything is left to give to agents beside a last request."""
        return self._left.get("steps", among + 2) - 1 >= among

    def _questions(self, name: str) -> int:
        """Return the number of requests left within one limit, estimated by the most expensive so far."""
        left = self._left[name]
        if name == "steps":
            return int(left)
        cost = self._cost.get(name, 0)
        kept = self._short if name == "tokens" else self._for_last(name)
        return max(1, 1 + int((left - kept) / cost)) if cost else self.most

    def _for_last(self, name: str) -> float:
        """Return how much of a limit is kept for the last request."""
        times, more = _KEPT_FOR_LAST.get(name, (1.0, 0.0))
        cost = self._cost.get(name, 0.0)
        return times * cost + more if cost else 0.0


def with_limit(result: Result, limit: str, *, looked: bool) -> Result:
    """Return an open result with a remark about a spent limit; a complete one stays unless nothing was looked up.

    Args:
        result: What a last question brought.
        limit: What allowed no more, empty where nothing did.
        looked: Whether a call gave anything.
    """
    doubted = result.reason or result.gaps or any(one.doubt for one in result.evidence)
    if not (limit and result.ok and (doubted or not looked)):
        return result
    return changed(result, reason=" ".join(filter(None, (result.reason, SPENT.format(limit=limit)))))


def _least(name: str, value: Any) -> Any:
    least = {"steps": 1, "tokens": 1, "seconds": 0.001, "usd": 0.0}[name]
    return max(least, value)


async def budget_share(ctx: Context, among: int, *, questions: int = 2, side_by_side: bool = True) -> Budget:
    """Return the part of the remaining budget for each of several agents, with something kept for a last word.

    Args:
        ctx: What the agent may reach.
        among: Number of the agents.
        questions: How many questions to a model are kept, where there are more than the agents need.
        side_by_side: Whether they work at the same time, so that each may take all of it; else it is divided too.
    """
    left = {name: value for name, value in (await ctx.remaining()).items() if value is not None}
    given: dict[str, Any] = {}
    for name, value in left.items():
        if name == "steps":
            given[name] = (int(value) - max(0, min(questions, int(value) - among))) // among
        elif name == "seconds":
            given[name] = value * (1 - _SECONDS) / (1 if side_by_side else among)
        else:
            part = value * (1 - _KEPT) / among
            given[name] = part if name == "usd" else int(part)
    return Budget.model_validate({name: _least(name, value) for name, value in given.items()})


def least(first: Budget | None, second: Budget) -> Budget:
    """Return a budget with the smaller of each limit of two; the second one if the first is missing."""
    if first is None:
        return second
    limits: dict[str, Any] = {}
    for name in ("steps", "seconds", "tokens", "usd"):
        given = [one for one in (getattr(first, name), getattr(second, name)) if one is not None]
        limits[name] = min(given, default=None)
    return first.model_copy(update=limits)
