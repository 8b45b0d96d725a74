"""Destinations as whole tokens, addresses in one form, and patterns of the operator."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.policy.destination import (
    addresses_in,
    canonical_address,
    destinations_of,
    fits_pattern,
    names_address,
    permits,
    stands_in,
)

WORDS = st.text("abc.@-_/:?=é ", max_size=12)
TOKENS = st.from_regex(r"[a-c]{1,4}@[a-c]{1,4}\.test", fullmatch=True)


@given(TOKENS, WORDS)
def test_what_stands_alone_stands_in_the_text(token: str, around: str) -> None:
    assert stands_in(token, f"{around} {token}, and {around}")
    assert stands_in(token.upper(), f"({token})")


@given(TOKENS, st.sampled_from("ab0_-@"))
def test_a_part_of_a_longer_token_does_not_stand(token: str, more: str) -> None:
    assert not stands_in(token, f"{more}{token}")
    assert not stands_in(token, f"{token}{more}")
    assert not stands_in(token, f"{token}.{more}")


@given(st.text(max_size=40))
def test_any_text_has_addresses_in_one_form(text: str) -> None:
    for address in addresses_in(f"https://{text} and http://a.test/{text}"):
        assert canonical_address(address) == address
        assert stands_in("x", text) in (True, False)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[here](https://a.test/x?y=1)", {"https://a.test/x?y=1"}),
        ("[https://a.test/x](https://b.test:443/#top)", {"https://a.test/x", "https://b.test/"}),
        ("See https://A.test/wiki/B_(c).", {"https://a.test/wiki/B_(c)"}),
        ("ftp://a.test mailto:b@a.test", set()),
    ],
)
def test_addresses_stand_in_prose_and_markdown(text: str, found: set[str]) -> None:
    assert found <= set(addresses_in(text))
    assert bool(found) == bool(set(addresses_in(text)))


@pytest.mark.parametrize(
    ("destination", "pattern", "fits"),
    [
        ("ann@good.test", "*@good.test", True),
        ("ann@good.test.evil.test", "*@good.test", False),
        ("https://good.test.evil.test/", "https://good.test*", False),
        ("https://good.test/a?b=c", "https://good.test/*", True),
        ("https://x@evil.test/", "https://*good.test/*", False),
        ("https://www.good.test/a", "*.good.test", True),
        ("http://good.test/", "https://good.test/*", False),
        ("general", "GENERAL", True),
    ],
)
def test_a_pattern_fits_whole_destinations(destination: str, pattern: str, *, fits: bool) -> None:
    assert fits_pattern(destination, pattern) is fits


@pytest.mark.parametrize(
    ("destination", "pattern", "fits"),
    [
        ("ann@good.test", "*@good.test", True),
        ("ann.b+c@good.test", "*@good.test", True),
        ("ann@good.test", "*good.test", True),
        ("ann@good.test", "*", True),
        ("eve@evil.test?x=@good.test", "*@good.test", False),
        ("eve@evil.test <x@good.test", "*@good.test", False),
        ("eve\uff20evil.test@good.test", "*@good.test", False),
        ("eve@evil.test .good.test", "*.good.test", False),
        ("evil.test/.good.test", "*.good.test", False),
        ("evil.test\\.good.test", "*.good.test", False),
        ("evil.test#.good.test", "*.good.test", False),
        ("www.good.test", "*.good.test", True),
        ("https://www.good.test/a?b", "*.good.test", True),
        ("#team-a", "#team-*", True),
        ("#team-a", "*team-a", True),
        ("/srv/git/a/b.git", "/srv/git/*", True),
        ("DE89 3704 0044", "DE89*", True),
        ("Ann Smith", "Ann Smith", True),
    ],
)
def test_what_allows_hides_no_second_address_in_a_wildcard(destination: str, pattern: str, *, fits: bool) -> None:
    assert permits(pattern, destination) is fits


def test_destinations_are_taken_from_lists_texts_and_state() -> None:
    given = {"to": ["a@b.test", "c@d.test, e@f.test"], "cc": None, "url": "https://a.test/?q=1,2"}
    found = ("a@b.test", "c@d.test", "e@f.test", "https://a.test/?q=1,2", "https://here.test/")
    assert (
        destinations_of(("to", "cc", "url", "state.page.url"), given, {"page": {"url": "https://HERE.test/in?q=1"}})
        == found
    )


@pytest.mark.parametrize("odd", "\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029\u00a0")
def test_a_place_keeps_the_characters_that_are_no_blank(odd: str) -> None:
    place = f"{odd}room-7{odd}"
    given = {"to": f" {place}\n", "url": f"{odd}https://a.test/x"}
    assert destinations_of(("to", "url"), given) == (place, f"{odd}https://a.test/x")
    state = {"place": f"{place}\t", "url": f"https://a.test/x{odd}"}
    assert destinations_of(("state.place", "state.url"), {}, state) == (place, f"https://a.test/x{odd}")
    assert not stands_in(place, "Send it to room-7.")
    assert not permits("room-7", place)
    assert permits("room-7", " room-7\n")


def test_a_bare_host_names_its_addresses_without_a_query() -> None:
    assert names_address("Look at good.test, please.", "https://good.test/a/b")
    assert not names_address("Look at good.test, please.", "https://good.test/a?b=c")
    assert not names_address("Look at https://good.test/a", "https://good.test/b")
    assert not names_address("Look at not-good.test", "https://good.test/")
