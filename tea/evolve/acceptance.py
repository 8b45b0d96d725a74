"""Acceptance: when a candidate may replace the incumbent, as arithmetic on scores alone.

A candidate is compared task by task with a baseline of the incumbent, in at most three looks, each at its share of a
level that the campaign spends over all its candidates. So 200 candidates together make a false promotion with a
probability of at most about ten percent, whoever proposes them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tea.evaluate.statistics import paired_p

BASELINE_RUNS = 8
LOOKS = ((1, 0.1), (3, 0.3), (10, 0.6))  # runs of each task in all, and the share of the level
ALPHA, MOST_TESTS = 0.10, 200
CHEAPER_ALPHA, CHEAPER_TESTS, CHEAPER_MARGIN = 0.10, 20, 0.05
LEAST_TASKS = 30  # below this a gate is strict
_BETS = (0.25, 0.5, 0.95)
_TAG_TASKS, _PROTECTED_TASKS, _FLOOR = 8, 20, 0.10
_SAVING, _SAVING_P = 0.10, 0.01

Step = Literal["accept", "reject", "continue"]
Scores = Mapping[str, Sequence[float]]


def level(test: int, alpha: float = ALPHA, most: int = MOST_TESTS) -> float:
    """Return the level of one test, the levels of all tests summing up to `alpha`.

    Args:
        test: Which candidate reached the gate, from 1.
        alpha: What the campaign may spend in all.
        most: How many tests there may be; each further one has the level 0.

    Examples:
        >>> round(level(1), 4), round(level(20), 4), level(201)
        (0.0088, 0.0007, 0.0)
    """
    if not 1 <= test <= most:
        return 0.0
    harmonic = math.fsum(1 / one for one in range(1, most + 1))
    return alpha * (0.5 / most + 0.5 / (harmonic * test))


def differences(base: Mapping[str, float], scores: Scores, clusters: Mapping[str, str] | None = None) -> list[float]:
    """Return how much better the candidate was, one number for each task, or for each cluster of tasks.

    Args:
        base: Mean score of the incumbent by task.
        scores: Scores of the candidate by task.
        clusters: What a task has in common with others, such as its document; tasks of one cluster count as one.
    """
    grouped: dict[str, list[float]] = {}
    for task in sorted(base):
        own = scores[task]
        cluster = (clusters or {}).get(task) or f"task {task}"
        grouped.setdefault(cluster, []).append(math.fsum(own) / len(own) - base[task])
    return [math.fsum(ones) / len(ones) for _, ones in sorted(grouped.items())]


@dataclass(slots=True)
class Looks:
    """The three interim tests of one candidate; each decides from the scores so far.

    Args:
        base: Mean score of the incumbent by task, of runs that no promotion was decided by.
        alpha: The level of this test; see `level`.
        clusters: As for `differences`.
    """

    base: Mapping[str, float]
    alpha: float
    clusters: Mapping[str, str] = field(default_factory=dict[str, str])
    scores: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    look: int = 0
    p: float = 1.0
    decision: Step = "continue"

    @property
    def runs(self) -> int:
        """How many further runs of each task the next look needs."""
        return LOOKS[self.look][0] - (LOOKS[self.look - 1][0] if self.look else 0)

    def add(self, scores: Scores) -> Step:
        """Add the scores of the further runs, and decide.

        Raises:
            ValueError: They are not those of the gate's tasks, or not as many as needed.
        """
        if scores.keys() != self.base.keys() or any(len(one) != self.runs for one in scores.values()):
            raise ValueError(f"a look needs {self.runs} further scores of each of the gate's tasks")
        for task, own in scores.items():
            self.scores.setdefault(task, []).extend(own)
        share = LOOKS[self.look][1]
        self.look += 1
        found = differences(self.base, self.scores, self.clusters)
        self.p = paired_p(found)
        if self.p <= share * self.alpha:
            self.decision = "accept"
        elif self.look == len(LOOKS) or _is_futile(found):
            self.decision = "reject"
        return self.decision


@dataclass(slots=True)
class Betting:
    """The strict mode: a betting test (e-value), task by task, valid for any scores and any time of stopping.

    Tasks are drawn at random with replacement, and both sides are run freshly for each draw. It proves "better on
    these tasks", also where a rare total loss hides behind small gains.

    Args:
        tasks: How many tasks there are to draw from.
        alpha: The level of this test; see `level`.
    """

    tasks: int
    alpha: float
    draws: int = 0
    wealth: list[float] = field(default_factory=lambda: [0.0] * len(_BETS))

    @property
    def evidence(self) -> float:
        """The e-value so far: at most 1 on average for a candidate without an improvement."""
        return math.fsum(map(math.exp, self.wealth)) / len(_BETS)

    @property
    def p(self) -> float:
        """The probability of as much evidence without a real difference, at most."""
        return min(1.0, 1 / self.evidence) if self.evidence else 1.0

    def add(self, found: Sequence[float]) -> Step:
        """Add further differences, each from -1 to 1, candidate minus incumbent, and decide.

        Raises:
            ValueError: One of them is out of range.
        """
        if any(not -1 <= one <= 1 for one in found):
            raise ValueError("a difference of scores is from -1 to 1")
        for one in found:
            self.wealth = [wealth + math.log1p(bet * one) for wealth, bet in zip(self.wealth, _BETS, strict=True)]
        self.draws += len(found)
        if self.alpha > 0 and self.evidence >= 1 / self.alpha:
            return "accept"
        futile = self.draws >= 40 and self.evidence < 1.2 and self.wealth[0] <= 0  # 0 for equal sides
        return "reject" if futile or self.alpha <= 0 or self.draws >= 10 * self.tasks else "continue"


def blocking_tags(
    found: Mapping[str, float], tags: Mapping[str, Sequence[str]], protected: Sequence[str] = ()
) -> dict[str, str]:
    """Return the tags forbidding the promotion of a better candidate, each with the reason.

    Args:
        found: Difference of each task after all looks.
        tags: Tags of each task. Those of fewer than eight tasks never block.
        protected: Tags that must be shown to be not worse, by more than ten points.
    """
    by_tag: dict[str, list[float]] = {}
    for task, ones in sorted(tags.items()):
        for tag in dict.fromkeys(ones):
            if task in found:
                by_tag.setdefault(tag, []).append(found[task])
    counting = {tag: ones for tag, ones in by_tag.items() if len(ones) >= _TAG_TASKS}
    blocked: dict[str, str] = {}
    for tag, ones in counting.items():
        mean, error = _mean(ones), _spread(ones) / math.sqrt(len(ones))
        if paired_p([-one for one in ones]) <= 0.10 / len(counting):
            blocked[tag] = f"it is worse by {-100 * mean:.0f} points on {len(ones)} tasks"
        elif mean < -max(_FLOOR, error):
            blocked[tag] = f"it seems worse by {-100 * mean:.0f} points on {len(ones)} tasks"
    for tag in protected:
        ones = by_tag.get(tag, [])
        if tag not in blocked and paired_p([one + _FLOOR for one in ones]) > 0.05:
            blocked[tag] = f"it is protected, and {len(ones)} tasks do not show that it is not worse"
    return blocked


def may_block(tags: Sequence[Sequence[str]]) -> bool:
    """Return whether a tag has enough tasks to block a promotion, given the tags of each task."""
    counts = Counter(tag for ones in tags for tag in set(ones))
    return any(count >= _TAG_TASKS for count in counts.values())


def weak_tags(tags: Mapping[str, Sequence[str]], protected: Sequence[str]) -> list[str]:
    """Return the protected tags with too few tasks to show anything."""
    counts = {tag: sum(tag in ones for ones in tags.values()) for tag in protected}
    return [tag for tag, count in counts.items() if count < _PROTECTED_TASKS]


def is_cheaper(
    against_anchor: Sequence[float], cost_ratios: Sequence[float], test: int, margin: float = CHEAPER_MARGIN
) -> bool:
    """Return whether a candidate may be promoted for being cheaper and not worse, though not better.

    Args:
        against_anchor: Differences to the last version promoted for its score, one for each task; never to a version
            promoted for its cost, or losses within the margin would add up.
        cost_ratios: Cost of the candidate divided by that of the incumbent, one for each task.
        test: Which candidate is tested for its cost, from 1.
        margin: How much worse counts as equal, as a share.
    """
    allowed = level(test, CHEAPER_ALPHA, CHEAPER_TESTS)
    if not allowed or paired_p([one + margin for one in against_anchor]) > allowed:
        return False
    logs = [math.log(one) for one in cost_ratios if one > 0]
    saving = [math.log(1 - _SAVING) - one for one in logs]
    return len(logs) == len(cost_ratios) and paired_p(saving) <= _SAVING_P


def total_failures(base: Mapping[str, float], scores: Scores) -> list[str]:
    """Return the tasks solved by the incumbent at least half of the time and by the candidate never."""
    return sorted(task for task, own in scores.items() if base.get(task, 0.0) >= 0.5 and not any(own))


def _is_futile(found: Sequence[float]) -> bool:
    """Return whether the candidate is less than one standard error better."""
    population = math.sqrt(math.fsum((one - _mean(found)) ** 2 for one in found) / len(found))
    return _mean(found) < population / math.sqrt(len(found))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _spread(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1)) if len(values) > 1 else 0.0
