"""Budget: what a run may still use; reserved before a model call, settled after it."""

from __future__ import annotations

from dataclasses import dataclass

from tea.errors import BudgetExceeded
from tea.types import Budget, Usage


@dataclass(slots=True)
class Spent:
    """What was used so far; `usd` is None once a price was unknown."""

    steps: int = 0
    tokens: int = 0
    usd: float | None = 0.0

    def add(self, usage: Usage) -> None:
        """Add a model call's usage."""
        self.tokens += usage.input_tokens + usage.output_tokens
        self.usd = None if self.usd is None or usage.usd is None else self.usd + usage.usd


class Purse:
    """Holds a run to its budget. It looks at recorded values only, so a replay decides the same."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.spent = Spent()

    def reserve(self) -> None:
        """Take one step out of the budget before a model is asked.

        Raises:
            BudgetExceeded: There is none left, or tokens or money are used up.
        """
        if self.budget.usd is not None and self.spent.usd is None:
            problem = "A model without a known price cannot be held to a budget in dollars."
            raise BudgetExceeded(problem, fix="leave out budget.usd, or use a model whose price is known.")
        left = {
            "steps": (self.budget.steps, self.spent.steps),
            "tokens": (self.budget.tokens, self.spent.tokens),
            "usd": (self.budget.usd, self.spent.usd or 0.0),
        }
        for name, (limit, used) in left.items():
            if limit is not None and (used >= limit if name != "usd" else used > limit):
                raise BudgetExceeded(f"The budget of {limit:g} {name} is used up.", fix=f"raise budget.{name}.")
        self.spent.steps += 1

    def remaining(self) -> dict[str, float | None]:
        """Return what is left of each; None where there is no limit."""
        steps, tokens, usd = self.budget.steps, self.budget.tokens, self.budget.usd
        return {
            "steps": None if steps is None else max(0, steps - self.spent.steps),
            "tokens": None if tokens is None else max(0, tokens - self.spent.tokens),
            "usd": None if usd is None else max(0.0, usd - (self.spent.usd or 0.0)),
        }
