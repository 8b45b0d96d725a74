"""Statistics: intervals over clusters, paired tests, pass@k and calibration, without anything to install."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_ODD_STEPS, _NORMAL_FROM = 80, 2_000
_CALIBRATION_BIN = 100


class Interval(NamedTuple):
    """A mean with its interval.

    Args:
        mean: The mean.
        low: Lower end.
        high: Upper end.
        error: Standard error.
        clusters: How many independent clusters it rests on.
    """

    mean: float
    low: float
    high: float
    error: float
    clusters: int


@dataclass(frozen=True, slots=True)
class _Cluster:
    total: float
    size: int


def clustered_interval(
    values: Sequence[float], clusters: Sequence[Hashable], *, level: float = 0.95, bounded: bool = True
) -> Interval:
    """Return the mean of scores with an interval by Student's t over clusters.

    Scores of one cluster (the epochs of a task, the tasks of a document) count together. Where all clusters have the
    same mean, as with nothing but right answers, Wilson's interval over the clusters stands in.

    Args:
        values: The scores.
        clusters: To which cluster each belongs.
        level: Confidence, between 0 and 1.
        bounded: Whether scores lie between 0 and 1, so that the interval does.

    Raises:
        ValueError: There are no values, or not as many clusters as values.

    Examples:
        >>> clustered_interval([1, 1, 0, 0], ["a", "a", "b", "b"]).error
        0.5
    """
    if not values or len(values) != len(clusters):
        raise ValueError("an interval needs values, each with its cluster")
    count, mean = len(values), math.fsum(values) / len(values)
    found = _clusters(values, clusters)
    if len(found) == 1:
        ends = (0.0, 1.0) if bounded else (-math.inf, math.inf)
        return Interval(mean, *ends, math.inf, 1)
    groups = len(found)
    squares = math.fsum((one.total - one.size * mean) ** 2 for one in found)
    error = math.sqrt(squares * groups / (groups - 1)) / count
    if error == 0 and bounded:
        return Interval(mean, *_wilson(mean, groups, level), error, groups)
    reach = t_quantile((1 + level) / 2, groups - 1) * error
    low, high = mean - reach, mean + reach
    return Interval(mean, max(0.0, low), min(1.0, high), error, groups) if bounded else Interval(
        mean, low, high, error, groups
    )  # fmt: skip


def paired_p(differences: Sequence[float]) -> float:
    """Return the probability of a mean this high without a real difference, by a paired t test.

    The spread counts as at least half a point of one task, so that few equal differences prove nothing.

    Args:
        differences: One for each task or cluster, candidate minus base.

    Returns:
        The one-sided probability, by Wallace's normal approximation of Student's t.

    Examples:
        >>> paired_p([0.0, 0.0, 0.0])
        0.5
    """
    count = len(differences)
    if count < 2:
        return 0.5
    mean = math.fsum(differences) / count
    spread = max(math.sqrt(math.fsum((one - mean) ** 2 for one in differences) / (count - 1)), 0.5 / count)
    t, freedom = mean * math.sqrt(count) / spread, count - 1
    z = math.sqrt(freedom * math.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return 0.5 * math.erfc(math.copysign(z, t) / math.sqrt(2))


def smallest_visible(
    rates: Sequence[float], *, runs: int = 10, baseline: int = 8, measured: int | None = None
) -> float:
    """Return the smallest improvement found with a probability of 80 % when proposals are many, as a share from 0 to 1.

    Args:
        rates: Of each task, the mean score so far.
        runs: How often each task is run for a candidate.
        baseline: How often it was run before.
        measured: How many runs each rate is the mean of; None where it is known exactly. A single run shows nothing of
            the difference between two runs of one task, so the mean of all tasks stands in for each.

    Raises:
        ValueError: There are no tasks.

    Examples:
        >>> round(smallest_visible([0.5] * 100, runs=10, baseline=10), 2)
        0.1
    """
    if not rates:
        raise ValueError("without tasks nothing can be seen")
    mean = math.fsum(rates) / len(rates)
    noise = math.fsum(rate * (1 - rate) for rate in rates) / len(rates)
    if measured is not None:
        most = mean * (1 - mean)
        noise = most if measured < 2 else min(most, noise * measured / (measured - 1))
    return 4.2 * math.sqrt((0.1**2 + noise * (1 / runs + 1 / baseline)) / len(rates))


def visible_words(share: float) -> str:
    """Return the smallest detectable improvement, as a sentence without a full stop.

    Args:
        share: The smallest of them, as `smallest_visible` gives it.
    """
    if share >= 1:
        return "no improvement, however large, is"
    return f"only improvements of about {100 * share:.0f} points or more are"


def pass_at_k(runs: int, right: int, k: int) -> float:
    """Return the unbiased estimate of the chance of at least one right run among `k`.

    Args:
        runs: How many there were.
        right: How many of them were right.
        k: How many are drawn.

    Raises:
        ValueError: There were fewer runs than `k`, or the counts are not counts.

    Examples:
        >>> pass_at_k(4, 2, 1)
        0.5
    """
    if not 1 <= k <= runs or not 0 <= right <= runs:
        raise ValueError(f"pass@{k} cannot be told from {runs} runs with {right} right ones")
    return 1.0 - math.comb(runs - right, k) / math.comb(runs, k)


def calibration_error(confidences: Sequence[float], right: Sequence[bool], *, size: int = _CALIBRATION_BIN) -> float:
    """Return the root mean square calibration error over bins of equal size, as HLE reports it.

    Args:
        confidences: How sure each answer was, from 0 to 1.
        right: Whether it was right.
        size: How many answers make a bin; the last bin takes the rest.

    Raises:
        ValueError: There are no answers, or not as many of both.
    """
    if not confidences or len(confidences) != len(right):
        raise ValueError("calibration needs answers with their confidences")
    rows = sorted(zip(confidences, map(float, right), strict=True), key=lambda row: row[0])
    starts = range(0, max(1, len(rows) // size) * size, size)
    total = 0.0
    for start in starts:
        chosen = rows[start : len(rows) if start == starts[-1] else start + size]
        gap = math.fsum(confidence - good for confidence, good in chosen) / len(chosen)
        total += len(chosen) / len(rows) * gap**2
    return math.sqrt(total)


def t_quantile(probability: float, freedom: int) -> float:
    """Return a quantile of Student's t distribution.

    Args:
        probability: Between 0.5 and 1.
        freedom: Degrees of freedom, at least 1.

    Examples:
        >>> round(t_quantile(0.975, 9), 4)
        2.2622
    """
    low, high = 0.0, 1.0
    while _t_below(high, freedom) < probability and high < 1e9:
        high *= 2
    for _ in range(_ODD_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_below(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def by_cluster(values: Iterable[float], clusters: Iterable[Hashable]) -> dict[Hashable, float]:
    """Return the mean of each cluster."""
    found = defaultdict[Hashable, list[float]](list)
    for value, cluster in zip(values, clusters, strict=True):
        found[cluster].append(value)
    return {cluster: math.fsum(rows) / len(rows) for cluster, rows in found.items()}


def _t_below(value: float, freedom: int) -> float:
    """Return the distribution function of Student's t at a value not below 0, by its finite series."""
    if freedom > _NORMAL_FROM:
        return 1 - math.erfc(value / math.sqrt(2)) / 2
    angle = math.atan2(value, math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2 == 1
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for step in range(freedom // 2):
        total += term
        place = 2 * step + (2 if odd else 1)
        term *= cosine * cosine * place / (place + 1)
    inside = (angle + sine * total) * 2 / math.pi if odd else sine * total
    return 0.5 + inside / 2


def _wilson(mean: float, count: int, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    z = t_quantile((1 + level) / 2, _NORMAL_FROM + 1)
    middle = (mean + z * z / (2 * count)) / (1 + z * z / count)
    reach = z / (1 + z * z / count) * math.sqrt(mean * (1 - mean) / count + z * z / (4 * count * count))
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return min(low, mean), max(high, mean)


def _clusters(values: Sequence[float], clusters: Sequence[Hashable]) -> list[_Cluster]:
    found = defaultdict[Hashable, list[float]](list)
    for value, cluster in zip(values, clusters, strict=True):
        found[cluster].append(value)
    return [_Cluster(math.fsum(rows), len(rows)) for rows in found.values()]
