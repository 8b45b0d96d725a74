"""The comparing parts of the researcher: quotations, addresses, names, rows and sides of a contradiction."""

import importlib
import sys
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

FOLDER = Path(__file__).parents[2] / "agents" / "_researcher"


def loaded(name: str) -> Any:
    """Return a helper module of the agent."""
    package = ModuleType("researched")
    package.__path__ = [str(FOLDER)]
    sys.modules.setdefault("researched", package)
    return importlib.import_module(f"researched.{name}")


sources, evidence, rows, enumeration = (loaded(one) for one in ("sources", "evidence", "rows", "enumeration"))

PAGE = (
    "# Cape\n\nThe **Mole Light** was built in [1902](https://e.example/a_(b)),\nand costs 1,250.50 \u20ac a year.\n"
    "It isn\u2019t lit.\nTemperatures fall to -5 degrees.\n\u706f\u53f0\u4e8e1902\u5e74\u5efa\u6210\u3002"
)


def source(text: str, line: int = 1, **more: Any) -> Any:
    return sources.Source(
        number=1, url="https://e.example/", state="read", words=[sources.Words(text=text, line=line)], **more
    )


def test_words_of_a_page_read_again_stand_once() -> None:
    one, of = source("It costs 5."), sources.Words
    one.record([of(text="It costs", line=1), of(text="It is lit.", line=4), of(text="It costs 5. It is lit. Often.")])
    assert [words.text for words in one.words] == ["It costs 5. It is lit. Often."]


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("the mole light was built in 1902, and", 3),
        ("Mole Light was built in 1902", 3),
        ("costs 1,250.50 \u20ac", 4),
        ("It isn't lit.", 5),
        ("The Mole Light ... costs 1,250.50 \u20ac a year", 3),
        ("fall to -5 degrees", 6),
        ("\u706f\u53f0\u4e8e1902\u5e74", 7),
        ("Mole Light was built in 1903", None),
        ("fall to 5 degrees", None),
        ("costs 1,250 \u20ac", None),
        ("built was Light Mole", None),
        ("costs 1,250.50 \u20ac ... The Mole Light", None),
        ("Mole Ligh", None),
        ("...", None),
        ("", None),
        ("**", None),
    ],
)
def test_a_quotation_stands_in_a_page_word_for_word_whatever_its_marks(quote: str, line: int | None) -> None:
    assert source(PAGE).line_of(quote) == line


@given(st.text(max_size=300), st.data())
def test_whatever_words_are_copied_from_a_text_stand_in_it(text: str, data: Any) -> None:
    words = sources.tokens(text)
    if words:
        first = data.draw(st.integers(0, len(words) - 1))
        last = data.draw(st.integers(first, len(words) - 1))
        assert source(text).line_of(" ".join(words[first : last + 1])) is not None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://www.E.example:80/a/", "https://e.example/a#part", True),
        ("https://e.example/a?utm_source=x&b=1", "https://e.example/a?b=1", True),
        ("https://e.example/index.html", "https://e.example", True),
        ("https://e.example/a?b=1", "https://e.example/a?b=2", False),
        ("https://e.example/A", "https://e.example/a", False),
        ("file:///a.md", "file:///b.md", False),
    ],
)
def test_addresses_of_one_page_are_one_source(one: str, other: str, same: bool) -> None:
    assert (sources.normal(one) == sources.normal(other)) == same
    found = sources.Sources()
    assert found.found({"url": one, "title": "", "text": "a"}) is not None
    assert (found.found({"url": other, "title": "", "text": "b"}) is None) == same


def test_the_same_passage_of_two_documents_counts_once() -> None:
    found = sources.Sources()
    assert found.found({"url": "file:///a.md", "title": "", "text": "It is **so**."}) is not None
    assert found.found({"url": "file:///b.md", "title": "", "text": "It is so."}) is None


def test_a_passage_and_its_cut_beginning_are_one_source_with_all_of_its_words() -> None:
    found, whole = sources.Sources(), "The bar is shallow. A pilot comes aboard. Nothing else is punishable here."
    one = found.found(
        {"url": "file:///a.md", "text": "The bar is shallow. A pilot comes aboard. Nothing else is pun..."}
    )
    assert found.found({"url": "file:///a.md", "text": whole}) is None
    assert found.found({"url": "file:///a.md", "text": "A pilot comes aboard."}) is None
    assert found.found({"url": "file:///b.md", "text": "A pilot comes aboard."}) is not None
    assert one is not None
    assert [words.text for words in one.words] == [whole]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Saint Catherine Lighthouse", "St. Catherine Lighthouse", True),
        ("Catherine's Point Lighthouse", "Catherines Point Lighthouse", True),
        ("Mole Light", "mole  light", True),
        ("Apollo 11", "Apollo 12", False),
        ("Mole Light", "Cape Harrow", False),
        ("", "", True),
    ],
)
def test_names_are_alike_by_their_letters_but_never_with_other_digits(one: str, other: str, same: bool) -> None:
    assert (rows.alike(one, other) > rows.ALIKE) == same


@given(st.text(max_size=30), st.text(max_size=30))
def test_likeness_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    assert 0.0 <= rows.alike(one, other) <= 1.0
    assert rows.alike(one, other) == pytest.approx(rows.alike(other, one))
    assert rows.alike(one, one) == 1.0


def test_rows_alike_are_one_unless_a_cell_disagrees() -> None:
    text = "Catherine's Point Lighthouse, Catherines Point Lighthouse: 1871, 1902"
    table = rows.Table(columns=["name", "year"], key=["name"])

    def add(name: str, year: Any) -> str:
        return str(table.add({"name": name, "year": year}, source(text), text, round=1, at=""))

    assert [add("Catherine's Point Lighthouse", None), add("Catherines Point Lighthouse", 1871)] == ["new", "more"]
    assert add("Catherines Point Lighthouse", 1902) == "new"
    assert add("Catherine's Point Lighthouse", 1902) == "more"
    assert len(table.contradictions()) == 1


def claims(*given: tuple[str, int, str]) -> Any:
    """Return a store with one claim for each date, tier and host."""
    store = evidence.Store()
    for number, (date, tier, host) in enumerate(given):
        words = f"claim {number}"
        found = sources.Source(number=number + 1, url=f"https://{host}/{number}", date=date, tier=tier, state="read")
        store.add(found, "year", words, words, 1)
    return store


@pytest.mark.parametrize(
    ("given", "sides", "first", "why"),
    [
        ([("2001-01-01", 1, "a"), ("2024-01-01", 1, "b")], [[1], [2]], (2,), "the most recent"),
        (
            [("2024-01-01", 1, "a"), ("2023-01-01", 1, "b"), ("2022-01-01", 1, "c")],
            [[1], [2, 3]],
            (1,),
            "the most recent",
        ),
        ([("", 1, "a"), ("", 1, "b"), ("", 1, "c")], [[1], [2, 3]], (2, 3), "the most sources"),
        ([("", 4, "a"), ("", 1, "b")], [[1], [2]], (2,), "the best source"),
        ([("", 1, "a"), ("2020-01-01", 1, "b")], [[1], [2]], (2,), "the most recent"),
    ],
)
def test_sides_are_ranked_by_recency_agreement_and_source(given: Any, sides: Any, first: Any, why: str) -> None:
    store = claims(*given)
    store.disagree("the year", sides)
    (conflict,) = store.conflicts
    assert (conflict.sides[0], why in conflict.why) == (first, True)
    doubted = [one.number for one in store.claims if one.doubt]
    assert sorted((*first, *doubted)) == [one.number for one in store.claims]


def test_without_a_reason_no_side_is_ranked_first_and_each_is_doubted() -> None:
    store = claims(("", 1, "a"), ("", 1, "b"), ("", 1, "b"))
    store.disagree("the year", [[1], [2, 3]])
    (conflict,) = store.conflicts
    assert conflict.why == ""
    told = store.told(conflict)
    assert told.endswith("None is ranked first, as date, number and kind of the sources are alike.")
    assert [one.doubt for one in store.claims] == [
        "contradicted by https://b/1: claim 1",
        "contradicted by https://a/0: claim 0",
        "contradicted by https://a/0: claim 0",
    ]


def test_a_claim_is_shown_with_its_subject_where_its_words_do_not_name_it() -> None:
    store, notes = evidence.Store(), source(PAGE)
    for about, claim in (
        ("Gentoo", "described in 1781"),
        ("coffee", "first drunk in the 15th century"),
        ("Gentoo penguins", "It was described in 1781"),
        ("the light's year", "The light is of the year 1902"),
        ("year", "The light was built in 1902"),
    ):
        store.add(notes, about, claim, claim, 1)
    assert [one.shown()["claim"] for one in store.claims] == [
        "Gentoo: described in 1781",
        "coffee: first drunk in the 15th century",
        "Gentoo penguins: It was described in 1781",
        "The light is of the year 1902",
        "The light was built in 1902",
    ]
    assert store.claims[0].evidence().detail.startswith("Gentoo: described in 1781; ")


def test_a_claim_left_out_is_dropped_once_it_is_given_again_and_holds() -> None:
    store, notes = evidence.Store(), source(PAGE)
    for claim in ("A later note says 1871", "A later note says 1902"):
        store.reject(notes.url, claim, "note gives 1871", "the quotation does not stand in the source")
    store.add(notes, "year", "A later note says 1871, a misprint", "gives it as 1871, a misprint", 1)
    assert [one["claim"] for one in store.rejected] == ["A later note says 1902"]


@pytest.mark.parametrize(
    ("again", "quote", "left"),
    [
        ("At the end of 2024 the headcount of Harrow was 162", "Headcount: Harrow 162.", 0),
        ("The headcount at year end in Harrow was 162", "Headcount at the end of 2024: Harrow 162.", 0),
        ("At the end of 2024 the headcount of Harrow was 171", "Headcount: Harrow 171.", 1),
        ("In 2024 they paid 162 crowns", "162 crowns", 1),
    ],
)
def test_a_claim_left_out_is_known_again_by_its_source_and_numbers(again: str, quote: str, left: int) -> None:
    store, notes = evidence.Store(), source(PAGE)
    store.reject(notes.url, "Harrow had a headcount of 162 when 2024 ended", "Harrow: 162", "it does not stand")
    other = source(PAGE)
    other.url = "https://other.example/"
    store.add(other, "headcount", again, quote, 1)
    assert len(store.rejected) == 1
    store.add(notes, "headcount", again, quote, 1)
    assert len(store.rejected) == left


GROWTH = "The growth comes from heat pumps and from the new data centre; we estimate a half each."


@pytest.mark.parametrize(
    ("again", "quote", "left"),
    [
        ("The grid company estimates that heat pumps are half of the growth", GROWTH, 0),
        ("Heat pumps are one of two causes of the growth", "The growth comes from heat pumps and others.", 1),
        ("The new data centre opens in spring", GROWTH, 1),
        ("Heat pumps are the cause of 40 % of the growth", "Of the growth 40 % comes from heat pumps.", 1),
    ],
)
def test_a_claim_left_out_is_known_again_by_its_mended_quotation(again: str, quote: str, left: int) -> None:
    store, notes = evidence.Store(), source(PAGE)
    misquoted = "The growth comes from heat pumps and the new data centre; we estimate a half each"
    store.reject(notes.url, "about half of the growth comes from heat pumps", misquoted, "it does not stand")
    other = source(PAGE)
    other.url = "https://other.example/"
    store.add(other, "cause", again, quote, 1)
    assert len(store.rejected) == 1
    store.add(notes, "cause", again, quote, 1)
    assert len(store.rejected) == left


def test_a_claim_left_out_with_a_number_that_its_mended_quotation_lacks_stays_so() -> None:
    store, notes = evidence.Store(), source(PAGE)
    store.reject(notes.url, "60 % of the growth comes from heat pumps", GROWTH.replace("from the", "the"), "no")
    store.add(notes, "cause", "Heat pumps are half of the growth", GROWTH, 1)
    assert len(store.rejected) == 1


REPORT = """Ferro, annual report 2024 (excerpt)
Headcount: Harrow 162.

## Half of 2022
Headcount: Harrow 151.
12 May 2023. The plant opened. It employs 140 people, the mole 310.
On 3. Juni 2021 it was planned, with 1999,50 euros and 2000 tonnes.
It was drawn on 4.6.2020."""


@pytest.mark.parametrize(
    ("claim", "quote", "lacking"),
    [
        ("In 2024 Harrow had 162", "Harrow 162", ""),
        ("In 2022 Harrow had 151", "Harrow 151", ""),
        ("On 12 May 2023 it had 140", "employs 140 people", ""),
        ("On 12 May 2023 it had 310", "employs 140 people", "310"),
        ("In 2022 it had 162", "Harrow 162", "2022"),
        ("In 2021 Harrow had 151", "Harrow 151", "2021"),
        ("On 3 June 2021 it was planned", "it was planned", ""),
        ("On 4 June 2020 it was drawn", "It was drawn", ""),
        ("It was planned in 1999", "it was planned", "1999"),
    ],
)
def test_a_date_in_the_line_of_a_quote_or_in_a_heading_over_it_is_said(claim: str, quote: str, lacking: str) -> None:
    store, notes = evidence.Store(), source(REPORT)
    line = notes.line_of(quote)
    assert line is not None
    found = store.add(notes, "headcount", claim, quote, line)
    assert found.doubt == (f"its quote does not say {lacking}" if lacking else "")


@pytest.mark.parametrize("sides", [[[1]], [[1], [1]], [[1], [9]], [], [[], []]])
def test_what_is_no_contradiction_of_known_claims_is_left_out(sides: Any) -> None:
    store = claims(("", 1, "a"), ("", 1, "b"))
    store.disagree("the year", sides)
    assert store.conflicts == []


def test_what_is_not_known_takes_the_form_that_the_schema_allows() -> None:
    table = rows.Table(columns=["name", "year"], key=["name"])
    table.add({"name": "Mole", "year": None}, source("Mole"), "Mole", round=1, at="")

    def form(year: Any, *required: str) -> Any:
        return {"properties": {"name": {"type": "string"}, "year": year}, "required": ["name", *required]}

    assert table.answer(form({"type": ["integer", "null"]}, "year")) == [{"name": "Mole", "year": None}]
    assert table.answer(form({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "year"))[0]["year"] is None
    assert table.answer(form({"type": "integer"})) == [{"name": "Mole"}]
    assert table.answer(form({"type": "string"}, "year")) == [{"name": "Mole", "year": "unknown"}]
    assert table.answer(form({"type": "integer"}, "year")) == []


@given(st.datetimes(min_value=datetime(1999, 1, 1), max_value=datetime(2100, 1, 1)), st.integers(0, 10**6))
def test_moments_are_as_far_apart_as_in_the_calendar(moment: Any, seconds: int) -> None:
    later = moment + timedelta(seconds=seconds)
    count = [enumeration._seconds(f"{one:%Y-%m-%dT%H:%M:%S}.000Z") for one in (moment, later)]
    assert count[1] - count[0] == seconds
