"""Test the rule of acceptance in a simulated world: it keeps its promises."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.evaluate.statistics import paired_p
from tea.evolve.acceptance import (
    BASELINE_RUNS,
    Betting,
    Looks,
    blocking_tags,
    differences,
    is_cheaper,
    level,
    total_failures,
    weak_tags,
)

Rates = np.ndarray[tuple[int], np.dtype[np.float64]]


class World:
    """Tasks with a chance of success each, mostly near none or one, and candidates moving all of them."""

    def __init__(self, seed: int, tasks: int) -> None:
        self.rng = np.random.default_rng(seed)
        rates = np.clip(self.rng.beta(0.6, 0.5, 2000), 0.01, 0.99)
        self.logits = np.log(rates / (1 - rates))
        self.tasks = tasks
        self.spent = 0
        self.base = self.baseline()

    def baseline(self) -> dict[str, float]:
        """Fresh means of the incumbent."""
        rates = 1 / (1 + np.exp(-self.logits[: self.tasks]))
        means = (self.rng.random((BASELINE_RUNS, self.tasks)) < rates).mean(0)
        return {str(number): float(one) for number, one in enumerate(means)}

    def candidate(self, effect: float) -> Rates:
        """Chances of a candidate with exactly this effect on all tasks."""
        noise = 0.6 * self.rng.standard_normal(len(self.logits))
        return self._moved(noise, min(float((1 / (1 + np.exp(-self.logits))).mean()) + effect, 0.985))

    def _moved(self, change: Rates, wanted: float) -> Rates:
        """Chances after a change to each task and one to all, with the wanted mean."""
        low, high = -6.0, 6.0
        for _ in range(20):
            middle = (low + high) / 2
            mean = float((1 / (1 + np.exp(-(self.logits + middle + change)))).mean())
            low, high = (middle, high) if mean < wanted else (low, middle)
        return 1 / (1 + np.exp(-(self.logits + low + change)))

    def merged(self, shifts: Sequence[Rates]) -> Rates:
        """Chances of a candidate with the changes of several others, and no effect on all tasks."""
        return self._moved(0.6 * np.sum(shifts, axis=0), float((1 / (1 + np.exp(-self.logits))).mean()))

    def test(self, rates: Rates, alpha: float, base: dict[str, float] | None = None) -> bool:
        """Put a candidate through the looks."""
        looks = Looks(base or self.base, alpha)
        while True:
            runs = looks.runs
            self.spent += runs * self.tasks
            scores = (self.rng.random((self.tasks, runs)) < rates[: self.tasks, None]).astype(float)
            step = looks.add({str(number): own for number, own in enumerate(scores.tolist())})
            if step != "continue":
                return step == "accept"


def campaigns(effect: float, count: int, proposals: int = 200, tasks: int = 100) -> Iterator[int]:
    """How many of a campaign's candidates of one effect are accepted."""
    for seed in range(count):
        world = World(seed, tasks)
        yield sum(world.test(world.candidate(effect), level(number)) for number in range(1, proposals + 1))


def test_the_levels_of_all_tests_sum_up_to_what_may_be_spent() -> None:
    assert math.fsum(level(one) for one in range(1, 201)) == pytest.approx(0.10, abs=1e-9)
    assert (level(201), level(0)) == (0.0, 0.0)
    assert [round(level(one), 4) for one in (1, 5, 20, 100)] == [0.0088, 0.0020, 0.0007, 0.0003]


@pytest.mark.slow
def test_useless_candidates_are_hardly_ever_accepted() -> None:
    accepted = list(campaigns(0.0, 40))
    assert sum(one > 0 for one in accepted) <= 10
    assert sum(accepted) / 40 <= 0.3


@pytest.mark.slow
def test_harmful_candidates_are_not_accepted() -> None:
    assert sum(campaigns(-0.05, 40)) <= 2


def test_good_candidates_are_found_and_small_sets_find_few() -> None:
    power = {
        (tasks, effect): sum(
            world.test(world.candidate(effect), level(20)) for world in (World(seed, tasks) for seed in range(100))
        )
        / 100
        for tasks, effect in ((100, 0.20), (100, 0.10), (30, 0.10))
    }
    assert power[100, 0.20] >= 0.95
    assert power[100, 0.10] >= 0.75
    assert power[30, 0.10] <= 0.30


def test_a_useless_candidate_costs_few_runs() -> None:
    spent = 0
    for seed in range(60):
        world = World(seed, 100)
        world.test(world.candidate(0.0), level(20))
        spent += world.spent
    assert spent / 60 <= 250


def test_the_incumbent_as_its_own_candidate_is_not_promoted() -> None:
    world = World(7, 100)
    own = 1 / (1 + np.exp(-world.logits))
    assert sum(world.test(own, level(number)) for number in range(1, 201)) <= 1


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_swapping_the_sides_turns_the_sign_and_the_order_of_tasks_does_not_matter(means: list[float]) -> None:
    base = {str(number): one for number, one in enumerate(means)}
    other = {name: 1 - one for name, one in base.items()}
    one = differences(base, {name: [value] for name, value in other.items()})
    two = differences(other, {name: [value] for name, value in base.items()})
    assert one == pytest.approx([-value for value in two])
    turned = dict(reversed(list(base.items())))
    assert differences(turned, {name: [value] for name, value in other.items()}) == one


def test_tasks_of_one_cluster_count_once() -> None:
    base, scores = {"a": 0.0, "b": 0.0, "c": 0.0}, {"a": [1.0], "b": [0.0], "c": [1.0]}
    assert differences(base, scores, {"a": "doc", "b": "doc"}) == [0.5, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [30, 100, 300])
def test_the_paired_test_is_calibrated(tasks: int) -> None:
    rng = np.random.default_rng(5)
    rates = np.clip(rng.beta(0.6, 0.5, (20_000, tasks)), 0.01, 0.99)
    found = rng.binomial(10, rates) / 10 - rng.binomial(10, rates) / 10
    p = np.array([paired_p(one) for one in found.tolist()])
    assert 0.04 <= (p <= 0.05).mean() <= 0.06
    assert (p <= 0.0005).mean() <= 0.0012


@pytest.mark.slow
def test_the_best_of_many_useless_candidates_do_not_pass_together_where_only_verdicts_are_heard() -> None:
    accepted = 0
    for seed in range(60):
        world = World(9500 + seed, 100)
        shifts = [np.log(one / (1 - one)) - world.logits for one in (world.candidate(0.0) for _ in range(200))]
        passed = [one for one in shifts if world.test(1 / (1 + np.exp(-(world.logits + one))), level(20))]
        chosen = [*passed, *(shifts[one] for one in world.rng.permutation(200))][:20]  # a verdict tells no more
        accepted += world.test(world.merged(chosen), level(20))
    assert accepted <= 1


def test_the_evidence_of_the_strict_mode_is_at_most_one_on_average() -> None:
    rng = np.random.default_rng(3)
    worst = 0.0
    for _ in range(4):
        old, new = rng.random(6), rng.random(6)
        new *= min(1.0, float(old.mean() / new.mean()))
        expected = 0.0
        for results in itertools.product((0, 1), repeat=6):
            chance = math.prod(p if one else 1 - p for one, p in zip(results, new, strict=True))
            for others in itertools.product((0, 1), repeat=6) if chance > 1e-9 else ():
                other = math.prod(p if one else 1 - p for one, p in zip(others, old, strict=True))
                if other > 1e-9:
                    betting = Betting(6, 0.001)
                    betting.add([a - b for a, b in zip(results, others, strict=True)])
                    expected += chance * other * betting.evidence
        worst = max(worst, expected)
    assert worst <= 1.0


def test_the_strict_mode_blocks_small_gains_with_rare_total_losses() -> None:
    rng = np.random.default_rng(11)
    accepted = 0
    for _ in range(100):
        betting, step = Betting(100, level(1)), "continue"
        while step == "continue":
            lost = rng.random(20) < 0.05
            step = betting.add(np.where(lost, -1.0, 0.05 / 0.95).tolist())
        accepted += step == "accept"
    assert accepted <= 3


def test_the_strict_mode_finds_what_is_better() -> None:
    rng = np.random.default_rng(12)
    betting, step = Betting(30, level(1)), "continue"
    while step == "continue":
        new, old = rng.random(20) < 0.9, rng.random(20) < 0.4
        step = betting.add((new.astype(float) - old).tolist())
    assert step == "accept"
    assert betting.p <= level(1)


def blocked(seed: int, harm: float, tags: int = 5, each: int = 10) -> dict[str, str]:
    """Return the tags blocking a candidate five points better, but worse by some harm on one tag."""
    world = World(9000 + seed, tags * each)
    rates = world.candidate(0.05)[: tags * each]
    old = 1 / (1 + np.exp(-world.logits[: tags * each]))
    logits, floor = np.log(rates / (1 - rates)), max(float(old[:each].mean()) + harm, 0.02)
    while harm and float((1 / (1 + np.exp(-logits[:each]))).mean()) > floor:
        logits[:each] -= 0.1
    found = world.rng.binomial(10, 1 / (1 + np.exp(-logits))) / 10 - world.rng.binomial(10, old) / 10
    names = {str(number): [f"tag{number // each}"] for number in range(tags * each)}
    return blocking_tags({str(number): float(one) for number, one in enumerate(found)}, names)


def test_a_tag_that_is_hurt_blocks_and_noise_does_not() -> None:
    assert sum(bool(blocked(seed, 0.0)) for seed in range(200)) <= 16
    assert sum("tag0" in blocked(seed, -0.30) for seed in range(100)) >= 95


def test_protected_tags_must_be_shown_to_be_not_worse() -> None:
    found = {str(number): 0.0 for number in range(30)}
    tags = {str(number): ["money"] if number < 3 else ["rest"] for number in range(30)}
    assert list(blocking_tags({**found, "0": 0.5, "1": -0.5}, tags, ["money"])) == ["money"]
    assert weak_tags(tags, ["money", "rest"]) == ["money"]
    assert blocking_tags(found, tags) == {}


def test_margins_do_not_add_up_against_the_anchor() -> None:
    rng = np.random.default_rng(9)
    worst = 0.0
    for _ in range(20):
        loss = 0.0
        for tests in range(1, 61):
            found = rng.normal(loss - 0.02, 0.18, 200)
            if is_cheaper(found.tolist(), [0.7] * 200, tests):
                loss -= 0.02
        worst = min(worst, loss)
    assert worst >= -0.09


def test_cheaper_needs_a_saving_in_cost() -> None:
    equal = [0.01, -0.01] * 100
    assert is_cheaper(equal, [0.7, 0.75] * 100, 1)
    assert not is_cheaper(equal, [0.95, 1.0] * 100, 1)
    assert not is_cheaper([-0.2, 0.0] * 100, [0.5, 0.6] * 100, 1)


def test_new_total_failures_are_named() -> None:
    assert total_failures({"a": 1.0, "b": 0.1, "c": 0.6}, {"a": [0.0, 0.0], "b": [0.0], "c": [0.0, 1.0]}) == ["a"]


def test_a_look_takes_exactly_the_runs_it_asked_for() -> None:
    looks = Looks({"a": 0.0, "b": 1.0}, 0.05)
    assert looks.runs == 1
    with pytest.raises(ValueError, match="needs 1 further"):
        looks.add({"a": [1.0]})
    with pytest.raises(ValueError, match="needs 1 further"):
        looks.add({"a": [1.0, 1.0], "b": [1.0, 1.0]})
