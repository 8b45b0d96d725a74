"""The grammar of keys."""

import pytest

from tea.kernel.key import (
    asked_in,
    branch_of,
    call_key,
    change_id,
    check_key,
    effect_key,
    innermost,
    inside,
    is_check,
    outer,
    path_of,
    question_key,
    run_and_key,
    scopes_around,
    spawned_path,
    step_key,
)

EFFECT = step_key(spawned_path(step_key("0", 3), 1), 12)


def test_a_key_tells_all_that_it_is_inside_of_from_the_inside_out() -> None:
    key, found = question_key(call_key(check_key(EFFECT), 0), 2), list[str]()
    while key:
        found.append(key)
        key = outer(key)
    assert found == ["0.3/1.12?!0~2", "0.3/1.12?!0", "0.3/1.12?", "0.3/1.12", "0.3/1", "0.3", "0"]


@pytest.mark.parametrize("key", ["", "!0", "~2", "!0!1~3", "?!0", "?!0~1"])
def test_what_happens_inside_of_an_effect_is_known_by_the_effect(key: str) -> None:
    assert effect_key(EFFECT + key) == EFFECT
    assert path_of(EFFECT) == "0.3/1"
    assert is_check(EFFECT + key) == ("?" in key)


@pytest.mark.parametrize(
    ("key", "found"),
    [("0.3/1.12", "0.3"), ("0.3", "0.3"), ("0.3!0~1", "0.3"), ("0.33", "0"), ("0.30.1", "0"), ("1.3", ""), ("", "")],
)
def test_the_innermost_scope_is_found_through_branches_and_effects(key: str, found: str) -> None:
    assert innermost(key, {"0", "0.3"}) == found


def test_a_scope_holds_what_is_done_in_it_and_in_the_branches_that_it_spawned() -> None:
    for key, scopes in (("0.3.0", ["0", "0.3"]), ("0.3/0.1", ["0", "0.3", "0.3/0"]), ("0.3", ["0"]), ("0", [])):
        assert list(scopes_around(key)) == scopes
    keys = sorted(("0.3", "0.3!0", "0.3!1~2", "0.3.1", "0.3/1!0", "0.3?!0", "0.30!0", "0.3~1", "1"))
    assert [one for part in inside("0.3", keys) for one in keys[part]] == ["0.3~1", "0.3!0", "0.3!1~2"]
    assert [branch_of(key) for key in ("0.3.0", "0.3/1.12.4", "0", "")] == ["0", "0.3/1", "0", ""]


def test_questions_are_counted_in_the_call_that_asks_them() -> None:
    assert [asked_in(key) for key in ("0.3~2", "0.3!0~11", "0.3", "0.3~x")] == [
        ("0.3", 2),
        ("0.3!0", 11),
        ("0.3", 0),
        ("0.3~x", 0),
    ]


def test_a_change_of_a_session_is_known_by_run_and_effect() -> None:
    assert run_and_key(change_id("run", EFFECT)) == ("run", EFFECT)
