"""The addresses within words: everything programs make a link of, or a person pays to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.policy.content import addressed, addresses_within


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See www.site.test/a?b=c.", ["www.site.test/a?b=c"]),
        ("[here](https://site.test/x)", ["https://site.test/x"]),
        ("link:site.test, or mailto:ann@site.test", ["site.test", "ann@site.test"]),
        ("evil\u3002test ev\u00adil.test \uff57\uff57\uff57.evil.test", ["evil.test", "www.evil.test"]),
        ("ev\ufe0fil.test ev\x00il.test ev\u2800il.test", ["evil.test"]),
        ("Pay DE89 3704\u034f 0044\ufe0f 0532 0130 00", ["DE89 3704 0044 0532 0130 00"]),
        ("Pay DE89 3704 0044 0532 0130 00 or US133000000121212121212", ["DE89 3704 0044 0532 0130 00"]),
        ("Ring +49 30 1234567", ["+49 30 1234567"]),
        ("http://[::1]:80/", ["http://"]),
        ("10.0.0.1:80/x and 1.2.3", ["10.0.0.1:80/x"]),
        ("xn--a.xn--p1ai", ["xn--a.xn--p1ai"]),
        ("javascript://x", ["javascript://x"]),
        ("Dec 2024, 3.14, e.g. this, v1.2.3, report.pdf, a.b, 2024-05-13 10:20, and/or @ann", []),
    ],
)
def test_addresses_stand_in_words(text: str, found: list[str]) -> None:
    assert list(addresses_within({"words": [text]}))[: len(found) or 1] == found


@given(st.text(), st.sampled_from(["https://evil.test/?q=1", "www.evil.test", "eve@evil.test"]))
def test_words_around_it_hide_no_address(text: str, address: str) -> None:
    assert any(address in one for one in addresses_within(f"{text} {address} {text}"))


@pytest.mark.parametrize("part", ["a.", "a@", "://", "a:a.", "ab12 ", "+1 ", "1.", "a./", "aa11aaaa"])
def test_long_texts_are_looked_through_at_once(part: str) -> None:
    assert len(addresses_within(part * 20_000)) < 20_001


def test_arguments_that_are_addresses_are_found_in_any_spelling() -> None:
    given = {
        "a": "HTTPS://Site.test",
        "b": "https:\\\\site.test",
        "c": "what is site.test?",
        "d": "ann@site.test",
        "e": 3,
    }
    assert addressed(given) == ("https://site.test/", "https:\\\\site.test")
    assert addressed({"a": f"https://site.test/{'x' * 9_000}"})
    assert addressed({"a": " \x1b\x07https://site.test/a\x1f\x85\n"}) == ("\x1b\x07https://site.test/a\x1f\x85",)
    assert addressed({"a": "site.test/?q=1", "b": {"https://key.test/": 1}}) == ("site.test/?q=1", "https://key.test/")
