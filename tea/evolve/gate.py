"""The gate: a test of candidates on tasks hidden from proposers; nothing but accept or reject leaves it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tea.evaluate.evaluation import Evaluation
from tea.evolve.acceptance import (
    BASELINE_RUNS,
    LEAST_TASKS,
    LOOKS,
    Betting,
    Looks,
    blocking_tags,
    differences,
    is_cheaper,
    level,
    may_block,
    total_failures,
)
from tea.evolve.account import Account

if TYPE_CHECKING:
    from tea.evaluate.plan import Plan
    from tea.evaluate.task_set import TaskSet
    from tea.platform import Platform

_MARGINS = (0.05, 0.08)  # of what counts as not worse: with 100 tasks or more, and with fewer
_STRICT_BASELINE = 2  # runs of each task where they decide nothing, and are only shown
_BATCH = 20  # draws of the strict mode between two decisions
_MOST_BROKEN = 0.05  # share of tasks that a provider or this machine may make fail


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The gate's findings on one candidate; proposers learn only `accepted`.

    Args:
        accepted: Whether it may replace the incumbent.
        reason: Why, in one line.
        test: Which test of the campaign it was.
        p: The probability of as much evidence without a real difference.
        level: What the test was allowed.
        looks: How many looks were taken.
        gain: Mean difference over the gate's tasks.
        cheaper: Whether it was accepted for its cost alone.
        cheaper_test: Which test for its cost it was, 0 for none.
        blocked: Tags that forbid it, with the reasons.
        failures: Tasks that the incumbent solves and the candidate never did.
        evaluations: Ids of the evaluations behind it, those of the incumbent first.
        decided: Whether it was decided at all; not where a provider or this machine made too many runs fail.
    """

    accepted: bool
    reason: str
    test: int
    p: float = 1.0
    level: float = 0.0
    looks: int = 0
    gain: float = 0.0
    cheaper: bool = False
    cheaper_test: int = 0
    blocked: Mapping[str, str] = field(default_factory=dict[str, str])
    failures: tuple[str, ...] = ()
    evaluations: tuple[str, ...] = ()
    decided: bool = True


@dataclass(slots=True)
class Gate:
    """The gate of one campaign.

    Args:
        platform: Runs the tasks.
        tasks: The gate's tasks.
        plan: Who works on them; the versions of a candidate come on top.
        series: Name of the campaign, so that its runs are its own.
        concurrency: How many runs go on at once.
        protected: Tags that must be shown to be not worse.
        strict: Whether the strict mode decides; chosen by the number of tasks and the shape of scores if None.
        cheaper_tests: How many candidates were tested for their cost so far.
        account: Counts its runs, and ends them with what may be spent.
    """

    platform: Platform
    tasks: TaskSet
    plan: Plan
    series: str
    concurrency: int = 8
    protected: tuple[str, ...] = ()
    strict: bool | None = None
    cheaper_tests: int = 0
    account: Account = field(default_factory=Account)

    @property
    def clusters(self) -> dict[str, str]:
        """The group shared by each task with others."""
        return {one.id: one.cluster for one in self.tasks.tasks}

    @property
    def work(self) -> str:
        """In words, how many runs it needs."""
        runs, strict = len(self.tasks), self._surely_strict
        most = (1 + strict + (strict and self._may_block)) * LOOKS[-1][0] * runs
        return f"a baseline takes {self._baseline_runs * runs:,} runs, a test of a candidate at most {most:,}"

    async def baseline(self, use: Mapping[str, str], promotions: int) -> Evaluation:
        """Run the incumbent afresh on each task; its runs for a promotion are not among these."""
        return await self._runs(use, f"{self.series}/base/{promotions}", self._baseline_runs, self.tasks)

    @property
    def _baseline_runs(self) -> int:
        return _STRICT_BASELINE if self._surely_strict and not self._may_block else BASELINE_RUNS

    @property
    def _surely_strict(self) -> bool:
        """Whether the strict mode decides, for any scores; it has runs of both sides of its own."""
        return bool(self.strict) or (self.strict is None and len(set(self.clusters.values())) < LEAST_TASKS)

    @property
    def _may_block(self) -> bool:
        """Whether a tag has enough tasks to block a promotion."""
        return bool(self.protected) or may_block([one.task.tags for one in self.tasks.tasks])

    def is_strict(self, base: Evaluation) -> bool:
        """Return whether the strict mode decides: few tasks, or scores between wrong and right."""
        if self.strict is not None:
            return self.strict
        return self._surely_strict or any(0 < one.score < 1 for one in base.runs)

    async def test(
        self,
        candidate: Mapping[str, str],
        incumbent: Mapping[str, str],
        anchor: Evaluation,
        base: Evaluation,
        number: int,
    ) -> Verdict:
        """Test one candidate against the incumbent.

        Args:
            candidate: Versions of the candidate by `kind:name`.
            incumbent: Versions of the incumbent.
            anchor: Baseline of the last version promoted for its score.
            base: Baseline of the incumbent.
            number: Which test of the campaign it is, from 1.
        """
        if self.is_strict(base):
            verdict = await self._strict(candidate, incumbent, number)
            series = f"{self.series}/strict/{number}/new"
            return verdict if not verdict.accepted else await self._with_tags(verdict, candidate, series, base, set())
        return await self._looks(candidate, base, anchor, number)

    async def _looks(self, candidate: Mapping[str, str], base: Evaluation, anchor: Evaluation, number: int) -> Verdict:
        alpha, series = level(number), f"{self.series}/test/{number}"
        if not alpha:
            return Verdict(accepted=False, reason="the campaign's tests are used up", test=number)
        found, broken, looks, step = base, set[str](), Looks({}, alpha), "continue"
        for look, (runs, _) in enumerate(LOOKS):
            found = await self._runs(candidate, series, runs, self.tasks)
            broken = _broken(base) | _broken(found)
            if len(broken) > _MOST_BROKEN * len(self.tasks):
                return self._undecided(number, broken, found)
            looks = self._looks_until(base, found, broken, alpha, look)
            step = looks.decision
            if step != "continue":
                break
        means = {task: own - looks.base[task] for task, own in found.means().items() if task in looks.base}
        verdict = Verdict(
            accepted=step == "accept", reason="better" if step == "accept" else "not shown to be better", test=number,
            p=looks.p, level=alpha, looks=looks.look, gain=sum(means.values()) / len(means),
            failures=tuple(total_failures(looks.base, looks.scores)), evaluations=(base.id, found.id),
        )  # fmt: skip
        if verdict.accepted:
            return await self._with_tags(verdict, candidate, series, base, broken)
        return await self._cheaper(verdict, candidate, series, base, anchor, broken)

    def _looks_until(self, base: Evaluation, found: Evaluation, broken: set[str], alpha: float, last: int) -> Looks:
        """Return the looks up to the given one, with the relevant tasks."""
        means = {task: mean for task, mean in base.means().items() if task not in broken}
        scores = {task: [one.score for one in runs] for task, runs in found.by_task().items() if task in means}
        looks, done = Looks(means, alpha, self.clusters), 0
        for runs, _ in LOOKS[: last + 1]:
            looks.add({task: own[done:runs] for task, own in scores.items()})
            done = runs
        return looks

    async def _with_tags(
        self, verdict: Verdict, candidate: Mapping[str, str], series: str, base: Evaluation, broken: set[str]
    ) -> Verdict:
        """Return the verdict after a look at each tag, with all runs of the last look."""
        if not self._may_block:
            return verdict
        found = await self._runs(candidate, series, LOOKS[-1][0], self.tasks)
        means = base.means()
        changes = {task: own - means[task] for task, own in found.means().items() if task not in broken}
        tags = {one.id: one.task.tags for one in self.tasks.tasks}
        blocked = blocking_tags(changes, tags, self.protected)
        if not blocked:
            return verdict
        reason = f"better as a whole, and worse in part: {', '.join(blocked)}"
        return replace(verdict, accepted=False, reason=reason, blocked=blocked, evaluations=(base.id, found.id))

    async def _cheaper(
        self, verdict: Verdict, candidate: Mapping[str, str], series: str, base: Evaluation, anchor: Evaluation,
        broken: set[str],
    ) -> Verdict:  # fmt: skip
        """Return the verdict, turned if the candidate is cheaper and not worse than the anchor."""
        means = anchor.means()
        old, costs = _costs(base), verdict.evaluations
        seen = await self._runs(candidate, series, LOOKS[max(verdict.looks, 1) - 1][0], self.tasks)
        solved = sum(means.values()) / len(means)
        if solved <= _MARGINS[-1]:  # nothing can be shown to be worse than an agent that solves next to nothing
            return verdict
        if not old or verdict.gain < -0.05 or sum(_costs(seen).values()) > 0.9 * sum(old.values()):
            return verdict
        found = await self._runs(candidate, series, LOOKS[-1][0], self.tasks)
        new = _costs(found)
        kept = [task for task in sorted(means) if task not in broken and old.get(task) and new.get(task)]
        if not kept:
            return verdict
        self.cheaper_tests += 1
        verdict = replace(verdict, cheaper_test=self.cheaper_tests)
        scores = {task: [one.score for one in runs] for task, runs in found.by_task().items()}
        against = differences({task: means[task] for task in kept}, scores, self.clusters)
        margin = _MARGINS[len(kept) < 100]
        if not is_cheaper(against, [new[task] / old[task] for task in kept], self.cheaper_tests, margin):
            return verdict
        turned = replace(
            verdict, accepted=True, cheaper=True, reason="cheaper and not worse", evaluations=(*costs, found.id)
        )
        return await self._with_tags(turned, candidate, series, base, broken)

    async def _strict(self, candidate: Mapping[str, str], incumbent: Mapping[str, str], number: int) -> Verdict:
        alpha = level(number)
        betting, drawn, step = Betting(len(self.tasks), alpha), Counter[str](), "continue"
        chance = random.Random(f"{self.series}/{number}")
        gains: list[float] = []
        seen: tuple[str, ...] = ()
        names = sorted(one.id for one in self.tasks.tasks)
        while step == "continue" and alpha:
            batch = [chance.choice(names) for _ in range(_BATCH)]
            evaluations = [await self._run_drawn(use, f"{self.series}/strict/{number}/{side}", drawn + Counter(batch))
                           for side, use in (("new", candidate), ("old", incumbent))]  # fmt: skip
            seen = tuple(one.id for side in reversed(evaluations) for one in side)
            sides = [{task: runs for one in side for task, runs in one.by_task().items()} for side in evaluations]
            found: list[float] = []
            for task in batch:
                new, old = (side[task][drawn[task]] for side in sides)
                drawn[task] += 1
                if not (new.infrastructure or old.infrastructure):
                    found.append(new.score - old.score)
            if len(found) < (1 - _MOST_BROKEN) * len(batch):
                reason = "not decided: a provider or this machine made runs fail"
                return Verdict(accepted=False, reason=reason, test=number, level=alpha, decided=False)
            gains += found
            step = betting.add(found)
        gain = sum(gains) / len(gains) if gains else 0.0
        reason = "better on these tasks" if step == "accept" else "not shown to be better"
        return Verdict(accepted=step == "accept", reason=reason, test=number, p=betting.p, level=alpha,
                       looks=betting.draws, gain=gain, evaluations=seen)  # fmt: skip

    async def _run_drawn(self, use: Mapping[str, str], series: str, counts: Mapping[str, int]) -> list[Evaluation]:
        """Return the evaluations of the drawn tasks, each task run as often as it was drawn."""
        chosen = {
            count: tuple(one for one in self.tasks.tasks if counts.get(one.id) == count)
            for count in sorted(set(counts.values()))
        }
        return [
            await self._runs(use, series, count, replace(self.tasks, tasks=tasks)) for count, tasks in chosen.items()
        ]

    async def _runs(self, use: Mapping[str, str], series: str, epochs: int, tasks: TaskSet) -> Evaluation:
        plan = replace(self.plan, use={**self.plan.use, **use}, label=series)
        return await self.account.evaluate(
            self.platform, tasks, plan, epochs=epochs, concurrency=self.concurrency, series=series
        )

    def _undecided(self, number: int, broken: set[str], found: Evaluation) -> Verdict:
        reason = f"not decided: a provider or this machine made {len(broken)} tasks fail"
        return Verdict(accepted=False, reason=reason, test=number, evaluations=(found.id,), decided=False)


def _broken(found: Evaluation) -> set[str]:
    """Return the tasks with a run failed through no fault of the agent."""
    return {one.id for one in found.runs if one.infrastructure}


def _costs(found: Evaluation) -> dict[str, float]:
    """Return the average cost of each task: US dollars, or tokens if a price is unknown."""
    priced = all(one.usd is not None and one.usd > 0 for one in found.runs)
    costs = {task: sum((one.usd or 0.0) if priced else one.tokens for one in runs) / len(runs)
             for task, runs in found.by_task().items()}  # fmt: skip
    return {task: cost for task, cost in costs.items() if cost > 0}
