"""Test passages: a result without any is not held against those before it."""

from __future__ import annotations

from collections.abc import Iterable

from tea.loop.passages import GIVEN, once
from tea.types import JsonValue

LONG = "The harbour was opened in spring. " * 5


def test_earlier_results_are_read_for_passages_alone() -> None:
    def earlier() -> Iterable[JsonValue]:
        raise AssertionError("an earlier result was read")

    for value in ({"rows": [[1, 2]], "total": 2}, "words", None, [LONG], {"results": [{"url": "http://a.example"}]}):
        assert once(value, earlier) == value


def test_a_passage_given_above_is_a_reference() -> None:
    first = {"results": [{"url": "http://a.example", "text": LONG}]}
    second = {"results": [{"url": "http://a.example", "text": LONG}, {"url": "http://b.example", "text": LONG}]}
    told = once(second, lambda: [first])
    assert told == {"results": [{"url": "http://a.example", "text": GIVEN}, {"url": "http://b.example", "text": LONG}]}
