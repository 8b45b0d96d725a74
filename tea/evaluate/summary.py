"""Summary: the figures of an evaluation, as a whole and by tag."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from tea.evaluate.evaluation import Evaluation, ScoredRun, by_tag
from tea.evaluate.statistics import Interval, by_cluster, calibration_error, clustered_interval, pass_at_k
from tea.evaluate.statistics import smallest_visible as _smallest

_MOST_K = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of some runs.

    Args:
        tasks: How many tasks.
        runs: How many runs.
        score: Mean score with its interval over clusters.
        usd: US dollars of all runs, None where a price is unknown.
        tokens: Tokens of all runs.
        seconds: Time of all runs, one after the other.
        seconds_each: Median time of a run.
        tokens_each: Mean tokens of a run.
        failures: How many runs are not right, by kind.
    """

    tasks: int
    runs: int
    score: Interval
    usd: float | None
    tokens: int
    seconds: float
    seconds_each: float
    tokens_each: float
    failures: dict[str, int]

    @classmethod
    def of(cls, runs: Sequence[ScoredRun]) -> Figures:
        """Return the figures of runs, at least one."""
        prices = [one.usd for one in runs]
        tokens = sum(one.tokens for one in runs)
        kinds = Counter(one.kind for one in runs if one.kind)
        return cls(
            tasks=len({one.id for one in runs}),
            runs=len(runs),
            score=clustered_interval([one.score for one in runs], [one.cluster for one in runs]),
            usd=None if None in prices else math.fsum(one for one in prices if one is not None),
            tokens=tokens,
            seconds=math.fsum(one.seconds for one in runs),
            seconds_each=median(one.seconds for one in runs),
            tokens_each=tokens / len(runs),
            failures=dict(kinds.most_common()),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; an unknown standard error is null."""
        score = {name: value if math.isfinite(value) else None for name, value in self.score._asdict().items()}
        return {**asdict(self), "score": score}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of an evaluation.

    Args:
        whole: Of all runs.
        tags: Of the runs of each tag.
        pass_at: The chance that at least one of k runs is right, by k; with one epoch for 1 alone.
        visible: The smallest improvement that can be seen with these tasks, as a share.
        calibration: Root mean square calibration error, where answers said how sure they were.
        attempted: Share of answers that attempted one, where a judge told; with `right_of_attempted` and `f_score`.
        right_of_attempted: Share of right ones among those.
        f_score: Harmonic mean of the score and that share.
        unread: How many verdicts of a judge could not be read; they count as wrong.
        broken: How many runs a provider or this machine made fail; they count as wrong.
        judging: Tokens and US dollars of judging.
    """

    whole: Figures
    tags: dict[str, Figures]
    pass_at: dict[int, float]
    visible: float
    calibration: float | None = None
    attempted: float | None = None
    right_of_attempted: float | None = None
    f_score: float | None = None
    unread: int = 0
    broken: int = 0
    judging: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            **{name: value for name, value in asdict(self).items() if name not in ("whole", "tags")},
            "pass_at": {str(k): value for k, value in self.pass_at.items()},
            "whole": self.whole.to_json(),
            "tags": {name: one.to_json() for name, one in self.tags.items()},
        }


def summarise(evaluation: Evaluation) -> Summary:
    """Return the figures of an evaluation with at least one run."""
    runs = evaluation.runs
    rates = by_cluster((one.score for one in runs), (one.cluster for one in runs))
    sure = [(float(one.details["confidence"]), one.right) for one in runs if "confidence" in one.details]
    judged = [one.judging for one in runs if one.judging]
    prices = [one["usd"] for one in judged]
    return Summary(
        whole=Figures.of(runs),
        tags={tag: Figures.of(chosen) for tag, chosen in by_tag(runs).items()},
        pass_at=_pass_at(evaluation),
        visible=_smallest(list(rates.values()), measured=min(map(len, evaluation.by_task().values()))),
        calibration=calibration_error(*zip(*sure, strict=True)) if sure else None,
        **_attempts(runs),
        unread=sum(bool(one.details.get("unread")) for one in runs),
        broken=sum(one.infrastructure for one in runs),
        judging={"tokens": sum(one["tokens"] for one in judged), "usd": None if None in prices else sum(prices)}
        if judged
        else {},
    )


def _pass_at(evaluation: Evaluation) -> dict[int, float]:
    """Return pass@k for k from 1, 2, 4 and so on, up to the epochs."""
    groups = list(evaluation.by_task().values())
    most = min(min(len(one) for one in groups), _MOST_K)
    found: dict[int, float] = {}
    for k in [one for one in (1, 2, 3, 4, 5, 8, 10, 16) if one <= most]:
        found[k] = math.fsum(pass_at_k(len(one), sum(run.right for run in one), k) for one in groups) / len(groups)
    return found


def _attempts(runs: Sequence[ScoredRun]) -> dict[str, float]:
    """Return the measures of SimpleQA; a failed run attempted nothing."""
    if not any("grade" in one.details for one in runs):
        return {}
    right = sum(one.right for one in runs)
    tried = sum(one.details.get("grade") in ("correct", "incorrect") for one in runs)
    score, share = right / len(runs), right / tried if tried else 0.0
    f_score = 2 * score * share / (score + share) if score + share else 0.0
    return {"attempted": tried / len(runs), "right_of_attempted": share, "f_score": f_score}
