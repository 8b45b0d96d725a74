"""Statistics against closed forms: intervals, quantiles, paired tests, pass@k, calibration."""

import math
from itertools import combinations
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.evaluate import calibration_error, clustered_interval, paired_p, pass_at_k, smallest_visible
from tea.evaluate.pace import Pace
from tea.evaluate.statistics import t_quantile, visible_words

SCORES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=30)
T_TABLE = [(0.975, 1, 12.7062), (0.975, 2, 4.3027), (0.975, 9, 2.2622), (0.95, 30, 1.6973), (0.995, 120, 2.6174)]


@pytest.mark.parametrize(("probability", "freedom", "expected"), T_TABLE)
def test_quantiles_are_those_of_the_printed_tables(probability: float, freedom: int, expected: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(expected, abs=1e-4)


@given(SCORES)
def test_single_runs_have_the_ordinary_standard_error(scores: list[float]) -> None:
    found = clustered_interval(scores, range(len(scores)), bounded=False)
    assert found.error == pytest.approx(stdev(scores) / math.sqrt(len(scores)), abs=1e-9)
    assert found.mean == pytest.approx(mean(scores))
    assert found.low <= found.mean + 1e-12
    assert found.high >= found.mean - 1e-12


@given(SCORES, st.integers(1, 5))
def test_repeating_every_run_does_not_narrow_the_interval(scores: list[float], times: int) -> None:
    once = clustered_interval(scores, range(len(scores)), bounded=False)
    again = clustered_interval(scores * times, list(range(len(scores))) * times, bounded=False)
    assert again.error == pytest.approx(once.error, abs=1e-9)
    assert again.clusters == once.clusters


def test_equal_clusters_have_the_error_of_their_means() -> None:
    groups = [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    means = [mean(one) for one in groups]
    found = clustered_interval(
        [one for group in groups for one in group], [n for n in range(4) for _ in range(3)], bounded=False
    )
    assert found.error == pytest.approx(stdev(means) / 2)
    assert found.high - found.mean == pytest.approx(t_quantile(0.975, 3) * found.error)


def test_nothing_but_right_answers_proves_no_certainty() -> None:
    few, many = clustered_interval([1.0] * 5, range(5)), clustered_interval([1.0] * 500, range(500))
    assert (few.low, few.high) == (pytest.approx(0.5655, abs=1e-3), 1.0)
    assert 0.99 < many.low < 1


def test_one_cluster_tells_nothing() -> None:
    assert clustered_interval([1.0, 0.0, 1.0], ["a"] * 3)[1:3] == (0.0, 1.0)


@given(SCORES)
def test_swapping_the_sides_of_a_pair_turns_its_probability_around(scores: list[float]) -> None:
    assert paired_p(scores) + paired_p([-one for one in scores]) == pytest.approx(1.0)


def tail(t: float, freedom: int) -> float:
    """The probability of Student's t above a value, by Simpson's rule over its density."""
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    steps, width = 4_000, 60.0
    grid = (t + width * one / steps for one in range(steps + 1))
    density = [constant * (1 + x * x / freedom) ** (-(freedom + 1) / 2) for x in grid]
    return (density[0] + 4 * sum(density[1::2]) + 2 * sum(density[2:-1:2]) + density[-1]) * width / steps / 3


@pytest.mark.parametrize("count", [20, 30, 100, 300])
def test_a_paired_probability_is_that_of_students_t(count: int) -> None:
    pattern = [1.0 if one % 2 else -1.0 for one in range(count)]
    for t in (0.0, 0.5, 1.0, 1.7, 2.5, 3.3, 4.0, 4.9):
        found = paired_p([one + t * stdev(pattern) / math.sqrt(count) for one in pattern])
        if found >= 1e-5:
            assert found == pytest.approx(tail(t, count - 1), rel=0.05)


def test_equal_differences_of_few_tasks_are_no_proof() -> None:
    assert paired_p([0.01] * 5) > 0.3


@given(st.integers(1, 7), st.data())
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(runs: int, data: st.DataObject) -> None:
    right, k = data.draw(st.integers(0, runs)), data.draw(st.integers(1, runs))
    draws = list(combinations([1] * right + [0] * (runs - right), k))
    assert pass_at_k(runs, right, k) == pytest.approx(mean(any(one) for one in draws))


@pytest.mark.parametrize(("runs", "right", "k"), [(2, 1, 3), (2, 3, 1), (2, -1, 1), (2, 1, 0)])
def test_pass_at_k_needs_as_many_runs(runs: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match="pass@"):
        pass_at_k(runs, right, k)


def test_calibration_error_is_the_gap_of_each_bin() -> None:
    assert calibration_error([0.9] * 10, [True] * 9 + [False]) == pytest.approx(0.0)
    assert calibration_error([1.0] * 4, [False] * 4) == 1.0
    both = calibration_error([0.2] * 100 + [0.8] * 150, [False] * 100 + [True] * 150)
    assert both == pytest.approx(0.2)


def test_more_tasks_show_smaller_improvements() -> None:
    assert smallest_visible([0.5] * 30) > smallest_visible([0.5] * 100) > smallest_visible([0.5] * 300)
    assert smallest_visible([0.5] * 100, runs=10, baseline=10) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.24, "only improvements of about 24 points or more are"), (1.08, "no improvement, however large, is")],
)
def test_no_improvement_of_more_than_all_points_is_spoken_of(share: float, words: str) -> None:
    assert visible_words(share) == words


def test_a_single_run_of_each_task_is_not_taken_for_certainty() -> None:
    once = [1.0, 0.0] * 10  # of tasks solved half of the time, as of tasks solved always or never
    assert smallest_visible(once, measured=1) == smallest_visible([0.5] * 20) > 2 * smallest_visible(once)
    assert smallest_visible(once, measured=8) == smallest_visible(once)
    assert smallest_visible([0.5] * 20, measured=2) == smallest_visible([0.5] * 20)
    few, many = (smallest_visible([0.25, 0.75] * 10, measured=runs) for runs in (4, 100))
    assert few > many > smallest_visible([0.25, 0.75] * 10)


def test_the_rest_of_an_evaluation_is_estimated_by_its_latest_runs() -> None:
    times = iter([0.0, *(0.0 for _ in range(10)), *(float(5 * one) for one in range(1, 100))])
    pace = Pace(lambda: next(times))
    assert [pace.left(one, 100) for one in range(1, 11)] == [""] * 10  # they were there already
    assert pace.left(11, 100).endswith(" s left")
    for one in range(12, 41):
        words = pace.left(one, 100)
    assert words == ", about 5 min left"
    assert pace.left(100, 100) == ""


def test_lines_of_progress_come_some_seconds_apart() -> None:
    times = iter(float(one) for one in range(100))
    pace = Pace(lambda: next(times))
    lines = [line for one in range(1, 30) if (line := pace.line(one, 30))]
    assert len(lines) == 5
    assert lines[0].startswith("5 of 30 runs, about ")
