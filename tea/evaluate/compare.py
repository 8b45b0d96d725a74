"""Compare: two evaluations task by task, with the runs behind each difference."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tea.errors import BadInput
from tea.evaluate.evaluation import Evaluation, ScoredRun, by_tag
from tea.evaluate.statistics import Interval, by_cluster, clustered_interval, paired_p


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDifference:
    """A task with other scores in the second evaluation.

    Args:
        id: Id of the task.
        before: Mean score in the first.
        after: Mean score in the second.
        tags: Classes of the task.
        runs_before: Ids of the runs in the first.
        runs_after: Ids of the runs in the second.
        kinds_before: Kinds of their failures, empty for right ones.
        kinds_after: The same of the second.
        words: The beginning of the task, on one line.
    """

    id: str
    before: float
    after: float
    tags: tuple[str, ...]
    runs_before: tuple[str, ...]
    runs_after: tuple[str, ...]
    kinds_before: tuple[str, ...]
    kinds_after: tuple[str, ...]
    words: str = ""

    @property
    def change(self) -> float:
        """How much the score changed."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The second of two evaluations against the first, by the tasks of both.

    Args:
        tasks: How many tasks both have.
        before: Mean score of the first on them.
        after: Mean score of the second on them.
        difference: Mean change with its interval over clusters.
        p: One-sided probability of a rise this high without a real one.
        p_worse: The same of a fall.
        better: How many tasks rose.
        worse: How many fell.
        same: How many are equal.
        tags: Mean change of each tag, with its interval.
        differences: The tasks that differ, the largest falls first.
        new_failures: Tasks that always failed in the second, and did not in the first.
        only_before: Tasks that only the first has.
        only_after: Tasks that only the second has.
        usd: Ratio of cost, second to first; None where it cannot be told.
        tokens: Ratio of tokens.
        seconds: Ratio of time.
        changed: What differs between the plans: of each name the value in both.
    """

    tasks: int
    before: float
    after: float
    difference: Interval
    p: float
    p_worse: float
    better: int
    worse: int
    same: int
    tags: dict[str, Interval]
    differences: tuple[TaskDifference, ...]
    new_failures: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    usd: float | None
    tokens: float | None
    seconds: float | None
    changed: dict[str, tuple[Any, Any]]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        data = asdict(self)
        data["difference"] = _finite(self.difference)
        data["tags"] = {name: _finite(one) for name, one in self.tags.items()}
        return data


def compare(before: Evaluation, after: Evaluation) -> Comparison:
    """Return how the second of two evaluations differs from the first, paired by task.

    Raises:
        BadInput: They have no task in common.
    """
    pairs = _pairs(before, after)
    if not pairs:
        problem = f"The evaluations {before.id} and {after.id} have no task in common."
        raise BadInput(problem, fix="compare evaluations of the same task set.")
    rows = [_difference(old, new) for old, new in pairs]
    clusters = {new[0].id: new[0].cluster for _, new in pairs}
    changes = [one.change for one in rows]
    own = [clusters[one.id] for one in rows]
    means = list(by_cluster(changes, own).values())
    olds, news = [run for old, _ in pairs for run in old], [run for _, new in pairs for run in new]
    named = {new[0].id for _, new in pairs}, {old[0].id for old, _ in pairs}
    return Comparison(
        tasks=len(rows),
        before=math.fsum(one.before for one in rows) / len(rows),
        after=math.fsum(one.after for one in rows) / len(rows),
        difference=clustered_interval(changes, own, bounded=False),
        p=paired_p(means),
        p_worse=paired_p([-one for one in means]),
        better=sum(one > 0 for one in changes),
        worse=sum(one < 0 for one in changes),
        same=sum(one == 0 for one in changes),
        tags=_by_tag(rows, clusters),
        differences=tuple(sorted((one for one in rows if one.change), key=lambda one: (one.change, one.id))),
        new_failures=tuple(one.id for one in rows if one.after == 0 < one.before),
        only_before=tuple(sorted(before.by_task().keys() - named[1])),
        only_after=tuple(sorted(after.by_task().keys() - named[0])),
        usd=_ratio(_usd(olds), _usd(news)),
        tokens=_ratio(_each(olds, "tokens"), _each(news, "tokens")),
        seconds=_ratio(_each(olds, "seconds"), _each(news, "seconds")),
        changed=_changed(before, after),
    )


def _pairs(before: Evaluation, after: Evaluation) -> list[tuple[list[ScoredRun], list[ScoredRun]]]:
    """Return the runs of the tasks given in both, in the order of the second; ids may differ."""
    old: dict[str, list[ScoredRun]] = {}
    for runs in before.by_task().values():
        old.setdefault(runs[0].work, runs)
    return [(old[runs[0].work], runs) for runs in after.by_task().values() if runs[0].work in old]


def _difference(old: list[ScoredRun], new: list[ScoredRun]) -> TaskDifference:
    return TaskDifference(
        id=new[0].id,
        before=math.fsum(one.score for one in old) / len(old),
        after=math.fsum(one.score for one in new) / len(new),
        tags=new[0].tags,
        runs_before=tuple(one.run for one in old),
        runs_after=tuple(one.run for one in new),
        kinds_before=tuple(one.kind for one in old),
        kinds_after=tuple(one.kind for one in new),
        words=new[0].words,
    )


def _by_tag(rows: list[TaskDifference], clusters: dict[str, str]) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    for tag, chosen in by_tag(rows).items():
        own = [clusters[one.id] for one in chosen]
        found[tag] = clustered_interval([one.change for one in chosen], own, bounded=False)
    return found


def _changed(before: Evaluation, after: Evaluation) -> dict[str, tuple[Any, Any]]:
    old, new = before.plan.to_json(), after.plan.to_json()
    found = {name: (old[name], new[name]) for name in old if name != "label" and old[name] != new[name]}
    parts = {**before.components, **after.components}
    for name in sorted(parts):
        pair = before.components.get(name), after.components.get(name)
        if pair[0] != pair[1]:
            found[name] = pair
    if before.model != after.model:
        found["model"] = (before.model.get("origin"), after.model.get("origin"))
    return found


def _usd(runs: list[ScoredRun]) -> float | None:
    prices = [one.usd for one in runs]
    return None if None in prices else math.fsum(one for one in prices if one is not None) / len(runs)


def _each(runs: list[ScoredRun], name: str) -> float:
    return math.fsum(getattr(one, name) for one in runs) / len(runs)


def _ratio(old: float | None, new: float | None) -> float | None:
    if old == new == 0:
        return 1.0
    return None if not old or new is None else new / old


def _finite(interval: Interval) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in interval._asdict().items()}
