"""Test engines' recent health as the condition for asking them."""

from pathlib import Path

import pytest

from tea.web.search import PROFILES, EngineFailed, Health, Hit, Query


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def health(path: Path, clock: Clock, profile: str = "balanced") -> Health:
    return Health(path / "search.sqlite", PROFILES[profile], clock, lambda: 0.0)


def rest(one: Health, engine: str = "e") -> str:
    try:
        one.admit(engine, delay=0, per_day=0)
    except EngineFailed as error:
        return error.kind
    return ""


@pytest.mark.parametrize(("profile", "seconds"), [("latency", 60), ("balanced", 45), ("quality", 30)])
def test_who_wants_fewer_requests_is_left_alone_for_as_long_as_the_profile_says(
    tmp_path: Path, profile: str, seconds: int
) -> None:
    clock = Clock()
    one = health(tmp_path, clock, profile)
    one.failed("e", EngineFailed("rate_limit", "fewer"))
    clock.now += seconds - 1
    assert rest(one) == "resting"
    assert rest(one, "other") == ""
    clock.now += 2
    assert rest(one) == ""


def test_who_refuses_rests_for_fifteen_minutes_and_who_asks_for_longer_gets_it(tmp_path: Path) -> None:
    clock = Clock()
    one = health(tmp_path, clock)
    one.failed("e", EngineFailed("refused", "no"))
    one.failed("slow", EngineFailed("rate_limit", "fewer", 1_200))
    clock.now += 899
    assert rest(one) == rest(one, "slow") == "resting"
    clock.now += 2
    assert rest(one) == ""
    assert rest(one, "slow") == "resting"


def test_a_wrong_key_is_not_rested_for(tmp_path: Path) -> None:
    one = health(tmp_path, Clock())
    one.failed("e", EngineFailed("key", "no"))
    assert rest(one) == ""


def test_a_name_that_does_not_resolve_counts_against_nobody(tmp_path: Path) -> None:
    clock = Clock()
    one = health(tmp_path, clock)
    for _ in range(30):
        assert one.admit("e", delay=1.5, per_day=1) == 0
        one.failed("e", EngineFailed("unresolved", "no network"))
    assert one.admit("e", delay=1.5, per_day=1) == 0


def test_a_tenth_of_the_last_twenty_may_fail_and_more_opens_the_circuit(tmp_path: Path) -> None:
    clock = Clock()
    one = health(tmp_path, clock)
    for number in range(20):
        one.answered("e") if number % 9 else one.failed("e", EngineFailed("broken", "no"))
    assert rest(one) == "resting"
    clock.now += 61
    assert rest(one) == ""
    for _ in range(18):
        one.answered("e")
    for _ in range(2):
        one.failed("e", EngineFailed("broken", "no"))
    assert rest(one) == ""


def test_fifty_captchas_pause_for_five_minutes_and_a_hundred_for_a_day(tmp_path: Path) -> None:
    clock = Clock()
    one = health(tmp_path, clock, "quality")
    for number in range(1, 101):
        one.failed("e", EngineFailed("captcha", "prove it"))
        one.answered("other")
        wait = 0
        while rest(one) == "resting":
            clock.now += 15
            wait += 15
        if number == 50:
            assert wait >= 300
        if number == 100:
            assert wait >= 86_400 - 15


def test_requests_are_spaced_and_counted_by_the_day_in_all_processes(tmp_path: Path) -> None:
    clock = Clock()
    one, other = health(tmp_path, clock), health(tmp_path, clock)
    assert one.admit("e", delay=1.5, per_day=3) == 0
    assert other.admit("e", delay=1.5, per_day=3) == 1.5
    assert one.admit("e", delay=1.5, per_day=3) == 3.0
    with pytest.raises(EngineFailed, match="3 searches of today"):
        other.admit("e", delay=1.5, per_day=3)
    clock.now += 86_400
    assert one.admit("e", delay=1.5, per_day=3) == 0


def test_a_run_has_a_budget(tmp_path: Path) -> None:
    one = health(tmp_path, Clock())
    one.count("r", 3, 4)
    with pytest.raises(EngineFailed, match="4 searches of this run"):
        one.count("r", 2, 4)
    one.count("r", 1, 4)
    one.count("other", 4, 4)


def test_an_answer_is_kept_while_it_is_fresh(tmp_path: Path) -> None:
    clock = Clock()
    one, query, hits = health(tmp_path, clock), Query(text="x"), [Hit(url="https://a.example/", title="A")]
    one.keep("e", query, hits)
    assert one.kept("e", query, 600) == (clock.now, hits)
    assert one.kept("e", query, 0) is one.kept("other", query, 600) is one.kept("e", Query(text="y"), 600) is None
    clock.now += 600
    assert one.kept("e", query, 600) is None


@pytest.mark.parametrize("damage", ["text", "folder"])
def test_a_file_that_cannot_be_used_is_passed_over(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "search.sqlite"
    path.mkdir() if damage == "folder" else path.write_text("nothing of the kind" * 100)
    one = health(tmp_path, Clock())
    one.failed("e", EngineFailed("refused", "no"))
    assert rest(one) == ""
    one.answered("e")
    one.keep("e", Query(text="x"), [])
