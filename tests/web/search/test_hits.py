"""Results: cleaned, compared and ranked."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tea.web.search.engine import Hit
from tea.web.search.hits import Given, cleaned, day_of, normal, ranked, relaxed


@pytest.mark.parametrize(
    "other",
    [
        "http://example.com/a", "https://www.example.com/a/", "https://example.com:443/a", "https://EXAMPLE.com/a#part",
        "https://example.com/a?utm_source=x&fbclid=1", "https://example.com/a/index.html", "https://m.example.com/a",
    ],
)  # fmt: skip
def test_addresses_of_one_page_are_equal(other: str) -> None:
    hit = cleaned(Hit(url=other, title="x"))
    assert hit is not None
    assert normal(hit.url) == normal("https://example.com/a")


def test_addresses_of_other_pages_differ() -> None:
    urls = ["https://example.com/a", "https://example.com/b", "https://example.com/a?page=2", "https://example.org/a",
        "https://example.com:8080/a"]  # fmt: skip
    assert len({normal(url) for url in urls}) == len(urls)


@pytest.mark.parametrize("url", ["", "javascript:alert(1)", "ftp://a.example/", "https://user:x@a.example/", "http://2130706433/",
    "//a.example", "https://a.example\\@b.example/", "data:text/html,x"])  # fmt: skip
def test_what_is_no_address_of_a_page_is_no_result(url: str) -> None:
    assert cleaned(Hit(url=url, title="x")) is None


@given(some.text(max_size=80), some.text(max_size=300))
def test_whatever_an_engine_says_becomes_one_line_of_visible_characters(title: str, snippet: str) -> None:
    hit = cleaned(Hit(url="https://a.example/", title=title, snippet=snippet + "\u202e\x1b[31m\u200b"))
    assert hit is not None
    assert hit.title
    for text in (hit.title, hit.snippet):
        assert text == " ".join(text.split())
        assert not {"\u202e", "\x1b", "\u200b", "\0"} & set(text)


@given(some.lists(some.lists(some.integers(0, 12), max_size=10), max_size=4), some.integers(1, 10))
def test_a_ranking_holds_each_page_once_and_the_best_first(lists: list[list[int]], most: int) -> None:
    hits = [[Hit(url=f"https://a.example/{one}", title="t") for one in ones] for ones in lists]
    given = [Given(engine=f"e{n}", tier=n + 1, query="q", hits=ones) for n, ones in enumerate(hits)]
    found = ranked(given, most)
    pages = {one for ones in lists for one in ones}
    assert len({one.hit.url for one in found}) == len(found) == min(most, len(pages))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 <= one.score <= 1 for one in found)


def test_queries_take_turns() -> None:
    many = [Hit(url=f"https://a.example/{n}", title="cape tower") for n in range(10)]
    few = [Hit(url="https://b.example/", title="ship")]
    found = ranked([Given(engine="e", tier=1, query="cape tower", hits=many),
        Given(engine="e", tier=1, query="a very different thing", hits=few)], 4)  # fmt: skip
    assert "https://b.example/" in {one.hit.url for one in found}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-05-06T10:00:00Z", "2024-05-06"), ("May 6, 2024", "2024-05-06"), ("6 May 2024", "2024-05-06"),
        ("Mon, 06 May 2024 10:00:00 GMT", "2024-05-06"), ("2024年5月6日", "2024-05-06"), ("2 days ago", ""),
        ("2024-13-40", ""), ("", ""),
    ],
)  # fmt: skip
def test_dates_are_read_in_their_usual_forms(text: str, day: str) -> None:
    assert day_of(text) == day


def test_a_relaxed_query_has_no_quotes_and_no_exclusions() -> None:
    assert relaxed('"the tower" “of” -ship well-known') == "the tower of well-known"
