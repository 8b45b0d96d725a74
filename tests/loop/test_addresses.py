"""Test the addresses found in the words of a task."""

import pytest

from tea import addresses_in


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("What is it (see http://a.test/offers)?", ["http://a.test/offers"]),
        ("Only [http://a.test/b](http://a.test/b) counts.", ["http://a.test/b"]),
        ("See (http://c.test/d_(e)), or http://c.test/d_(e)!", ["http://c.test/d_(e)"]),
        (
            "https://a.test/x?q=1#y, **http://b.test**; <http://c.test>",
            ["https://a.test/x?q=1#y", "http://b.test", "http://c.test"],
        ),
        ("a.test and ftp://a.test", []),
    ],
)
def test_addresses_stand_without_the_marks_around_them(words: str, found: list[str]) -> None:
    assert addresses_in(words) == found


def test_a_long_text_of_brackets_is_read_at_once() -> None:
    assert addresses_in("http://a.test/" + ")" * 100_000) == ["http://a.test/"]
