"""Account: the cost of a campaign, counting each of its runs once over all its processes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tea.evaluate.evaluation import Evaluation, ScoredRun
from tea.evaluate.pace import Pace
from tea.evaluate.runner import Spending, evaluate
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.evaluate.plan import Plan
    from tea.evaluate.task_set import TaskSet
    from tea.platform import Platform
    from tea.runs.outcome import Outcome

Write = Callable[[JsonObject], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a campaign ends; it goes on later with other limits.

    Args:
        tests: How many candidates are tested now.
        runs: How many runs are made now, of whatever kind.
        usd: US dollars that may be spent now.
        tokens: Tokens of all model calls that may be used now.
    """

    tests: int = 10
    runs: int | None = None
    usd: float | None = None
    tokens: int | None = None


class _Cost(NamedTuple):
    """The cost of a run: US dollars, None for an unknown price, and tokens."""

    usd: float | None
    tokens: int


@dataclass(slots=True, kw_only=True)
class Account:
    """The account of a campaign: runs of tasks, counterfactuals, reflections, and questions of libraries.

    A fork counts with all of its cost. Runs made by a process that was killed count where they are met again.

    Args:
        limits: What may be spent now.
        write: Writes what was counted into the campaign's ledger; nothing by default.
        tell: Told of the progress of long evaluations, in one line.
        runs: How many runs were counted now.
        usd: What they cost, in US dollars; an unknown price is 0.
        tokens: Tokens that they used.
        all_runs: How many were counted in all.
        all_usd: What those cost.
        all_tokens: Tokens that those used.
    """

    limits: Limits = field(default_factory=Limits)
    write: Write | None = None
    tell: Callable[[str], None] = lambda _: None
    runs: int = 0
    usd: float = 0.0
    tokens: int = 0
    all_runs: int = 0
    all_usd: float = 0.0
    all_tokens: int = 0
    _unknown: bool = False
    _counted: set[str] = field(default_factory=set[str])

    def take(self, line: JsonObject) -> None:
        """Count a line written by an earlier process."""
        self._counted.update(line["runs"])
        self.all_runs += len(line["runs"])
        self.all_usd += float(line["usd"])
        self.all_tokens += int(line.get("tokens", 0))

    @property
    def end(self) -> str:
        """The limit reached, empty for none."""
        runs, usd, tokens = self.limits.runs, self.limits.usd, self.limits.tokens
        if runs is not None and self.runs >= runs:
            return f"{self.runs} runs were made; the campaign goes on where it is called again"
        if tokens is not None and self.tokens >= tokens:
            return f"{self.tokens:,} tokens were used; the campaign goes on where it is called again"
        if usd is not None and (self._unknown or self.usd >= usd):
            spent = f"{self.usd:g} US dollars were spent" if not self._unknown else "a run has no known price"
            return f"{spent}; the campaign goes on where it is called again"
        return ""

    async def evaluate(
        self,
        platform: Platform,
        tasks: TaskSet,
        plan: Plan,
        *,
        series: str,
        epochs: int = 1,
        concurrency: int = 8,
    ) -> Evaluation:
        """Evaluate within the remaining budget, and count the runs; see `tea.evaluate.evaluate`.

        Raises:
            BudgetExceeded: What may be spent now is spent before the end; the next call goes on.
        """
        found: dict[str, _Cost] = {}
        pace = Pace()

        def watch(done: int, total: int, one: ScoredRun) -> None:
            found[one.run] = _cost(one)
            if line := pace.line(done, total):
                self.tell(f"{series.partition('/')[2].replace('/', ' ')}: {line}")

        try:
            return await evaluate(
                platform, tasks, plan, epochs=epochs, concurrency=concurrency, series=series, retry=True, watch=watch,
                tell=self.tell, spending=self._left(),
            )  # fmt: skip
        finally:
            await self._count(found.items())

    async def outcome(self, outcome: Outcome) -> None:
        """Count one run."""
        await self._count([(outcome.run, _Cost(outcome.cost.usd, outcome.cost.tokens))])

    def _left(self) -> Spending:
        usd, runs, tokens = self.limits.usd, self.limits.runs, self.limits.tokens
        return Spending(
            usd=None if usd is None else max(0.0, usd - self.usd),
            runs=None if runs is None else max(0, runs - self.runs),
            tokens=None if tokens is None else max(0, tokens - self.tokens),
        )

    async def _count(self, costs: Iterable[tuple[str, _Cost]]) -> None:
        new = {run: cost for run, cost in costs if run and run not in self._counted}
        if not new:
            return
        usd, tokens = sum(one.usd or 0.0 for one in new.values()), sum(one.tokens for one in new.values())
        self._unknown |= any(one.usd is None for one in new.values())
        self._counted.update(new)
        self.runs, self.usd, self.tokens = self.runs + len(new), self.usd + usd, self.tokens + tokens
        self.all_runs, self.all_usd = self.all_runs + len(new), self.all_usd + usd
        self.all_tokens += tokens
        if self.write is not None:
            await self.write({"runs": [*new], "usd": usd, "tokens": tokens})


def _cost(run: ScoredRun) -> _Cost:
    """Return the cost of a run and its judging."""
    judging: Any = run.judging or {}
    dollars, tokens = judging.get("usd", 0.0), run.tokens + int(judging.get("tokens") or 0)
    return _Cost(None if run.usd is None or dollars is None else run.usd + float(dollars), tokens)
